"""What is known of a row: how the models of the pool rank it and what is odd about its cells, relative to its table.

Everything is relative to the rows that were fitted, so that a row is described the same alone or in any batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.core.models import ModelPool
from elect.support.arrays import FloatArray, for_kernel
from elect.support.compiled import compiled
from elect.tables.cells import NAMES, Signals

QUANTILES = (0.5, 0.9, 0.99)
"""Of what the rows of a table have: where extremes are common they are no errors."""

CellSummary = NDArray[np.float32]
"""(rows, 3, signals): the largest signal of a row over its cells, the second largest, and the mean"""

RANKED = ("far", "far_least", "gap", "alone", "rare", "residual", "excess", "unlikely")
"""Signals whose place among the rows of the table counts too."""


def summarize(signals: Signals) -> CellSummary:
    """What the cells of each row say together."""
    n, columns, kinds = signals.shape
    out = np.zeros((n, 3, kinds), dtype=np.float32)
    if columns > 1:
        ordered = np.partition(signals, columns - 2, axis=1)
        out[:, 0], out[:, 1] = ordered[:, -1], ordered[:, -2]
    else:
        out[:, 0] = signals[:, 0]
    out[:, 2] = signals.mean(axis=1)
    return out


@dataclass(frozen=True, eq=False)
class RowTable:
    """What a row of one table is compared with."""

    families: tuple[str, ...]
    """The family of each model, a column of ``scores`` each."""
    scores: FloatArray
    """(models, rows) sorted"""
    middle: FloatArray
    spread: FloatArray
    """(models,) the median score, and how far the highest tenth lies above it"""
    tops: FloatArray
    """(signals, rows) sorted: the largest signal of each row"""
    context: FloatArray
    """What is the same for every row of the table"""

    @classmethod
    def fit(cls, families: Sequence[str], scores: FloatArray, cells: CellSummary, shape: tuple[int, int]) -> "RowTable":
        """``scores`` are rows x models, ``cells`` of these rows or more, ``shape`` columns of numbers and of words."""
        ordered = np.sort(scores, axis=0).T
        middle = np.median(scores, axis=0)
        spread = np.quantile(scores, 0.9, axis=0) - middle
        tops = np.sort(cells[:, 0], axis=0).T.astype(np.float64)
        far = _steps(scores, middle, spread)
        context = np.r_[
            np.log(len(scores)),
            *np.log1p(shape),
            np.quantile(tops, QUANTILES, axis=1).T.ravel(),
            *(np.quantile(_by_family(families, far)[f], (0.99, 1.0)) for f in sorted(set(families))),
        ]
        return cls(tuple(families), ordered, middle, spread, tops, context)

    def describe(self, scores: FloatArray, cells: CellSummary) -> FloatArray:
        """The features of rows (rows, features), named by ``feature_names``."""
        n = len(scores)
        ranks = np.column_stack([log_rank(s, column) for s, column in zip(self.scores, scores.T, strict=True)])
        by_rank = _by_family(self.families, ranks)
        by_far = _by_family(self.families, _steps(scores, self.middle, self.spread))
        kinds = sorted(by_rank)
        families = np.column_stack([by_rank[f] for f in kinds])
        top = cells[:, 0].astype(np.float64)
        places = [NAMES.index(name) for name in RANKED]
        return np.column_stack(
            [
                families,
                np.column_stack([by_far[f] for f in kinds]),
                families.mean(axis=1),
                families.max(axis=1),
                families.std(axis=1),
                cells.reshape(n, -1),
                np.column_stack([log_rank(self.tops[k], top[:, k]) for k in places]),
                np.tile(self.context, (n, 1)),
            ]
        )


def feature_names(families: Sequence[str]) -> tuple[str, ...]:
    """The names of the features, in order."""
    kinds = sorted(set(families))
    names = [f"rank {f}" for f in kinds] + [f"far {f}" for f in kinds] + ["rank mean", "rank max", "rank spread"]
    names += [f"{name} first" for name in NAMES] + [f"{name} second" for name in NAMES]
    names += [f"{name} mean" for name in NAMES] + [f"rank of {name}" for name in RANKED]
    names += ["rows", "numbers", "words"]
    names += [f"{name} at {q}" for name in NAMES for q in QUANTILES]
    names += [f"far {f} at {q}" for f in kinds for q in (0.99, 1.0)]
    return tuple(names)


def log_rank(ordered: FloatArray, values: FloatArray) -> FloatArray:
    """Minus the logarithm of the share of fitted values that are at least so large, ties at their middle.

    >>> log_rank(np.array([1.0, 2.0, 2.0, 9.0]), np.array([10.0, 9.0, 2.0])).round(2)
    array([2.08, 2.08, 0.69])
    """
    above = np.empty(len(values))
    _count_above(for_kernel(ordered), for_kernel(values), above)
    result: FloatArray = -np.log(np.maximum(above, 0.5) / len(ordered))
    return result


@compiled()
def _count_above(ordered, values, out):  # type: ignore[no-untyped-def]
    """How many of the ordered values are larger than each value, half of those that are equal added."""
    n = len(ordered)
    for i in range(len(values)):
        x = values[i]
        first = _first_not(ordered, 0, n, x, False)
        # Few values are met again: only then is the end of the equal ones looked for.
        last = _first_not(ordered, first, n, x, True) if first < n and ordered[first] == x else first
        out[i] = (n - last) + 0.5 * (last - first)


@compiled()
def _first_not(ordered, start, stop, x, or_equal):  # type: ignore[no-untyped-def]
    """The first place from ``start`` on whose value is not below x (``or_equal``: nor equal to it)."""
    size = stop - start
    while size > 0:
        half = size // 2
        y = ordered[start + half]
        below = y <= x if or_equal else y < x
        start = start + half + 1 if below else start
        size = size - half - 1 if below else half
    return start


def _steps(scores: FloatArray, middle: FloatArray, spread: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        away = np.nan_to_num((scores - middle) / spread, nan=0.0, posinf=0.0, neginf=0.0)
    return np.log1p(np.maximum(away, 0.0))


def _by_family(families: Sequence[str], values: FloatArray) -> dict[str, FloatArray]:
    kinds: NDArray[np.str_] = np.array(families)
    return {f: values[:, kinds == f].mean(axis=1) for f in set(families)}


def families_of(pool: ModelPool) -> tuple[str, ...]:
    """The family of each model of a pool."""
    return tuple(spec.detector for spec in pool)
