"""What else one would run on a table: PyOD's detectors after the usual preprocessing, and the largest robust z-score.

Each is a function from a table to a score a row; higher means more outlying.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from elect.support.arrays import FloatArray

MAX_LEVELS = 20
"""Columns of words with more levels become the frequency of the level; those with fewer, a column a level."""

MAD_TO_SD, MEAN_TO_SD = 1.4826, 1.2533
"""What makes a standard deviation, for normal data, of the median and of the mean absolute deviation."""


def usual_preprocessing(table: pl.DataFrame) -> FloatArray:
    """Numbers with gaps filled by the median, words one-hot or by frequency, dates as seconds; all standardised.

    >>> usual_preprocessing(pl.DataFrame({"a": [1, 3, None], "b": ["x", "y", "y"]})).round(2).tolist()
    [[-1.22, 1.41, -1.41], [1.22, -0.71, 0.71], [0.0, -0.71, 0.71]]
    """
    parts = [part for column in table for part in _as_numbers(column)]
    X = np.column_stack(parts) if parts else np.zeros((table.height, 1))
    X = X[:, X.min(axis=0) < X.max(axis=0)]
    if not X.shape[1]:
        return np.zeros((table.height, 1))
    standard: FloatArray = (X - X.mean(axis=0)) / X.std(axis=0)
    return standard


def _as_numbers(column: pl.Series) -> list[FloatArray]:
    if column.dtype != pl.String:
        return [_filled(_numbers(column))]
    levels = column.drop_nulls().unique().sort()
    if len(levels) > MAX_LEVELS:
        return [_shares(column)]
    return [(column == level).fill_null(False).to_numpy().astype(np.float64) for level in levels]


def _numbers(column: pl.Series) -> FloatArray:
    """Numbers, truth values and dates as floats, NaN where they are missing."""
    plain = column.dt.epoch("s") if column.dtype.is_temporal() else column
    numbers: FloatArray = plain.cast(pl.Float64).to_numpy().astype(np.float64)
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _filled(numbers: FloatArray) -> FloatArray:
    known = numbers[np.isfinite(numbers)]
    return np.where(np.isfinite(numbers), numbers, np.median(known) if len(known) else 0.0)


def _shares(column: pl.Series) -> FloatArray:
    """For each row the share of the rows that have its value. A missing value is a value."""
    _, level, count = np.unique(column.fill_null("").to_numpy().astype(str), return_inverse=True, return_counts=True)
    shares: FloatArray = count[level] / len(column)
    return shares


def pyod_scores(table: pl.DataFrame, detector: str, **parameters: Any) -> FloatArray:
    """Scores of a PyOD detector with its defaults."""
    from pyod.models.ecod import ECOD
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN

    model = {"IForest": IForest, "KNN": KNN, "ECOD": ECOD}[detector](**parameters)
    return np.asarray(model.fit(usual_preprocessing(table)).decision_scores_, dtype=np.float64)


def cell_z_scores(table: pl.DataFrame) -> FloatArray:
    """How far out every cell is, rows x columns: robust z-scores; a word as the normal value that is as rare.

    >>> z = cell_z_scores(pl.DataFrame({"a": [1.0, 2.0, 3.0, 90.0], "b": ["x", "x", "x", "y"]}))
    >>> [int(z[:, 0].argmax()), int(z[:, 1].argmax())]
    [3, 3]
    """
    from scipy.stats import norm

    columns = []
    for column in table:
        if column.dtype == pl.String or column.dtype == pl.Boolean:
            columns.append(norm.isf(_shares(column.cast(pl.String)) / 2))
            continue
        numbers = _filled(_numbers(column))
        off = np.abs(numbers - np.median(numbers))
        scale = MAD_TO_SD * np.median(off) or MEAN_TO_SD * off.mean() or 1.0
        columns.append(off / scale)
    return np.column_stack(columns)


def largest_z_score(table: pl.DataFrame) -> FloatArray:
    """The largest robust z-score among the cells of a row."""
    largest: FloatArray = cell_z_scores(table).max(axis=1)
    return largest


RIVALS: dict[str, Callable[[pl.DataFrame], FloatArray]] = {
    "PyOD IForest": partial(pyod_scores, detector="IForest", random_state=0),
    "PyOD KNN": partial(pyod_scores, detector="KNN"),
    "PyOD ECOD": partial(pyod_scores, detector="ECOD"),
    "largest robust z-score": largest_z_score,
}
