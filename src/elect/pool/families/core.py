"""Core: the mean distance to the nearest rows of the core of the table.

The core is the four fifths of the rows whose values lie least far out, so that outliers that lie together do not
vouch for each other. Values are squashed (arcsinh) first: one that is far out counts, but does not drown the other
columns. PyOD has no such detector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.pool import kernels
from elect.pool.families._base import Cost, Params, Piece, own_class
from elect.pool.families._neighbors import NeighborFamily, stored_index
from elect.pool.families.extremes import FAMILY as EXTREMES
from elect.pool.families.knn import knn_scores
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

SHARE = 0.8
"""Of the rows that are the core. From 0.7 to 0.9 do about as well; with all rows it is far worse."""

_LEAST = 30  # a table of so few rows is all core
_COST = Cost(0.0002, rows=6.5e-06, pairs=1e-09, pair_columns=3.3e-11)


class Core(NeighborFamily):
    name = "Core"
    defaults = {"n_neighbors": 10}
    grid = {"n_neighbors": (5, 10, 25, 50)}

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        return ()

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        ks = [p["n_neighbors"] for p in params]
        distances = core_distances(work, max(ks))
        return np.column_stack([knn_scores(distances, "mean", k) for k in ks])

    def fit(self, work: "SharedWork", params: Params) -> "FittedCore":
        return self.fit_each(work, (params["n_neighbors"],))

    def fit_each(self, work: "SharedWork", ks: tuple[int, ...]) -> "FittedCore":
        """Several numbers of neighbours in one model."""
        return FittedCore(kernels.neighbors.NeighborIndex.build(squashed(work.Z[core_rows(work)])), ks, work.n_jobs)

    def restore(self, stored: Stored) -> "FittedCore":
        return FittedCore(stored_index(stored), (stored.count("k"),), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return (Piece(self.name, None, _COST),)

    def note(self, work: "SharedWork", params: Params) -> str | None:
        k, most = params["n_neighbors"], len(core_rows(work)) - 1
        return None if k <= most else f"n_neighbors={k} is more than the other rows of the core: {most} used instead"

    def pyod_class(self) -> type:
        return own_class(self, "n_neighbors must be a whole number of at least 1")


@dataclass(frozen=True, eq=False)
class FittedCore:
    """The squashed rows of the core. Several numbers of neighbours may be read off one search."""

    index: "kernels.neighbors.NeighborIndex"
    ks: tuple[int, ...]
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        return self.each(Z)[:, 0]

    def each(self, Z: FloatArray) -> FloatArray:
        """Scores for each number of neighbours (rows, numbers)."""
        distances = self.index.query(squashed(Z), self._most, "euclidean", n_jobs=self.n_jobs).distances
        return np.column_stack([knn_scores(distances, "mean", k) for k in self.ks])

    @property
    def _most(self) -> int:
        """No more than a row of the core has other rows there: fitted rows and new ones are measured alike."""
        return max(1, min(max(self.ks), len(self.index.rows) - 1))

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"k": self.ks[0]}, {"rows": self.index.rows}


def squashed(Z: FloatArray) -> FloatArray:
    """Standardised values with what is far out brought nearer."""
    near: FloatArray = np.arcsinh(Z)
    return near


def core_rows(work: "SharedWork") -> IntArray:
    """The rows of the core, in their order."""
    out = EXTREMES.scores(work, [{"how": "sum"}])[:, 0]
    size = max(int(SHARE * len(out)), min(len(out), _LEAST))
    return np.sort(np.argsort(out, kind="stable")[:size])


def core_distances(work: "SharedWork", k: int) -> FloatArray:
    """The distances of all rows to their k nearest rows of the core, nearest first; a row is not its own neighbour."""
    core = core_rows(work)
    A = squashed(work.Z)
    index = kernels.neighbors.NeighborIndex.build(A[core])
    k = max(1, min(k, len(core) - 1))
    distances = np.empty((len(A), k))
    others = np.setdiff1d(np.arange(len(A)), core)
    distances[core] = index.query(A[core], k, "euclidean", exclude_self=True, n_jobs=work.n_jobs).distances
    if len(others):
        distances[others] = index.query(A[others], k, "euclidean", n_jobs=work.n_jobs).distances
    return distances


FAMILY = Core()
