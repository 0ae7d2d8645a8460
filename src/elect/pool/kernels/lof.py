"""The local densities of LOF, for every k from one graph."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.pool.kernels.neighbors import NeighborGraph
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import announce_compilation, compiled
from elect.support.threads import run_chunks

_CHUNK = 2048
# As in scikit-learn: keeps the density of a pile of duplicates finite.
_EPSILON = 1e-10


@dataclass(frozen=True, eq=False)
class LocalDensities:
    """What LOF needs of the reference rows, for each k of ``ks``."""

    ks: tuple[int, ...]
    radii: FloatArray  # (rows, ks) distance to the k-th neighbour
    densities: FloatArray  # (rows, ks) local reachability density

    @classmethod
    def of(cls, graph: NeighborGraph, ks: tuple[int, ...], n_jobs: int = 1) -> "LocalDensities":
        columns = np.array([min(k, graph.k) for k in ks])
        # Read-only before its first use too: another type of array would be compiled for anew.
        radii = read_only(np.ascontiguousarray(graph.distances[:, columns - 1]))
        return cls(ks, radii, read_only(_densities(graph, radii, columns, n_jobs)))

    def scores(self, graph: NeighborGraph, n_jobs: int = 1) -> FloatArray:
        """LOF (rows, ks) of the rows whose neighbours among the reference rows ``graph`` holds."""
        columns = np.array([min(k, graph.k) for k in self.ks])
        most = int(columns.max())
        own = _densities(graph, self.radii, columns, n_jobs)
        out = np.empty_like(own)

        def work(start: int, stop: int) -> None:
            _factors(graph.indices, own, self.densities, columns, most, start, stop, out)

        run_chunks(work, len(out), _CHUNK, n_jobs)
        return out


def _densities(graph: NeighborGraph, radii: FloatArray, ks: NDArray[np.intp], n_jobs: int) -> FloatArray:
    announce_compilation(_reachability)
    out = np.empty((graph.indices.shape[0], len(ks)))
    most = int(ks.max())

    def work(start: int, stop: int) -> None:
        _reachability(graph.distances, graph.indices, radii, ks, most, start, stop, out)

    run_chunks(work, len(out), _CHUNK, n_jobs)
    return out


@compiled(fastmath=True)
def _reachability(distances, indices, radii, ks, most, start, stop, out):  # type: ignore[no-untyped-def]
    n_ks = ks.shape[0]
    sums = np.empty(n_ks)
    for i in range(start, stop):
        sums[:] = 0.0
        for p in range(most):
            distance = distances[i, p]
            neighbor = indices[i, p]
            for c in range(n_ks):
                radius = radii[neighbor, c]
                reach = radius if radius > distance else distance
                sums[c] += reach if p < ks[c] else 0.0
        for c in range(n_ks):
            out[i, c] = 1.0 / (sums[c] / ks[c] + _EPSILON)


@compiled(fastmath=True)
def _factors(indices, own, densities, ks, most, start, stop, out):  # type: ignore[no-untyped-def]
    n_ks = ks.shape[0]
    sums = np.empty(n_ks)
    for i in range(start, stop):
        sums[:] = 0.0
        for p in range(most):
            neighbor = indices[i, p]
            for c in range(n_ks):
                sums[c] += densities[neighbor, c] if p < ks[c] else 0.0
        for c in range(n_ks):
            out[i, c] = sums[c] / (ks[c] * own[i, c])
