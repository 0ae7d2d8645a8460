"""ELECT with one part changed: the paper's ablations, and what was tried because its rank here is not the paper's."""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from elect.bench.baselines import Choice, History, TaskView
from elect.bench.elect_method import ElectSelector, FittedElect, trained_predictor
from elect.bench.methods import ELECT_METHOD, Method
from elect.core import PerformanceMatrix, SearchStep
from elect.core.sources import ReplayedMeasures
from elect.paper.folds import group_folds
from elect.paper.neighbors import estimated_neighbors
from elect.paper.predictor import PairwisePredictor
from elect.paper.predictor_training import PredictorParams, grow
from elect.paper.search import search
from elect.paper.settings import MAX_MODELS
from elect.paper.similarity import pair_indices
from elect.support.arrays import IntArray

NEIGHBOR_SIZES = (3, 5, 8)


@dataclass(frozen=True)
class Variant:
    """ELECT, and how it is changed.

    ``acquisition`` and ``init`` are those of the search. ``search_all`` takes the similarity over all models at once
    instead of searching; ``average="rank"`` elects by the mean rank over the neighbours; ``min_gap`` leaves pairs of
    models closer than that out of training; ``choose_neighbors`` chooses t by cross-validation over the history.
    """

    elect: ElectSelector = field(default_factory=ElectSelector)
    acquisition: str = "ei"
    init: str = "coverage"
    search_all: bool = False
    average: Literal["performance", "rank"] = "performance"
    min_gap: float = 0.0
    choose_neighbors: bool = False

    def fit(self, history: History) -> "FittedVariant":
        elect = self.elect
        if self.choose_neighbors:
            elect = replace(elect, n_neighbor_tasks=_cross_validated_neighbors(elect, history))
        if self.min_gap > 0.0:
            predictor = train_on_clear_pairs(history, self.min_gap, elect.pairs_per_task, elect.params, elect.seed)
        else:
            predictor = trained_predictor(history, elect.params, elect.pairs_per_task, elect.seed)
        return FittedVariant(self, FittedElect(elect.database(history, predictor), history.anchors, elect.seed))


@dataclass(frozen=True, eq=False)
class FittedVariant:
    variant: Variant
    elect: FittedElect

    def select(self, task: TaskView) -> Choice:
        database = self.elect.database
        if self.variant.search_all:
            return Choice((self._elected(self._nearest(task)),), evaluated=database.pool.ids)
        steps = self._steps(task)
        evaluated = (*self.elect.anchors, *(s.evaluated for s in steps if s.evaluated is not None))
        if self.variant.average == "rank":
            pick = self._elected(np.array([database.tasks.index(n.task) for n in steps[-1].neighbors]))
        else:
            pick = steps[-1].pick.model_id
        return Choice((pick,), evaluated=tuple(dict.fromkeys(evaluated)))

    def _steps(self, task: TaskView) -> list[SearchStep]:
        source = ReplayedMeasures(self.elect.database.pool.ids, task.measures)
        return list(
            search(
                self.elect.database,
                source,
                acquisition=self.variant.acquisition,
                init=self.variant.init,
                max_models=MAX_MODELS,
                seed=self.elect.seed,
            )
        )

    def _nearest(self, task: TaskView) -> IntArray:
        """The tasks most similar over all models at once."""
        database = self.elect.database
        gaps = database.predictor.gaps(task.measures)
        every, settings = np.arange(len(database.pool)), database.settings
        values, scale = database.performance.values, settings.scale_gaps
        return estimated_neighbors(gaps, values, every, settings.n_neighbor_tasks, scale).tasks

    def _elected(self, neighbors: IntArray) -> str:
        """The best model over these tasks, by mean performance or by mean rank."""
        performance = self.elect.database.performance
        by_rank = self.variant.average == "rank"
        values = -performance.ranks() if by_rank else performance.values
        return self.elect.database.pool.ids[int(np.argmax(values[neighbors].mean(axis=0)))]


