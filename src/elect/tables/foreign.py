"""Formats whose readers can crash: opened in a process of their own, which cannot take this one with it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from elect.support import wording
from elect.tables import foreign_reader
from elect.tables.errors import TableError, UnreadableFile

_NAMES = {"arrow": "Arrow", "feather": "Feather", "excel": "Excel", "matlab": "MATLAB"}


def check(path: Path, kind: str) -> None:
    """Refuse a file that its reader would crash on, or that holds what it must not."""
    _ask(path, {"kind": kind, "path": os.fspath(path)})


@contextmanager
def converted(path: Path, kind: str, **options: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """A clean Arrow file (of MATLAB's an .npz) with what a file holds, for as long as it is needed, and what its reader
    says about it."""
    with tempfile.TemporaryDirectory(prefix="elect-") as folder:
        target = Path(folder) / "table.arrow"
        told = _ask(path, {"kind": kind, "path": os.fspath(path), "target": os.fspath(target), **options})
        yield target, told


def _ask(path: Path, request: dict[str, Any]) -> dict[str, Any]:
    kind = request["kind"]
    # Run by its name, with the path of this process: -P keeps the folder of the script from hiding other modules.
    command = [sys.executable, "-P", "-S", foreign_reader.__file__, json.dumps(request)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        told: dict[str, Any] = json.loads(done.stdout)
    except OSError as error:
        raise UnreadableFile(f"{path} was not opened: no process could be started ({error.strerror}).") from None
    except ValueError:
        raise UnreadableFile(
            f"{path} is not a readable {_NAMES[kind]} file (reading it failed at once); it is damaged, or needs more "
            "memory than there is: write it again, or save it as CSV."
        ) from None
    if "refused" in told:
        raise _refusal(path, kind, request, told)
    return told


def _refusal(path: Path, kind: str, request: dict[str, Any], told: dict[str, Any]) -> TableError:
    word, reason = told["refused"], told["reason"]
    if word == "sheet":
        return TableError(f"{path} has no sheet {request['sheet']!r}; it has {wording.quoted(json.loads(reason))}.")
    if word == "empty":
        return UnreadableFile(f"{path} has an empty sheet; a table needs a header and at least one row.")
    if word == "memory":
        return UnreadableFile(f"{path} needs more memory than this machine has: cut it, or save it as CSV.")
    if word == "version":
        return UnreadableFile(f"{path} is of MATLAB 7.3, which is not read: save it with '-v7' or as .npz.")
    said = " ".join(reason.split())[:200].rstrip(".")
    return UnreadableFile(
        f"{path} is not a readable {_NAMES[kind]} file ({said}); it may be damaged or cut short: write it again."
    )
