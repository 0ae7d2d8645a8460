"""A file opened for detection: whole where it fits, otherwise a seeded sample to learn from and batches to score."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from elect.support.arrays import FloatArray, IntArray
from elect.tables import Table, iter_batches

if TYPE_CHECKING:
    import polars as pl

ROWS_AT_ONCE = 100_000
"""A file with no more rows is held in memory; of a longer one, so many rows at a time."""


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """``sample`` is the whole table (``positions`` is None), or rows drawn from it, ``positions`` telling which."""

    path: str
    sample: Table
    n_rows: int
    positions: IntArray | None = None
    rows_at_once: int = ROWS_AT_ONCE

    @property
    def is_streamed(self) -> bool:
        return self.positions is not None

    def batches(self) -> Iterator[Table]:
        """All rows in order, read again where they are not in memory."""
        if self.is_streamed:
            yield from iter_batches(self.path, self.rows_at_once)
        else:
            yield self.sample


def open_table(path: str | PathLike[str], seed: int = 0, rows_at_once: int | None = None) -> OpenedTable:
    """Read a file whole, or if it is long, once through for a seeded sample."""
    size = ROWS_AT_ONCE if rows_at_once is None else rows_at_once
    batches = iter_batches(path, size)
    first = next(batches)
    second = next(batches, None)
    if second is None:
        return OpenedTable(str(path), first, first.n_rows, rows_at_once=size)
    reservoir = _Reservoir(first, seed)
    reservoir.add(second)
    for batch in batches:
        reservoir.add(batch)
    table, positions = reservoir.drawn()
    return OpenedTable(str(path), table, reservoir.seen, positions, size)


class _Reservoir:
    """As many rows as the first batch has, each row of the file with the same chance, whatever the batches."""

    def __init__(self, first: Table, seed: int) -> None:
        self._like = first
        self._rng = np.random.default_rng([seed, 1])
        self.seen = 0
        self._keys: FloatArray = np.empty(0)
        self._positions: IntArray = np.empty(0, dtype=np.intp)
        self._frame: pl.DataFrame = first.frame.clear()
        self._ids: pl.Series = first.row_ids.clear()
        self.add(first)

    def add(self, batch: Table) -> None:
        import polars as pl

        keys = np.concatenate([self._keys, self._rng.random(batch.n_rows)])
        positions = np.concatenate([self._positions, np.arange(self.seen, self.seen + batch.n_rows)])
        kept = np.arange(len(keys))
        if len(keys) > self._like.n_rows:
            kept = np.sort(np.argpartition(keys, self._like.n_rows)[: self._like.n_rows])
        frame = pl.concat([self._frame, batch.frame])
        ids = pl.concat([self._ids, batch.row_ids])
        self._frame, self._ids = frame[kept], ids[kept]
        self._keys, self._positions = keys[kept], positions[kept]
        self.seen += batch.n_rows

    def drawn(self) -> tuple[Table, IntArray]:
        return replace(self._like, frame=self._frame, row_ids=self._ids), self._positions
