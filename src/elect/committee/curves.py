"""How likely a row is an outlier, by where a model ranks it: the score-to-probability calibration of the history.

A rank is taken relative to the expected number of outliers: u = rank / (rows x share of outliers). On historical tasks
the share is known, and so is how good the model was; the curve of a quality is the share of outliers among the rows at
u, over all models of about that average precision on all tasks, each task weighing the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only

# Levels of average precision, and places on the logarithmic scale of u.
QUALITY_EDGES = np.array([0.0, 0.08, 0.16, 0.26, 0.38, 0.52, 0.68, 0.84, 1.0 + 1e-9])
QUALITIES = (QUALITY_EDGES[:-1] + QUALITY_EDGES[1:]) / 2
PLACE_EDGES = np.linspace(np.log(0.005), np.log(200.0), 31)
N_QUALITIES, N_PLACES = len(QUALITIES), len(PLACE_EDGES) + 1
_ROWS_PER_TASK = 500.0


@dataclass(frozen=True, eq=False)
class OutlierCurves:
    """The chance of an outlier by quality and place, and the shares of outliers of the tasks it was learned on."""

    chance: FloatArray  # (qualities, places)
    shares: FloatArray  # (tasks,)

    @classmethod
    def of(cls, counts: Sequence[FloatArray], shares: Sequence[float]) -> "OutlierCurves":
        """From the counts of each task, of ``task_counts``."""
        if not counts:
            raise InvalidInput("Outlier curves must be learned on at least one task, got none.")
        outliers, rows = np.sum(counts, axis=0)
        # Half a row that is an outlier in one of ten stands for what was hardly ever seen.
        chance = np.clip((outliers + 0.05) / (rows + 0.5), 0.002, 0.995)
        fitted = [_falling(row, weight) for row, weight in zip(chance, rows, strict=True)]
        return cls(read_only(np.array(fitted)), read_only(np.asarray(shares, dtype=np.float64)))

    def to_json(self) -> dict[str, Any]:
        return {"chance": self.chance.tolist(), "shares": self.shares.tolist()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "OutlierCurves":
        try:
            chance = np.array([list(row) for row in values["chance"]], dtype=np.float64)
            shares = np.array(list(values["shares"]), dtype=np.float64)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(f"The calibration of the database cannot be read ({error}): train it again.") from None
        proper = chance.shape == (N_QUALITIES, N_PLACES) and shares.ndim == 1 and len(shares) > 0
        if not proper or not ((chance > 0) & (chance < 1)).all() or not ((shares > 0) & (shares < 1)).all():
            raise InvalidInput("The calibration of the database is out of range: train it again.")
        return cls(read_only(chance), read_only(shares))


def task_counts(ranks: FloatArray, y: NDArray[Any], performance: FloatArray) -> FloatArray:
    """Outliers and rows by quality and place on one task (2, qualities, places), from ranks (rows x models)."""
    n, share = len(y), float(np.mean(y))
    places = place_of(np.log((ranks - 0.5) / (n * share)))
    quality = np.digitize(performance, QUALITY_EDGES) - 1
    cells = quality[None, :] * N_PLACES + places
    size = N_QUALITIES * N_PLACES
    rows = np.bincount(cells.ravel(), minlength=size)
    outliers = np.bincount(cells[np.asarray(y) == 1].ravel(), minlength=size)
    shape = (2, N_QUALITIES, N_PLACES)
    return np.array([outliers, rows], dtype=np.float64).reshape(shape) * (_ROWS_PER_TASK / n)


def place_of(log_u: FloatArray) -> NDArray[np.intp]:
    """The place of u = rank / expected outliers on the scale of the curves."""
    return np.digitize(log_u, PLACE_EDGES)


def _falling(values: FloatArray, rows: FloatArray) -> FloatArray:
    """The nearest falling curve: a row that a model finds less outlying is never likelier to be an outlier. Places that
    were never seen hardly weigh, and take after those beside them."""
    from scipy.optimize import isotonic_regression

    fitted: FloatArray = isotonic_regression(values, weights=rows + 1e-3, increasing=False).x
    return fitted
