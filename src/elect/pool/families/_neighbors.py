"""What the families that read neighbour graphs have in common: kNN, LOF, ABOD, COF."""

from typing import TYPE_CHECKING, Any, Literal

from elect.pool import kernels
from elect.pool.families._base import Cost, Family, Params, Piece, is_count
from elect.storage.stored import Stored
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

Metric = Literal["euclidean", "manhattan"]

METRICS: dict[str, Metric] = {"euclidean": "euclidean", "minkowski": "euclidean", "manhattan": "manhattan"}
"""The metrics of the engine, by PyOD's names: Minkowski's distance is of order 2 there."""
MANY = (1, 5, 10, 15, 20, 25, 50, 60, 70, 80, 90, 100)
FEW = (3, 5, 10, 15, 20, 25, 50)

_GRAPH = Cost(rows=6.5e-06, pairs=1.3e-09, pair_columns=4.1e-11)
_GEOMETRY = Cost(0.0022, rows=4.8e-06, cells=4.6e-08)


class NeighborFamily(Family):
    """A number of neighbours, capped at the number of other rows."""

    looks_at_neighbors = True

    def supports(self, params: Params) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_neighbors"])
            and params.get("metric", "euclidean") in METRICS
        )

    def note(self, work: "SharedWork", params: Params) -> str | None:
        k = params["n_neighbors"]
        if k <= work.n_rows - 1:
            return None
        return f"n_neighbors={k} is more than the other rows: {work.n_rows - 1} used instead"


def graph_piece(metric: Metric) -> Piece:
    """The neighbour graph of a metric."""
    return Piece("graph", metric, _GRAPH)


def geometry_pieces() -> tuple[Piece, Piece]:
    """The angles and chains among neighbours, with the graph they are read from."""
    return graph_piece("euclidean"), Piece("geometry", "euclidean", _GEOMETRY)


def at(by_k: FloatArray, k: int) -> FloatArray:
    """The column of a number of neighbours; k is capped at the number of other rows."""
    return by_k[:, min(k, by_k.shape[1]) - 1]


def stored_index(stored: Stored) -> "kernels.neighbors.NeighborIndex":
    return kernels.neighbors.NeighborIndex.build(stored.rows())


def stored_metric(stored: Stored) -> Any:
    return stored.word("metric", ("euclidean", "manhattan"))
