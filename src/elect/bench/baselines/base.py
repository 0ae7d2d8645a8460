"""The contract of a selector: learn from a history, then choose a model for a task without labels."""

from dataclasses import dataclass
from typing import Protocol

from elect.core import ModelPool, PerformanceMatrix, ScoreMatrix
from elect.errors import InvalidInput, PoolMismatch
from elect.support.arrays import FloatArray, read_only


@dataclass(frozen=True, eq=False)
class History:
    """What a selector may learn from: the tasks of one fold, and nothing of the task it will be asked about.

    ``measures`` are tasks x models x measures; ``meta_features`` are tasks x features.
    """

    pool: ModelPool
    performance: PerformanceMatrix
    groups: tuple[str, ...]
    measure_names: tuple[str, ...]
    measures: FloatArray
    meta_features: FloatArray
    anchors: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("groups", "measure_names", "anchors"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        for name in ("measures", "meta_features"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        n_tasks = len(self.performance.tasks)
        if self.performance.model_ids != self.pool.ids:
            raise PoolMismatch("The performances of a history must be those of the models of its pool, in its order.")
        if n_tasks < 1 or len(self.groups) != n_tasks or len(self.meta_features) != n_tasks:
            raise InvalidInput(f"A history must have a group and meta-features for each of its {n_tasks} tasks (>= 1).")
        expected = (n_tasks, len(self.pool), len(self.measure_names))
        if self.measures.shape != expected:
            raise InvalidInput(f"measures must be tasks x models x measures, {expected}, got {self.measures.shape}.")

    @property
    def values(self) -> FloatArray:
        """The performances, tasks x models."""
        return self.performance.values


@dataclass(frozen=True, eq=False)
class TaskView:
    """A task as a selector sees it: measures (models x measures), meta-features, scores if there are any. No labels."""

    measures: FloatArray
    meta_features: FloatArray
    scores: ScoreMatrix | None = None

    def __post_init__(self) -> None:
        for name in ("measures", "meta_features"):
            object.__setattr__(self, name, read_only(getattr(self, name)))


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selector would run.

    One model; or several, any of which may be taken, so that the expected rank counts; or, with ``scores`` (one a row,
    higher = more outlying), an ensemble of them. ``evaluated`` are the models that had to be run on the task to choose.

    >>> Choice(("COF(n_neighbors=3)",)).model_id
    'COF(n_neighbors=3)'
    """

    model_ids: tuple[str, ...]
    scores: FloatArray | None = None
    evaluated: tuple[str, ...] = ()

    @property
    def model_id(self) -> str:
        """The model, of a choice of one."""
        if len(self.model_ids) != 1:
            raise InvalidInput(f"This choice is of {len(self.model_ids)} models, not of one.")
        return self.model_ids[0]


class FittedSelector(Protocol):
    """A selector that has learned."""

    def select(self, task: TaskView) -> Choice: ...


class Selector(Protocol):
    """A way to choose a model. Fitting leaves the selector as it was: one serves every fold."""

    def fit(self, history: History) -> FittedSelector: ...
