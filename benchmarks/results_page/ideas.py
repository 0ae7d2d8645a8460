"""What was tried for better picks without labels and did not become a strategy: ``docs/results.md`` has a row each.

An idea sees what a strategy sees: the database of the other groups, the records it was learned from, and the scores of
the task that was left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.bench.baselines import Choice
from elect.bench.union import Chooser, kind_of
from elect.core import ScoreMatrix
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.history.pieces import Pieces
from elect.history.rank_predictor import LearnedPick, RankPredictor, ranker_rows
from elect.history.rank_signals import Grid, Signals
from elect.history.rank_training import RANKER, rank_shares, task_signals
from elect.history.records import MetaRecords, TaskRecord
from elect.measures import rank
from elect.support.arrays import FloatArray, IntArray
from elect.support.boosting import boost
from elect.support.trees import TreeEnsemble

NATURAL = ("wild", "keel", "images", "image features", "texts")
"""The kinds that are cut from real tables, pictures and texts."""

MARGINS = (0.0, 0.05, 0.1, 0.15, 0.2)
_NEIGHBORS = 10
_SHRINK = 0.5
_MARGIN = 0.05


@dataclass(frozen=True, eq=False)
class Known:
    """What is known inside a fold, and learned from it."""

    signals: Sequence[Signals]
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
    ) -> "Known":
        prior = predictor.prior
        everything = np.arange(len(signals))
        centred = performance - performance.mean(axis=1, keepdims=True)
        scaled = -centred / (performance.std(axis=1, keepdims=True) + 1e-3)
        shares = rank_shares(performance)
        return cls(
            signals,
            shares,
            natural,
            grid,
            predictor,
            _trees(signals, everything, scaled, prior, seed),
            _trees(signals, natural, shares - prior, prior, seed),
        )


def every_idea(database: MetaDatabase, history: MetaRecords, pieces: Pieces) -> Chooser:
    """All of them, learned from the records of a fold."""
    recipe = history.recipe
    grid = Grid.of(recipe.pool)
    predictor = database.rank_predictor
    if predictor is None:
        raise InvalidInput("The history must be large enough for a rank predictor.")
    signals = [task_signals(pieces, record, recipe, grid) for record in history.tasks]
    natural = np.flatnonzero([kind_of(record.name) in NATURAL for record in history.tasks])
    known = Known.of(signals, history.performance.values, natural, grid, predictor, recipe.seed)

    def choices(record: TaskRecord, scores: ScoreMatrix) -> dict[str, Choice]:
        seen = task_signals(pieces, record, recipe, grid)
        forecast = predictor.pick(seen, grid)
        picked = single_models(known, seen, forecast)
        averaged = ensembles(grid, forecast.shares, scores.values)
        ids = recipe.pool.ids
        return {
            **{name: Choice((ids[model],)) for name, model in picked.items()},
            **{name: Choice(ids, mean) for name, mean in averaged.items()},
        }

    return choices


def _trees(
    signals: Sequence[Signals], tasks: IntArray, target: FloatArray, prior: FloatArray, seed: int
) -> TreeEnsemble:
    rows = np.concatenate([ranker_rows(signals[t], prior) for t in tasks.tolist()])
    return TreeEnsemble.from_lightgbm_text(boost(rows, target[tasks].ravel(), RANKER, seed))


def single_models(known: Known, signals: Signals, forecast: LearnedPick) -> dict[str, int]:
    """The model each idea picks on a task, ``forecast`` being what the rank predictor says of it."""
    grid, predictor = known.grid, known.predictor
    shares, best, common = forecast.shares, forecast.best, forecast.common
    smoothed = int(np.argmin(grid.smoothed(known.shares.mean(axis=0))))
    families = grid.averages @ shares
    in_family = np.where(grid.family == int(np.argmin(families)), predictor.prior, np.inf)
    sure = shares[smoothed] - shares[best] > _MARGIN
    rows = ranker_rows(signals, predictor.prior)
    skip = 2 * grid.n_families
    return {
        **{
            f"learned, overruling the consensus from a gain of {margin:g} on": best
            if forecast.gain > margin
            else common
            for margin in MARGINS
        },
        "best fixed model of the tasks cut from real tables": int(np.argmin(known.shares[known.natural].mean(axis=0))),
        "agreement with all models (MC over the pool)": int(np.argmax(signals.models[:, skip])),
        "agreement on the top rows": int(np.argmax(signals.models[:, skip + 3])),
        "agreement with the mean of the families": int(np.argmax(signals.models[:, skip + 4])),
        "10 tasks with the most similar agreement of families": _nearest(known, signals),
        "ranker without gate": best,
        "ranker where it forecasts a gain on the fixed model": best if sure else smoothed,
        "ranker, averaged over neighbouring parameters": int(np.argmin(grid.smoothed(shares))),
        "ranker, half way to the historical mean": int(np.argmin(_SHRINK * (shares + predictor.prior))),
        "ranker for the family, then its best fixed model": int(np.argmin(in_family)),
        "ranker of AP instead of ranks": int(np.argmin(known.by_performance.predict(rows))),
        "ranker of the tasks cut from real tables": int(np.argmin(known.by_natural.predict(rows) + predictor.prior)),
    }


def _nearest(known: Known, signals: Signals) -> int:
    """The best model by mean rank on the historical tasks whose families agree alike."""
    tables = np.array([one.table for one in known.signals])
    spread = np.maximum(tables.std(axis=0), 1e-9)
    distance = (((tables - signals.table) / spread) ** 2).sum(axis=1)
    nearest = np.argsort(distance, kind="stable")[:_NEIGHBORS]
    return int(np.argmin(known.grid.smoothed(known.shares[nearest].mean(axis=0))))


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
