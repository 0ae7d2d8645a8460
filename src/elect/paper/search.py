"""The anytime search of section IV: find similar historical tasks with few evaluated models, elect from all models."""

import time
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from elect.core import Candidate, ModelPool, Neighbor, PerformanceMatrix, SearchStep
from elect.core.sources import CostedSource, MeasureSource, ScoreSource
from elect.errors import ElectError, InvalidInput
from elect.paper.acquisition import ACQUISITIONS, neighbor_moments
from elect.paper.measuring import MeasuringSource
from elect.paper.predictor import PairwisePredictor
from elect.paper.settings import SearchSettings
from elect.paper.similarity import similarity_to_tasks
from elect.support.arrays import FloatArray, IntArray

INITIALIZATIONS = ("coverage", "random")
_RUNNERS_UP = 3


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
    if acquisition not in (*ACQUISITIONS, "random", "ei-per-second"):
        known = ", ".join((*ACQUISITIONS, "random", "ei-per-second"))
        raise InvalidInput(f"acquisition must be one of {known}, got {acquisition!r}.")
    if init not in INITIALIZATIONS:
        raise InvalidInput(f"init must be one of {', '.join(INITIALIZATIONS)}, got {init!r}.")
    if acquisition == "ei-per-second" and not isinstance(source, CostedSource):
        raise InvalidInput("acquisition='ei-per-second' must have a source that predicts costs, as PoolScorer does.")
    check_budgets(patience=patience, max_models=max_models, max_seconds=max_seconds)
    return _Search(database, source, acquisition, init, patience, max_models, max_seconds, n_neighbor_tasks, seed).run()


def check_budgets(**budgets: float | None) -> None:
    """Budgets are None or at least 0."""
    for name, value in budgets.items():
        if value is not None and not value >= 0:
            raise InvalidInput(f"{name} must be at least 0, got {value!r}.")


