"""Supervised surrogates: regress performance on what is known without labels, and take the model predicted best."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.bench.baselines.base import Choice, History, TaskView
from elect.bench.baselines.neighbors import Scaler


def forest(seed: int) -> Any:
    """The regressor that the meta-feature methods share. A third of the features at each split, the usual choice."""
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_estimators=50, max_features=1 / 3, random_state=seed, n_jobs=1)


@dataclass(frozen=True)
class SupervisedSurrogates:
    """From the meta-features of a task to the performance of every model on it, one forest with an output a model."""

    seed: int = 0

    def fit(self, history: History) -> "FittedSurrogates":
        scaler = Scaler.fit(history.meta_features)
        model = forest(self.seed).fit(scaler.transform(history.meta_features), history.values)
        return FittedSurrogates(history.pool.ids, scaler, model)


@dataclass(frozen=True, eq=False)
class FittedSurrogates:
    model_ids: tuple[str, ...]
    scaler: Scaler
    model: Any

    def select(self, task: TaskView) -> Choice:
        predicted = self.model.predict(self.scaler.transform(task.meta_features)[np.newaxis])[0]
        return Choice((self.model_ids[int(np.argmax(predicted))],))


@dataclass(frozen=True)
class MeasureSurrogates:
    """From the internal measures of a model to its performance, by gradient boosting over every model of every task.

    Unlike the pairwise predictor this regresses the performance itself, not the gap between two models.
    """

    seed: int = 0
    rounds: int = 50

    def fit(self, history: History) -> "FittedMeasureSurrogates":
        from sklearn.ensemble import HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        rows = history.measures.reshape(-1, history.measures.shape[2])
        model = HistGradientBoostingRegressor(max_iter=self.rounds, early_stopping=False, random_state=self.seed)
        # With three columns threads only wait for each other.
        with threadpool_limits(limits=1):
            model.fit(rows, history.values.ravel())
        return FittedMeasureSurrogates(history.pool.ids, model)


@dataclass(frozen=True, eq=False)
class FittedMeasureSurrogates:
    model_ids: tuple[str, ...]
    model: Any

    def select(self, task: TaskView) -> Choice:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(limits=1):
            best = int(np.argmax(self.model.predict(task.measures)))
        return Choice((self.model_ids[best],), evaluated=self.model_ids)
