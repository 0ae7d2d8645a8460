"""kNN: the distance to the k-th neighbour, or the mean or median over the k nearest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.pool import kernels
from elect.pool.families._base import Cost, Params, Piece
from elect.pool.families._neighbors import (
    MANY,
    METRICS,
    Metric,
    NeighborFamily,
    graph_piece,
    stored_index,
    stored_metric,
)
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_METHODS = ("largest", "mean", "median")
_COST = Cost(0.0002, rows=1e-07)


class KNN(NeighborFamily):
    name = "kNN"
    defaults = {"method": "largest", "n_neighbors": 5, "metric": "minkowski"}
    grid = {"method": _METHODS, "n_neighbors": MANY}
    in_paper = True

    def supports(self, params: Params) -> bool:
        return super().supports(params) and params["method"] in _METHODS

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        columns = [
            knn_scores(work.graph(METRICS[p["metric"]], p["n_neighbors"]).distances, p["method"], p["n_neighbors"])
            for p in params
        ]
        return np.column_stack(columns)

    def fit(self, work: "SharedWork", params: Params) -> "FittedKNN":
        return FittedKNN(
            work.neighbor_index, METRICS[params["metric"]], params["method"], params["n_neighbors"], work.n_jobs
        )

    def restore(self, stored: Stored) -> "FittedKNN":
        method = stored.word("method", _METHODS)
        return FittedKNN(stored_index(stored), stored_metric(stored), method, stored.count("k"), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return graph_piece(METRICS[params["metric"]]), Piece(self.name, tuple(params.items()), _COST)

    def pyod_class(self) -> type:
        from pyod.models.knn import KNN as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedKNN:
    index: "kernels.neighbors.NeighborIndex"
    metric: Metric
    method: str
    k: int
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, self.metric, n_jobs=self.n_jobs)
        return knn_scores(graph.distances, self.method, self.k)

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"metric": self.metric, "method": self.method, "k": self.k}, {"rows": self.index.rows}


def knn_scores(distances: FloatArray, method: str, k: int) -> FloatArray:
    """Scores from sorted neighbour distances (rows, at least k); k is capped at their number.

    >>> import numpy as np
    >>> knn_scores(np.array([[1.0, 2.0, 6.0]]), "mean", 3)
    array([3.])
    >>> knn_scores(np.array([[1.0, 2.0, 6.0]]), "median", 2)
    array([1.5])
    """
    k = min(k, distances.shape[1])
    if method == "largest":
        return distances[:, k - 1].copy()
    if method == "mean":
        mean: FloatArray = distances[:, :k].mean(axis=1)
        return mean
    # The distances are sorted, so the median is read off the middle.
    return 0.5 * (distances[:, (k - 1) // 2] + distances[:, k // 2])


FAMILY = KNN()
