"""Trees laid out so that many rows walk one at the same time, without a branch.

A leaf is its own child and sends nothing right, so that every row takes as many steps as the tree is deep. A block of
rows stays in the cache while all trees are walked, and each row adds its leaves in the order of the trees, as LightGBM
does: sums are equal to the last bit, and do not depend on the rows that come along.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray, IntArray
from elect.support.compiled import compiled

_BLOCK = 64


@dataclass(frozen=True, eq=False)
class LaidOutTrees:
    """All trees one after the other: tree t has the nodes ``offsets[t]`` up to ``offsets[t + 1]``, splits first."""

    offsets: NDArray[np.int64]
    feature: NDArray[np.uint32]
    threshold: FloatArray
    children: NDArray[np.uint32]
    """(2 x nodes) the left and the right child of each node, counted within its tree"""
    value: FloatArray
    depth: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        split_offsets: IntArray,
        leaf_offsets: IntArray,
        feature: NDArray[np.int32],
        threshold: FloatArray,
        left: NDArray[np.int32],
        right: NDArray[np.int32],
        leaf_value: FloatArray,
    ) -> "LaidOutTrees":
        """From the arrays of an ensemble that was checked."""
        n_splits, n_leaves = np.diff(split_offsets), np.diff(leaf_offsets)
        tree_of_split = np.repeat(np.arange(len(n_splits)), n_splits)
        tree_of_leaf = np.repeat(np.arange(len(n_splits)), n_leaves)
        # The nodes of the trees before a split or a leaf are all their splits and leaves.
        split_at = np.arange(len(feature)) + leaf_offsets[tree_of_split]
        leaf_at = np.arange(len(leaf_value)) + split_offsets[tree_of_leaf + 1]
        n = len(feature) + len(leaf_value)
        own_leaf = np.arange(len(leaf_value)) - leaf_offsets[tree_of_leaf] + n_splits[tree_of_leaf]
        children = np.zeros((n, 2), dtype=np.uint32)
        for side, child in enumerate((left, right)):
            children[split_at, side] = np.where(child >= 0, child, n_splits[tree_of_split] - 1 - child)
            children[leaf_at, side] = own_leaf
        features = np.zeros(n, dtype=np.uint32)
        features[split_at] = feature
        thresholds = np.full(n, np.inf)
        thresholds[split_at] = threshold
        values = np.zeros(n)
        values[leaf_at] = leaf_value
        offsets = (split_offsets + leaf_offsets).astype(np.int64)
        return cls(offsets, features, thresholds, children.ravel(), values, _depths(offsets, n_splits, children))

    def sums(self, features: FloatArray) -> FloatArray:
        """The sum of the trees for each row of features."""
        out = np.empty(len(features))
        _walk(features, self.offsets, self.feature, self.threshold, self.children, self.value, self.depth, out)
        return out


def _depths(offsets: NDArray[np.int64], n_splits: IntArray, children: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The steps to the deepest leaf of each tree. A child comes after its parent."""
    found = np.zeros(len(n_splits), dtype=np.int64)
    for t, (first, splits) in enumerate(zip(offsets[:-1].tolist(), n_splits.tolist(), strict=True)):
        depth = [0] * (2 * splits + 1)
        for node, (left, right) in enumerate(children[first : first + splits].tolist()):
            depth[left] = depth[right] = depth[node] + 1
        found[t] = max(depth)
    return found


@compiled()
def _walk(features, offsets, feature, threshold, children, value, depth, out):  # type: ignore[no-untyped-def]
    n, d = features.shape
    # Unsigned indices: signed ones would be checked for counting from the end at every step.
    at = np.empty(_BLOCK, dtype=np.uint32)
    width = np.uint64(d)
    sums = np.empty(_BLOCK)
    for first in range(0, n, _BLOCK):
        size = min(_BLOCK, n - first)
        block = features[first : first + size].reshape(size * d)
        sums[:] = 0.0
        for tree in range(len(depth)):
            a, b = offsets[tree], offsets[tree + 1]
            which, limit, child, leaf = feature[a:b], threshold[a:b], children[2 * a : 2 * b], value[a:b]
            at[:] = 0
            for _ in range(depth[tree]):
                for p in range(size):
                    node = at[p]
                    x = block[np.uint64(p) * width + which[node]]
                    at[p] = child[np.uint32(2) * node + np.uint32(x > limit[node])]
            for p in range(size):
                sums[p] += leaf[at[p]]
        for p in range(size):
            out[first + p] = sums[p]
