"""A small pool, a small corpus and a small database, for tests that need all three."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from elect import LabeledTask, ModelPool
from elect.core import PerformanceMatrix
from elect.history.database import MetaDatabase
from elect.measures import PAPER_MEASURES
from elect.paper.predictor_training import PredictorParams, train_predictor
from elect.paper.settings import SearchSettings

SMALL_POOL = (
    ModelPool.grid("kNN", method=["largest", "mean"], n_neighbors=[1, 5, 20])
    + ModelPool.grid("LOF", metric=["euclidean"], n_neighbors=[5, 20])
    + ModelPool.grid("HBOS", n_bins=[5, 20], alpha=[0.1])
    + ModelPool.grid("IForest", n_estimators=[10], max_features=[0.5])
    + ModelPool.grid("LODA", n_bins=[10], n_random_cuts=[20])
    + ModelPool.grid("COF", n_neighbors=[10])
)


def make_task(seed: int, n: int = 90, d: int = 3, group: str | None = None) -> LabeledTask:
    """Two clusters with far, near or clustered outliers, in turn."""
    rng = np.random.default_rng([7, seed])
    normal = np.vstack([rng.normal(size=(n // 2, d)), rng.normal(size=(n - n // 2, d)) * 0.4 + 4])
    size = 8
    outliers = [
        rng.uniform(-8, 12, size=(size, d)),
        rng.normal(size=(size, d)) * 2.2,
        rng.normal(size=(size, d)) * 0.1 + 9,
    ][seed % 3]
    X, y = np.vstack([normal, outliers]), np.r_[np.zeros(n), np.ones(size)]
    order = rng.permutation(len(X))
    return LabeledTask(f"toy/{seed}", group or f"g{seed}", X[order], y[order].astype(np.int8))


def corpus(count: int = 6) -> tuple[LabeledTask, ...]:
    return tuple(make_task(seed) for seed in range(count))


@cache
def toy_database() -> MetaDatabase:
    """Ten tasks of two kinds on eight models: on the even ones the first models are good, on the odd ones the last."""
    rng = np.random.default_rng(0)
    pool = ModelPool.grid("kNN", method=["mean"], n_neighbors=list(range(1, 9)))
    kinds = np.array([np.linspace(0.9, 0.1, 8), np.linspace(0.1, 0.9, 8)])
    performance = np.array([kinds[t % 2] + rng.normal(0, 0.02, 8) for t in range(10)])
    measures = toy_measures(performance)
    names = tuple(f"{'even' if t % 2 == 0 else 'odd'}/{t}" for t in range(10))
    predictor = train_predictor(
        performance, measures, params=PredictorParams(num_leaves=8, rounds=60, learning_rate=0.2)
    )
    return MetaDatabase(
        pool=pool,
        performance=PerformanceMatrix(performance, names, pool.ids),
        groups=names,
        measure_names=PAPER_MEASURES,
        measures=measures,
        anchors=pool.ids[:1],
        initial_models=(pool.ids[0], pool.ids[7]),
        predictor=predictor,
        settings=SearchSettings(n_neighbor_tasks=3, patience=4),
    )


def toy_measures(performance: Any) -> Any:
    """Measures that say the truth: the performance itself, thrice."""
    return np.repeat(np.asarray(performance)[..., None], 3, axis=-1)


class Telling:
    """A source whose measures are the performance of a hidden task; it counts what it was asked, and can fail."""

    def __init__(self, performance: Any, fails: tuple[str, ...] = ()) -> None:
        self.values = toy_measures(performance)
        self.fails = fails
        self.asked: list[str] = []

    def measures(self, model_id: str) -> Any:
        self.asked.append(model_id)
        if model_id in self.fails:
            raise RuntimeError("this model does not like this table")
        return self.values[toy_database().pool.index(model_id)]

    def predicted_seconds(self, model_id: str) -> float:
        return 1.0 + 100.0 * toy_database().pool.index(model_id)


def upto(steps: Iterator[Any], count: int) -> list[Any]:
    """The first steps of a search that the caller then stops."""
    return [step for _, step in zip(range(count), steps, strict=False)]
