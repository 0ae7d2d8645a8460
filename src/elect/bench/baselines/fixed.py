"""Selectors that look at no task: the same model whatever comes."""

from dataclasses import dataclass

import numpy as np

from elect.bench.baselines.base import Choice, History, TaskView
from elect.core import ModelPool, ModelSpec
from elect.errors import InvalidInput

PYOD_DEFAULTS: dict[str, dict[str, float | str]] = {
    "IForest": {"n_estimators": 100, "max_features": 1.0},
    "LOF": {"n_neighbors": 20, "metric": "minkowski"},
}
"""What PyOD runs when nothing is said: the "popular model" of a user who does not select."""


@dataclass(frozen=True)
class Always:
    """The fitted form of all of these: the models were decided by the history, or before it."""

    choice: Choice

    def select(self, task: TaskView) -> Choice:
        return self.choice


@dataclass(frozen=True)
class PopularModel:
    """A family with PyOD's default parameters, or the model of the pool that comes nearest to them.

    The pool's IForest goes up to ``max_features=0.9``, so ``IForest(max_features=0.9, n_estimators=100)`` stands for
    the default; ``LOF(metric=minkowski, n_neighbors=20)`` is the default itself.

    >>> pool = ModelPool.grid("LOF", metric=["euclidean", "minkowski"], n_neighbors=[5, 25])
    >>> PopularModel("LOF").model_of(pool)
    'LOF(metric=minkowski, n_neighbors=25)'
    """

    family: str

    def fit(self, history: History) -> Always:
        return Always(Choice((self.model_of(history.pool),)))

    def model_of(self, pool: ModelPool) -> str:
        members = [spec for spec in pool if spec.detector == self.family]
        if not members:
            raise InvalidInput(f"The pool must hold a model of the family {self.family!r} to always use it; none is.")
        return min(members, key=self._distance).id

    def _distance(self, spec: ModelSpec) -> float:
        total = 0.0
        for name, wanted in PYOD_DEFAULTS.get(self.family, {}).items():
            value = dict(spec.params).get(name, wanted)
            if isinstance(wanted, str):
                total += float(value != wanted)
            elif isinstance(value, int | float):
                total += abs(value - wanted) / max(abs(wanted), 1e-12)
        return total


@dataclass(frozen=True)
class GlobalBest:
    """The model of best mean performance over the history."""

    def fit(self, history: History) -> Always:
        return Always(Choice((history.pool.ids[int(np.argmax(history.values.mean(axis=0)))],)))


@dataclass(frozen=True)
class BestMeanRank:
    """The model of best mean rank over the history: every task weighs the same, however easy it is."""

    def fit(self, history: History) -> Always:
        return Always(Choice((history.pool.ids[int(np.argmin(history.performance.ranks().mean(axis=0)))],)))


@dataclass(frozen=True)
class AnyModel:
    """Any model of the pool, each as likely as the other: what not choosing at all comes to, in expectation."""

    def fit(self, history: History) -> Always:
        return Always(Choice(history.pool.ids))
