"""Scoring the whole pool, one step a model; the election comes with the last one.

Before the last step the pick is the best fixed model of the history, so that stopping early is safe and says so.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from elect.core import RankInterval, SearchStep
from elect.core.sources import ScoreSource
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.history.rank_signals import Grid, Signals, signals_of
from elect.paper.acquisition import neighbor_moments
from elect.paper.neighbors import neighbors_by_performance
from elect.paper.steps import attempt, candidates, search_step
from elect.paper.stopping import Budget
from elect.strategies.fixed import fixed_candidates
from elect.support.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was elected: models from the most promising on, what is expected of each, and what to say about it."""

    order: IntArray
    expected: FloatArray
    rank: RankInterval | None
    reason: str


Elect = Callable[[MetaDatabase, Signals], Verdict]


def whole_pool_steps(database: MetaDatabase, source: ScoreSource, elect: Elect, budget: Budget) -> Iterator[SearchStep]:
    """Score every model, then ``elect`` from the signals of all of them."""
    usual = fixed_candidates(database)
    ids = database.pool.ids
    columns: list[FloatArray | None] = []

    def early(evaluated: str | None, failure: str | None, why: str | None) -> SearchStep:
        return search_step(
            len(columns),
            "prior" if evaluated is None else "pool",
            evaluated,
            usual,
            budget.seconds,
            failure=failure,
            stopped_because=why,
            reason="not all models were scored, so the pick is the best fixed model of the history",
        )

    yield (step := early(None, None, budget.spent(0)))
    if step.stopped_because:
        return
    for model_id in ids:
        scores, failure = attempt(partial(_scores, source, model_id))
        columns.append(scores)
        if len(columns) == len(ids):
            break
        yield (step := early(model_id, failure, budget.spent(len(columns))))
        if step.stopped_because:
            return
    if all(column is None for column in columns):
        why = "no model could be scored"
        reason = f"{why}, so the pick is the best fixed model of the history"
        yield replace(early(ids[-1], failure, why), reason=reason)
    else:
        yield _last_step(database, columns, elect, budget, failure)


def _scores(source: ScoreSource, model_id: str) -> FloatArray:
    """The scores of one model, or an error that counts as its failure alone."""
    scores = np.asarray(source.scores(model_id), dtype=np.float64)
    if scores.ndim != 1 or not np.isfinite(scores).all():
        raise InvalidInput("its scores must be one finite number a row.")
    return scores


def _last_step(
    database: MetaDatabase, columns: list[FloatArray | None], elect: Elect, budget: Budget, failure: str | None
) -> SearchStep:
    # A model that failed ranks nothing: constant scores agree with none.
    nothing = np.zeros(next(len(column) for column in columns if column is not None))
    scores = np.column_stack([nothing if column is None else column for column in columns])
    verdict = elect(database, signals_of(scores, Grid.of(database.pool)))
    failed = np.array([column is None for column in columns])[verdict.order]
    order = np.r_[verdict.order[~failed], verdict.order[failed]]
    settings, performance = database.settings, database.performance.values
    neighbors = neighbors_by_performance(
        verdict.expected, performance, order, settings.n_neighbor_tasks, settings.scale_gaps
    )
    on_neighbors = performance[neighbors.tasks]
    # A pool of one model has no pairs to compare tasks on: then the whole history speaks.
    mean, spread = neighbor_moments(on_neighbors if len(on_neighbors) else performance)
    return search_step(
        len(columns),
        "pool",
        database.pool.ids[-1],
        candidates(database.pool.ids, order, mean, spread, on_neighbors),
        budget.seconds,
        neighbors=neighbors.named(database.tasks),
        failure=failure,
        stopped_because="the whole pool was scored",
        expected_rank=verdict.rank,
        reason=verdict.reason,
    )
