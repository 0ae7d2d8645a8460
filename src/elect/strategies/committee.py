"""The strategy ``committee``: of the quick models of the pool, the one that ranks the rows most as the committee does.

The committee says how likely each row is an outlier. If that is so, every model has a certain average precision to
expect, and the model that may expect most is the pick. Families that take long are left out: picks among all models
are hardly better. Where nobody says how likely the rows are, the common opinion of the models stands in for the
committee.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from elect.committee.consensus import RankedRows, consensus_chance, expected_performance
from elect.core import ModelPool, SearchStep
from elect.core.selection import Phase
from elect.core.sources import ChanceSource, ScoreSource
from elect.history.database import MetaDatabase
from elect.history.expectation import COMMITTEE_RANKS, expected_rank
from elect.measures import rank
from elect.paper.acquisition import neighbor_moments
from elect.paper.neighbors import NOBODY, NeighborSet, neighbors_by_performance
from elect.paper.steps import attempt, candidates, search_step
from elect.paper.stopping import Budget
from elect.strategies.fixed import fixed_order
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray

SLOW = frozenset({"ABOD", "COF", "OCSVM"})
"""The families that are left out."""

UNELECTED = "too few models were scored to elect one, so the pick is the best fixed model of the history"


def quick_models(pool: ModelPool) -> tuple[str, ...]:
    """The models that may be elected: those of the quick families, or all of a pool that has none."""
    return tuple(spec.id for spec in pool if spec.detector not in SLOW) or pool.ids


def committee_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """One step a model. Where the source says how likely the rows are, each step has the best model so far; elsewhere
    the last step elects. The result has no randomness of its own."""
    budget = Budget(max_models, max_seconds)
    board = _Board(database, fixed_order(database), *neighbor_moments(database.performance.values))
    yield (step := board.step(0, "prior", None, {}, budget, stopped_because=budget.spent(0), reason=UNELECTED))
    if step.stopped_because:
        return
    chance = source.chance() if isinstance(source, ChanceSource) else None
    judge = "the models together do" if chance is None else "the committee does"
    expected: dict[int, float] = {}
    ranks: dict[int, FloatArray] = {}  # kept until the chance of the rows is known
    quick = quick_models(database.pool)
    for index, model_id in enumerate(quick, start=1):
        model = database.pool.index(model_id)
        found, failure = attempt(partial(_ranks, source, model_id))
        if found is not None and chance is not None:
            expected[model] = float(_expected(found, chance)[0])
        elif found is not None:
            ranks[model] = found
        why = budget.spent(index)
        known = None
        if index == len(quick):
            if ranks:
                together = np.hstack(list(ranks.values()))
                expected = dict(zip(ranks, _expected(together, consensus_chance(together)).tolist(), strict=True))
            why = "all quick models were scored" if expected else "no model could be scored"
            known = None if chance is None else expected_rank(database, COMMITTEE_RANKS)
        scored = wording.count(len(expected), "model")
        reason = f"of {scored} it ranks the rows most as {judge}" if expected else UNELECTED
        yield board.step(
            index,
            "pool",
            model_id,
            expected,
            budget,
            failure=failure,
            stopped_because=why,
            expected_rank=known,
            reason=reason,
        )
        if why:
            return


def _ranks(source: ScoreSource, model_id: str) -> FloatArray:
    """The descending ranks of the rows by one model (rows x 1), or an error that counts as its failure alone."""
    return rank(np.asarray(source.scores(model_id), dtype=np.float64)[:, None])


def _expected(ranks: FloatArray, chance: FloatArray) -> FloatArray:
    return expected_performance(RankedRows.of(ranks), chance)


@dataclass(frozen=True, eq=False)
class _Board:
    """What a step shows: the models that were scored, the most promising first; then the others as the history has
    them, with how each did on the whole of it."""

    database: MetaDatabase
    usual: IntArray
    mean: FloatArray
    spread: FloatArray

    def step(
        self,
        index: int,
        phase: Phase,
        evaluated: str | None,
        expected: Mapping[int, float],
        budget: Budget,
        *,
        stopped_because: str | None,
        **said: Any,
    ) -> SearchStep:
        database, mean, spread = self.database, self.mean, self.spread
        scored = np.array(sorted(expected, key=lambda model: (-expected[model], model)), dtype=np.intp)
        order = np.r_[scored, self.usual[~np.isin(self.usual, scored)]]
        # Neighbours are for the reader of the last step; the pick does not depend on them.
        neighbors = self._neighbors(expected, scored) if stopped_because else NOBODY
        on_neighbors = database.performance.values[neighbors.tasks]
        if len(on_neighbors):
            mean, spread = neighbor_moments(on_neighbors)
        return search_step(
            index,
            phase,
            evaluated,
            candidates(database.pool.ids, order, mean, spread, on_neighbors),
            budget.seconds,
            neighbors=neighbors.named(database.tasks),
            stopped_because=stopped_because,
            **said,
        )

    def _neighbors(self, expected: Mapping[int, float], scored: IntArray) -> NeighborSet:
        """The historical tasks on which the models stand to each other as they may expect to do here."""
        of_all = np.zeros(len(self.database.pool))
        of_all[list(expected)] = list(expected.values())
        performance, size = self.database.performance.values, self.database.settings.n_neighbor_tasks
        # Expected gaps are narrower than true ones: unscaled, they resemble those of tasks that are easy for all
        # models, and nearly every table would be shown the same few.
        return neighbors_by_performance(of_all, performance, scored, size, scale=True)
