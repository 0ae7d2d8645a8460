"""Extremes: how far the values of a row are from the medians of their columns, with one scale a side.

A value is measured by the median distance of the fitted values on its own side of the median, so that a long tail to
one side does not hide what is odd on the other. A row scores its largest value, its two largest, or all of them. It
finds values that are wrong; it does not see unusual combinations of usual values. PyOD has no such detector for tables.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.errors import StoreError
from elect.pool.families._base import Cost, Family, Params, Piece, own_class
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_HOW = ("largest", "two", "sum")
_COST = Cost(0.0003, cells=5e-08)
_LEAST_SCALE = 1e-9  # in standard deviations: below is rounding


class Extremes(Family):
    name = "Extremes"
    defaults = {"how": "largest"}
    grid = {"how": _HOW}

    def supports(self, params: Params) -> bool:
        return set(params) <= set(self.defaults) and params["how"] in _HOW

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        return ()

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        summed = _summaries(work.Z, *_centers_and_scales(work.Z))
        return np.column_stack([summed[p["how"]] for p in params])

    def fit(self, work: "SharedWork", params: Params) -> "FittedExtremes":
        return FittedExtremes(params["how"], *map(read_only, _centers_and_scales(work.Z)))

    def restore(self, stored: Stored) -> "FittedExtremes":
        center, below, above = (stored.array(name, (stored.n_features,)) for name in ("center", "below", "above"))
        if not bool((np.minimum(below, above) >= _LEAST_SCALE).all()):
            raise StoreError("The scales of its columns must be positive.")
        return FittedExtremes(stored.word("how", _HOW), center, below, above)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return (Piece(self.name, None, _COST),)

    def pyod_class(self) -> type:
        return own_class(self, f"how must be one of {', '.join(_HOW)}")


@dataclass(frozen=True, eq=False)
class FittedExtremes:
    how: str
    center: FloatArray  # (columns,)
    below: FloatArray  # (columns,) the scale of values below the center
    above: FloatArray  # (columns,)

    def scores(self, Z: FloatArray) -> FloatArray:
        return _summaries(Z, self.center, self.below, self.above)[self.how]

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"how": self.how}, {"center": self.center, "below": self.below, "above": self.above}


def _centers_and_scales(Z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The median of each column, and the median distance to it of the values below and of those above.

    Where there are none on a side, the other side tells.

    >>> _centers_and_scales(np.array([[0.0], [0.0], [0.0], [2.0], [6.0]]))
    (array([0.]), array([4.]), array([4.]))
    """
    center = np.median(Z, axis=0)
    below, above = np.ones_like(center), np.ones_like(center)
    for c, column in enumerate(np.ascontiguousarray(Z.T)):
        distance = column - center[c]
        left, right = -distance[distance < 0], distance[distance > 0]
        if len(left) or len(right):
            below[c] = max(np.median(left if len(left) else right), _LEAST_SCALE)
            above[c] = max(np.median(right if len(right) else left), _LEAST_SCALE)
    return center, below, above


def _summaries(Z: FloatArray, center: FloatArray, below: FloatArray, above: FloatArray) -> dict[str, FloatArray]:
    """For each way the scores of rows; column by column, so that a row's sum does not depend on the other rows."""
    first, second, total = np.zeros(len(Z)), np.zeros(len(Z)), np.zeros(len(Z))
    for c, column in enumerate(np.ascontiguousarray(Z.T)):
        distance = column - center[c]
        extreme = np.maximum(distance / above[c], -distance / below[c])
        second = np.maximum(second, np.minimum(first, extreme))
        first = np.maximum(first, extreme)
        total += extreme
    return {"largest": first, "two": first + second, "sum": total}


FAMILY = Extremes()
