"""What is known exactly of the columns of a table that is too long to be learned from whole.

A sample tells what is usual. What is rare it may miss: the largest values of a column, a category of three rows. So all
rows are surveyed once: for each column of numbers how many there are and the values at both ends, for each column of
words how often each one is seen. Surveys of parts of a table merge to the survey of the whole, whatever the parts.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from elect.support.arrays import FloatArray
from elect.tables.cells._base import Cells

ENDS = 100
"""Values that are known at each end of a column."""

MOST_WORDS = 100_000
"""A column with more different words than these is known from the sample alone."""


@dataclass(frozen=True, eq=False)
class NumberEnds:
    """How many numbers a column has, and the smallest and the largest of them, both in ascending order."""

    count: int
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, x: FloatArray) -> "NumberEnds":
        known = x[~np.isnan(x)]
        if len(known) <= 2 * ENDS:
            ordered = np.sort(known)
            return cls(len(known), ordered[:ENDS], ordered[-ENDS:])
        ordered = np.partition(known, (ENDS - 1, len(known) - ENDS))
        return cls(len(known), np.sort(ordered[:ENDS]), np.sort(ordered[-ENDS:]))

    def __or__(self, other: "NumberEnds") -> "NumberEnds":
        low, high = np.sort(np.r_[self.low, other.low]), np.sort(np.r_[self.high, other.high])
        return NumberEnds(self.count + other.count, low[:ENDS], high[-ENDS:])


@dataclass(frozen=True, eq=False)
class Survey:
    """``words`` has None for a column of too many different words; a missing word counts as one."""

    rows: int
    numbers: tuple[NumberEnds, ...]
    words: tuple[Counter[str | None] | None, ...]

    @classmethod
    def of(cls, cells: Cells) -> "Survey":
        words = (Counter(dict(series.value_counts().iter_rows())) for series in cells.words)
        return cls(cells.n_rows, tuple(NumberEnds.of(x) for x in cells.numbers.T), tuple(map(_bounded, words)))

    def __or__(self, other: "Survey") -> "Survey":
        words = (
            None if a is None or b is None else _bounded(a + b) for a, b in zip(self.words, other.words, strict=True)
        )
        numbers = (a | b for a, b in zip(self.numbers, other.numbers, strict=True))
        return Survey(self.rows + other.rows, tuple(numbers), tuple(words))


def merged(surveys: Iterable[Survey]) -> Survey:
    """The survey of all parts together."""
    return reduce(Survey.__or__, surveys)


def _bounded(counts: Counter[str | None]) -> Counter[str | None] | None:
    return counts if len(counts) <= MOST_WORDS else None
