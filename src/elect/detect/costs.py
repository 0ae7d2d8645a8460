"""What a row costs on this machine, and the largest committee that scores all rows in the time there is.

Most of the cost of a row is its neighbours among the fitted rows, which are as many as one likes, and the trees of the
forest, which are grown in trials. So a committee of fewer rows and trials says nearly the same for less.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elect.detect.scorers import TableScorer
from elect.support import wording
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    import polars as pl

_MEASURED = 1_000
"""Rows that the cost is measured on."""

RESERVE = 1.15
"""For what is read and written beside, and for rows that take longer."""


@dataclass(frozen=True)
class Size:
    """How many rows a committee is fitted on, and how many trials its forest has."""

    rows: int
    trials: int

    def smaller(self) -> "tuple[Size, ...]":
        """Ever smaller ones.

        >>> [(size.rows, size.trials) for size in Size(5_000, 5).smaller()]
        [(2500, 5), (1000, 5), (1000, 1)]
        """
        return tuple(Size(int(self.rows * share), min(trials, self.trials)) for share, trials in _STEPS)


_STEPS = ((0.5, 5), (0.2, 5), (0.2, 1))


@dataclass(frozen=True)
class RowCost:
    """Seconds a row in one thread, with a committee of ``size``: for neighbours, for the forest and for the rest."""

    size: Size
    neighbors: float
    forest: float
    rest: float

    def of(self, size: Size) -> float:
        """Seconds a row with a committee of another size.

        >>> RowCost(Size(5_000, 5), 8e-6, 5e-6, 7e-6).of(Size(2_500, 1))
        1.2e-05
        """
        neighbors = self.neighbors * size.rows / self.size.rows
        return neighbors + self.forest * size.trials / self.size.trials + self.rest

    def seconds(self, n_rows: int, at_once: int, size: Size | None = None) -> float:
        """What so many rows take, so many being scored at once."""
        return RESERVE * n_rows * self.of(size or self.size) / at_once


def cost_of(scorer: TableScorer, size: Size, rows: FloatArray, frame: "pl.DataFrame") -> RowCost:
    """Measured on some rows of the table."""
    assert scorer.committee is not None
    some, cells = rows[:_MEASURED], frame[:_MEASURED]
    voices = scorer.committee.voices.in_one_thread
    Z = voices.standardizer.transform(some)
    whole = _seconds(lambda: scorer.one_by_one(some, cells)) / len(some)
    near = _seconds(lambda: voices.core.each(Z)) / len(some)
    forest = _seconds(lambda: voices.forest.scores(Z)) / len(some)
    return RowCost(size, near, forest, max(whole - near - forest, 0.0))


def affordable(cost: RowCost, n_rows: int, at_once: int, seconds: float) -> Size:
    """The largest committee that scores so many rows in the seconds there are, or the smallest there is.

    >>> cost = RowCost(Size(5_000, 5), 8e-6, 5e-6, 7e-6)
    >>> affordable(cost, 1_000_000, 2, 20.0).rows, affordable(cost, 1_000_000, 2, 8.0).rows
    (5000, 1000)
    """
    sizes = (cost.size, *cost.size.smaller())
    return next((size for size in sizes if cost.seconds(n_rows, at_once, size) <= seconds), sizes[-1])


def spared(size: Size, usual: Size, n_rows: int, seconds: float, asked: float) -> str:
    """What was done to score all rows in time."""
    trees = "" if size.trials == usual.trials else " and a smaller forest"
    late = "" if seconds <= asked else ": no committee is quick enough for the time that was asked for"
    return (
        f"to save time the committee was fitted on {wording.count(size.rows)} rows instead of "
        f"{wording.count(usual.rows)}{trees}: scoring {wording.count(n_rows, 'row')} takes about "
        f"{wording.duration(seconds)}{late}"
    )


def _seconds(work: Callable[[], Any]) -> float:
    """Of the second time: the first one compiles, or loads what was compiled."""
    work()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
