"""The figures of the evaluation as computed values; ``render`` draws them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.bench.methods import ELECT
from elect.bench.result import BenchResult
from elect.bench.statistics import RankComparison, compare_ranks

FASTEST_SHOWN = 1e-3
"""Seconds: what is faster than a millisecond is drawn there."""


@dataclass(frozen=True, eq=False)
class CriticalDifferenceInfo:
    """Average ranks of the methods among each other, and beside each its mean AP-rank among the models."""

    title: str
    comparison: RankComparison
    mean_ap_ranks: dict[str, float]
    left_out: tuple[str, ...]

    @classmethod
    def of(cls, result: BenchResult) -> "CriticalDifferenceInfo":
        # A choice of any model is an expectation, not a choice: it has no place in a ranking of methods.
        shown = [m for m in result.complete() if m.name != "random"]
        # Ranks of models are compared, lower being better.
        comparison = compare_ranks(-np.column_stack([m.ranks for m in shown]), [m.name for m in shown])
        names = {m.name for m in shown}
        return cls(
            f"{result.testbed}, {result.source}, {result.protocol}",
            comparison,
            {m.name: m.mean_rank.estimate for m in shown},
            tuple(m.name for m in result.methods if m.name not in names),
        )


@dataclass(frozen=True)
class ParetoPoint:
    name: str
    seconds: float
    mean_rank: float
    is_meta_learning: bool
    on_frontier: bool


@dataclass(frozen=True)
class ParetoInfo:
    """Time against mean AP-rank; on the frontier no other method is both faster and better."""

    title: str
    points: tuple[ParetoPoint, ...]

    @classmethod
    def of(cls, result: BenchResult) -> "ParetoInfo":
        found = [
            (m.name, max(m.seconds, FASTEST_SHOWN), m.mean_rank.estimate, m.is_meta_learning) for m in result.complete()
        ]
        points = []
        for name, seconds, rank, meta in found:
            beaten = any(
                s <= seconds and r <= rank and (s < seconds or r < rank) for other, s, r, _ in found if other != name
            )
            points.append(ParetoPoint(name, seconds, rank, meta, not beaten))
        return cls(f"{result.testbed}, {result.source}, {result.protocol}", tuple(points))

    @property
    def frontier(self) -> tuple[ParetoPoint, ...]:
        """From the fastest to the best."""
        return tuple(sorted((p for p in self.points if p.on_frontier), key=lambda p: (p.seconds, p.mean_rank)))


@dataclass(frozen=True)
class IntervalRow:
    """A method's mean rank with its interval, under each protocol."""

    name: str
    protocols: tuple[str, ...]
    estimates: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


@dataclass(frozen=True)
class IntervalsInfo:
    """All methods of one testbed and source, best first by the first protocol; ``paper`` is the paper's ELECT."""

    title: str
    n_models: int
    rows: tuple[IntervalRow, ...]
    paper: float | None

    @classmethod
    def of(cls, results: Sequence[BenchResult], paper: float | None = None) -> "IntervalsInfo":
        first = results[0]
        rows = []
        for m in sorted(first.complete(), key=lambda method: method.mean_rank.estimate):
            of_all = [(r.protocol, r[m.name].mean_rank) for r in results if m.name in r]
            rows.append(
                IntervalRow(
                    m.name,
                    tuple(protocol for protocol, _ in of_all),
                    tuple(interval.estimate for _, interval in of_all),
                    tuple(interval.low for _, interval in of_all),
                    tuple(interval.high for _, interval in of_all),
                )
            )
        return cls(f"{first.testbed} testbed, {first.source} numbers", first.n_models, tuple(rows), paper)

    @property
    def elect(self) -> IntervalRow:
        return next(row for row in self.rows if row.name == ELECT)
