"""Strategies that score the whole pool first: one step a model, the election with the last one.

Before the last step the pick is the best fixed model of the history, so that stopping early is safe and says so.
Taking that one in any case is a strategy too.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from elect.core import Candidate, Neighbor, RankInterval, SearchStep
from elect.core.sources import ScoreSource
from elect.errors import ElectError, InvalidInput
from elect.history.database import MetaDatabase
from elect.history.signals import Grid, Signals, signals_of
from elect.paper.search import check_budgets
from elect.paper.similarity import tasks_like
from elect.support.arrays import FloatArray, IntArray

_RUNNERS_UP = 3


def fixed_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """Score nothing: one step, the best model by mean rank over the history, averaged over neighbouring parameters."""
    step = _WholePool(database, source, max_models, max_seconds).early(0, None, None, "nothing is evaluated")
    reason = "by mean rank over the whole history it is the best fixed model, models with similar parameters counted in"
    yield replace(step, reason=reason)


def consensus_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """Score every model; elect the one that fits the common opinion best. The result has no randomness of its own."""
    return _WholePool(database, source, max_models, max_seconds).run(learned=False)


def learned_steps(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """Score every model; elect by forecast rank where that is expected to pay, by consensus otherwise."""
    return _WholePool(database, source, max_models, max_seconds).run(learned=True)


@dataclass(frozen=True, eq=False)
class _Verdict:
    """What was elected: models from the most promising on, what is expected of each, and what to say about it."""

    order: IntArray
    expected: FloatArray
    rank: RankInterval | None
    reason: str


class _WholePool:
    """The state of one election."""

    def __init__(
        self, database: MetaDatabase, source: ScoreSource, max_models: int | None, max_seconds: float | None
    ) -> None:
        check_budgets(max_models=max_models, max_seconds=max_seconds)
        self.started = time.perf_counter()
        self.database = database
        self.source = source
        self.most = len(database.pool) if max_models is None else max_models
        self.max_seconds = max_seconds
        self.grid = Grid.of(database.pool)
        self.performance = database.performance.values
        # The best fixed model by mean rank, its neighbours in the grid counted in: the pick while nothing is known.
        self.usual = np.argsort(self.grid.smoothed(database.performance.ranks().mean(axis=0)), kind="stable")

    def run(self, *, learned: bool) -> Iterator[SearchStep]:
        columns: list[FloatArray | None] = []
        ids = self.database.pool.ids
        why = self._budget(0)
        yield (self.early(0, None, None, why))
        if why is not None:
            return
        for index, model_id in enumerate(ids):
            failure = None
            try:
                columns.append(self._scores(model_id))
            except (ElectError, ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
                columns.append(None)
                failure = f"{type(error).__name__}: {error}"
            whole = index + 1 == len(ids)
            why = None if whole else self._budget(index + 1)
            if whole:
                yield self._last(index + 1, model_id, failure, columns, learned)
                return
            yield self.early(index + 1, model_id, failure, why)
            if why is not None:
                return

    def _scores(self, model_id: str) -> FloatArray:
        """The scores of one model, or an error that counts as its failure alone."""
        scores = np.asarray(self.source.scores(model_id), dtype=np.float64)
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise InvalidInput("its scores must be one finite number a row.")
        return scores

    def _budget(self, tried: int) -> str | None:
        if tried >= self.most:
            return f"the budget of {self.most} models is spent"
        if self.max_seconds is not None and self._seconds() >= self.max_seconds:
            return f"the budget of {self.max_seconds:g} s is spent"
        return None

    def early(self, index: int, model_id: str | None, failure: str | None, why: str | None) -> SearchStep:
        shown = [self._candidate(int(m), ()) for m in self.usual[: 1 + _RUNNERS_UP]]
        return SearchStep(
            index=index,
            phase="prior" if model_id is None else "pool",
            evaluated=model_id,
            acquisition_value=None,
            neighbors=(),
            pick=shown[0],
            runners_up=tuple(shown[1:]),
            seconds=self._seconds(),
            failure=failure,
            stopped_because=why,
            reason="the pool was not scored to the end: the pick is the best fixed model of the history",
        )

    def _last(
        self, index: int, model_id: str, failure: str | None, columns: list[FloatArray | None], learned: bool
    ) -> SearchStep:
        found = [column for column in columns if column is not None]
        if not found:
            step = self.early(index, model_id, failure, "no model could be evaluated")
            return replace(step, reason="no model could be evaluated: the pick is the best fixed model of the history")
        # A model that failed ranks nothing: constant scores agree with none.
        nothing = np.zeros(len(found[0]))
        scores = np.column_stack([nothing if column is None else column for column in columns])
        failed = np.array([column is None for column in columns])
        signals = signals_of(scores, self.grid)
        verdict = self._by_history(signals) if learned else self._by_consensus(signals)
        order = np.r_[verdict.order[~failed[verdict.order]], verdict.order[failed[verdict.order]]]
        settings = self.database.settings
        wanted = settings.n_neighbor_tasks
        neighbors = tasks_like(verdict.expected, self.performance, order, wanted, settings.scale_gaps)
        tasks = tuple(t for t, _ in neighbors)
        shown = [self._candidate(int(m), tasks) for m in order[: 1 + _RUNNERS_UP]]
        return SearchStep(
            index=index,
            phase="pool",
            evaluated=model_id,
            acquisition_value=None,
            neighbors=tuple(Neighbor(self.database.tasks[t], similarity) for t, similarity in neighbors),
            pick=shown[0],
            runners_up=tuple(shown[1:]),
            seconds=self._seconds(),
            failure=failure,
            stopped_because="the whole pool was scored",
            expected_rank=verdict.rank,
            reason=verdict.reason,
        )

    def _by_consensus(self, signals: Signals) -> _Verdict:
        order = np.argsort(-signals.consensus, kind="stable")
        return _Verdict(order, signals.consensus, None, f"{self._scored()}, it fits best what they agree on")

    def _by_history(self, signals: Signals) -> _Verdict:
        predictor = self.database.rank_predictor
        if predictor is None:
            verdict = self._by_consensus(signals)
            return replace(verdict, reason=f"{verdict.reason}; the history is too small to say more")
        pick = predictor.pick(signals, self.grid)
        order = np.argsort(pick.shares if pick.from_history else -signals.consensus, kind="stable")
        if pick.from_history:
            reason = f"{self._scored()}, it is forecast to rank best, by how models that agree like this did before"
        else:
            reason = (
                f"low confidence: the history promises no gain here, so of all {len(self.grid.family)} models the one "
                "that fits best what they agree on is taken"
            )
        return _Verdict(order, signals.consensus, predictor.expected_rank(pick.share), reason)

    def _scored(self) -> str:
        return f"of all {len(self.grid.family)} models"

    def _candidate(self, model: int, tasks: tuple[int, ...]) -> Candidate:
        """A model with its performance on similar tasks (on the whole history where none are known)."""
        on = self.performance[list(tasks), model] if tasks else self.performance[:, model]
        kept = tuple(float(value) for value in on) if tasks else ()
        return Candidate(self.database.pool.ids[model], float(on.mean()), float(on.std()), kept)

    def _seconds(self) -> float:
        return time.perf_counter() - self.started
