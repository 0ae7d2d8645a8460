"""What ``elect select`` and ``elect detect`` begin with: read the table, load the database, search."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elect.cli import live, parse, screen
from elect.errors import PoolMismatch

if TYPE_CHECKING:
    from elect.detect import Election, Options
    from elect.history.database import MetaDatabase


def searched(
    file: Path,
    options: "Options",
    *,
    drop: Sequence[str] | None,
    columns: Sequence[str] | None,
    database: Path | None,
    trust: bool,
    quiet: bool,
) -> "tuple[Election, str | None]":
    """The election after its search, and why the user stopped it, if so. The names of columns need the table."""
    from elect.detect import Election, open_table

    if not quiet:
        screen.tell(f"reading {file}")
    opened = open_table(file, options.seed)
    known = opened.sample.columns
    asked = replace(
        options,
        drop=parse.names(drop or (), known),
        columns=None if not columns else parse.names(columns, known),
    )
    election = Election(opened, load_database(database, trust), asked)
    return election, live.run(election, quiet=quiet)


def load_database(path: Path | None, trust: bool) -> "MetaDatabase":
    """The shipped database, or the user's. One with models of its own would import their classes by name."""
    if path is None:
        from elect.history.shipped import shipped_database

        return shipped_database()
    from elect.history.database import MetaDatabase
    from elect.pool import default_pool

    try:
        return MetaDatabase.load(path, None if trust else default_pool())
    except PoolMismatch as error:
        raise PoolMismatch(f"{error} If you made it yourself, --trust uses it with its own models.") from None