class _Search:
    """The state of one search."""

    def __init__(
        self,
        database: TrainedHistory,
        source: ScoreSource | MeasureSource,
        acquisition: str,
        init: str,
        patience: int | None,
        max_models: int | None,
        max_seconds: float | None,
        n_neighbor_tasks: int | None,
        seed: int,
    ) -> None:
        self.started = time.perf_counter()
        self.ids = database.pool.ids
        self.performance = database.performance.values
        self.tasks = database.performance.tasks
        self.database = database
        self.source = source
        self.acquisition = acquisition
        self.patience = database.settings.patience if patience is None else patience
        self.max_models = max_models
        self.max_seconds = max_seconds
        wanted = n_neighbor_tasks or database.settings.n_neighbor_tasks
        self.n_neighbors = min(wanted, len(self.tasks))
        self.rng = np.random.default_rng(seed)
        self.initial = self._initial(init)
        self.index = 0
        self.fitted: set[int] = set()
        self.failed: set[int] = set()
        self.models: list[int] = []  # evaluated, in the order they came
        self.measures: list[FloatArray] = []
        self.gaps: FloatArray = np.empty(0)  # predicted, of the pairs of ``models``
        self.neighbors: IntArray = np.empty(0, dtype=np.intp)
        self.similarities: FloatArray = np.empty(0)
        self.mean, self.std = neighbor_moments(self.performance)

    def _initial(self, init: str) -> list[int]:
        position = {model_id: i for i, model_id in enumerate(self.ids)}
        if init == "coverage":
            return [position[model_id] for model_id in self.database.initial_models]
        size = len(self.database.initial_models)
        return [int(i) for i in self.rng.choice(len(self.ids), size, replace=False)]

    def run(self) -> Iterator[SearchStep]:
        yield (step := self._step("prior", None))
        if step.stopped_because:
            return
        if isinstance(self.source, MeasureSource):
            measuring: Any = self.source
        else:
            measuring = MeasuringSource(self.source, self.database.measure_names)
            for model in (self.database.pool.index(model_id) for model_id in self.database.anchors):
                failure = self._try(measuring.add_anchor, model)
                yield (step := self._step("anchor", model, failure=failure))
                if step.stopped_because:
                    return
            if not measuring.fix_anchors():
                yield self._step(
                    "anchor", None, stopped="no anchor could be scored: the pick is the best of the whole history"
                )
                return
        for model in self.initial:
            failure = self._try(lambda model_id: self._add(model_id, measuring), model)
            yield (step := self._step("initial", model, failure=failure))
            if step.stopped_because:
                return
        unchanged = 0
        while True:
            chosen = self._next()
            if chosen is None:
                yield self._step("adaptive", None, stopped="every model was tried")
                return
            model, value = chosen
            before = set(self.neighbors.tolist())
            failure = self._try(lambda model_id: self._add(model_id, measuring), model)
            if failure is None:  # a model that failed says nothing about the neighbours
                unchanged = unchanged + 1 if before == set(self.neighbors.tolist()) else 0
            patient = unchanged < self.patience
            why = None if patient else f"the neighbours stayed the same for {unchanged} steps"
            yield (step := self._step("adaptive", model, value=value, failure=failure, stopped=why))
            if step.stopped_because:
                return

    def _try(self, evaluate: Any, model: int) -> str | None:
        """Evaluate a model; what went wrong, if anything."""
        self.fitted.add(model)
        try:
            evaluate(self.ids[model])
        except (ElectError, ArithmeticError, ValueError, RuntimeError, MemoryError) as error:
            self.failed.add(model)
            return f"{type(error).__name__}: {error}"
        return None

    def _add(self, model_id: str, measuring: Any) -> None:
        """Add a model to those evaluated and update the neighbours."""
        model = self.database.pool.index(model_id)
        if model in self.models:
            return
        new = np.asarray(measuring.measures(model_id), dtype=np.float64)
        if self.measures:
            self.gaps = self.database.predictor.with_model(self.gaps, np.array(self.measures), new)
        self.models.append(model)
        self.measures.append(new)
        if len(self.models) < 2:
            return  # one model makes no pair: nothing is known of any similarity yet
        scale = self.database.settings.scale_gaps
        found = similarity_to_tasks(self.gaps, self.performance, np.array(self.models), scale=scale)
        order = np.argsort(-found, kind="stable")[: self.n_neighbors]
        self.neighbors, self.similarities = order, found[order]
        self.mean, self.std = neighbor_moments(self.performance[order])

    def _next(self) -> tuple[int, float | None] | None:
        """The model the acquisition chooses, with its value."""
        open_to = np.ones(len(self.ids), dtype=bool)
        open_to[[*self.models, *self.failed]] = False
        candidates = np.flatnonzero(open_to)
        if len(candidates) == 0:
            return None
        if self.acquisition == "random":
            return int(self.rng.choice(candidates)), None
        best = float(self.mean[self.models].max()) if self.models else 0.0
        name = "ei" if self.acquisition == "ei-per-second" else self.acquisition
        values = ACQUISITIONS[name](self.mean[candidates], self.std[candidates], best)
        if self.acquisition == "ei-per-second" and isinstance(self.source, CostedSource):
            values = values / np.array([self.source.predicted_seconds(self.ids[c]) for c in candidates])
        chosen = int(np.argmax(values))
        return int(candidates[chosen]), float(values[chosen])

    def _step(
        self,
        phase: Any,
        model: int | None,
        *,
        value: float | None = None,
        failure: str | None = None,
        stopped: str | None = None,
    ) -> SearchStep:
        order = np.argsort(-self.mean, kind="stable")
        failed = np.isin(order, list(self.failed))  # what does not run on this table comes last, whatever it did before
        order = np.r_[order[~failed], order[failed]][: 1 + _RUNNERS_UP]
        shown = [self._candidate(int(i)) for i in order]
        neighbors = zip(self.neighbors, self.similarities, strict=True)
        seconds = time.perf_counter() - self.started
        step = SearchStep(
            index=self.index,
            phase=phase,
            evaluated=None if model is None else self.ids[model],
            acquisition_value=value,
            neighbors=tuple(Neighbor(self.tasks[t], float(s)) for t, s in neighbors),
            pick=shown[0],
            runners_up=tuple(shown[1:]),
            seconds=seconds,
            failure=failure,
            stopped_because=stopped or self._budget(seconds),
        )
        self.index += 1
        return step

    def _candidate(self, model: int) -> Candidate:
        on = tuple(float(p) for p in self.performance[self.neighbors, model])
        return Candidate(self.ids[model], float(self.mean[model]), float(self.std[model]), on)

    def _budget(self, seconds: float) -> str | None:
        if self.max_models is not None and len(self.fitted) >= self.max_models:
            return f"the budget of {self.max_models} models is spent"
        if self.max_seconds is not None and seconds >= self.max_seconds:
            return f"the budget of {self.max_seconds:g} s is spent"
        return None
