"""Whether a table fits into memory, told before it is read."""

from importlib import import_module
from pathlib import Path

from elect.support import memory
from elect.tables.dialect import open_bytes
from elect.tables.errors import TableError
from elect.tables.files import opening

WORKED_ON = 150
"""Bytes that a cell takes at least from its text to the last signal: 160 for numbers and 400 for words were seen."""

READ = 30
"""Bytes that a cell takes that is only read."""

_SAMPLE = 1 << 20
_FORMATS = {"parquet": "Parquet"}


class TooLarge(TableError):
    """A table that does not fit into memory."""


def check_room(path: Path, kind: str, at_once: int | None) -> None:
    """Refuse a file that does not fit: with ``at_once`` so many of its rows are held and worked on, without it all
    are held."""
    room = memory.available()
    if room is None or path.stat().st_size * 20 < room:  # by far: no need to look
        return
    with opening(path, _FORMATS.get(kind, "text")):
        rows, columns = _size(path, kind)
    needed = rows * columns * READ if at_once is None else min(rows, at_once) * columns * WORKED_ON
    if needed > room:
        raise TooLarge(
            f"{path} has about {rows:,} rows and {columns:,} columns: at least {_gigabytes(needed)} of memory are "
            f"needed, {_gigabytes(room)} are free. Leave columns out of the file, or use a machine with more memory."
        )


def _size(path: Path, kind: str) -> tuple[int, int]:
    """About how many rows, and how many columns."""
    if kind == "parquet":
        found = import_module("pyarrow.parquet").read_metadata(str(path))
        return int(found.num_rows), int(found.num_columns)
    if kind != "text":
        return 0, 0  # read in a process of its own, which says so itself
    with open_bytes(path) as stream:
        sample = stream.read(_SAMPLE)
    lines = max(sample.count(b"\n"), 1)
    first = sample.partition(b"\n")[0]
    columns = max(first.count(mark) for mark in (b",", b";", b"\t", b"|")) + 1
    return int(path.stat().st_size * lines / max(len(sample), 1)), columns


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:.1f} GB"
