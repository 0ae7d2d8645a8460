"""How far the models that were evaluated agree with the pick, on the whole and about single rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.core import Selection
from elect.core.ranks import rank
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
    """``top`` is how many rows count as a model's top ones. Models that give every row the same score take no part."""

    top: int
    models: tuple[ModelAgreement, ...]


def agreement_of(scorer: PoolScorer, selection: Selection, n_outliers: int) -> Agreement:
    """The agreement of the evaluated models, from scores that the search has computed already."""
    top = n_top(scorer, n_outliers)
    pick = scorer.scores(selection.model_id)
    ids = [model_id for model_id in selection.evaluated if np.ptp(pick) > 0 and np.ptp(scorer.scores(model_id)) > 0]
    here, ranks = _top(pick, top), _ranks(pick)
    models = tuple(
        ModelAgreement(
            model_id,
            float(np.corrcoef(ranks, _ranks(scorer.scores(model_id)))[0, 1]),
            len(np.intersect1d(_top(scorer.scores(model_id), top), here)) / top,
        )
        for model_id in ids
    )
    return Agreement(top, models)


def row_shares(scorer: PoolScorer, selection: Selection, n_outliers: int) -> FloatArray | None:
    """For each row, the share of the evaluated models that have it among their top rows; None where none has any."""
    top = n_top(scorer, n_outliers)
    votes, models = np.zeros(scorer.n_points), 0
    if np.ptp(scorer.scores(selection.model_id)) == 0:
        return None
    for model_id in selection.evaluated:
        scores = scorer.scores(model_id)
        if np.ptp(scores) > 0:
            votes[_top(scores, top)] += 1
            models += 1
    return votes / models if models else None


def n_top(scorer: PoolScorer, n_outliers: int) -> int:
    """How many rows count as a model's top ones: as many as are flagged, but some, and not more than a tenth."""
    n = scorer.n_points
    return int(np.clip(n_outliers, min(FEWEST_TOP, n), max(1, n // 10)))


def _ranks(scores: FloatArray) -> FloatArray:
    ranks: FloatArray = rank(scores[:, None], "ascending")[:, 0]
    return ranks


def _top(scores: FloatArray, count: int) -> IntArray:
    """The rows of the highest scores; of equal ones the first."""
    limit = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, level = np.flatnonzero(scores > limit), np.flatnonzero(scores == limit)
    top: IntArray = np.concatenate([above, level[: count - len(above)]])
    return top


@dataclass(frozen=True, eq=False)
class FamilyAgreement:
    """The rank correlation of what each two families say of the rows (families x families), a family speaking with the
    mean rank its models give a row."""

    families: tuple[str, ...]
    correlation: FloatArray


def family_agreement(scorer: PoolScorer, evaluated: Sequence[str]) -> FamilyAgreement:
    """How far the families agree that were evaluated. Models that give every row the same score take no part."""
    ranks: dict[str, list[FloatArray]] = {}
    for model_id in evaluated:
        scores = scorer.scores(model_id)
        if np.ptp(scores) > 0:
            ranks.setdefault(scorer.pool[model_id].detector, []).append(_ranks(scores))
    said = [_ranks(np.mean(columns, axis=0)) for columns in ranks.values()]
    found = np.atleast_2d(np.corrcoef(said)) if said else np.empty((0, 0))
    return FamilyAgreement(tuple(ranks), np.nan_to_num(found))
