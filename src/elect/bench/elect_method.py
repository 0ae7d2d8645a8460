"""ELECT as a selector of the benchmark: trained on the history of a fold, searching over replayed measures."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from elect.bench.baselines import Choice, History, TaskView
from elect.core import PerformanceMatrix, SearchStep
from elect.core.sources import ReplayedMeasures
from elect.history.database import MetaDatabase
from elect.paper.coverage import coverage_initial_models
from elect.paper.folds import group_folds
from elect.paper.predictor import PairwisePredictor
from elect.paper.predictor_training import PredictorParams, train_predictor
from elect.paper.search import search
from elect.paper.settings import SearchSettings
from elect.paper.similarity import similarity_to_tasks
from elect.support.arrays import IntArray

BUDGET = 50
PAIRS_PER_TASK = 2_000
NEIGHBOR_SIZES = (3, 5, 8)
_NO_PATIENCE = 10**9


@dataclass(frozen=True)
class ElectSelector:
    """The published procedure, everything inside the fold: predictor, initial set, neighbours.

    The search ends after ``max_models`` models, as the paper's evaluation has it, and not by patience. Anchors come on
    top of them. ``n_neighbor_tasks=None`` chooses t by cross-validation over the history. ``search_all`` takes the
    similarity over all models at once instead of searching; ``average="rank"`` elects by the mean rank over the
    neighbours; ``min_gap`` leaves pairs of models closer than that out of training; ``tune`` chooses the predictor's
    hyperparameters by cross-validation over the history.
    """

    seed: int = 0
    acquisition: str = "ei"
    init: str = "coverage"
    n_neighbor_tasks: int | None = 5
    initial_size: int = 7
    max_models: int = BUDGET
    pairs_per_task: int | None = PAIRS_PER_TASK
    scale_gaps: bool = False
    params: PredictorParams = field(default_factory=PredictorParams)
    search_all: bool = False
    average: Literal["performance", "rank"] = "performance"
    min_gap: float = 0.0
    tune: bool = False

    def fit(self, history: History) -> "FittedElect":
        params = self._tuned(history) if self.tune else self.params
        chosen = replace(self, params=params)
        if self.n_neighbor_tasks is None:
            chosen = replace(chosen, n_neighbor_tasks=_cross_validated_neighbors(chosen, history))
        return FittedElect(chosen, chosen.database(history), history.anchors)

    def database(self, history: History) -> MetaDatabase:
        """What the search needs to know of the history."""
        return MetaDatabase(
            pool=history.pool,
            performance=history.performance,
            groups=history.groups,
            measure_names=history.measure_names,
            measures=history.measures,
            anchors=history.anchors or history.pool.ids,
            initial_models=coverage_initial_models(history.performance, min(self.initial_size, len(history.pool))),
            predictor=self._predictor(history),
            settings=SearchSettings(
                n_neighbor_tasks=self.n_neighbor_tasks or 5,
                scale_gaps=self.scale_gaps,
                metric=history.performance.metric,
            ),
        )

    def _predictor(self, history: History) -> PairwisePredictor:
        if self.min_gap > 0.0:
            from elect.bench.filtered_pairs import train_on_clear_pairs

            return train_on_clear_pairs(history, self.min_gap, self.pairs_per_task, self.params, self.seed)
        return _trained(history, self.params, self.pairs_per_task, self.seed)

    def _tuned(self, history: History) -> PredictorParams:
        from elect.paper.predictor_training import tune_predictor

        return tune_predictor(history.values, history.measures, history.groups, seed=self.seed).best


@lru_cache(maxsize=8)
def _trained(history: History, params: PredictorParams, pairs_per_task: int | None, seed: int) -> PairwisePredictor:
    """The predictor of a history. Variants that differ in the search alone share it: a history is its own key."""
    return train_predictor(
        history.values,
        history.measures,
        params=params,
        pairs_per_task=pairs_per_task,
        seed=seed,
        measure_names=history.measure_names,
    )


@dataclass(frozen=True, eq=False)
class FittedElect:
    settings: ElectSelector
    database: MetaDatabase
    anchors: tuple[str, ...]

    def select(self, task: TaskView) -> Choice:
        if self.settings.search_all:
            return self._from_all_models(task)
        steps = self.trace(task)
        pick = steps[-1].pick.model_id
        if self.settings.average == "rank":
            pick = self._by_rank(np.array([self.database.tasks.index(n.task) for n in steps[-1].neighbors]))
        evaluated = tuple(dict.fromkeys([*self.anchors, *(s.evaluated for s in steps if s.evaluated is not None)]))
        return Choice((pick,), evaluated=evaluated)

    def trace(self, task: TaskView) -> list[SearchStep]:
        """Every step of the search on a task."""
        found: list[SearchStep] = list(
            search(
                self.database,
                ReplayedMeasures(self.database.pool.ids, task.measures),
                acquisition=self.settings.acquisition,
                init=self.settings.init,
                patience=_NO_PATIENCE,
                max_models=min(self.settings.max_models, len(self.database.pool)),
                seed=self.settings.seed,
            )
        )
        return found

    def _from_all_models(self, task: TaskView) -> Choice:
        gaps = self.database.predictor.gaps(task.measures)
        models = np.arange(len(self.database.pool))
        values = self.database.performance.values
        similarity = similarity_to_tasks(gaps, values, models, scale=self.settings.scale_gaps)
        nearest = np.argsort(-similarity, kind="stable")[: self.settings.n_neighbor_tasks]
        if self.settings.average == "rank":
            return Choice((self._by_rank(nearest),), evaluated=self.database.pool.ids)
        best = int(np.argmax(values[nearest].mean(axis=0)))
        return Choice((self.database.pool.ids[best],), evaluated=self.database.pool.ids)

    def _by_rank(self, neighbors: IntArray) -> str:
        mean = self.database.performance.ranks()[neighbors].mean(axis=0)
        return self.database.pool.ids[int(np.argmin(mean))]


def _cross_validated_neighbors(settings: ElectSelector, history: History, n_folds: int = 5) -> int:
    """The t of best mean rank over the tasks of the history, each asked about with its fold left out."""
    if len(set(history.groups)) < 2:
        return 5
    fold_of = group_folds(history.groups, n_folds)
    ranks = history.performance.ranks()
    totals = np.zeros(len(NEIGHBOR_SIZES))
    for fold in np.unique(fold_of):
        inside, outside = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        part = _part(history, inside)
        database = replace(settings, n_neighbor_tasks=5).database(part)
        for column, size in enumerate(NEIGHBOR_SIZES):
            sized = replace(settings, n_neighbor_tasks=size)
            known = replace(database, settings=replace(database.settings, n_neighbor_tasks=size))
            fitted = FittedElect(sized, known, ())
            for task in outside:
                view = TaskView(history.measures[task], history.meta_features[task])
                totals[column] += ranks[task, history.pool.index(fitted.select(view).model_id)]
    return int(NEIGHBOR_SIZES[int(np.argmin(totals))])


def _part(history: History, inside: IntArray) -> History:
    rows = [int(i) for i in inside]
    values, tasks = history.values[rows], tuple(history.performance.tasks[i] for i in rows)
    return replace(
        history,
        performance=PerformanceMatrix(values, tasks, history.pool.ids, history.performance.metric),
        groups=tuple(history.groups[i] for i in rows),
        measures=history.measures[rows],
        meta_features=history.meta_features[rows],
    )
