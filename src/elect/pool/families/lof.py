"""LOF: how much sparser a row's neighbourhood is than its neighbours' own. One graph serves every k."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

_COST = Cost(0.00033, rows=1.5e-06)


class LOF(NeighborFamily):
    name = "LOF"
    defaults = {"metric": "minkowski", "n_neighbors": 20}
    grid = {"metric": ("manhattan", "euclidean", "minkowski"), "n_neighbors": MANY}
    in_paper = True

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        # Models of one graph: graphs come in steps of 100 neighbours.
        return METRICS[params["metric"]], -(-params["n_neighbors"] // kernels.neighbors.MAX_NEIGHBORS)

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        ks = tuple(sorted({p["n_neighbors"] for p in params}))
        graph = work.graph(METRICS[params[0]["metric"]], max(ks))
        scores = kernels.lof.LocalDensities.of(graph, ks, work.n_jobs).scores(graph, work.n_jobs)
        return scores[:, [ks.index(p["n_neighbors"]) for p in params]]

    def fit(self, work: "SharedWork", params: Params) -> "FittedLOF":
        k, metric = params["n_neighbors"], METRICS[params["metric"]]
        densities = kernels.lof.LocalDensities.of(work.graph(metric, k), (k,), work.n_jobs)
        return FittedLOF(work.neighbor_index, metric, densities, min(k, work.n_rows - 1), work.n_jobs)

    def restore(self, stored: Stored) -> "FittedLOF":
        index = stored_index(stored)
        n = len(index.rows)
        densities = kernels.lof.LocalDensities(
            (stored.count("asked"),), stored.array("radii", (n, 1)), stored.array("densities", (n, 1))
        )
        return FittedLOF(index, stored_metric(stored), densities, stored.count("k"), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        metric = METRICS[params["metric"]]
        return graph_piece(metric), Piece(self.name, metric, _COST)

    def pyod_class(self) -> type:
        from pyod.models.lof import LOF as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedLOF:
    index: "kernels.neighbors.NeighborIndex"
    metric: Metric
    densities: "kernels.lof.LocalDensities"
    k: int
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, self.metric, n_jobs=self.n_jobs)
        return self.densities.scores(graph, self.n_jobs)[:, 0]

    def plain(self) -> tuple[Numbers, Arrays]:
        inner = self.densities
        numbers = {"metric": self.metric, "k": self.k, "asked": inner.ks[0]}
        return numbers, {"rows": self.index.rows, "radii": inner.radii, "densities": inner.densities}


FAMILY = LOF()
