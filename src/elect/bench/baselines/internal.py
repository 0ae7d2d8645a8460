"""Direct use of an internal measure: the model that it values most."""

from dataclasses import dataclass

import numpy as np

from elect.bench.baselines.base import Choice, History, TaskView
from elect.errors import InvalidInput


@dataclass(frozen=True)
class ByMeasure:
    """The model of largest ``measure`` (``mc``, ``select`` or ``hits``). Every model must be run on the task first."""

    measure: str

    def fit(self, history: History) -> "FittedByMeasure":
        if self.measure not in history.measure_names:
            known = ", ".join(history.measure_names)
            raise InvalidInput(f"The measure must be one of {known}, got {self.measure!r}.")
        return FittedByMeasure(history.pool.ids, history.measure_names.index(self.measure))


@dataclass(frozen=True)
class FittedByMeasure:
    model_ids: tuple[str, ...]
    column: int

    def select(self, task: TaskView) -> Choice:
        best = int(np.argmax(task.measures[:, self.column]))
        return Choice((self.model_ids[best],), evaluated=self.model_ids)
