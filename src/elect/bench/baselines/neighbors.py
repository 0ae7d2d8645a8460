"""Selectors that find like tasks by their meta-features: ISAC and ARGOSMART."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.bench.baselines.base import Choice, History, TaskView
from elect.support.arrays import FloatArray, read_only


@dataclass(frozen=True, eq=False)
class Scaler:
    """Brings meta-features to a range of 1 over the history, so that none outweighs the others by its unit."""

    low: FloatArray
    span: FloatArray

    @classmethod
    def fit(cls, features: FloatArray) -> "Scaler":
        low, span = features.min(axis=0), np.ptp(features, axis=0)
        return cls(read_only(low), read_only(np.where(span > 0.0, span, np.inf)))

    def transform(self, features: FloatArray) -> FloatArray:
        """Scaled features. A task far outside the history is clipped to one range beyond it: it is far, not infinite.

        >>> Scaler.fit(np.array([[0.0, 5.0], [4.0, 5.0]])).transform(np.array([2.0, 9.0]))
        array([0.5, 0. ])
        """
        return np.clip((features - self.low) / self.span, -1.0, 2.0)


@dataclass(frozen=True)
class ArgoSmart:
    """The best model of the one historical task nearest in meta-features (Nikolic et al. 2013)."""

    def fit(self, history: History) -> "FittedArgoSmart":
        scaler = Scaler.fit(history.meta_features)
        best = history.values.argmax(axis=1)
        return FittedArgoSmart(
            scaler, scaler.transform(history.meta_features), tuple(history.pool.ids[i] for i in best)
        )


@dataclass(frozen=True, eq=False)
class FittedArgoSmart:
    scaler: Scaler
    features: FloatArray
    best: tuple[str, ...]

    def select(self, task: TaskView) -> Choice:
        away = ((self.features - self.scaler.transform(task.meta_features)) ** 2).sum(axis=1)
        return Choice((self.best[int(np.argmin(away))],))


@dataclass(frozen=True)
class Isac:
    """The best model on average over the cluster that a task falls into (Kadioglu et al. 2010).

    Historical tasks are clustered by k-means on their meta-features; the number of clusters is the one of largest
    silhouette among 2 to ``max_clusters``. ISAC's own G-means splits until clusters look Gaussian, which with a few
    dozen tasks never splits at all.
    """

    max_clusters: int = 6
    seed: int = 0

    def fit(self, history: History) -> "FittedIsac":
        from sklearn.cluster import KMeans
        from sklearn.metrics import silhouette_score
        from threadpoolctl import threadpool_limits

        scaler = Scaler.fit(history.meta_features)
        features = scaler.transform(history.meta_features)
        distinct = len(np.unique(features, axis=0))
        fits: list[tuple[float, Any]] = []
        for k in range(2, min(self.max_clusters, distinct - 1) + 1):
            # One thread: with a few dozen tasks more of them only wait for each other.
            with threadpool_limits(limits=1):
                fitted = KMeans(k, n_init=10, random_state=self.seed).fit(features)
            fits.append((float(silhouette_score(features, fitted.labels_)), fitted))
        if not fits:
            centers, labels = features.mean(axis=0, keepdims=True), np.zeros(len(features), dtype=np.intp)
        else:
            fitted = max(fits, key=lambda pair: pair[0])[1]
            centers, labels = fitted.cluster_centers_, fitted.labels_
        best = [int(np.argmax(history.values[labels == k].mean(axis=0))) for k in range(len(centers))]
        return FittedIsac(scaler, read_only(centers), tuple(history.pool.ids[i] for i in best))


@dataclass(frozen=True, eq=False)
class FittedIsac:
    scaler: Scaler
    centers: FloatArray
    best: tuple[str, ...]

    def select(self, task: TaskView) -> Choice:
        away = ((self.centers - self.scaler.transform(task.meta_features)) ** 2).sum(axis=1)
        return Choice((self.best[int(np.argmin(away))],))
