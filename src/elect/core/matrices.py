"""Scores and performances, addressed by the names of models and tasks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.core.models import _unknown
from elect.errors import InvalidInput, UnknownModel
from elect.support import wording
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    import polars as pl


def _positions(names: tuple[str, ...], what: str) -> dict[str, int]:
    positions = {name: position for position, name in enumerate(names)}
    if len(positions) != len(names):
        raise InvalidInput(f"Each {what} may appear once in a matrix; some name is there twice.")
    return positions


@dataclass(frozen=True, eq=False, repr=False)
class ScoreMatrix:
    """Outlier scores, points x models. Higher means more outlying.

    ``notes`` says, for single models, what a reader of their scores must know (fitted on a subsample, for one).

    >>> scores = ScoreMatrix([[0.1, 3.0], [0.9, 1.0]], ("COF(n_neighbors=3)", "COF(n_neighbors=5)"))
    >>> scores["COF(n_neighbors=5)"]
    array([3., 1.])

    It goes wherever an array does (``np.asarray``, ``.shape``, ``len``), and into a frame with a column a model:

    >>> scores
    ScoreMatrix(2 rows x 2 models: COF(n_neighbors=3), COF(n_neighbors=5))
    >>> np.asarray(scores).max(axis=0), scores.to_polars().columns
    (array([0.9, 3. ]), ['COF(n_neighbors=3)', 'COF(n_neighbors=5)'])
    """

    values: FloatArray
    model_ids: tuple[str, ...]
    notes: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model_ids", tuple(self.model_ids))
        values = read_only(self.values, order="F")
        if values.ndim != 2 or values.shape[1] != len(self.model_ids):
            raise InvalidInput(
                f"A score matrix must have one column for each of its {len(self.model_ids)} models, "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise InvalidInput("Scores must be finite; some are NaN or infinite.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "notes", MappingProxyType(dict(self.notes)))
        _positions(self.model_ids, "model")

    def __reduce__(self) -> Any:
        # A mapping proxy cannot be pickled; workers of a cluster send score matrices back.
        return (ScoreMatrix, (self.values, self.model_ids, dict(self.notes)))

    @cached_property
    def _index(self) -> dict[str, int]:
        return _positions(self.model_ids, "model")

    def index(self, model_id: str) -> int:
        try:
            return self._index[model_id]
        except KeyError:
            raise UnknownModel(_unknown(model_id, self.model_ids)) from None

    @property
    def n_points(self) -> int:
        return int(self.values.shape[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and models."""
        return self.n_points, len(self.model_ids)

    def __len__(self) -> int:
        return self.n_points

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The scores themselves, which cannot be written to unless they are copied."""
        if copy is False and dtype is not None and np.dtype(dtype) != self.values.dtype:
            raise InvalidInput(f"Scores of type {self.values.dtype} become {np.dtype(dtype)} only as a copy.")
        return np.array(self.values, dtype=dtype) if copy else np.asarray(self.values, dtype=dtype)

    def __repr__(self) -> str:
        shown = ", ".join(self.model_ids[:2]) + (", ..." if len(self.model_ids) > 2 else "")
        rows, models = wording.count(self.n_points, "row"), wording.count(len(self.model_ids), "model")
        return f"ScoreMatrix({rows} x {models}: {shown})"

    def to_polars(self) -> "pl.DataFrame":
        """A polars frame with a column a model."""
        import polars as pl

        return pl.DataFrame({model_id: self[model_id] for model_id in self.model_ids})

    def to_pandas(self) -> Any:
        """A pandas frame with a column a model."""
        import pandas as pd

        return pd.DataFrame(np.array(self.values), columns=list(self.model_ids))

    def __getitem__(self, model_id: str) -> FloatArray:
        column: FloatArray = self.values[:, self.index(model_id)]
        return column

    def subset(self, model_ids: Iterable[str]) -> "ScoreMatrix":
        ids = tuple(model_ids)
        columns = [self.index(model_id) for model_id in ids]
        return ScoreMatrix(self.values[:, columns], ids, {m: self.notes[m] for m in ids if m in self.notes})


@dataclass(frozen=True, eq=False, repr=False)
class PerformanceMatrix:
    """How well each model did on each task, tasks x models. Higher is better.

    >>> P = PerformanceMatrix([[0.2, 0.9], [0.5, 0.5]], ("a", "b"), ("m1", "m2"), "ap")
    >>> P.ranks()
    array([[2. , 1. ],
           [1.5, 1.5]])
    >>> P.without(["a"]).tasks
    ('b',)
    """

    values: FloatArray
    tasks: tuple[str, ...]
    model_ids: tuple[str, ...]
    metric: str = "ap"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", tuple(self.tasks))
        object.__setattr__(self, "model_ids", tuple(self.model_ids))
        values = read_only(self.values, order="C")
        if values.shape != (len(self.tasks), len(self.model_ids)):
            raise InvalidInput(
                f"A performance matrix must be {len(self.tasks)} tasks x {len(self.model_ids)} models, "
                f"got shape {values.shape}."
            )
        if not np.isfinite(values).all():
            raise InvalidInput("Performances must be finite; some are NaN or infinite.")
        object.__setattr__(self, "values", values)
        _positions(self.tasks, "task")
        _positions(self.model_ids, "model")

    def __repr__(self) -> str:
        tasks, models = wording.count(len(self.tasks), "task"), wording.count(len(self.model_ids), "model")
        return f"PerformanceMatrix({tasks} x {models}, {self.metric})"

    @cached_property
    def _task_index(self) -> dict[str, int]:
        return _positions(self.tasks, "task")

    @cached_property
    def _model_index(self) -> dict[str, int]:
        return _positions(self.model_ids, "model")

    def task_index(self, task: str) -> int:
        try:
            return self._task_index[task]
        except KeyError:
            raise InvalidInput(f"Unknown task {task!r}: the matrix holds {', '.join(self.tasks[:5])}, ...") from None

    def row(self, task: str) -> FloatArray:
        """The performance of every model on one task."""
        row: FloatArray = self.values[self.task_index(task)]
        return row

    def column(self, model_id: str) -> FloatArray:
        """The performance of one model on every task."""
        try:
            column: FloatArray = self.values[:, self._model_index[model_id]]
        except KeyError:
            raise UnknownModel(_unknown(model_id, self.model_ids)) from None
        return column

    def ranks(self) -> FloatArray:
        """The rank of each model on each task: 1 is the best, ties share their mean rank."""
        from elect.core.ranks import rank

        ranks: FloatArray = np.ascontiguousarray(rank(self.values.T).T)
        return ranks

    def without(self, tasks: Iterable[str]) -> "PerformanceMatrix":
        """The matrix without some tasks: what a fold may see."""
        drop = {self.task_index(task) for task in tasks}
        keep = [i for i in range(len(self.tasks)) if i not in drop]
        return PerformanceMatrix(self.values[keep], tuple(self.tasks[i] for i in keep), self.model_ids, self.metric)
