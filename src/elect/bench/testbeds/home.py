"""Where the testbeds' data lies."""

import os
from pathlib import Path

from elect.errors import ElectError

VARIABLE = "ELECT_DATA_HOME"

_CONTENTS = (
    "a folder that holds wild.json and wild/*.npz (the tasks), and for the published results reference/ with ap.csv, "
    "roc.csv, prns.csv and measures.npz"
)


def data_home() -> Path:
    """The folder that the environment variable ``ELECT_DATA_HOME`` names.

    >>> from unittest.mock import patch
    >>> with patch.dict(os.environ, {"ELECT_DATA_HOME": ""}):
    ...     data_home()
    Traceback (most recent call last):
    ...
    elect.errors.ElectError: The testbeds' data was not found: ELECT_DATA_HOME is not set. Set it to a folder that ...
    """
    named = os.environ.get(VARIABLE, "")
    if not named:
        raise ElectError(f"The testbeds' data was not found: {VARIABLE} is not set. Set it to {_CONTENTS}.")
    home = Path(named).expanduser()
    if not (home / "wild.json").is_file():
        what = "holds no wild.json" if home.is_dir() else "is not a folder"
        raise ElectError(
            f"The testbeds' data was not found: {VARIABLE} is {named!r}, which {what}. Set it to {_CONTENTS}."
        )
    return home


def data_file(relative: str, home: Path | None = None) -> Path:
    """A file under the data home (or under ``home``); an error that names it if it is not there."""
    path = (home or data_home()) / relative
    if not path.is_file():
        raise ElectError(
            f"The testbeds' data is not complete: {path} is missing. {VARIABLE} must name {_CONTENTS}; "
            "fetch the file again or correct the variable."
        )
    return path
