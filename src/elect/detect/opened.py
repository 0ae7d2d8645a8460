"""A table opened for detection: what is learned from it, and how to come by all of its rows.

What is done with columns is learned from the whole table, or from a seeded sample of a long one. Which rows these are
depends on their number and the seed alone: not on whether the table is in memory or read in batches, nor on their size.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.support.ahead import ahead
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnTreatment, Table, iter_batches, read_table
from elect.tables.cells import Survey, cells_of_frame, merged

if TYPE_CHECKING:
    import polars as pl

LEARNED_ROWS = 100_000
"""What is done with columns is learned from so many rows at most. A file with more of them is not held in memory."""

ROWS_AT_ONCE = 100_000
"""Rows are read and scored so many at a time."""


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """``learned`` is the whole table (``positions`` is None), or rows drawn from it, ``positions`` telling which.

    ``whole`` is None for a file that is too long to be held. Of an array only ``array`` is held: its columns are not
    treated, and the table of it is made where it is needed.
    """

    source: str
    n_rows: int
    learned: Table | None = None
    positions: IntArray | None = None
    whole: Table | None = None
    array: FloatArray | None = None
    surveyor: Callable[[ColumnTreatment], Survey] | None = None
    """What surveys all rows where they are not read here."""

    @cached_property
    def sample(self) -> Table:
        """The rows that are learned from, as a table."""
        return read_table(self.array) if self.learned is None else self.learned

    @property
    def n_columns(self) -> int:
        return self.sample.n_columns if self.array is None else int(self.array.shape[1])

    @property
    def is_streamed(self) -> bool:
        """Whether rows are read from the file again each time."""
        return self.whole is None and self.array is None

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[Table]:
        """All rows in order, the next ones read ahead; these columns alone, where they are named."""
        if self.is_streamed:
            yield from ahead(iter_batches(self.source, ROWS_AT_ONCE, columns=columns))
            return
        table = self.sample if self.whole is None else self.whole
        table = table if columns is None else table.only(*columns)
        for start in range(0, table.n_rows, ROWS_AT_ONCE):
            yield table.slice(start, ROWS_AT_ONCE)

    def survey(self, treatment: ColumnTreatment) -> Survey | None:
        """What is known of all rows, where they are more than are learned from."""
        if self.positions is None:
            return None
        if self.surveyor is not None:
            return self.surveyor(treatment)
        return merged(survey_of(treatment, batch) for batch in self.batches(treatment.sources))


def survey_of(treatment: ColumnTreatment, table: Table) -> Survey:
    """What a survey of all rows needs of some."""
    return Survey.of(cells_of_frame(treatment, table.frame))


def rows_at(batches: Iterable[Table], positions: IntArray) -> Table:
    """Some rows, in the order given."""
    import polars as pl

    wanted = np.sort(positions)
    frames, ids, first, taken = [], [], 0, 0
    for batch in batches:
        end = int(np.searchsorted(wanted, first + batch.n_rows))
        frames.append(batch.frame[wanted[taken:end] - first])
        ids.append(batch.row_ids[wanted[taken:end] - first])
        first, taken, like = first + batch.n_rows, end, batch
        if taken == len(wanted):
            break
    order = np.searchsorted(wanted, positions)
    return replace(like, frame=pl.concat(frames)[order], row_ids=pl.concat(ids)[order])


def open_array(X: FloatArray) -> OpenedTable:
    """Numbers that are taken as they are."""
    return OpenedTable("The array", len(X), array=X)


def open_table(data: Any, seed: int = 0) -> OpenedTable:
    """Open a file or a frame. A long file is read once through, for the rows to learn from."""
    if isinstance(data, str | PathLike):
        return _open_batches(str(data), iter_batches(data, ROWS_AT_ONCE), seed)
    table = read_table(data)
    opened = _open_batches(table.source, iter([table]), seed)
    return replace(opened, whole=table)


def _open_batches(source: str, batches: Iterator[Table], seed: int) -> OpenedTable:
    drawn = _Drawn(next(batches), seed)
    for batch in batches:
        drawn.add(batch)
    table = drawn.table()
    if drawn.seen == table.n_rows:
        return OpenedTable(source, drawn.seen, table, whole=table)
    return OpenedTable(source, drawn.seen, table, drawn.positions)


def drawn_positions(n: int, seed: int) -> IntArray:
    """The rows to learn from of a table of so many: those that are drawn from it when it is read.

    >>> drawn_positions(5, 0).tolist()
    [0, 1, 2, 3, 4]
    """
    rng = _stream(seed)
    keys: FloatArray = np.empty(0)
    positions: IntArray = np.empty(0, dtype=np.intp)
    for start in range(0, n, ROWS_AT_ONCE):
        stop = min(start + ROWS_AT_ONCE, n)
        keys = np.concatenate([keys, rng.random(stop - start)])
        positions = np.concatenate([positions, np.arange(start, stop)])
        kept = _lowest(keys)
        keys, positions = keys[kept], positions[kept]
    return positions


def _stream(seed: int) -> np.random.Generator:
    """The numbers drawn for the rows, one each: they do not depend on how the rows are cut."""
    return np.random.default_rng([seed, 1])


def _lowest(keys: FloatArray) -> IntArray:
    """The places of the lowest numbers, as many as rows are learned from."""
    if len(keys) <= LEARNED_ROWS:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, LEARNED_ROWS)[:LEARNED_ROWS])


class _Drawn:
    """The rows drawn so far: all of them up to 100,000, then each row of the table with the same chance."""

    def __init__(self, first: Table, seed: int) -> None:
        self._like = first
        self._rng = _stream(seed)
        self.seen = 0
        self._keys: FloatArray = np.empty(0)
        self.positions: IntArray = np.empty(0, dtype=np.intp)
        self._frame: pl.DataFrame = first.frame.clear()
        self._ids: pl.Series = first.row_ids.clear()
        self.add(first)

    def add(self, batch: Table) -> None:
        import polars as pl

        keys = np.concatenate([self._keys, self._rng.random(batch.n_rows)])
        positions = np.concatenate([self.positions, np.arange(self.seen, self.seen + batch.n_rows)])
        frame, ids = pl.concat([self._frame, batch.frame]), pl.concat([self._ids, batch.row_ids])
        if len(keys) > LEARNED_ROWS:
            kept = _lowest(keys)
            keys, positions, frame, ids = keys[kept], positions[kept], frame[kept], ids[kept]
        self._keys, self.positions, self._frame, self._ids = keys, positions, frame, ids
        self.seen += batch.n_rows
        self._notes = batch.notes  # those of the batches before it among them

    def table(self) -> Table:
        return replace(self._like, frame=self._frame, row_ids=self._ids, notes=self._notes)
