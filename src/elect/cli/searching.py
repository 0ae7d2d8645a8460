"""What ``elect select`` and ``elect detect`` begin with: read the table, load the database, search."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from elect.cli import live, parse, screen
from elect.cli.compiling import compile_ahead
from elect.errors import PoolMismatch
from elect.support import wording

if TYPE_CHECKING:
    from elect.detect import Election, Options
    from elect.history.database import MetaDatabase
    from elect.support.meter import Meter

_LONG_TEXT = 20 << 20
"""Bytes from which on a text takes long."""


def searched(
    file: Path,
    options: "Options",
    *,
    drop: Sequence[str] | None,
    columns: Sequence[str] | None,
    database: Path | None,
    trust: bool,
    quiet: bool,
    rows: bool = False,
) -> "tuple[Election, str | None]":
    """The election after its search, and why the user stopped it, if so. The names of columns need the table. With
    ``rows`` the most outlying rows are said as soon as they are known."""
    from elect.detect import Election, open_table

    if not quiet:
        screen.tell(f"reading {file}")
    opened = open_table(file, options.seed)
    compile_ahead()
    known = opened.sample.columns
    asked = replace(
        options,
        drop=parse.names(drop or (), known),
        columns=None if not columns else parse.names(columns, known),
    )
    election = Election(opened, load_database(database, trust), asked)
    if rows:
        tell_plan(election, quiet=quiet)
    return election, live.run(election, quiet=quiet, rows=rows)


def tell_plan(election: "Election", *, quiet: bool) -> None:
    """Say how long scoring a long table will take, before it begins."""
    from elect.support.threads import n_threads

    rows = wording.count(election.opened.n_rows, "row")
    if election.opened.positions is not None and not quiet:
        screen.tell(f"looking through {rows} for what is rare")
    seconds = election.plan()
    if seconds is not None and not quiet:
        threads = wording.count(n_threads(election.options.n_jobs), "thread")
        screen.tell(f"{rows} to score with {threads}, about {wording.duration(seconds)}")


@contextmanager
def metered(election: "Election", *, quiet: bool) -> Iterator[None]:
    """How many rows of a long table are scored, on standard error."""
    from elect.support.meter import Meter, meter

    with meter(election.opened.positions is not None and not quiet) as bar:
        bar.stage("scoring all rows", election.opened.n_rows)
        election.meter = bar
        yield
    election.meter = Meter()


@contextmanager
def metered_file(file: Path, *, quiet: bool) -> "Iterator[Meter]":
    """How many rows of a file are scored, on standard error, where they take long."""
    from elect.detect.opened import LEARNED_ROWS
    from elect.detect.parts import rows_told
    from elect.support.meter import meter

    rows = rows_told(file)
    long = rows > LEARNED_ROWS if rows is not None else file.is_file() and file.stat().st_size > _LONG_TEXT
    with meter(long and not quiet) as bar:
        bar.stage("scoring all rows", rows)
        yield bar


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
