"""Matrix factorisation of the performances, reached from meta-features: ALORS and MetaOD."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.bench.baselines.base import Choice, History, TaskView
from elect.bench.baselines.neighbors import Scaler
from elect.bench.baselines.surrogates import forest
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import compiled

Ascent = tuple[FloatArray, FloatArray, float]
"""Task factors, model factors, and the gain they had one step before."""

_JUDGED = 10
"""How many models at the top of a predicted ranking are judged: one alone is mostly luck."""


@dataclass(frozen=True, eq=False)
class FittedFactorization:
    """A forest that maps meta-features to the factors of a task, and the factors of the models."""

    model_ids: tuple[str, ...]
    scaler: Scaler
    to_factors: Any
    model_factors: FloatArray  # (models, factors)
    offset: FloatArray  # (models,)

    def select(self, task: TaskView) -> Choice:
        factors = np.atleast_2d(self.to_factors.predict(self.scaler.transform(task.meta_features)[np.newaxis]))
        predicted = factors.reshape(-1) @ self.model_factors.T + self.offset
        return Choice((self.model_ids[int(np.argmax(predicted))],))


@dataclass(frozen=True)
class Alors:
    """Factors of least squared error (a truncated SVD), regressed on meta-features (Misir and Sebag 2017)."""

    n_factors: int = 10
    seed: int = 0

    def fit(self, history: History) -> FittedFactorization:
        mean = history.values.mean(axis=0)
        U, s, V = np.linalg.svd(history.values - mean, full_matrices=False)
        k = max(1, min(self.n_factors, int((s > 1e-12).sum())))
        scaler = Scaler.fit(history.meta_features)
        model = forest(self.seed).fit(scaler.transform(history.meta_features), _targets(U[:, :k] * s[:k]))
        return FittedFactorization(history.pool.ids, scaler, model, read_only(V[:k].T), read_only(mean))


@dataclass(frozen=True)
class MetaOD:
    """Factors that rank the models of every task well, regressed on meta-features (Zhao, Rossi and Akoglu 2021).

    Task factors start as the principal components of the meta-features, model factors at random; both then climb the
    smoothed discounted cumulative gain of Eq. 3 there by Adam. In it the place of a model in a ranking, a sum of
    steps, becomes a sum of sigmoids. A forest maps the meta-features to the trained task factors.

    The climb stops early, as there: a first climb without a fifth of the history (``validation``) finds after how many
    epochs the models ranked first do best on that fifth, its factors being reached by ridge regression, which is fast
    enough to ask after every epoch.
    """

    n_factors: int = 10
    epochs: int = 60
    learning_rate: float = 0.03
    steepness: float = 10.0
    validation: float = 0.2
    seed: int = 0

    def fit(self, history: History) -> FittedFactorization:
        scaler = Scaler.fit(history.meta_features)
        features = scaler.transform(history.meta_features)
        start = _components(features, self.n_factors)
        epochs = self._best_epochs(history.values, features, start)
        *_, (tasks, models, _) = self._ascent(history.values, start, epochs)
        regressor = forest(self.seed).fit(features, _targets(tasks))
        offset = np.zeros(len(history.pool))
        return FittedFactorization(history.pool.ids, scaler, regressor, read_only(models), offset)

    def _ascent(self, performance: FloatArray, tasks: FloatArray, epochs: int) -> Iterator[Ascent]:
        rng = np.random.default_rng(self.seed)
        models = rng.normal(0.0, 0.1, (performance.shape[1], tasks.shape[1]))
        return climb_ranking_gain(performance, tasks, models, epochs, self.learning_rate, self.steepness)

    def _best_epochs(self, performance: FloatArray, features: FloatArray, start: FloatArray) -> int:
        n_held = round(self.validation * len(performance))
        if n_held < 2 or len(performance) - n_held < 3:
            return self.epochs
        held = np.random.default_rng(self.seed).permutation(len(performance))[:n_held]
        inside = np.setdiff1d(np.arange(len(performance)), held)
        centered = features - features[inside].mean(axis=0)
        # Ridge with as much weight as there are features: they are scaled to a range of 1 and outnumber the tasks.
        gram = centered[inside] @ centered[inside].T + np.eye(len(inside)) * features.shape[1] / 10
        weights = centered[held] @ centered[inside].T @ np.linalg.inv(gram)
        reached = []
        for tasks, models, _ in self._ascent(performance[inside], start[inside], self.epochs):
            mean = tasks.mean(axis=0)
            predicted = (mean + weights @ (tasks - mean)) @ models.T
            first = np.argsort(-predicted, axis=1)[:, :_JUDGED]
            reached.append(np.take_along_axis(performance[held], first, axis=1).mean())
        return int(np.argmax(reached)) + 1


def _components(features: FloatArray, n_factors: int) -> FloatArray:
    """The leading principal components of the tasks, scaled to a common deviation of 1."""
    U, s, _ = np.linalg.svd(features - features.mean(axis=0), full_matrices=False)
    k = max(1, min(n_factors, U.shape[1]))
    found = U[:, :k] * s[:k]
    components: FloatArray = found / max(float(found.std()), 1e-12)
    return components


def _targets(factors: FloatArray) -> FloatArray:
    """A single factor as a flat target, as scikit-learn wants it."""
    return factors[:, 0] if factors.shape[1] == 1 else factors


def climb_ranking_gain(
    performance: FloatArray, tasks: FloatArray, models: FloatArray, epochs: int, rate: float, steepness: float
) -> Iterator[Ascent]:
    """Task and model factors after each step of Adam on the smoothed gain, with the gain before the step.

    ``performance`` is tasks x models; ``tasks`` (tasks x factors) and ``models`` (models x factors) are where to start.
    """
    # Gains over the task's own range, so that easy tasks do not decide everything.
    low, span = performance.min(axis=1, keepdims=True), np.ptp(performance, axis=1)[:, np.newaxis]
    gains = np.exp2((performance - low) / np.where(span > 0.0, span, 1.0)) - 1.0
    ideal = (-np.sort(-gains, axis=1) / np.log2(np.arange(2, gains.shape[1] + 2))).sum(axis=1)
    gains = gains / np.where(ideal > 0.0, ideal, 1.0)[:, np.newaxis]
    factors = [tasks.copy(), models.copy()]
    first, second = [np.zeros_like(f) for f in factors], [np.zeros_like(f) for f in factors]
    slope = np.empty_like(gains)
    for epoch in range(1, epochs + 1):
        gain = _fill_slopes(gains, factors[0] @ factors[1].T, steepness, slope) / len(gains)
        for i, gradient in enumerate((slope @ factors[1], slope.T @ factors[0])):
            first[i] = 0.9 * first[i] + 0.1 * gradient
            second[i] = 0.999 * second[i] + 0.001 * gradient**2
            step = (first[i] / (1 - 0.9**epoch)) / (np.sqrt(second[i] / (1 - 0.999**epoch)) + 1e-12)
            factors[i] = factors[i] + rate * step
        yield factors[0], factors[1], gain


@compiled(fastmath=True)
def _fill_slopes(gains: FloatArray, predicted: FloatArray, steepness: float, slope: FloatArray) -> float:
    """The smoothed gain over all tasks; its slope with respect to each prediction goes into ``slope``.

    The place of model j is 1 + sum over k != j of sigmoid(steepness (prediction k - prediction j)), and its share of
    the gain is gain j / log2(1 + place j).
    """
    n_tasks, n_models = gains.shape
    total = 0.0
    ln2 = np.log(2.0)
    power = np.empty(n_models)
    sigmoid = np.empty((n_models, n_models))
    for task in range(n_tasks):
        highest = predicted[task].max()
        for j in range(n_models):
            slope[task, j] = 0.0
            # One exponential a model instead of one a pair; beyond 300 a sigmoid is a step anyway.
            power[j] = np.exp(max(steepness * (predicted[task, j] - highest), -300.0))
        for j in range(n_models):
            for k in range(j + 1):
                sigmoid[j, k] = power[k] / (power[k] + power[j])
                sigmoid[k, j] = 1.0 - sigmoid[j, k]
        for j in range(n_models):
            place = 0.5  # less the model's own sigmoid of 0
            for k in range(n_models):
                place += sigmoid[j, k]
            log = np.log(1.0 + place)
            total += gains[task, j] * ln2 / log
            # d(gain) / d(place), then the sigmoids' own slopes pull k down and j up.
            pull = -gains[task, j] * ln2 / (log * log * (1.0 + place)) * steepness
            lifted = 0.0
            for k in range(n_models):
                change = pull * sigmoid[j, k] * (1.0 - sigmoid[j, k])
                slope[task, k] += change
                lifted += change
            slope[task, j] -= lifted
    return total
