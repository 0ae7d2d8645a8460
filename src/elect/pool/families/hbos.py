"""HBOS: the sum over columns of how rare the row's histogram bin is. One pass serves every alpha."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.errors import StoreError
from elect.pool import kernels
from elect.pool.families._base import Cost, Family, Params, Piece, is_count, is_share
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_MAX_BINS = 10_000
_COST = Cost(0.00028, cells=1.5e-08)


class HBOS(Family):
    name = "HBOS"
    defaults = {"n_bins": 10, "alpha": 0.1}
    grid = {"n_bins": (5, 10, 20, 30, 40, 50, 75, 100), "alpha": (0.1, 0.2, 0.3, 0.4, 0.5)}
    in_paper = True

    def supports(self, params: Params) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_bins"], 2, _MAX_BINS)
            and is_share(params["alpha"])
            and params["alpha"] < 1
        )

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        return (params["n_bins"],)

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        alphas = tuple(sorted({p["alpha"] for p in params}))
        scores: FloatArray = kernels.hbos.hbos_scores(work.Z, (params[0]["n_bins"],), alphas)[0]
        return scores[[alphas.index(p["alpha"]) for p in params]].T

    def fit(self, work: "SharedWork", params: Params) -> "FittedHBOS":
        edges, heights = kernels.hbos.fit_histograms(work.Z, params["n_bins"], params["alpha"])
        return FittedHBOS(read_only(edges), read_only(heights))

    def restore(self, stored: Stored) -> "FittedHBOS":
        heights = stored.array("heights", (stored.n_features, None))
        edges = stored.array("edges", (stored.n_features, heights.shape[1] + 1))
        if not bool((np.diff(edges, axis=1) >= 0).all() and (edges[:, -1] > edges[:, 0]).all()):
            raise StoreError("The edges of its histograms must ascend.")
        return FittedHBOS(edges, heights)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return (Piece(self.name, params["n_bins"], _COST),)

    def pyod_class(self) -> type:
        from pyod.models.hbos import HBOS as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedHBOS:
    edges: FloatArray  # (columns, bins + 1)
    heights: FloatArray  # (columns, bins): log2(density + alpha)

    def scores(self, Z: FloatArray) -> FloatArray:
        return kernels.hbos.new_scores(Z, self.edges, self.heights)

    def plain(self) -> tuple[Numbers, Arrays]:
        return {}, {"edges": self.edges, "heights": self.heights}


FAMILY = HBOS()
