"""ECOD: how far out in the tails of its columns a row stands, by the columns' empirical distributions. No parameters.

PyOD scores new rows among themselves and with the fitted ones; here the fitted columns alone decide, so that a row
scores the same in any company. A value beyond all fitted ones counts as the one in n + 1 that is farthest out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elect.errors import StoreError
from elect.pool.families._base import Cost, Family, Params, Piece
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_COST = Cost(0.0003, cells=1.3e-07)


class ECOD(Family):
    name = "ECOD"
    defaults = {}
    grid = {}

    def supports(self, params: Params) -> bool:
        return not params

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        return np.column_stack([self.fit(work, p).scores(work.Z) for p in params])

    def fit(self, work: "SharedWork", params: Params) -> "FittedECOD":
        centered = work.Z - work.Z.mean(axis=0)
        skewness = np.sign((centered * centered * centered).mean(axis=0))
        return FittedECOD(read_only(np.sort(work.Z.T, axis=1)), read_only(skewness, np.int32))

    def restore(self, stored: Stored) -> "FittedECOD":
        columns = stored.array("columns", (stored.n_features, None))
        skewness = stored.array("skewness", (stored.n_features,), np.int32)
        if not bool((np.diff(columns, axis=1) >= 0).all() and (np.abs(skewness) <= 1).all()):
            raise StoreError("Its columns must ascend, and be skewed to the left, to the right or not at all.")
        return FittedECOD(columns, skewness)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return (Piece(self.name, None, _COST),)

    def pyod_class(self) -> type:
        from pyod.models.ecod import ECOD as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedECOD:
    columns: FloatArray  # (columns, rows) each in ascending order
    skewness: NDArray[np.int32]  # (columns,) its sign

    def scores(self, Z: FloatArray) -> FloatArray:
        n = self.columns.shape[1]
        # -log of the share of fitted values as far out, by their number.
        rarity = -np.log(np.arange(n + 1).clip(n / (n + 1)) / n)
        total = np.zeros(len(Z))
        for column, skewness, values in zip(self.columns, self.skewness, np.ascontiguousarray(Z.T), strict=True):
            order = np.argsort(values)  # sorted values are looked up many times faster
            ordered = values[order]
            left = rarity[np.searchsorted(column, ordered, side="right")]
            right = rarity[n - np.searchsorted(column, ordered, side="left")]
            # The tail that the column is skewed to; both, if to none.
            corrected = right if skewness > 0 else left if skewness < 0 else left + right
            total[order] += np.maximum(np.maximum(left, right), corrected)
        return total

    def plain(self) -> tuple[Numbers, Arrays]:
        return {}, {"columns": self.columns, "skewness": self.skewness}


FAMILY = ECOD()
