"""The families that look at columns, random projections or random cuts: HBOS, LODA, IForest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.core.models import ParamValue
from elect.pool import hbos, iforest, loda
from elect.pool.work import SharedWork, is_count
from elect.support.arrays import FloatArray
from elect.support.compiled import announce_compilation

_MAX_BINS = 10_000


def _unique(params: Sequence[Mapping[str, Any]], name: str) -> tuple[Any, ...]:
    return tuple(sorted({p[name] for p in params}))


class HBOS:
    name = "HBOS"
    defaults: Mapping[str, ParamValue] = {"n_bins": 10, "alpha": 0.1}

    def supports(self, params: Mapping[str, Any]) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_bins"], 2, _MAX_BINS)
            and isinstance(params["alpha"], float)
            and 0 < params["alpha"] < 1
        )

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return (params["n_bins"],)

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        announce_compilation(hbos._score)
        alphas = _unique(params, "alpha")
        scores: FloatArray = hbos.hbos_scores(work.Z, (params[0]["n_bins"],), alphas)[0]
        return scores[[alphas.index(p["alpha"]) for p in params]].T

    def note(self, work: SharedWork, params: Mapping[str, Any]) -> str | None:
        return None

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> hbos.HistogramTable:
        return hbos.HistogramTable.fit(work.Z, params["n_bins"], params["alpha"])


class LODA:
    name = "LODA"
    defaults: Mapping[str, ParamValue] = {"n_bins": 10, "n_random_cuts": 100}

    def supports(self, params: Mapping[str, Any]) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_bins"], 2, _MAX_BINS)
            and is_count(params["n_random_cuts"], 1, 100_000)
        )

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return ()

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        announce_compilation(loda._score)
        n_bins, n_cuts = _unique(params, "n_bins"), _unique(params, "n_random_cuts")
        projections = loda.Projections.draw(work.Z.shape[1], max(n_cuts), work.trials, work.seed)
        scores = loda.loda_scores(work.Z, projections, n_bins, n_cuts, work.n_jobs)
        rows = [n_bins.index(p["n_bins"]) for p in params]
        columns = [n_cuts.index(p["n_random_cuts"]) for p in params]
        return scores[rows, columns].T

    def note(self, work: SharedWork, params: Mapping[str, Any]) -> str | None:
        return None

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> loda.LodaHistograms:
        projections = loda.Projections.draw(work.Z.shape[1], params["n_random_cuts"], work.trials, work.seed)
        return loda.LodaHistograms.fit(work.Z, projections, params["n_bins"])


class IForest:
    name = "IForest"
    defaults: Mapping[str, ParamValue] = {"n_estimators": 100, "max_features": 1.0}

    def supports(self, params: Mapping[str, Any]) -> bool:
        share = params["max_features"]
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_estimators"], 1, 100_000)
            and isinstance(share, float)
            and 0 < share <= 1
        )

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        return (params["max_features"],)

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        announce_compilation(iforest._grow, iforest._walk)
        counts = _unique(params, "n_estimators")
        share = params[0]["max_features"]
        scores = iforest.iforest_scores(work.single, share, counts, work.trials, work.seed, work.n_jobs)
        return scores[[counts.index(p["n_estimators"]) for p in params]].T

    def note(self, work: SharedWork, params: Mapping[str, Any]) -> str | None:
        return None

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> "FittedIForest":
        forests = iforest.FittedForests.fit(
            work.single, params["max_features"], params["n_estimators"], work.trials, work.seed, work.n_jobs
        )
        return FittedIForest(forests, work.n_jobs)


@dataclass(frozen=True, eq=False)
class FittedIForest:
    forests: iforest.FittedForests
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        return self.forests.scores(np.ascontiguousarray(Z, dtype=np.float32), self.n_jobs)
