"""ELECT as a selector of the benchmark: trained on the history of a fold, run as it ships over replayed measures."""

from dataclasses import dataclass, field
from functools import lru_cache

from elect.bench.baselines import Choice, History, TaskView
from elect.core import SearchStep, Selection
from elect.core.sources import ReplayedMeasures
from elect.history.database import MetaDatabase
from elect.paper.coverage import coverage_initial_models
from elect.paper.predictor import PairwisePredictor
from elect.paper.predictor_training import PredictorParams, train_predictor
from elect.paper.settings import INITIAL_SIZE, SearchSettings
from elect.strategies.elect import elect_steps

NO_PATIENCE = 10**9
"""Steps: the search ends when its models are spent, as the paper's evaluation has it."""


@dataclass(frozen=True)
class ElectSelector:
    """The published procedure, everything inside the fold: predictor, initial set, neighbours.

    The search ends after the paper's number of models, and not by patience. Measures are replayed, so that anchors come
    on top of these models.
    """

    seed: int = 0
    n_neighbor_tasks: int = 5
    initial_size: int = INITIAL_SIZE
    pairs_per_task: int | None = 2_000
    scale_gaps: bool = False
    params: PredictorParams = field(default_factory=PredictorParams)

    def fit(self, history: History) -> "FittedElect":
        predictor = trained_predictor(history, self.params, self.pairs_per_task, self.seed)
        return FittedElect(self.database(history, predictor), history.anchors, self.seed)

    def database(self, history: History, predictor: PairwisePredictor) -> MetaDatabase:
        """What the search needs to know of the history."""
        return MetaDatabase(
            pool=history.pool,
            performance=history.performance,
            groups=history.groups,
            measure_names=history.measure_names,
            measures=history.measures,
            anchors=history.anchors or history.pool.ids,
            initial_models=coverage_initial_models(history.performance, min(self.initial_size, len(history.pool))),
            predictor=predictor,
            settings=SearchSettings(
                n_neighbor_tasks=self.n_neighbor_tasks,
                patience=NO_PATIENCE,
                scale_gaps=self.scale_gaps,
                metric=history.performance.metric,
            ),
        )


@lru_cache(maxsize=8)
def trained_predictor(
    history: History, params: PredictorParams, pairs_per_task: int | None, seed: int
) -> PairwisePredictor:
    """The predictor of a history. Selectors that differ in the search alone share it: a history is its own key."""
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
    database: MetaDatabase
    anchors: tuple[str, ...]
    seed: int = 0

    def select(self, task: TaskView) -> Choice:
        found = Selection.from_steps(self.steps(task), self.database.pool)
        return Choice((found.model_id,), evaluated=tuple(dict.fromkeys([*self.anchors, *found.evaluated])))

    def steps(self, task: TaskView) -> list[SearchStep]:
        """Every step of the search on a task."""
        source = ReplayedMeasures(self.database.pool.ids, task.measures)
        return list(elect_steps(self.database, source, seed=self.seed))
