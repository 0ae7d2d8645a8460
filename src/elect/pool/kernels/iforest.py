"""Forests of random cuts.

Trees follow scikit-learn's: 256 rows without replacement, a random subset of the columns, cuts uniform between a node's
smallest and largest value of a column that is not constant there, depth at most log2 of the sample size.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.pool.kernels.random_stream import next_state, stream_seed, uniform
from elect.support.arrays import FloatArray
from elect.support.compiled import announce_compilation, compiled
from elect.support.threads import run_chunks

MAX_SAMPLES = 256
_CONTAMINATION = 0.1
_BLOCK = 128
_TREES_AT_ONCE = 25
_ROWS_AT_ONCE = 16 * _BLOCK


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as flat arrays. The right child follows the left; a leaf is its own child and sends nothing right."""

    features: NDArray[np.uint32]  # (trees, nodes)
    thresholds: NDArray[np.float32]  # (trees, nodes)
    children: NDArray[np.uint32]  # (trees, nodes) left child, or the node itself for a leaf
    paths: NDArray[np.float32]  # (trees, nodes) path length of a leaf
    depths: NDArray[np.int32]  # (trees,) steps that reach every leaf

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.features, self.thresholds, self.children, self.paths, self.depths

    @classmethod
    def grow(
        cls,
        X: NDArray[np.float32],
        max_features: float,
        n_trees: int,
        trial: int,
        seed: int,
        n_jobs: int = 1,
        max_samples: int = MAX_SAMPLES,
    ) -> "Forest":
        """The first trees are the same however many are grown."""
        return grow_forests(X, max_features, n_trees, (trial,), seed, n_jobs, max_samples)[0]

    def leaves(self, X: NDArray[np.float32], n_jobs: int = 1) -> NDArray[np.uint16]:
        """The leaf that each row falls into, in each tree (rows, trees)."""
        out = np.empty((len(X), len(self.depths)), dtype=np.uint16)

        def work(piece: int, _: int) -> None:
            start = piece * _ROWS_AT_ONCE
            stop = min(start + _ROWS_AT_ONCE, len(X))
            _leaves(X, self.features, self.thresholds, self.children, self.depths, start, stop, out)

        run_chunks(work, -(-len(X) // _ROWS_AT_ONCE), 1, n_jobs)
        return out

    def path_sums(self, X: NDArray[np.float32], prefixes: tuple[int, ...], n_jobs: int = 1) -> FloatArray:
        """The summed path length of each row over the first trees, for each number of trees (prefixes, rows)."""
        found: FloatArray = sum_paths([self], X, prefixes, n_jobs)[0]
        return found

    def anomaly(self, X: NDArray[np.float32], n_rows: int, n_jobs: int = 1) -> FloatArray:
        """The anomaly of each row over all trees, grown on a table of so many rows."""
        n_trees = self.depths.shape[0]
        return anomaly(self.path_sums(X, (n_trees,), n_jobs)[0], n_trees, n_rows)


def grow_forests(
    X: NDArray[np.float32],
    max_features: float,
    n_trees: int,
    trials: Sequence[int],
    seed: int,
    n_jobs: int = 1,
    max_samples: int = MAX_SAMPLES,
) -> list[Forest]:
    """A forest a trial, the trees of all of them grown side by side, each on at most so many rows."""
    announce_compilation(_grow, _walk)
    n, d = X.shape
    sample = min(max_samples, n)
    n_nodes = 2 * sample
    forests = [
        Forest(
            np.zeros((n_trees, n_nodes), dtype=np.uint32),
            np.zeros((n_trees, n_nodes), dtype=np.float32),
            np.zeros((n_trees, n_nodes), dtype=np.uint32),
            np.zeros((n_trees, n_nodes), dtype=np.float32),
            np.zeros(n_trees, dtype=np.int32),
        )
        for _ in trials
    ]
    # scikit-learn reads max_features=1.0 as every column and an integer 1 as one column.
    n_features = max(1, int(max_features * d)) if isinstance(max_features, float) else min(max_features, d)
    seeds = [
        np.array([stream_seed("iforest", seed, trial, max_features, t) for t in range(n_trees)], dtype=np.uint64)
        for trial in trials
    ]
    max_depth = int(np.ceil(np.log2(max(sample, 2))))
    pieces = -(-n_trees // _TREES_AT_ONCE)

    def work(piece: int, _: int) -> None:
        which, start = piece // pieces, piece % pieces * _TREES_AT_ONCE
        stop = min(start + _TREES_AT_ONCE, n_trees)
        _grow(X, seeds[which], sample, n_features, max_depth, start, stop, *forests[which].arrays)

    run_chunks(work, pieces * len(forests), 1, n_jobs)
    for forest in forests:
        for array in forest.arrays:
            array.flags.writeable = False
    return forests


def sum_paths(
    forests: Sequence[Forest], X: NDArray[np.float32], prefixes: tuple[int, ...], n_jobs: int = 1
) -> FloatArray:
    """The summed path length of each row over the first trees of each forest (forests, prefixes, rows)."""
    n = X.shape[0]
    out = np.empty((len(forests), len(prefixes), n))
    counts, most = np.array(prefixes), max(prefixes)
    pieces = -(-n // _ROWS_AT_ONCE)

    def work(piece: int, _: int) -> None:
        which, start = piece // pieces, piece % pieces * _ROWS_AT_ONCE
        _walk(X, *forests[which].arrays, counts, most, start, min(start + _ROWS_AT_ONCE, n), out[which])

    run_chunks(work, pieces * len(forests), 1, n_jobs)
    return out


def average_path_length(n: int) -> float:
    """The mean path length of an unsuccessful search in a binary tree of n rows.

    >>> average_path_length(1), average_path_length(2)
    (0.0, 1.0)
    """
    if n <= 1:
        return 0.0
    if n == 2:
        return 1.0
    return float(2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n)


def anomaly(path_sums: FloatArray, n_trees: int, n_rows: int) -> FloatArray:
    """2 ** -(mean path / expected path): near 1 for rows that are isolated at once."""
    expected = average_path_length(min(MAX_SAMPLES, n_rows))
    scores: FloatArray = np.exp2(path_sums * (-1.0 / (n_trees * expected)) if expected > 0 else path_sums * 0.0)
    return scores


def shift(scores: FloatArray) -> float:
    """The 90th percentile of a trial's training scores, which PyOD subtracts."""
    n = scores.shape[0]
    position = (1.0 - _CONTAMINATION) * (n - 1)
    low = int(position)
    high = min(low + 1, n - 1)
    ordered = np.partition(scores, (low, high))
    return float(ordered[low] + (position - low) * (ordered[high] - ordered[low]))


def iforest_scores(
    X: NDArray[np.float32], max_features: float, n_trees: tuple[int, ...], trials: int, seed: int, n_jobs: int = 1
) -> FloatArray:
    """Training scores (numbers of trees, rows), the mean over trials."""
    total = np.zeros((len(n_trees), X.shape[0]))
    forests = grow_forests(X, max_features, max(n_trees), range(trials), seed, n_jobs)
    for sums in sum_paths(forests, X, n_trees, n_jobs):
        for c, trees in enumerate(n_trees):
            scores = anomaly(sums[c], trees, X.shape[0])
            total[c] += scores - shift(scores)
    return total / trials


@compiled()
def _average_path(n):  # type: ignore[no-untyped-def]
    if n <= 1:
        return 0.0
    if n == 2:
        return 1.0
    return 2.0 * (np.log(n - 1.0) + np.euler_gamma) - 2.0 * (n - 1.0) / n


@compiled(fastmath=True)
def _extent(values, rows, start, stop):  # type: ignore[no-untyped-def]
    low = values[rows[start]]
    high = low
    for p in range(start + 1, stop):
        v = values[rows[p]]
        if v < low:
            low = v
        if v > high:
            high = v
    return low, high


@compiled()
def _grow(X, seeds, sample, n_features, max_depth, start, stop, features, thresholds, children, paths, depths):  # type: ignore[no-untyped-def]
    n, d = X.shape
    order = np.empty(n, dtype=np.int64)
    for i in range(n):
        order[i] = i
    swaps = np.empty(sample, dtype=np.int64)
    columns = np.empty(d, dtype=np.int64)
    values = np.empty((n_features, sample), dtype=np.float32)
    rows = np.empty(sample, dtype=np.int64)
    alive = np.empty(n_features, dtype=np.int64)
    # A node waiting to be split: its place, its rows, its depth.
    stack = np.empty((2 * max_depth + 4, 4), dtype=np.int64)
    for tree in range(start, stop):
        state = seeds[tree]
        for i in range(sample):
            state = next_state(state)
            j = i + int(uniform(state) * (n - i))
            swaps[i] = j
            order[i], order[j] = order[j], order[i]
        for i in range(d):
            columns[i] = i
        for i in range(n_features):
            state = next_state(state)
            j = i + int(uniform(state) * (d - i))
            columns[i], columns[j] = columns[j], columns[i]
        for p in range(sample):
            rows[p] = p
            row = X[order[p]]
            for f in range(n_features):
                values[f, p] = row[columns[f]]
        # Undo the swaps: the next tree must not depend on this one.
        for i in range(sample - 1, -1, -1):
            order[i], order[swaps[i]] = order[swaps[i]], order[i]
        used = 1
        deepest = 0
        top = 0
        stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, 0, sample, 0
        while top >= 0:
            node, first, last, depth = stack[top]
            top -= 1
            low, high = np.float32(0.0), np.float32(0.0)
            chosen = -1
            if depth < max_depth and last - first > 1:
                left_over = n_features
                for f in range(n_features):
                    alive[f] = f
                while left_over > 0 and chosen < 0:
                    state = next_state(state)
                    pick = int(uniform(state) * left_over)
                    low, high = _extent(values[alive[pick]], rows, first, last)
                    if high > low + np.float32(1e-7):
                        chosen = alive[pick]
                    else:
                        left_over -= 1
                        alive[pick] = alive[left_over]
            if chosen < 0:
                features[tree, node] = 0
                thresholds[tree, node] = np.inf
                children[tree, node] = node
                paths[tree, node] = depth + _average_path(last - first)
                deepest = max(deepest, depth)
                continue
            state = next_state(state)
            cut = low + np.float32(uniform(state)) * (high - low)
            if cut >= high:
                cut = low
            column = values[chosen]
            i, j = first, last - 1
            while i <= j:
                if column[rows[i]] <= cut:
                    i += 1
                else:
                    rows[i], rows[j] = rows[j], rows[i]
                    j -= 1
            features[tree, node] = columns[chosen]
            thresholds[tree, node] = cut
            children[tree, node] = used
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = used, first, i, depth + 1
            top += 1
            stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = used + 1, i, last, depth + 1
            used += 2
        depths[tree] = deepest


@compiled()
def _walk(X, features, thresholds, children, paths, depths, prefixes, n_trees, start, stop, out):  # type: ignore[no-untyped-def]
    d = X.shape[1]
    # Unsigned indices: signed ones would be checked for counting from the end at every step.
    at = np.empty(_BLOCK, dtype=np.uint32)
    width = np.uint64(d)
    sums = np.empty(_BLOCK)
    for first in range(start, stop, _BLOCK):
        size = min(_BLOCK, stop - first)
        block = X[first : first + size].reshape(size * d)
        sums[:] = 0.0
        for tree in range(n_trees):
            feature, threshold = features[tree], thresholds[tree]
            child, path = children[tree], paths[tree]
            at[:] = 0
            for _ in range(depths[tree]):
                # No branch: a leaf's threshold is infinite and its child is itself.
                for p in range(size):
                    node = at[p]
                    x = block[np.uint64(p) * width + feature[node]]
                    at[p] = child[node] + np.uint32(x > threshold[node])
            for p in range(size):
                sums[p] += path[at[p]]
            for c in range(prefixes.shape[0]):
                if prefixes[c] == tree + 1:
                    for p in range(size):
                        out[c, first + p] = sums[p]


@compiled()
def _leaves(X, features, thresholds, children, depths, start, stop, out):  # type: ignore[no-untyped-def]
    for tree in range(depths.shape[0]):
        for i in range(start, stop):
            node = np.uint32(0)
            for _ in range(depths[tree]):
                node = children[tree, node] + np.uint32(X[i, features[tree, node]] > thresholds[tree, node])
            out[i, tree] = node
