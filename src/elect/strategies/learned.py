"""The strategy ``learned``: the whole pool is scored, and the rank of every model forecast from how the pool agrees.

The best forecast is the pick where the history says that this gains on the consensus; elsewhere the consensus is.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from elect.core import SearchStep
from elect.core.sources import ScoreSource
from elect.history.database import MetaDatabase
from elect.history.rank_signals import Grid, Signals
from elect.paper.stopping import Budget
from elect.strategies._whole_pool import Verdict, whole_pool_steps
from elect.strategies.consensus import by_consensus, closest


def learned_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """Score every model; elect by forecast rank where that is expected to pay, by consensus otherwise."""
    return whole_pool_steps(database, source, by_history, Budget(max_models, max_seconds))


def by_history(database: MetaDatabase, signals: Signals) -> Verdict:
    """The models by forecast rank, or by consensus where the history promises nothing better."""
    predictor = database.rank_predictor
    verdict = by_consensus(database, signals)
    if predictor is None:
        return replace(verdict, reason=f"{verdict.reason}; the history is too small to say more")
    pick = predictor.pick(signals, Grid.of(database.pool))
    rank = predictor.expected_rank(pick.share)
    if not pick.from_history:
        reason = f"low confidence: the history says little about a table like this, so the pick is {closest(database)}"
        return replace(verdict, rank=rank, reason=reason)
    reason = "it is expected to rank best, judged by tables of the history where the models agreed in a similar way"
    return Verdict(np.argsort(pick.shares, kind="stable"), signals.consensus, rank, reason)
