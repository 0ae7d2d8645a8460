"""A table in many files: its rows are those of the files, one after the other, in the order of their names.

What is learned is learned from rows of all files: which ones depends on their number and the seed alone, and what is
exact over all rows (see ``elect.tables.cells.survey``) is merged from the files. So neither the number of files nor
where they are read matters.
"""

import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from elect.detect import opened
from elect.detect.opened import OpenedTable, drawn_positions, rows_at, survey_of
from elect.errors import InvalidInput
from elect.support import wording
from elect.support.arrays import IntArray
from elect.tables import ColumnTreatment, Table, TableError, TooFewRows, iter_batches
from elect.tables.cells import Survey, merged
from elect.tables.files import SUFFIXES, file_format, opening

J = TypeVar("J")
R = TypeVar("R")

Run = Callable[[Callable[[J], R], Sequence[J], str], Iterator[tuple[J, R]]]
"""What runs jobs, here or elsewhere: the work, the jobs, and the name of the stage; each job with its result."""


@dataclass(frozen=True)
class Part:
    """A file, and which rows of the whole table it holds: ``rows`` of them from ``first`` on."""

    path: str
    first: int
    rows: int


def is_many(source: str | Path) -> bool:
    """Whether a name stands for many files: a folder, or a pattern such as ``folder/*.parquet``."""
    path = Path(source)
    return path.is_dir() or (any(mark in str(source) for mark in "*?[") and not path.exists())


def part_files(source: str | Path) -> tuple[Path, ...]:
    """The files of a folder or a pattern, by name. Hidden ones, and those that begin with ``_``, are none."""
    path = Path(source)
    names = path.iterdir() if path.is_dir() else map(Path, glob.glob(str(source), recursive=True))
    found = [p for p in names if p.is_file() and not p.name.startswith((".", "_"))]
    if path.is_dir():
        found = [p for p in found if p.suffix.lower() in SUFFIXES]
    if not found:
        raise InvalidInput(f"{str(source)!r} has no table in it: name a folder or a pattern with files to read.")
    return tuple(sorted(found))


def rows_told(file: Path) -> int | None:
    """The rows that a file says it has; None where only reading tells."""
    if not file.is_file() or file_format(file) != "parquet":
        return None
    with opening(file, "Parquet"):
        return int(import_module("pyarrow.parquet").read_metadata(str(file)).num_rows)


def count_rows(path: str) -> int:
    """The rows of a file: what it says of itself, otherwise what is read."""
    told = rows_told(Path(path))
    if told is not None:
        return told
    try:
        return sum(batch.n_rows for batch in iter_batches(path, opened.ROWS_AT_ONCE))
    except TooFewRows:
        return 0


def counted(files: Sequence[Path], run: Run[Any, Any]) -> tuple[Part, ...]:
    """The files with their rows; those without any are left out."""
    paths = [str(file) for file in files]
    rows = dict(run(count_rows, paths, "counting rows"))
    parts, first = [], 0
    for path in paths:
        if rows[path]:
            parts.append(Part(path, first, rows[path]))
            first += rows[path]
    if not parts:
        raise TableError(f"{wording.count(len(paths), 'file')} and no rows: there is nothing to score.")
    return tuple(parts)


def open_parts(source: str, parts: Sequence[Part], seed: int, run: Run[Any, Any]) -> OpenedTable:
    """The rows to learn from, of all parts, and how all others are surveyed."""
    n = sum(part.rows for part in parts)
    positions = drawn_positions(n, seed)
    jobs = [_Wanted(part, positions[_within(positions, part)] - part.first) for part in parts]
    found = {job.part.first: table for job, table in run(_sample, [job for job in jobs if len(job.at)], "drawing rows")}
    learned = _together([found[first] for first in sorted(found)], source)
    if len(positions) == n:
        return OpenedTable(source, n, learned, whole=learned)
    return OpenedTable(source, n, learned, positions, surveyor=partial(_survey, tuple(parts), run))


@dataclass(frozen=True, eq=False)
class _Wanted:
    part: Part
    at: IntArray


def _within(positions: IntArray, part: Part) -> slice:
    start, stop = np.searchsorted(positions, [part.first, part.first + part.rows])
    return slice(int(start), int(stop))


def _sample(job: _Wanted) -> Table:
    return rows_at(iter_batches(job.part.path, opened.ROWS_AT_ONCE), job.at)


def _survey(parts: tuple[Part, ...], run: Run[Any, Any], treatment: ColumnTreatment) -> Survey:
    return merged(survey for _, survey in run(partial(_survey_part, treatment), parts, "surveying all rows"))


def _survey_part(treatment: ColumnTreatment, part: Part) -> Survey:
    batches = iter_batches(part.path, opened.ROWS_AT_ONCE, columns=treatment.sources)
    return merged(survey_of(treatment, batch) for batch in batches)


def _together(tables: Sequence[Table], source: str) -> Table:
    """The rows of all tables, which must have the same columns; in any order."""
    import polars as pl

    first = tables[0]
    for table in tables:
        lacking, more = set(first.columns) - set(table.columns), set(table.columns) - set(first.columns)
        if lacking or more:
            said = f"lacks column {wording.quoted(sorted(lacking))}" if lacking else ""
            said += f"{' and ' if lacking and more else ''}{f'has {wording.quoted(sorted(more))} too' if more else ''}"
            raise TableError(f"{table.source} {said}, compared with {first.source}; all files must have the same.")
    try:
        frame = pl.concat([table.frame.select(first.columns) for table in tables], how="vertical_relaxed")
    except (pl.exceptions.SchemaError, pl.exceptions.PolarsError) as error:
        why = str(error).splitlines()[0]
        raise TableError(f"The files of {source} hold columns of types that do not go together: {why}.") from None
    ids = pl.concat([table.row_ids.cast(pl.String) if _mixed(tables) else table.row_ids for table in tables])
    return replace(first, frame=frame, row_ids=ids, source=source)


def _mixed(tables: Sequence[Table]) -> bool:
    return len({table.row_ids.dtype for table in tables}) > 1
