"""What the pool agrees on: the chance of each row to be an outlier by all models together, without any label.

A model that ranks a row within the share of outliers speaks for it, one that ranks it far below speaks against it. The
share is not known, so that several are averaged. The model whose ranking fits the common opinion best, by the average
precision to be expected if rows were outliers with these chances, is the consensus pick.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray
from elect.support.compiled import compiled

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""The shares of outliers that are averaged over."""

STEEPNESS = 1.5
"""How fast a model's word falls with the rank of a row. Neither was tuned."""


def consensus_chance(ranks: FloatArray) -> FloatArray:
    """The chance of each row to be an outlier (rows,), from descending ranks (rows x models), 1 the most outlying.

    >>> int(consensus_chance(np.array([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]])).argmax())
    0
    """
    out = np.zeros(ranks.shape[0])
    _add_chances(np.ascontiguousarray(ranks.T), np.array(SHARES), STEEPNESS, out)
    return out


@dataclass(frozen=True, eq=False)
class RankedRows:
    """The rows of each model, most outlying first (models x rows), and the ranks they have; ties share their mean."""

    order: NDArray[np.int32]
    ranks: NDArray[np.float32]

    @classmethod
    def of(cls, ranks: FloatArray) -> "RankedRows":
        """From descending ranks (rows x models)."""
        order = np.argsort(ranks.T, axis=1, kind="stable").astype(np.int32)
        # Ranks are multiples of one half: single precision holds them exactly up to eight million rows.
        return cls(order, np.ascontiguousarray(np.take_along_axis(ranks.T, order, axis=1), dtype=np.float32))


def expected_performance(rows: RankedRows, chance: FloatArray) -> FloatArray:
    """The average precision of every model (models,) if rows are outliers with these chances.

    Tied rows come at once, as in the average precision itself: in their order in the table they would tell something
    about a table that is sorted by its labels.
    """
    out = np.empty(len(rows.order))
    _soft_average_precision(rows.order, chance, rows.ranks, out)
    return out


@compiled()
def _add_chances(ranks, shares, steepness, out):  # type: ignore[no-untyped-def]
    n_models, n = ranks.shape
    # A model's word depends on the rank alone; ranks are multiples of one half.
    table = np.zeros(2 * n + 1)
    for half in range(2, 2 * n + 1):
        place = (0.5 * half - 0.5) / n
        for share in shares:
            table[half] += 1.0 / (1.0 + (place / share) ** steepness)
    scale = 1.0 / (n_models * len(shares))
    for m in range(n_models):
        for i in range(n):
            out[i] += table[int(2.0 * ranks[m, i] + 0.5)]
    for i in range(n):
        out[i] *= scale


@compiled()
def _soft_average_precision(order, chance, ranks, out):  # type: ignore[no-untyped-def]
    total = 0.0
    for p in chance:
        total += p
    n = order.shape[1]
    for m in range(order.shape[0]):
        before = 0.0
        value = 0.0
        start = 0
        while start < n:
            # The mean rank of tied rows tells how many they are.
            end = min(max(start + int(2.0 * (ranks[m, start] - start) - 0.5), start + 1), n)
            tied = 0.0
            for place in range(start, end):
                tied += chance[order[m, place]]
            for place in range(start, end):
                p = chance[order[m, place]]
                # If this row is an outlier, it is one more than those expected before it and beside it.
                value += p * (before + tied - p + 1.0) / end
            before += tied
            start = end
        out[m] = value / total
