"""How far the models that were evaluated agree with the pick, on the whole and about single rows."""

from collections.abc import Sequence
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


@dataclass(frozen=True, eq=False)
class FamilyAgreement:
    """The rank correlation of what each two families say of the rows (families x families), a family speaking with the
    mean rank its models give a row."""

    families: tuple[str, ...]
    correlation: FloatArray


def family_agreement(scorer: PoolScorer, evaluated: Sequence[str]) -> FamilyAgreement:
    """How far the families agree that were evaluated. Models that give every row the same score take no part."""
    from scipy.stats import rankdata

    ranks: dict[str, list[FloatArray]] = {}
    for model_id in evaluated:
        scores = scorer.scores(model_id)
        if np.ptp(scores) > 0:
            ranks.setdefault(scorer.pool[model_id].detector, []).append(rankdata(scores))
    said = [rankdata(np.mean(columns, axis=0)) for columns in ranks.values()]
    found = np.atleast_2d(np.corrcoef(said)) if said else np.empty((0, 0))
    return FamilyAgreement(tuple(ranks), np.nan_to_num(found))
