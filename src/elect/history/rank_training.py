"""Training the rank predictor: signals of every task, the ranker, and a gate on tasks the ranker had not seen."""

from collections.abc import Sequence

import numpy as np

from elect.history.pieces import Pieces, digest
from elect.history.rank_predictor import MARGIN, RankPredictor, gate_row, ranker_rows
from elect.history.rank_signals import Grid, Signals, signals_of
from elect.history.records import Recipe, TaskRecord, stored_scores
from elect.paper.folds import group_folds
from elect.support.arrays import FloatArray, IntArray
from elect.support.boosting import Growth, boost
from elect.support.trees import TreeEnsemble

MIN_GROUPS = 12
"""With fewer sources there is nothing to tell what carries over to another one."""

N_FOLDS = 10
_SIGNALS_VERSION = 2
# Chosen on tasks that are neither in the wild testbed nor akin to it (docs/results.md).
RANKER = Growth(15, 250, 0.03, min_leaf_rows=500, column_share=0.3, row_share=0.5, ridge=10.0, bins=63)
GATE = Growth(7, 250, 0.03, min_leaf_rows=20, column_share=0.3, row_share=0.5, ridge=10.0, bins=63)


def task_signals(pieces: Pieces, record: TaskRecord, recipe: Recipe, grid: Grid) -> Signals:
    """The signals of one scored task; kept as a piece."""
    key = digest(record.key, _SIGNALS_VERSION)
    piece = pieces.get("signals", key)
    if piece is None or set(piece) != {"models", "table", "consensus"}:
        found = signals_of(stored_scores(pieces, record, recipe).values, grid)
        piece = {"models": found.models, "table": found.table, "consensus": found.consensus}
        pieces.put("signals", key, piece)
    return Signals(piece["models"], piece["table"], piece["consensus"])


def train_rank_predictor(
    signals: Sequence[Signals], performance: FloatArray, groups: Sequence[str], grid: Grid, seed: int = 0
) -> RankPredictor | None:
    """Everything that is learned from these tasks alone; None where there are too few sources."""
    if len(set(groups)) < MIN_GROUPS:
        return None
    shares = rank_shares(performance)
    weights = _group_weights(groups)
    signal_weights = weights * _signal(performance)
    folds = group_folds(groups, N_FOLDS)
    n_tasks = len(signals)
    rows, gains, left_out = [], np.empty(n_tasks), np.empty((n_tasks, shares.shape[1]))
    best, common = np.empty(n_tasks, dtype=np.intp), np.empty(n_tasks, dtype=np.intp)
    for fold in range(folds.max() + 1):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        text, prior = _ranker(signals, shares, inside, weights, signal_weights, grid, seed)
        trees = TreeEnsemble.from_lightgbm_text(text)
        for t in outside.tolist():
            left_out[t] = trees.predict(ranker_rows(signals[t], prior)) + prior
    for t in range(n_tasks):
        best[t], common[t] = int(np.argmin(left_out[t])), int(np.argmax(signals[t].consensus))
        rows.append(gate_row(signals[t], left_out[t], int(best[t]), int(common[t]), grid))
        gains[t] = shares[t, common[t]] - shares[t, best[t]]
    table = np.array(rows)
    opened = np.empty(n_tasks, dtype=bool)
    for fold in range(folds.max() + 1):
        inside, outside = folds != fold, folds == fold
        gate = TreeEnsemble.from_lightgbm_text(boost(table[inside], gains[inside], GATE, seed, weights[inside]))
        opened[outside] = gate.predict(table[outside]) > MARGIN
    pick = np.where(opened, best, common)
    every = np.arange(n_tasks)
    outcomes = np.column_stack([left_out[every, pick], shares[every, pick]])
    text, prior = _ranker(signals, shares, every, weights, signal_weights, grid, seed)
    return RankPredictor(text, boost(table, gains, GATE, seed, weights), prior, np.round(outcomes, 6))


def rank_shares(performance: FloatArray) -> FloatArray:
    """The rank of each model on each task as a share of the pool: 0 is the best, 1 the worst.

    >>> rank_shares(np.array([[0.9, 0.1, 0.5]]))
    array([[0. , 1. , 0.5]])
    """
    from scipy.stats import rankdata

    shares: FloatArray = (rankdata(-performance, axis=1) - 1.0) / max(performance.shape[1] - 1, 1)
    return shares


def _ranker(
    signals: Sequence[Signals],
    shares: FloatArray,
    tasks: IntArray,
    weights: FloatArray,
    signal_weights: FloatArray,
    grid: Grid,
    seed: int,
) -> tuple[str, FloatArray]:
    """The text of a ranker trained on these tasks, and their prior. The trees add to the prior."""
    own = weights[tasks] / weights[tasks].sum()
    prior = np.asarray(np.round(np.clip(grid.smoothed(own @ shares[tasks]), 0.0, 1.0), 6), dtype=np.float64)
    rows = np.concatenate([ranker_rows(signals[t], prior) for t in tasks.tolist()])
    target = (shares[tasks] - prior).ravel()
    text = boost(rows, target, RANKER, seed, np.repeat(signal_weights[tasks], shares.shape[1]))
    return text, prior


def _group_weights(groups: Sequence[str]) -> FloatArray:
    """A task weighs less the more siblings it has: between one voice a task and one voice a source."""
    _, place, counts = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    weights: FloatArray = 1.0 / np.sqrt(counts[place])
    return weights


def _signal(performance: FloatArray) -> FloatArray:
    """Where all models do about equally well their ranks are noise, and teach less."""
    low, high = np.quantile(performance, [0.1, 0.9], axis=1)
    signal: FloatArray = np.sqrt(np.clip(high - low, 0.02, 0.5))
    return signal
