"""ABOD: how little the angles between a row's neighbours, seen from the row, differ.

PyOD counts a row among its own neighbours; the published scores do not, and neither do these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.pool import kernels
from elect.pool.families._base import Cost, Params, Piece
from elect.pool.families._neighbors import FEW, NeighborFamily, at, geometry_pieces, stored_index
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_COST = Cost(9.7e-05, rows=1.3e-08)


class ABOD(NeighborFamily):
    name = "ABOD"
    defaults = {"n_neighbors": 5}
    grid = {"n_neighbors": FEW}
    in_paper = True

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        ks = [p["n_neighbors"] for p in params]
        return np.column_stack([abod_scores(at(work.geometry(k).angle_variance, k)) for k in ks])

    def fit(self, work: "SharedWork", params: Params) -> "FittedABOD":
        lowest = float(self.scores(work, [params]).min())
        return FittedABOD(work.neighbor_index, params["n_neighbors"], lowest, work.n_jobs)

    def restore(self, stored: Stored) -> "FittedABOD":
        return FittedABOD(stored_index(stored), stored.count("k"), stored.number("lowest"), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return *geometry_pieces(), Piece(self.name, params["n_neighbors"], _COST)

    def pyod_class(self) -> type:
        from pyod.models.abod import ABOD as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedABOD:
    index: "kernels.neighbors.NeighborIndex"
    k: int
    lowest: float  # the smallest training score, for rows that see no angle
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, "euclidean", n_jobs=self.n_jobs)
        geometry = kernels.geometry.local_geometry(self.index.rows, Z, graph, self.k, self.n_jobs)
        variance = geometry.angle_variance[:, -1]
        return -np.where(np.isnan(variance), -self.lowest, variance)

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"k": self.k, "lowest": self.lowest}, {"rows": self.index.rows}


def abod_scores(variance: FloatArray) -> FloatArray:
    """ABOD scores: the variance of the weighted cosines, negated.

    A row that coincides with all its neighbours but one or none sees no angle; nothing is less outlying, so it gets the
    smallest score of the table (0 if no row sees an angle).

    >>> abod_scores(np.array([2.0, np.nan, 5.0]))
    array([-2., -5., -5.])
    """
    seen = np.isfinite(variance)
    if not seen.any():
        return np.zeros_like(variance)
    return -np.where(seen, variance, variance[seen].max())


FAMILY = ABOD()
