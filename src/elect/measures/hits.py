"""HITS: good models point at outlying points, and outlying points are pointed at by good models."""

from dataclasses import dataclass

import numpy as np

from elect.core.ranks import RankMeasure, RankReference
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import compiled


@dataclass(frozen=True, eq=False)
class HitsReference(RankReference):
    """``authorities`` hold a weight a point, scaled so that the hub weights of the anchors have unit norm."""

    authorities: FloatArray

    def _fill(self, ranks_by_model: FloatArray, values: FloatArray) -> None:
        _fill_hubs(ranks_by_model, self.authorities, values)


@dataclass(frozen=True)
class Hits(RankMeasure):
    """The hub weight of a model in the graph of models and points whose edges weigh one over the rank.

    The authorities of the points come from the anchors: the leading singular vector of their inverse ranks. A model's
    hub weight is then one dot product, and the anchors' own hub weights have unit norm together. It is positive; a
    model that tells points apart where the anchors do not (their scores all equal, say) can have more than 1.

    >>> from elect.core import ScoreMatrix
    >>> anchors = ScoreMatrix([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]], ("a", "b"))
    >>> Hits().reference(anchors).values(np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 3.0]])).round(3)
    array([0.707, 0.476])
    """

    name: str = "hits"

    def reference_of_ranks(self, anchor_ranks: FloatArray) -> HitsReference:
        from scipy.linalg import eigh  # only the search needs it; importing it takes a while

        n_points, n_anchors = anchor_ranks.shape
        inverse = 1.0 / anchor_ranks
        # Every edge weighs more than 0, so (Perron) the largest eigenvalue is simple and its vector of one sign.
        square, hubs = eigh(inverse.T @ inverse, subset_by_index=(n_anchors - 1, n_anchors - 1))
        return HitsReference(self.convention, n_points, read_only(inverse @ np.abs(hubs[:, 0]) / square[0]))


@compiled()
def _fill_hubs(ranks_by_model: FloatArray, authorities: FloatArray, values: FloatArray) -> None:
    n_models, n_points = ranks_by_model.shape
    for model in range(n_models):
        hub = 0.0
        for point in range(n_points):
            hub += authorities[point] / ranks_by_model[model, point]
        values[model] = hub
