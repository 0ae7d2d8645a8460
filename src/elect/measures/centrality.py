"""Model centrality (MC): a model that ranks the points as most others do is probably a good one."""

from dataclasses import dataclass

import numpy as np

from elect.core.ranks import RankMeasure, RankReference
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import compiled


@dataclass(frozen=True, eq=False)
class CentralityReference(RankReference):
    """``direction`` is the mean of the anchors' centred ranks, each scaled to unit length.

    The mean correlation with all anchors is then the correlation with one vector: the anchors cost nothing later.
    """

    direction: FloatArray

    def _fill(self, ranks_by_model: FloatArray, values: FloatArray) -> None:
        _fill_cosines(ranks_by_model, self.direction, values)


@dataclass(frozen=True)
class Centrality(RankMeasure):
    """The mean Spearman correlation of a model's scores with the anchors'.

    A model that is itself an anchor counts its correlation with itself, which is 1, like any other: the value then
    depends on scores and anchors alone, not on the model's name, and a copy of an anchor has the anchor's value.
    A model whose scores are all equal ranks nothing; its correlation with anything, itself included, is 0.

    >>> from elect.core import ScoreMatrix
    >>> anchors = ScoreMatrix([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]], ("a", "b"))
    >>> Centrality().reference(anchors).values(np.array([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]))
    array([0.75, 0.  ])
    """

    name: str = "mc"

    def reference_of_ranks(self, anchor_ranks: FloatArray) -> CentralityReference:
        n_points = anchor_ranks.shape[0]
        centred = anchor_ranks - 0.5 * (n_points + 1)
        lengths = np.sqrt((centred**2).sum(axis=0))
        units = centred / np.where(lengths > 0.0, lengths, 1.0)
        return CentralityReference(self.convention, n_points, read_only(units.mean(axis=1)))


@compiled()
def _fill_cosines(ranks_by_model: FloatArray, direction: FloatArray, values: FloatArray) -> None:
    n_models, n_points = ranks_by_model.shape
    middle = 0.5 * (n_points + 1)
    for model in range(n_models):
        along = 0.0
        squares = 0.0
        for point in range(n_points):
            centred = ranks_by_model[model, point] - middle
            along += centred * direction[point]
            squares += centred * centred
        values[model] = along / np.sqrt(squares) if squares > 0.0 else 0.0
