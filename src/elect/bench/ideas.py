"""What was tried for better picks without labels, each as a function of what is known inside a fold.

Those that became strategies are among them, and those that failed too: ``docs/results.md`` has a row for each.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.history.learned import RANKER, rank_shares
from elect.history.rank_predictor import LearnedPick, RankPredictor, ranker_rows
from elect.history.signals import Grid, Signals
from elect.measures import rank
from elect.support.arrays import FloatArray, IntArray
from elect.support.boosting import boost
from elect.support.trees import TreeEnsemble

_NEIGHBORS = 10
_SHRINK = 0.5
_MARGIN = 0.05
MARGINS = (0.0, 0.05, 0.1, 0.15, 0.2)


@dataclass(frozen=True, eq=False)
class Fold:
    """What is known inside a fold, and learned from it."""

    signals: Sequence[Signals]
    performance: FloatArray  # (tasks, models)
    shares: FloatArray  # (tasks, models)
    natural: IntArray  # the tasks cut from real tables, neither injected nor simulated
    grid: Grid
    predictor: RankPredictor
    by_performance: TreeEnsemble
    by_natural: TreeEnsemble

    @classmethod
    def of(
        cls,
        signals: Sequence[Signals],
        performance: FloatArray,
        natural: IntArray,
        grid: Grid,
        predictor: RankPredictor,
        seed: int,
    ) -> "Fold":
        prior = predictor.prior
        everything = np.arange(len(signals))
        centred = performance - performance.mean(axis=1, keepdims=True)
        scaled = -centred / (performance.std(axis=1, keepdims=True) + 1e-3)
        shares = rank_shares(performance)
        return cls(
            signals,
            performance,
            shares,
            natural,
            grid,
            predictor,
            _trees(signals, everything, scaled, prior, seed),
            _trees(signals, natural, shares - prior, prior, seed),
        )


def _trees(
    signals: Sequence[Signals], tasks: IntArray, target: FloatArray, prior: FloatArray, seed: int
) -> TreeEnsemble:
    rows = np.concatenate([ranker_rows(signals[t], prior) for t in tasks.tolist()])
    return TreeEnsemble.from_lightgbm_text(boost(rows, target[tasks].ravel(), RANKER, seed))


def single_models(fold: Fold, signals: Signals, chosen: LearnedPick) -> dict[str, int]:
    """The model each idea picks on a task, ``chosen`` being the learned pick there."""
    grid, predictor = fold.grid, fold.predictor
    mean = fold.shares.mean(axis=0)
    fixed, smoothed = int(np.argmin(mean)), int(np.argmin(grid.smoothed(mean)))
    forecast, best, common = chosen.shares, chosen.best, chosen.common
    families = grid.averages @ forecast
    in_family = np.where(grid.family == int(np.argmin(families)), predictor.prior, np.inf)
    sure = forecast[smoothed] - forecast[best] > _MARGIN
    rows = ranker_rows(signals, predictor.prior)
    skip = 2 * grid.n_families
    return {
        "learned": chosen.model,
        "consensus": common,
        **{
            f"learned, overruling the consensus from a gain of {margin:g} on": best if chosen.gain > margin else common
            for margin in MARGINS
        },
        "best fixed model by mean rank": fixed,
        "best fixed model by mean AP": int(np.argmax(fold.performance.mean(axis=0))),
        "fixed: by mean rank, averaged over neighbouring parameters": smoothed,
        "best fixed model of the tasks cut from real tables": int(np.argmin(fold.shares[fold.natural].mean(axis=0))),
        "agreement with all models (MC over the pool)": int(np.argmax(signals.models[:, skip])),
        "agreement on the top rows": int(np.argmax(signals.models[:, skip + 3])),
        "agreement with the mean of the families": int(np.argmax(signals.models[:, skip + 4])),
        "10 tasks with the most similar agreement of families": _nearest(fold, signals),
        "ranker without gate": best,
        "ranker where it forecasts a gain on the fixed model": best if sure else smoothed,
        "ranker, averaged over neighbouring parameters": int(np.argmin(grid.smoothed(forecast))),
        "ranker, half way to the historical mean": int(np.argmin(_SHRINK * (forecast + predictor.prior))),
        "ranker for the family, then its best fixed model": int(np.argmin(in_family)),
        "ranker of AP instead of ranks": int(np.argmin(fold.by_performance.predict(rows))),
        "ranker of the tasks cut from real tables": int(np.argmin(fold.by_natural.predict(rows) + predictor.prior)),
    }


def _nearest(fold: Fold, signals: Signals) -> int:
    """The best model by mean rank on the historical tasks whose families agree alike."""
    tables = np.array([known.table for known in fold.signals])
    spread = np.maximum(tables.std(axis=0), 1e-9)
    distance = (((tables - signals.table) / spread) ** 2).sum(axis=1)
    nearest = np.argsort(distance, kind="stable")[:_NEIGHBORS]
    return int(np.argmin(fold.grid.smoothed(fold.shares[nearest].mean(axis=0))))


def ensembles(grid: Grid, forecast: FloatArray, scores: FloatArray) -> dict[str, FloatArray]:
    """Scores that average several models (the mean of ``-log(rank)``), which is no model of the pool."""
    order = np.argsort(forecast, kind="stable")
    words = -np.log((rank(scores) - 0.5) / len(scores))
    best_of_family = [int(members[np.argmin(forecast[members])]) for members in _members(grid)]
    best_of_family.sort(key=lambda model: float(forecast[model]))
    return {
        "mean of the 5 best forecasts": words[:, order[:5]].mean(axis=1),
        "mean of the 20 best forecasts": words[:, order[:20]].mean(axis=1),
        "mean of the best of the 4 best families": words[:, best_of_family[:4]].mean(axis=1),
        "mean of all models": words.mean(axis=1),
    }


def _members(grid: Grid) -> list[IntArray]:
    return [np.flatnonzero(grid.family == f) for f in range(grid.n_families)]
