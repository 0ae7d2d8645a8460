"""Fixtures that several test files share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a compiled function takes seconds where nothing is cached yet: no example has a deadline.
settings.register_profile("elect", deadline=None)
settings.load_profile("elect")


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
