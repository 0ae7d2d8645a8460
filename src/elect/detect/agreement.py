"""How far the models that were evaluated agree with the pick, on the whole and about single rows."""

from dataclasses import dataclass

import numpy as np

from elect.core import Selection
from elect.pool import PoolScorer
from elect.support.arrays import FloatArray, IntArray

FEWEST_TOP = 10


@dataclass(frozen=True)
class ModelAgreement:
    """The rank correlation of a model's scores with the pick's, and the share of the pick's top rows it shares."""

    model_id: str
    correlation: float
    shared_top: float


@dataclass(frozen=True, eq=False)
class Agreement:
    """``top`` is how many rows count as a model's top ones; ``row_shares`` (fitted rows) tells for each row which share
    of the models has it among these. Models that give every row the same score take no part."""

    top: int
    models: tuple[ModelAgreement, ...]
    row_shares: FloatArray

    def of_row(self, place: int | None) -> float | None:
        return None if place is None or not self.models else float(self.row_shares[place])


def agreement_of(scorer: PoolScorer, selection: Selection, n_outliers: int) -> Agreement:
    """The agreement of the evaluated models, from scores that the search has computed already."""
    from scipy.stats import rankdata

    n = scorer.n_points
    top = int(np.clip(n_outliers, min(FEWEST_TOP, n), max(1, n // 10)))
    pick = scorer.scores(selection.model_id)
    pick_top, pick_ranks = _top(pick, top), rankdata(pick)
    models, votes = [], np.zeros(n)
    for model_id in selection.evaluated:
        scores = scorer.scores(model_id)
        if np.ptp(scores) == 0 or np.ptp(pick) == 0:
            continue
        here = _top(scores, top)
        votes[here] += 1
        correlation = float(np.corrcoef(pick_ranks, rankdata(scores))[0, 1])
        models.append(ModelAgreement(model_id, correlation, len(np.intersect1d(here, pick_top)) / top))
    return Agreement(top, tuple(models), votes / max(1, len(models)))


def _top(scores: FloatArray, count: int) -> IntArray:
    return np.argsort(-scores, kind="stable")[:count]
