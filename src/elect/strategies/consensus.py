"""The strategy ``consensus``: the whole pool is scored, and the model closest to its common opinion is the pick."""

from collections.abc import Iterator

import numpy as np

from elect.core import SearchStep
from elect.core.sources import ScoreSource
from elect.history.database import MetaDatabase
from elect.history.rank_signals import Signals
from elect.paper.stopping import Budget
from elect.strategies._whole_pool import Verdict, whole_pool_steps


def consensus_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """Score every model; elect without the history. The result has no randomness of its own."""
    return whole_pool_steps(database, source, by_consensus, Budget(max_models, max_seconds))


def by_consensus(database: MetaDatabase, signals: Signals) -> Verdict:
    """The models by how well they agree with the pool as a whole."""
    order = np.argsort(-signals.consensus, kind="stable")
    return Verdict(order, signals.consensus, None, f"it is {closest(database)}")


def closest(database: MetaDatabase) -> str:
    """What the consensus pick is, in words."""
    return f"the model closest to what all {len(database.pool)} models agree on"
