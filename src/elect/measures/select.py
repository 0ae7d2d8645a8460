"""SELECT: agreement with a consensus that only the models closest to it have a say in."""

from dataclasses import dataclass

import numpy as np

from elect.core.ranks import RankMeasure, RankReference
from elect.measures.kendall import TauTarget, fill_taus
from elect.support.arrays import FloatArray

# Taus of equal rankings differ by rounding when averaged; a difference below this one is none.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SelectReference(RankReference):
    """``chosen`` are the positions of the anchors the consensus was grown from, in the order they were accepted."""

    target: TauTarget
    chosen: tuple[int, ...]

    def _fill(self, ranks_by_model: FloatArray, values: FloatArray) -> None:
        fill_taus(ranks_by_model, self.target.order, self.target.run_ends, values)


@dataclass(frozen=True)
class Select(RankMeasure):
    """Kendall's tau-b between a model's inverse ranks and a consensus of the anchors' inverse ranks.

    The consensus is grown greedily. The first target is the mean over all anchors. The anchor closest to the target
    joins, the target becomes the mean over those that joined, and so on, while the tau of the next one is at least
    the mean of the taus at which the others joined. Of equally close anchors the one listed first joins.

    >>> from elect.core import ScoreMatrix
    >>> anchors = ScoreMatrix([[9.0, 9.0, 1.0], [5.0, 4.0, 2.0], [1.0, 2.0, 9.0], [0.0, 3.0, 5.0]], ("a", "b", "c"))
    >>> Select().reference(anchors).values(anchors.values).round(3)
    array([ 0.913,  0.913, -0.913])
    """

    name: str = "select"

    def reference_of_ranks(self, anchor_ranks: FloatArray) -> SelectReference:
        inverse = 1.0 / anchor_ranks
        target = TauTarget.of(_mean_over_models(inverse))
        waiting = list(range(inverse.shape[1]))
        chosen: list[int] = []
        accepted: list[float] = []
        while waiting:
            # The largest inverse rank belongs to rank 1 by either convention: ranks order points as their inverses do.
            taus = target.taus(anchor_ranks[:, waiting])
            closest = int(np.argmax(taus))
            if accepted and taus[closest] < np.mean(accepted) - _ROUNDING:
                break
            accepted.append(float(taus[closest]))
            chosen.append(waiting.pop(closest))
            target = TauTarget.of(_mean_over_models(inverse[:, chosen]))
        return SelectReference(self.convention, anchor_ranks.shape[0], target, tuple(chosen))


def _mean_over_models(inverse: FloatArray) -> FloatArray:
    # Sorted first, so that points with the same ranks from different models have the same sum, and stay tied.
    mean: FloatArray = np.sort(inverse, axis=1).mean(axis=1)
    return mean
