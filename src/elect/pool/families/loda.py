"""LODA: the mean log rarity of a row along random sparse projections, the mean over trials.

Projections are drawn once per trial; a model with fewer cuts reads a prefix of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.pool import kernels
from elect.pool.families._base import Cost, Family, Params, Piece, is_count
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_MAX_BINS = 10_000
_COST = Cost(0.0029, rows=1.1e-06, each_trial=True)


class LODA(Family):
    name = "LODA"
    defaults = {"n_bins": 10, "n_random_cuts": 100}
    grid = {"n_bins": (5, 10, 15, 20, 25, 30), "n_random_cuts": (10, 20, 30, 40, 50, 75, 100, 150, 200)}
    in_paper = True
    is_random = True

    def supports(self, params: Params) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_bins"], 2, _MAX_BINS)
            and is_count(params["n_random_cuts"], 1, 100_000)
        )

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        return ()

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        n_bins = tuple(sorted({p["n_bins"] for p in params}))
        n_cuts = tuple(sorted({p["n_random_cuts"] for p in params}))
        scores = kernels.loda.loda_scores(work.Z, _projections(work, max(n_cuts)), n_bins, n_cuts, work.n_jobs)
        rows = [n_bins.index(p["n_bins"]) for p in params]
        columns = [n_cuts.index(p["n_random_cuts"]) for p in params]
        return scores[rows, columns].T

    def fit(self, work: "SharedWork", params: Params) -> "FittedLODA":
        projections = _projections(work, params["n_random_cuts"])
        found = kernels.loda.fit_histograms(work.Z, projections, params["n_bins"])
        return FittedLODA(projections, *(read_only(array) for array in found))

    def restore(self, stored: Stored) -> "FittedLODA":
        features = stored.indices("features", (None, None, None), np.int32, stored.n_features)
        trials, cuts, _ = features.shape
        return FittedLODA(
            kernels.loda.Projections(features, stored.array("weights", features.shape)),
            stored.array("lows", (trials, cuts)),
            stored.array("scales", (trials, cuts)),
            stored.array("rarity", (trials, cuts, None)),
        )

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return (Piece(self.name, None, _COST),)

    def pyod_class(self) -> type:
        from pyod.models.loda import LODA as Twin

        return Twin  # type: ignore[no-any-return]


def _projections(work: "SharedWork", n_cuts: int) -> "kernels.loda.Projections":
    return kernels.loda.Projections.draw(work.Z.shape[1], n_cuts, work.trials, work.seed)


@dataclass(frozen=True, eq=False)
class FittedLODA:
    projections: "kernels.loda.Projections"
    lows: FloatArray  # (trials, cuts) where the histogram starts
    scales: FloatArray  # (trials, cuts) fine cells per unit
    rarity: FloatArray  # (trials, cuts, fine cells + 1): -log(share) by fine cell

    def scores(self, Z: FloatArray) -> FloatArray:
        return kernels.loda.new_scores(Z, self.projections, self.lows, self.scales, self.rarity)

    def plain(self) -> tuple[Numbers, Arrays]:
        return {}, {
            "features": self.projections.features,
            "weights": self.projections.weights,
            "lows": self.lows,
            "scales": self.scales,
            "rarity": self.rarity,
        }


FAMILY = LODA()
