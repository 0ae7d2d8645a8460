"""The anytime search of section IV: find similar historical tasks with few evaluated models, elect from all models.

Each step goes through the files of this room by name: a model is measured against the anchors (``measuring``), its gaps
to the others are predicted (``predictor``, Eq. 4), similarity finds the neighbours (``neighbors``, Eq. 5), the pick is
read from them (``pick``, Eq. 2), and the acquisition says which model is next (``acquisition``, Eq. 7 and 8), until
patience or a budget ends it (``stopping``).
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Protocol

import numpy as np

from elect.core import ModelPool, PerformanceMatrix, SearchStep
from elect.core.selection import Phase
from elect.core.sources import CostedSource, MeasureSource, ScoreSource
from elect.errors import InvalidInput
from elect.paper.acquisition import ACQUISITIONS, neighbor_moments, next_model
from elect.paper.measuring import MeasuringSource
from elect.paper.neighbors import NOBODY, estimated_neighbors
from elect.paper.pick import best_first
from elect.paper.predictor import PairwisePredictor
from elect.paper.settings import SearchSettings
from elect.paper.steps import attempt, candidates, search_step
from elect.paper.stopping import Budget, Patience, check_budgets
from elect.support.arrays import FloatArray

INITIALIZATIONS = ("coverage", "random")
ALL_ACQUISITIONS = (*ACQUISITIONS, "random", "ei-per-second")


class TrainedHistory(Protocol):
    """What the search reads of a ``MetaDatabase``, which lives above it."""

    @property
    def pool(self) -> ModelPool: ...
    @property
    def performance(self) -> PerformanceMatrix: ...
    @property
    def measure_names(self) -> tuple[str, ...]: ...
    @property
    def anchors(self) -> tuple[str, ...]: ...
    @property
    def initial_models(self) -> tuple[str, ...]: ...
    @property
    def predictor(self) -> PairwisePredictor: ...
    @property
    def settings(self) -> SearchSettings: ...


def search(
    database: TrainedHistory,
    source: ScoreSource | MeasureSource,
    *,
    acquisition: str = "ei",
    init: str = "coverage",
    patience: int | None = None,
    max_models: int | None = None,
    max_seconds: float | None = None,
    n_neighbor_tasks: int | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """Search for a model, yielding a step for each evaluated one. The caller may stop after any step.

    It ends by itself when the neighbours have not changed for ``patience`` steps, after ``max_models`` evaluated models
    (anchors included) or ``max_seconds``. A model that the source fails on is recorded and left out. ``acquisition`` is
    one of ``ei``, ``ei-per-second``, ``mean+variance``, ``greedy``, ``random``; ``init`` is ``coverage`` or ``random``.
    """
    if acquisition not in ALL_ACQUISITIONS:
        raise InvalidInput(f"acquisition must be one of {', '.join(ALL_ACQUISITIONS)}, got {acquisition!r}.")
    if init not in INITIALIZATIONS:
        raise InvalidInput(f"init must be one of {', '.join(INITIALIZATIONS)}, got {init!r}.")
    if acquisition == "ei-per-second" and not isinstance(source, CostedSource):
        raise InvalidInput("acquisition='ei-per-second' must have a source that predicts costs, as PoolScorer does.")
    check_budgets(patience=patience)
    budget = Budget(max_models, max_seconds)
    state = _Search(database, source, acquisition, init, n_neighbor_tasks, budget, seed)
    return _until_stopped(state.steps(database.settings.patience if patience is None else patience))


def _until_stopped(steps: Iterator[SearchStep]) -> Iterator[SearchStep]:
    for step in steps:
        yield step
        if step.stopped_because:
            return


class _Search:
    """The state of one search."""

    def __init__(
        self,
        database: TrainedHistory,
        source: ScoreSource | MeasureSource,
        acquisition: str,
        init: str,
        n_neighbor_tasks: int | None,
        budget: Budget,
        seed: int,
    ) -> None:
        self.database = database
        self.ids = database.pool.ids
        self.performance = database.performance.values
        self.source = source
        self.measured: MeasureSource
        self.acquisition = acquisition
        self.budget = budget
        self.n_neighbors = n_neighbor_tasks or database.settings.n_neighbor_tasks
        self.rng = np.random.default_rng(seed)
        self.initial = self._initial_models(init)
        self.index = 0
        self.fitted: set[int] = set()
        self.failed: set[int] = set()
        self.models: list[int] = []  # evaluated, in the order they came
        self.measures: list[FloatArray] = []
        self.gaps: FloatArray = np.empty(0)  # predicted, of the pairs of ``models``
        self.neighbors = NOBODY
        self.mean, self.std = neighbor_moments(self.performance)  # over all tasks while there are no neighbours

    def _initial_models(self, init: str) -> tuple[str, ...]:
        """Those that cover the history (appendix A), or as many at random."""
        covering = self.database.initial_models
        if init == "coverage":
            return covering
        return tuple(self.ids[i] for i in self.rng.choice(len(self.ids), len(covering), replace=False))

    def steps(self, patience: int) -> Iterator[SearchStep]:
        """The whole search; who runs it stops after a step that says why."""
        yield self._step("prior", None)
        if isinstance(self.source, MeasureSource):
            self.measured = self.source
        else:
            self.measured = against = MeasuringSource(self.source, self.database.measure_names)
            for model_id in self.database.anchors:
                failure = self._try(against.add_anchor, model_id)
                yield self._step("anchor", model_id, failure=failure)
            if not against.fix_anchors():
                why = "no anchor could be scored: the pick is the best of the whole history"
                yield self._step("anchor", None, stopped=why)
        for model_id in self.initial:
            failure = self._try(self._add, model_id)
            yield self._step("initial", model_id, failure=failure)
        settled = Patience(patience, self.neighbors.tasks.tolist())
        while (found := self._next()) is not None:
            model_id, value = found
            failure = self._try(self._add, model_id)
            # A model that failed says nothing about the neighbours.
            why_stop = settled.why() if failure else settled.after(self.neighbors.tasks.tolist())
            yield self._step("adaptive", model_id, value=value, failure=failure, stopped=why_stop)
        yield self._step("adaptive", None, stopped="every model was tried")

    def _try(self, evaluate: Callable[[str], None], model_id: str) -> str | None:
        """Evaluate a model; what went wrong, if anything."""
        model = self.database.pool.index(model_id)
        self.fitted.add(model)
        _, failure = attempt(partial(evaluate, model_id))
        if failure is not None:
            self.failed.add(model)
        return failure

    def _add(self, model_id: str) -> None:
        """Add a model to those evaluated and find the neighbours again."""
        model = self.database.pool.index(model_id)
        if model in self.models:
            return
        new = np.asarray(self.measured.measures(model_id), dtype=np.float64)
        if self.measures:
            self.gaps = self.database.predictor.with_model(self.gaps, np.array(self.measures), new)
        self.models.append(model)
        self.measures.append(new)
        if len(self.models) < 2:
            return  # one model makes no pair: nothing is known of any similarity yet
        scale = self.database.settings.scale_gaps
        models = np.array(self.models)
        self.neighbors = estimated_neighbors(self.gaps, self.performance, models, self.n_neighbors, scale)
        self.mean, self.std = neighbor_moments(self.performance[self.neighbors.tasks])

    def _next(self) -> tuple[str, float | None] | None:
        """The model the acquisition chooses, with its value; None once every model was tried."""
        open_to = np.ones(len(self.ids), dtype=bool)
        open_to[[*self.models, *self.failed]] = False
        left = np.flatnonzero(open_to)
        if len(left) == 0:
            return None
        if self.acquisition == "random":
            return self.ids[int(self.rng.choice(left))], None
        best = float(self.mean[self.models].max()) if self.models else 0.0
        cost = np.ones(len(left))
        name = self.acquisition
        if name == "ei-per-second" and isinstance(self.source, CostedSource):
            name, cost = "ei", np.array([self.source.predicted_seconds(self.ids[model]) for model in left])
        model, value = next_model(ACQUISITIONS[name], self.mean, self.std, left, best, cost)
        return self.ids[model], value

    def _step(
        self,
        phase: Phase,
        model_id: str | None,
        *,
        value: float | None = None,
        failure: str | None = None,
        stopped: str | None = None,
    ) -> SearchStep:
        order = best_first(self.mean, self.failed)
        on_neighbors = self.performance[self.neighbors.tasks]
        step = search_step(
            self.index,
            phase,
            model_id,
            candidates(self.ids, order, self.mean, self.std, on_neighbors),
            self.budget.seconds,
            neighbors=self.neighbors.named(self.database.performance.tasks),
            acquisition_value=value,
            failure=failure,
            stopped_because=stopped or self.budget.spent(len(self.fitted)),
        )
        self.index += 1
        return step
