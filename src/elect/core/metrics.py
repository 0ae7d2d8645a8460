"""How well each model did on a task whose outliers are known."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.core import ScoreMatrix
from elect.core.ranks import rank
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray

Metric = str | Callable[[Any, Any], float]


def performance(scores: ScoreMatrix, y: NDArray[np.int8], metric: Metric = "ap") -> FloatArray:
    """The performance of every model: ``ap``, ``roc``, ``prn`` (precision at the number of outliers), or a callable.

    >>> scores = ScoreMatrix([[0.9, 0.1], [0.2, 0.2], [0.1, 0.9]], ("good", "bad"))
    >>> performance(scores, np.array([1, 0, 0])).round(3)
    array([1.   , 0.333])
    """
    y = np.asarray(y)
    if y.min() == y.max():
        raise InvalidInput("Performance must be measured on a task with both outliers and normal rows.")
    if callable(metric):
        values = np.array([float(metric(y, scores.values[:, j])) for j in range(len(scores.model_ids))])
        if not np.isfinite(values).all():
            raise InvalidInput(f"The metric {metric_name(metric)!r} must give finite values; some are not.")
        return values
    try:
        function = METRICS[metric]
    except (KeyError, TypeError):
        raise InvalidInput(f"metric must be one of {', '.join(METRICS)}, or a callable, got {metric!r}.") from None
    return function(scores.values, y)


def metric_name(metric: Metric) -> str:
    """How a metric is called in files."""
    return metric if isinstance(metric, str) else str(getattr(metric, "__name__", type(metric).__name__))


def _curves(scores: FloatArray, y: NDArray[Any]) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Per model, rows most outlying first: outliers found so far, and where a run of equal scores ends."""
    order = np.argsort(-scores, axis=0, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=0)
    found = np.cumsum(y[order], axis=0, dtype=np.float64)
    ends = np.empty(scores.shape, dtype=bool)
    ends[:-1] = ordered[1:] != ordered[:-1]
    ends[-1] = True
    return found, ordered, ends


def average_precision(scores: FloatArray, y: NDArray[Any]) -> FloatArray:
    """Average precision of each column, equal scores taken together as scikit-learn does."""
    found, _, ends = _curves(scores, y)
    place = np.arange(1, len(y) + 1, dtype=np.float64)[:, None]
    precision = found / place
    # Recall gained since the last run of equal scores.
    at_ends = np.where(ends, found, -1.0)
    before = np.maximum.accumulate(np.vstack([np.zeros((1, scores.shape[1])), at_ends[:-1]]), axis=0)
    gained = np.where(ends, found - before, 0.0)
    result: FloatArray = (precision * gained).sum(axis=0) / y.sum()
    return result


def roc_auc(scores: FloatArray, y: NDArray[Any]) -> FloatArray:
    """The area under the ROC curve of each column: the chance that an outlier scores above a normal row."""
    ranks = rank(scores, "ascending")
    positive = int(y.sum())
    total: FloatArray = ranks[y == 1].sum(axis=0)
    result: FloatArray = (total - positive * (positive + 1) / 2) / (positive * (len(y) - positive))
    return result


def precision_at_n(scores: FloatArray, y: NDArray[Any]) -> FloatArray:
    """The share of outliers among as many most outlying rows as there are outliers.

    Rows that tie for the last places count with the share of outliers among them, so that the order of rows is of no
    consequence.
    """
    positive = int(y.sum())
    limit = np.partition(scores, len(y) - positive, axis=0)[len(y) - positive]
    above, level = scores > limit, scores == limit
    room = positive - above.sum(axis=0)
    found = (above & (y == 1)[:, None]).sum(axis=0) + room * (level & (y == 1)[:, None]).sum(axis=0) / level.sum(axis=0)
    result: FloatArray = found / positive
    return result


METRICS: dict[str, Callable[[FloatArray, NDArray[Any]], FloatArray]] = {
    "ap": average_precision,
    "roc": roc_auc,
    "prn": precision_at_n,
}
