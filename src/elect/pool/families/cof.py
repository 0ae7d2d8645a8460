"""COF: how long the chain through a row's neighbours is, beside their own chains.

PyOD scores new rows among themselves; here they are scored against the fitted rows.
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

_COST = Cost(0.0001, rows=1.1e-07)


class COF(NeighborFamily):
    name = "COF"
    defaults = {"n_neighbors": 20}
    grid = {"n_neighbors": FEW}
    in_paper = True

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        columns = []
        for k in (p["n_neighbors"] for p in params):
            chaining = at(work.geometry(k).chaining, k)
            columns.append(cof_scores(chaining, chaining, work.graph("euclidean", k), k))
        return np.column_stack(columns)

    def fit(self, work: "SharedWork", params: Params) -> "FittedCOF":
        k = params["n_neighbors"]
        ceiling = cof_ceiling(self.scores(work, [params]))
        return FittedCOF(work.neighbor_index, at(work.geometry(k).chaining, k), k, ceiling, work.n_jobs)

    def restore(self, stored: Stored) -> "FittedCOF":
        index = stored_index(stored)
        chaining = stored.array("chaining", (len(index.rows),))
        return FittedCOF(index, chaining, stored.count("k"), stored.number("ceiling"), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return *geometry_pieces(), Piece(self.name, params["n_neighbors"], _COST)

    def pyod_class(self) -> type:
        from pyod.models.cof import COF as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedCOF:
    index: "kernels.neighbors.NeighborIndex"
    chaining: FloatArray  # of the training rows
    k: int
    ceiling: float
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, "euclidean", n_jobs=self.n_jobs)
        geometry = kernels.geometry.local_geometry(self.index.rows, Z, graph, self.k, self.n_jobs)
        return cof_scores(geometry.chaining[:, -1], self.chaining, graph, self.k, ceiling=self.ceiling)

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"k": self.k, "ceiling": self.ceiling}, {"rows": self.index.rows, "chaining": self.chaining}


def cof_scores(
    chaining: FloatArray,
    reference: FloatArray,
    graph: "kernels.neighbors.NeighborGraph",
    k: int,
    ceiling: float | None = None,
) -> FloatArray:
    """COF: a row's average chaining distance over the mean of its neighbours' own.

    Duplicates chain at no cost: 0/0 is 0, as in PyOD; a row away from a pile of duplicates (x/0) gets ``ceiling``, by
    default one more than the largest finite score.
    """
    neighbors = graph.indices[:, : min(k, graph.k)]
    around = reference[neighbors].mean(axis=1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores: FloatArray = chaining / around
    scores[np.isnan(scores)] = 0.0
    infinite = np.isinf(scores)
    if infinite.any():
        scores[infinite] = cof_ceiling(scores[~infinite]) if ceiling is None else ceiling
    return scores


def cof_ceiling(scores: FloatArray) -> float:
    """The score of a row away from a pile of duplicates: above every finite one."""
    return float(scores.max(initial=0.0)) + 1.0


FAMILY = COF()
