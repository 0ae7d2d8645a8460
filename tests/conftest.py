"""Fixtures that several test files share."""

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from elect.history.database import MetaDatabase

# The first call of a compiled function takes seconds where nothing is cached yet: no example has a deadline.
settings.register_profile("elect", deadline=None)
settings.load_profile("elect")

# Run in the background of a shell, tests inherit that Ctrl-C is ignored, and so would every command that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder that holds wild.json, wild/ and reference/; tests that need it are skipped without it."""
    value = os.environ.get("ELECT_DATA_HOME")
    if not value:
        pytest.skip("ELECT_DATA_HOME is not set: it must name the folder that holds wild.json and wild/")
    home = Path(value)
    if not home.is_dir():
        pytest.skip(f"ELECT_DATA_HOME names {value}, which is not a folder")
    return home


@pytest.fixture(scope="session")
def small_database() -> "MetaDatabase":
    """A database trained on six small tasks with a pool of thirteen models."""
    from elect.history import train
    from toys import SMALL_POOL, corpus

    return train(corpus(), SMALL_POOL)
