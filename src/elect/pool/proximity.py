"""The families that read neighbour graphs: kNN, LOF, ABOD, COF."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.core.models import ParamValue
from elect.pool.geometry import abod_scores, cof_ceiling, cof_scores, local_geometry
from elect.pool.knn import knn_scores
from elect.pool.lof import LocalDensities, _reachability
from elect.pool.neighbors import Metric, NeighborIndex
from elect.pool.work import SharedWork, is_count
from elect.support.arrays import FloatArray
from elect.support.compiled import announce_compilation

_METRICS: dict[str, Metric] = {"euclidean": "euclidean", "minkowski": "euclidean", "manhattan": "manhattan"}


class _Proximity:
    """What the four have in common: a number of neighbours, capped at the number of other rows."""

    name: str
    defaults: Mapping[str, ParamValue]

    def supports(self, params: Mapping[str, Any]) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_neighbors"])
            and params.get("metric", "euclidean") in _METRICS
            and params.get("method", "largest") in ("largest", "mean", "median")
        )

    def note(self, work: SharedWork, params: Mapping[str, Any]) -> str | None:
        k = params["n_neighbors"]
        if k <= work.n_rows - 1:
            return None
        return f"n_neighbors={k} is more than the other rows: {work.n_rows - 1} used instead"


class KNN(_Proximity):
    name = "kNN"
    defaults: Mapping[str, ParamValue] = {"method": "largest", "n_neighbors": 5, "metric": "minkowski"}

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return (params["metric"], params["method"], params["n_neighbors"])

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        columns = [
            knn_scores(work.graph(_METRICS[p["metric"]], p["n_neighbors"]).distances, p["method"], p["n_neighbors"])
            for p in params
        ]
        return np.column_stack(columns)

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> "FittedKNN":
        return FittedKNN(
            work.neighbor_index, _METRICS[params["metric"]], params["method"], params["n_neighbors"], work.n_jobs
        )


@dataclass(frozen=True, eq=False)
class FittedKNN:
    index: NeighborIndex
    metric: Metric
    method: str
    k: int
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, self.metric, n_jobs=self.n_jobs)
        return knn_scores(graph.distances, self.method, self.k)


class LOF(_Proximity):
    name = "LOF"
    defaults: Mapping[str, ParamValue] = {"metric": "minkowski", "n_neighbors": 20}

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return (_METRICS[params["metric"]], -(-params["n_neighbors"] // 100))

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        announce_compilation(_reachability)
        ks = tuple(sorted({p["n_neighbors"] for p in params}))
        graph = work.graph(_METRICS[params[0]["metric"]], max(ks))
        scores = LocalDensities.of(graph, ks, work.n_jobs).scores(graph, work.n_jobs)
        return scores[:, [ks.index(p["n_neighbors"]) for p in params]]

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> "FittedLOF":
        k, metric = params["n_neighbors"], _METRICS[params["metric"]]
        densities = LocalDensities.of(work.graph(metric, k), (k,), work.n_jobs)
        return FittedLOF(work.neighbor_index, metric, densities, min(k, work.n_rows - 1), work.n_jobs)


@dataclass(frozen=True, eq=False)
class FittedLOF:
    index: NeighborIndex
    metric: Metric
    densities: LocalDensities
    k: int
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, self.metric, n_jobs=self.n_jobs)
        return self.densities.scores(graph, self.n_jobs)[:, 0]


class ABOD(_Proximity):
    name = "ABOD"
    defaults: Mapping[str, ParamValue] = {"n_neighbors": 5}

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return (params["n_neighbors"],)

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        return np.column_stack([abod_scores(_at(work.geometry(k).angle_variance, k)) for k in _neighbors(params)])

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> "FittedABOD":
        lowest = float(self.scores(work, [params]).min())
        return FittedABOD(work.neighbor_index, params["n_neighbors"], lowest, work.n_jobs)


@dataclass(frozen=True, eq=False)
class FittedABOD:
    index: NeighborIndex
    k: int
    lowest: float  # the smallest training score, for rows that see no angle
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, "euclidean", n_jobs=self.n_jobs)
        variance = local_geometry(self.index.rows, Z, graph, self.k, self.n_jobs).angle_variance[:, -1]
        return -np.where(np.isnan(variance), -self.lowest, variance)


class COF(_Proximity):
    name = "COF"
    defaults: Mapping[str, ParamValue] = {"n_neighbors": 20}

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return (params["n_neighbors"],)

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        columns = []
        for k in _neighbors(params):
            chaining = _at(work.geometry(k).chaining, k)
            columns.append(cof_scores(chaining, chaining, work.graph("euclidean", k), k))
        return np.column_stack(columns)

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> "FittedCOF":
        k = params["n_neighbors"]
        ceiling = cof_ceiling(self.scores(work, [params]))
        return FittedCOF(work.neighbor_index, _at(work.geometry(k).chaining, k), k, ceiling, work.n_jobs)


@dataclass(frozen=True, eq=False)
class FittedCOF:
    index: NeighborIndex
    chaining: FloatArray  # of the training rows
    k: int
    ceiling: float
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        graph = self.index.query(Z, self.k, "euclidean", n_jobs=self.n_jobs)
        chaining = local_geometry(self.index.rows, Z, graph, self.k, self.n_jobs).chaining[:, -1]
        return cof_scores(chaining, self.chaining, graph, self.k, ceiling=self.ceiling)


def _neighbors(params: Sequence[Mapping[str, Any]]) -> list[int]:
    return [p["n_neighbors"] for p in params]


def _at(by_k: FloatArray, k: int) -> FloatArray:
    """The column of a number of neighbours; k is capped at the number of other rows."""
    return by_k[:, min(k, by_k.shape[1]) - 1]