def _cross_validated_neighbors(elect: ElectSelector, history: History, n_folds: int = 5) -> int:
    """The t of best mean rank over the tasks of the history, each asked about with its fold left out."""
    if len(set(history.groups)) < 2:
        return elect.n_neighbor_tasks
    fold_of = group_folds(history.groups, n_folds)
    ranks = history.performance.ranks()
    totals = np.zeros(len(NEIGHBOR_SIZES))
    for fold in np.unique(fold_of):
        inside, outside = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        part = _part(history, inside)
        for column, size in enumerate(NEIGHBOR_SIZES):
            fitted = replace(elect, n_neighbor_tasks=size).fit(part)
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


def train_on_clear_pairs(
    history: History, min_gap: float, pairs_per_task: int | None, params: PredictorParams, seed: int
) -> PairwisePredictor:
    """As ``train_predictor``, but only on pairs whose performances differ by at least ``min_gap``."""
    first, second = pair_indices(len(history.pool))
    rows, gaps = [], []
    for task, (performance, measures) in enumerate(zip(history.values, history.measures, strict=True)):
        difference = performance[first] - performance[second]
        clear = np.flatnonzero(np.abs(difference) >= min_gap)
        if pairs_per_task is not None and len(clear) > pairs_per_task:
            clear = np.random.default_rng([seed, task]).choice(clear, pairs_per_task, replace=False)
        a, b = measures[first[clear]], measures[second[clear]]
        rows += [np.hstack([a, b, a - b]), np.hstack([b, a, b - a])]
        gaps += [difference[clear], -difference[clear]]
    text = grow(np.vstack(rows), np.concatenate(gaps), params, seed)
    return PairwisePredictor(text, history.measure_names)


def _method(
    name: str, title: str, variant: Variant, reference: str = ELECT_METHOD.reference, *, repeated: bool = True
) -> Method:
    return Method(
        name,
        title,
        lambda seed: replace(variant, elect=replace(variant.elect, seed=seed)),
        is_random=repeated,
        is_meta_learning=True,
        reference=reference,
    )


ABLATIONS: tuple[Method, ...] = (
    _method("random init", "initial models at random", Variant(init="random")),
    _method("greedy", "the best model on the neighbours is added next", Variant(acquisition="greedy")),
)

EXAMINED: tuple[Method, ...] = (
    _method("t = 3", "3 neighbours", Variant(ElectSelector(n_neighbor_tasks=3))),
    _method("t = 8", "8 neighbours", Variant(ElectSelector(n_neighbor_tasks=8))),
    _method("t = 12", "12 neighbours", Variant(ElectSelector(n_neighbor_tasks=12))),
    _method(
        "t by cross-validation",
        "t of 3, 5 or 8 by cross-validation inside the fold",
        Variant(choose_neighbors=True),
        repeated=False,
    ),
    _method("gaps scaled", "gaps divided by the largest of their task", Variant(ElectSelector(scale_gaps=True))),
    _method("all 297 models", "similarity over all models, no search", Variant(search_all=True)),
    _method(
        "mean rank, t = 20",
        "elected by the mean rank over 20 neighbours",
        Variant(ElectSelector(n_neighbor_tasks=20), average="rank"),
    ),
    _method("pairs: 500 a task", "fewer sampled pairs", Variant(ElectSelector(pairs_per_task=500))),
    _method("pairs: 8,000 a task", "more sampled pairs", Variant(ElectSelector(pairs_per_task=8_000)), repeated=False),
    _method("pairs: clear ones only", "trained on pairs with a gap of at least 0.05", Variant(min_gap=0.05)),
    _method(
        "predictor: LightGBM's defaults",
        "31 leaves, 100 rounds, learning rate 0.1",
        Variant(ElectSelector(params=PredictorParams(31, 100, 0.1, 0.0005))),
        repeated=False,
    ),
    _method(
        "predictor: smaller",
        "4 leaves, 10 rounds, learning rate 0.05",
        Variant(ElectSelector(params=PredictorParams(4, 10, 0.05, 0.01))),
    ),
    _method("Eq. 6", "mean plus variance instead of expected improvement", Variant(acquisition="mean+variance")),
)
"""What was tried because ELECT's rank here is not the paper's, on any source."""

EXAMINED_COMPUTED: tuple[Method, ...] = (
    _method("anchors: all models", "measured against all 297 models", Variant(), reference="all"),
    _method(
        "measures: published convention",
        "ascending ranks, all models as reference, as in the published files",
        Variant(),
        reference="ascending",
    ),
)
"""The same, where scores exist and measures can be taken in more than one way."""
