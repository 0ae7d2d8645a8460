"""Kendall's tau-b of many rankings against one, ties and all, in O(points log points) each."""

from dataclasses import dataclass

import numpy as np

from elect.core.ranks import rank
from elect.support.arrays import FloatArray, IntArray, read_only
from elect.support.compiled import compiled


@dataclass(frozen=True, eq=False)
class TauTarget:
    """A ranking to compare others with: its points in order, and where each run of tied points ends."""

    order: IntArray
    run_ends: IntArray

    @classmethod
    def of(cls, values: FloatArray) -> "TauTarget":
        """The target that ranks points by these values, the largest first."""
        ranks = rank(values[:, np.newaxis])[:, 0]
        order = np.argsort(ranks, kind="stable")
        last_of_run = np.flatnonzero(np.diff(ranks[order]))
        run_ends = np.append(last_of_run + 1, len(order)) if len(order) else last_of_run
        return cls(read_only(order, dtype=np.intp), read_only(run_ends, dtype=np.intp))

    def taus(self, ranks: FloatArray) -> FloatArray:
        """Tau-b of each column of ranks (points x models; 1 comes first) with the target; 0 where either is all ties.

        >>> target = TauTarget.of(np.array([0.9, 0.5, 0.5, 0.1]))
        >>> target.taus(rank(np.array([[4.0, 1.0, 7.0], [2.0, 3.0, 7.0], [2.0, 4.0, 7.0], [1.0, 5.0, 7.0]]))).round(4)
        array([ 1.    , -0.9129,  0.    ])
        """
        taus = np.empty(ranks.shape[1])
        fill_taus(np.ascontiguousarray(ranks.T), self.order, self.run_ends, taus)
        return taus


@compiled()
def fill_taus(ranks_by_model: FloatArray, order: IntArray, run_ends: IntArray, taus: FloatArray) -> None:
    """Write the tau-b of each row of ranks (models x points) with the target that ``order`` and ``run_ends`` describe.

    Points enter a Fenwick tree over ranks in the target's order, a run of ties at a time. What is in the tree when a
    point arrives precedes it in the target, so the points there with a smaller rank are concordant with it and those
    with a larger one discordant. No pair tied in the target meets, and no second sort is needed.
    """
    n_models, n_points = ranks_by_model.shape
    all_pairs = n_points * (n_points - 1) // 2
    tied_in_target = 0
    start = 0
    for end in run_ends:
        tied_in_target += (end - start) * (end - start - 1) // 2
        start = end
    keys = np.empty(n_points, np.int64)
    tree = np.empty(n_points + 1, np.int64)
    same = np.empty(n_points + 1, np.int64)
    for model in range(n_models):
        tree[:] = 0
        same[:] = 0
        # Runs of tied points cover disjoint ranges of ranks, so rounding their mean rank down keeps them apart.
        for i in range(n_points):
            keys[i] = np.int64(ranks_by_model[model, order[i]])
        balance = 0
        start = 0
        for end in run_ends:
            for i in range(start, end):
                smaller = 0
                at = keys[i] - 1
                while at > 0:
                    smaller += tree[at]
                    at &= at - 1
                # Concordant minus discordant: the latter are the others in the tree, less those of the same rank.
                balance += 2 * smaller + same[keys[i]] - start
            for i in range(start, end):
                at = keys[i]
                same[at] += 1
                while at <= n_points:
                    tree[at] += 1
                    at += at & -at
            start = end
        tied_in_model = 0
        for key in range(n_points + 1):
            tied_in_model += same[key] * (same[key] - 1) // 2
        # One root of the product, not a product of roots: a ranking against itself then gives exactly 1.
        scale = np.sqrt(float(all_pairs - tied_in_model) * float(all_pairs - tied_in_target))
        taus[model] = balance / scale if scale > 0.0 else 0.0
