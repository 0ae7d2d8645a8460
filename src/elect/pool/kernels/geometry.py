"""The angles and the chain of steps among a row's neighbours, for every k from one local Gram matrix: for ABOD and COF.

With neighbours a, b seen from the row (so the row is the origin), the Gram matrix <a, b> gives both ABOD's weighted
cosines <a, b> / (|a|^2 |b|^2) and COF's distances |a - b|^2 = |a|^2 + |b|^2 - 2 <a, b>. Neighbours are added one at a
time, nearest first, and every k is read off on the way.
"""

from dataclasses import dataclass

import numpy as np

from elect.pool.kernels.neighbors import NeighborGraph
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import announce_compilation, compiled
from elect.support.threads import run_chunks

_CHUNK = 512


@dataclass(frozen=True, eq=False)
class LocalGeometry:
    """Per row and number of neighbours (column k - 1): what ABOD and COF are made of."""

    angle_variance: FloatArray  # (rows, k) variance of the weighted cosines; NaN where no angle can be formed
    chaining: FloatArray  # (rows, k) average chaining distance


def local_geometry(
    rows: FloatArray, queries: FloatArray, graph: NeighborGraph, k: int, n_jobs: int = 1
) -> LocalGeometry:
    """The geometry of each query row's neighbourhood among the reference rows, for every number up to k."""
    announce_compilation(_geometry)
    n = queries.shape[0]
    k = min(k, graph.k)
    variance, chaining = np.empty((n, k)), np.empty((n, k))
    rows, queries = np.ascontiguousarray(rows), np.ascontiguousarray(queries)

    def work(start: int, stop: int) -> None:
        _geometry(rows, queries, graph.indices, start, stop, variance, chaining)

    run_chunks(work, n, _CHUNK, n_jobs)
    return LocalGeometry(read_only(variance), read_only(chaining))


@compiled(fastmath=True)
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for f in range(a.shape[0]):
        total += a[f] * b[f]
    return total


@compiled()
def _geometry(rows, queries, indices, start, stop, variance, chaining):  # type: ignore[no-untyped-def]
    d = rows.shape[1]
    most = variance.shape[1]
    around = np.empty((most, d))
    squared = np.empty(most)
    inverse = np.empty(most)
    dots = np.empty(most)
    for i in range(start, stop):
        for a in range(most):
            neighbor = indices[i, a]
            total = 0.0
            for f in range(d):
                step = rows[neighbor, f] - queries[i, f]
                around[a, f] = step
                total += step * step
            squared[a] = total
            inverse[a] = 1.0 / total if total > 0.0 else 0.0
        # Welford's update over batches (one neighbour's pairs at a time): no cancellation in the variance.
        pairs, mean, spread = 0.0, 0.0, 0.0
        seen = 0
        cost_sum, weighted_sum = 0.0, 0.0
        for b in range(most):
            for a in range(b):
                dots[a] = _dot(around[a], around[b])
            nearest = squared[b]
            for a in range(b):
                nearest = min(nearest, squared[a] + squared[b] - 2.0 * dots[a])
            cost = np.sqrt(max(nearest, 0.0))
            cost_sum += cost
            weighted_sum += b * cost
            if squared[b] > 0.0 and seen > 0:
                batch_sum = 0.0
                for a in range(b):
                    dots[a] *= inverse[a] * inverse[b]
                    batch_sum += dots[a]
                batch_mean = batch_sum / seen
                batch_spread = 0.0
                for a in range(b):
                    if squared[a] > 0.0:
                        batch_spread += (dots[a] - batch_mean) ** 2
                shift = batch_mean - mean
                total_pairs = pairs + seen
                spread += batch_spread + shift * shift * pairs * seen / total_pairs
                mean += shift * seen / total_pairs
                pairs = total_pairs
            if squared[b] > 0.0:
                seen += 1
            k = b + 1
            variance[i, b] = spread / pairs if pairs > 0.0 else np.nan
            chaining[i, b] = 2.0 / (k * (k + 1.0)) * (k * cost_sum - weighted_sum)
