"""Which input columns make a row unusual, by the chosen detector's own score.

A column's values in the row are replaced by typical ones and the row is scored again: the further the score falls, the
more the column has to do with it. All replacements of all rows are scored in one batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray, IntArray

ScoreRows = Callable[[FloatArray], FloatArray]

TYPICAL_ROWS = 5
"""How many typical values a column is tried with; odd, so that the median is one of them."""

MOST_COLUMNS = 60
"""Of a wider table, only the columns in which a row lies furthest from the median are tried."""

SMALLEST_SHARE = 0.05
_CELLS_AT_ONCE = 20_000_000


@dataclass(frozen=True)
class ColumnDrop:
    """How far a row's score falls when one column is made typical, also as a share of what is unusual about the row."""

    column: int
    drop: float
    share: float


def typical_values(X: FloatArray, scores: FloatArray, groups: Sequence[IntArray]) -> FloatArray:
    """A few typical values of every group of features (typical, features), all from rows that really occur.

    They are evenly spread quantiles of the group among the rows that score below the median: for one number the 10th,
    30th, 50th, 70th and 90th percentiles; for a category mostly the frequent ones, and never half of two categories.

    >>> X = np.arange(11.0)[:, None]
    >>> typical_values(X, np.zeros(11), [np.array([0])]).ravel()
    array([1., 3., 5., 7., 9.])
    """
    usual = X[scores <= np.median(scores)]
    places = ((np.arange(TYPICAL_ROWS) + 0.5) / TYPICAL_ROWS * len(usual)).astype(np.intp)
    typical = np.empty((TYPICAL_ROWS, X.shape[1]))
    for group in groups:
        values = usual[:, group]
        order = np.lexsort(values.T[::-1])
        typical[:, group] = values[order[places]]
    return typical


def column_drops(
    score: ScoreRows,
    rows: FloatArray,
    typical: FloatArray,
    groups: Sequence[IntArray],
    *,
    ordinary: float,
    most: int = 3,
) -> list[tuple[ColumnDrop, ...]]:
    """For each row, the columns that explain most of its score, largest first.

    ``groups`` holds, for each input column, the positions of its features; ``ordinary`` is the score of an ordinary row
    (the median). The drop is to the lowest score that any of the typical values leads to; its share is relative to how
    far the row's score lies above the ordinary one, so 1 means that this column alone makes the row unusual. Columns
    under a share of 5% are left out.

    >>> rows = np.array([[0.0, 9.0]])
    >>> far = lambda X: np.abs(X).max(axis=1)
    >>> column_drops(far, rows, np.zeros((5, 2)), [np.array([0]), np.array([1])], ordinary=0.0)
    [(ColumnDrop(column=1, drop=9.0, share=1.0),)]
    """
    tried = _columns_to_try(rows, typical, groups)
    base = score(rows)
    lowest = np.full((len(rows), len(groups)), np.inf)
    pairs = [(row, int(column)) for row in range(len(rows)) for column in tried[row]]
    step = max(1, _CELLS_AT_ONCE // (len(typical) * rows.shape[1]))
    for start in range(0, len(pairs), step):
        part = pairs[start : start + step]
        changed = np.repeat(rows[[row for row, _ in part]], len(typical), axis=0)
        for place, (_, column) in enumerate(part):
            here = slice(place * len(typical), (place + 1) * len(typical))
            changed[here, groups[column]] = typical[:, groups[column]]
        found = score(changed).reshape(len(part), len(typical)).min(axis=1)
        for (row, column), value in zip(part, found, strict=True):
            lowest[row, column] = value
    return [_largest(base[row], lowest[row], ordinary, most) for row in range(len(rows))]


def _columns_to_try(rows: FloatArray, typical: FloatArray, groups: Sequence[IntArray]) -> list[NDArray[np.intp]]:
    if len(groups) <= MOST_COLUMNS:
        return [np.arange(len(groups))] * len(rows)
    away = np.square(rows - typical[len(typical) // 2])
    distances = np.column_stack([away[:, group].sum(axis=1) for group in groups])
    return list(np.argsort(-distances, axis=1, kind="stable")[:, :MOST_COLUMNS])


def _largest(base: float, lowest: FloatArray, ordinary: float, most: int) -> tuple[ColumnDrop, ...]:
    excess = base - ordinary
    if not excess > 0:
        return ()
    drops = [
        ColumnDrop(int(column), float(base - lowest[column]), float((base - lowest[column]) / excess))
        for column in np.argsort(lowest, kind="stable")[:most]
    ]
    return tuple(drop for drop in drops if drop.share >= SMALLEST_SHARE)
