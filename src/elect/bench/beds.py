"""A testbed with a source of numbers, as the runner needs it: what a fold may see, and the truth it is judged by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from elect.bench.baselines import History, TaskView
from elect.bench.protocol import Fold
from elect.core import ModelPool, PerformanceMatrix, ScoreMatrix
from elect.support.arrays import FloatArray


class Measurer(Protocol):
    """Answers with the internal measures of every task and model, as a fold may know them."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def references(self) -> tuple[str, ...]:
        """What models can be measured against: ``all`` models, anchors ``selected`` inside the fold, ..."""
        ...

    def measures(self, history: tuple[str, ...], reference: str) -> tuple[FloatArray, tuple[str, ...]]:
        """Measures (tasks x models x measures) of all tasks, and the anchors; learned from ``history`` alone."""
        ...


@dataclass(frozen=True)
class StoredMeasures:
    """Measures that are the same in every fold."""

    names: tuple[str, ...]
    values: FloatArray
    anchors: tuple[str, ...]
    references: tuple[str, ...] = ("all",)

    def measures(self, history: tuple[str, ...], reference: str) -> tuple[FloatArray, tuple[str, ...]]:
        return self.values, self.anchors


@dataclass(frozen=True, eq=False)
class Costs:
    """CPU seconds of the models of a task: ``group_of`` (models) says which are scored together, ``seconds`` what a
    group costs."""

    group_of: NDArray[np.intp]
    seconds: FloatArray

    def of(self, models: Sequence[int]) -> float:
        """What these models cost; those scored together are paid for once."""
        return float(self.seconds[np.unique(self.group_of[list(models)])].sum()) if len(models) else 0.0


@dataclass(frozen=True, eq=False)
class Bed:
    """Tasks with their performances, groups, measures, meta-features, and where there are any, scores and labels.

    A row of NaN among the meta-features is a task whose table is not available: a fold fills it with the mean over its
    history. ``fingerprint`` names all that decides an outcome.
    """

    testbed: str
    source: str
    pool: ModelPool
    performance: PerformanceMatrix
    groups: tuple[str, ...]
    measurer: Measurer
    meta_features: FloatArray
    meta_seconds: FloatArray
    fingerprint: str
    scores: Callable[[str], ScoreMatrix | None] = lambda task: None
    labels: Callable[[str], NDArray[np.int8] | None] = lambda task: None
    costs: Mapping[str, Costs] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        return self.performance.tasks

    def history(self, fold: Fold, reference: str = "all") -> tuple[History, dict[str, TaskView]]:
        """What a selector learns from in a fold, and the held-out tasks as it may see them, without scores."""
        inside = [self.performance.task_index(task) for task in fold.history]
        outside = [task for task in self.tasks if task not in fold.history]
        measures, anchors = self.measurer.measures(fold.history, self._reference(reference))
        features = self._filled_features(inside)
        history = History(
            pool=self.pool,
            performance=self.performance.without(outside),
            groups=tuple(self.groups[i] for i in inside),
            measure_names=self.measurer.names,
            measures=measures[inside],
            meta_features=features[inside],
            anchors=anchors,
        )
        positions = {task: self.performance.task_index(task) for task in fold.held_out}
        return history, {task: TaskView(measures[i], features[i]) for task, i in positions.items()}

    def build_seconds(self, task: str, model_ids: Sequence[str]) -> float | None:
        """What running these models on a task costs; None if it was not timed."""
        if task not in self.costs:
            return None
        return self.costs[task].of([self.pool.index(model_id) for model_id in model_ids])

    def _reference(self, wanted: str) -> str:
        """The reference asked for, or the only one there is."""
        known = self.measurer.references
        return wanted if wanted in known else known[0]

    def _filled_features(self, inside: Sequence[int]) -> FloatArray:
        lacking = np.asarray(np.isnan(self.meta_features).any(axis=1))
        given = [i for i in inside if not lacking[i]]
        mean = self.meta_features[given].mean(axis=0) if given else np.zeros(self.meta_features.shape[1])
        return np.where(lacking[:, np.newaxis], mean, self.meta_features)
