"""Exact nearest neighbours by brute force: one graph per metric serves every model that asks for neighbours.

Distances to all points are computed in float32, 256 points and four query rows at a time. A sample of them gives a
limit that a few more points than asked for are within; those are measured again in float64 and sorted by distance, then
by row. Every loop over points is free of branches, so that it vectorises. A tree does not pay: k is 100 and the
dimension is rarely small enough.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray, for_kernel, read_only
from elect.support.compiled import announce_compilation, compiled
from elect.support.threads import run_chunks

Metric = Literal["euclidean", "manhattan"]

MAX_NEIGHBORS = 100
_BLOCK = 256
_STEP = 32
_SAMPLE = 256
_SPARE = 16
_CHUNK = 512


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The k nearest rows of each row, nearest first, the row itself excluded."""

    distances: FloatArray  # (rows, k)
    indices: NDArray[np.int32]  # (rows, k)

    @property
    def k(self) -> int:
        return int(self.distances.shape[1])


@dataclass(frozen=True, eq=False)
class NeighborIndex:
    """Reference rows laid out for the search."""

    rows: FloatArray  # (n, d) float64, row-major
    blocks: NDArray[np.float32]  # (blocks, d, 256) float32, feature-major

    @classmethod
    def build(cls, X: FloatArray) -> "NeighborIndex":
        n, d = X.shape
        n_blocks = -(-n // _BLOCK)
        padded = np.zeros((n_blocks * _BLOCK, d), dtype=np.float32)
        padded[:n] = X
        blocks = np.ascontiguousarray(padded.reshape(n_blocks, _BLOCK, d).transpose(0, 2, 1))
        return cls(np.ascontiguousarray(X), blocks)

    def query(
        self, queries: FloatArray, k: int, metric: Metric, *, exclude_self: bool = False, n_jobs: int = 1
    ) -> NeighborGraph:
        """The k nearest reference rows of each query row.

        With ``exclude_self`` query row i is reference row i, and is not its own neighbour.
        """
        announce_compilation(_nearest)
        n = queries.shape[0]
        k = min(k, self.rows.shape[0] - int(exclude_self))
        distances = np.empty((n, k))
        indices = np.empty((n, k), dtype=np.int32)
        rows, queries = for_kernel(self.rows), for_kernel(queries)
        manhattan = metric == "manhattan"

        def work(start: int, stop: int) -> None:
            _nearest(rows, self.blocks, queries, start, stop, exclude_self, manhattan, distances, indices)

        run_chunks(work, n, _CHUNK, n_jobs)
        return NeighborGraph(read_only(distances), read_only(indices, dtype=np.int32))


@compiled(fastmath=True)
def _block_squared(block, q, acc):  # type: ignore[no-untyped-def]
    """Squared euclidean distances of four query rows to one block."""
    width = block.shape[1]
    acc[:] = 0.0
    a0, a1, a2, a3 = acc[0], acc[1], acc[2], acc[3]
    for f in range(block.shape[0]):
        column = block[f]
        q0, q1, q2, q3 = q[0, f], q[1, f], q[2, f], q[3, f]
        for p in range(width):
            x = column[p]
            d0, d1, d2, d3 = x - q0, x - q1, x - q2, x - q3
            a0[p] += d0 * d0
            a1[p] += d1 * d1
            a2[p] += d2 * d2
            a3[p] += d3 * d3


@compiled(fastmath=True)
def _block_absolute(block, q, acc):  # type: ignore[no-untyped-def]
    """Manhattan distances of four query rows to one block."""
    width = block.shape[1]
    acc[:] = 0.0
    a0, a1, a2, a3 = acc[0], acc[1], acc[2], acc[3]
    for f in range(block.shape[0]):
        column = block[f]
        q0, q1, q2, q3 = q[0, f], q[1, f], q[2, f], q[3, f]
        for p in range(width):
            x = column[p]
            a0[p] += abs(x - q0)
            a1[p] += abs(x - q1)
            a2[p] += abs(x - q2)
            a3[p] += abs(x - q3)


@compiled(fastmath=True)
def _count_within(values, limit):  # type: ignore[no-untyped-def]
    """How many of the values are at most ``limit``. Counted in float32 and from zero, so that the loop vectorises."""
    total = np.float32(0.0)
    for i in range(values.shape[0]):
        total += np.float32(1.0) if values[i] <= limit else np.float32(0.0)
    return int(total)


@compiled(fastmath=True)
def _largest(values, count):  # type: ignore[no-untyped-def]
    most = values[0]
    for i in range(count):
        if values[i] > most:
            most = values[i]
    return most


@compiled()
def _limit_for(values, count, high, wanted, slack):  # type: ignore[no-untyped-def]
    """A limit that between ``wanted`` and ``wanted + slack`` of the distances are within, by bisection.

    At least ``wanted`` must be within ``high``. With many equal distances more may be within the limit.
    """
    low = np.float32(0.0)
    if _count_within(values[:count], low) >= wanted:
        return low
    while True:
        middle = np.float32(0.5) * (low + high)
        if middle <= low or middle >= high:
            break
        within = _count_within(values[:count], middle)
        if within < wanted:
            low = middle
        else:
            high = middle
            if within <= wanted + slack:
                break
    return high


@compiled()
def _within(found, n, limit, ids, values):  # type: ignore[no-untyped-def]
    """Positions and values of the entries of ``found[:n]`` within ``limit``, in order; returns their number."""
    count = 0
    full = n - n % _STEP
    for start in range(0, full, _STEP):
        # Most steps hold nothing near: one vectorised look decides.
        if _count_within(found[start : start + _STEP], limit) > 0:
            for p in range(start, start + _STEP):
                ids[count] = p
                values[count] = found[p]
                count += found[p] <= limit
    for p in range(full, n):
        ids[count] = p
        values[count] = found[p]
        count += found[p] <= limit
    return count


@compiled()
def _sample_limit(found, n, keep, sample):  # type: ignore[no-untyped-def]
    """A limit that probably a little more than ``keep`` of ``found[:n]`` are within, from every n/256-th of them."""
    stride = max(1, n // _SAMPLE)
    size = (n + stride - 1) // stride
    for p in range(size):
        sample[p] = found[p * stride]
    share = keep * size / n
    wanted = min(size, int(share + 2.0 * np.sqrt(share)) + 2)
    return _limit_for(sample, size, _largest(sample, size), wanted, max(1, wanted // 8))


@compiled(fastmath=True)
def _exact_distance(a, b, manhattan):  # type: ignore[no-untyped-def]
    total = 0.0
    if manhattan:
        for f in range(a.shape[0]):
            total += abs(a[f] - b[f])
        return total
    for f in range(a.shape[0]):
        step = a[f] - b[f]
        total += step * step
    return np.sqrt(total)


@compiled(fastmath=True)
def _count_less(values, count, x):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(count):
        total += 1.0 if values[i] < x else 0.0
    return int(total)


@compiled()
def _nearest(rows, blocks, queries, start, stop, exclude_self, manhattan, distances, indices):  # type: ignore[no-untyped-def]
    n, d = rows.shape
    k = distances.shape[1]
    keep = min(n, k + _SPARE + int(exclude_self))
    most = keep + _SPARE
    width = blocks.shape[2]
    q = np.zeros((4, d), dtype=np.float32)
    acc = np.empty(
        (4, width), dtype=np.float32
    )  # contiguous: a slice of ``found`` would keep the loops from vectorising
    found = np.empty((4, blocks.shape[0] * width), dtype=np.float32)
    sample = np.empty(2 * _SAMPLE + 2, dtype=np.float32)
    values = np.empty(n + 1, dtype=np.float32)
    ids = np.empty(n + 1, dtype=np.int32)
    exact = np.empty(most + _STEP)
    for first in range(start, stop, 4):
        group = min(4, stop - first)
        for r in range(group):
            for f in range(d):
                q[r, f] = queries[first + r, f]
        for b in range(blocks.shape[0]):
            if manhattan:
                _block_absolute(blocks[b], q, acc)
            else:
                _block_squared(blocks[b], q, acc)
            for r in range(4):
                for p in range(width):
                    found[r, b * width + p] = acc[r, p]
        for r in range(group):
            row = first + r
            limit = _sample_limit(found[r], n, keep, sample)
            count = _within(found[r], n, limit, ids, values)
            if count < keep:
                # The sample misled: look at every distance instead.
                limit = _limit_for(found[r], n, _largest(found[r], n), keep, most - keep)
                count = _within(found[r], n, limit, ids, values)
            elif count > most:
                limit = _limit_for(values, count, limit, keep, most - keep)
            # More than ``most`` are within the limit only if many are equally far: then the first rows are taken.
            room = most - _count_within(values[:count], np.nextafter(limit, np.float32(-1.0)))
            left = 0
            for c in range(count):
                if values[c] > limit:
                    continue
                if values[c] == limit:
                    if room <= 0:
                        continue
                    room -= 1
                if exclude_self and ids[c] == row:
                    continue
                ids[left] = ids[c]
                exact[left] = _exact_distance(queries[row], rows[ids[c]], manhattan)
                left += 1
            padded = left + -left % _STEP
            exact[left:padded] = np.inf
            indices[row] = -1
            for c in range(left):
                position = _count_less(exact, padded, exact[c])
                while position < k and indices[row, position] >= 0:  # equally far: the earlier row comes first
                    position += 1
                if position < k:
                    distances[row, position] = exact[c]
                    indices[row, position] = ids[c]
