"""The strategy ``fixed``: nothing is scored, the best model of the history by mean rank is the pick."""

from collections.abc import Iterator

from elect.core import Candidate, SearchStep
from elect.core.sources import ScoreSource
from elect.history.database import MetaDatabase
from elect.paper.acquisition import neighbor_moments
from elect.paper.pick import best_first
from elect.paper.steps import candidates, search_step
from elect.paper.stopping import Budget
from elect.support.arrays import IntArray


def fixed_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """One step, without any work. The other arguments are those of every strategy, and play no part."""
    budget = Budget(max_models, max_seconds)
    reason = "it has the best mean rank over the whole history"
    shown = fixed_candidates(database)
    yield search_step(0, "prior", None, shown, budget.seconds, stopped_because="nothing is evaluated", reason=reason)


def fixed_candidates(database: MetaDatabase) -> tuple[Candidate, ...]:
    """The best fixed models of a history, with how they did on all of it."""
    performance = database.performance.values
    mean, spread = neighbor_moments(performance)
    return candidates(database.pool.ids, fixed_order(database), mean, spread, performance[:0])


def fixed_order(database: MetaDatabase) -> IntArray:
    """The models by mean rank over a history, the best first."""
    return best_first(-database.performance.ranks().mean(axis=0))
