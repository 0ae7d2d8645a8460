"""The anchor set: a few models that the others are measured against, by forward selection with cross-validation.

A candidate set is judged by how well agreement with it goes with performance: on each task, the correlation over models
of the mean rank correlation with the set and the performance. Adding one model to the set changes that mean by one
column of the task's correlation matrix, so every candidate of a step is judged at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.core.ranks import rank
from elect.errors import InvalidInput
from elect.paper.folds import group_folds
from elect.support.arrays import FloatArray, read_only

MAX_ANCHORS = 10


@dataclass(frozen=True, eq=False)
class AnchorChoice:
    """The chosen anchors (positions of models) and what cross-validation said of each size."""

    anchors: tuple[int, ...]
    held_out: FloatArray  # (sizes,) mean correlation on the tasks that were held out


def rank_correlations(scores: FloatArray) -> FloatArray:
    """Spearman's correlation of every two models (points x models); 0 with a model whose scores are all equal.

    >>> rank_correlations(np.array([[1.0, 3.0, 0.0], [2.0, 2.0, 0.0], [3.0, 1.0, 0.0]])).round(6) + 0.0
    array([[ 1., -1.,  0.],
           [-1.,  1.,  0.],
           [ 0.,  0.,  0.]])
    """
    ranks = rank(scores)
    ranks = ranks - ranks.mean(axis=0)
    norms = np.sqrt((ranks**2).sum(axis=0))
    ranks /= np.where(norms > 0.0, norms, 1.0)
    result: FloatArray = np.clip(ranks.T @ ranks, -1.0, 1.0)
    return result


def choose_anchors(
    correlations: FloatArray,
    performance: FloatArray,
    groups: Sequence[str],
    *,
    max_size: int = MAX_ANCHORS,
    n_folds: int = 5,
) -> AnchorChoice:
    """Anchors from rank correlations (tasks x models x models) and performances (tasks x models).

    Sets of each size, chosen on the other folds, are judged on the held-out tasks; siblings share a fold. The size is
    the largest that is not worse than the best by more than the standard error of the difference: between sizes that
    cannot be told apart, a consensus of several models is safer than that of one. With a single group of tasks nothing
    can be held out, and all tasks choose and judge.
    """
    if max_size < 1:
        raise InvalidInput(f"max_size must be at least 1, got {max_size}.")
    max_size = min(max_size, performance.shape[1])
    centered = correlations - correlations.mean(axis=1, keepdims=True)
    target = performance - performance.mean(axis=1, keepdims=True)
    norms = np.sqrt((target**2).sum(axis=1, keepdims=True))
    target = target / np.where(norms > 0.0, norms, 1.0)
    if len(set(groups)) < 2:
        order, judged = _forward(centered, target, max_size)
        return AnchorChoice(order[: int(np.argmax(judged)) + 1], read_only(judged))
    fold_of = group_folds(groups, n_folds)
    held_out = np.zeros((max_size, len(performance)))
    for fold in np.unique(fold_of):
        inside, outside = fold_of != fold, fold_of == fold
        order, _ = _forward(centered[inside], target[inside], max_size)
        for size in range(1, max_size + 1):
            held_out[size - 1, outside] = _agreement(centered[outside], target[outside], order[:size])
    order, _ = _forward(centered, target, max_size)
    return AnchorChoice(order[: _size(held_out)], read_only(held_out.mean(axis=1)))


def _size(held_out: FloatArray) -> int:
    """The largest size as good as the best, from the agreement of each size on each task (sizes x tasks)."""
    lost = held_out[int(np.argmax(held_out.mean(axis=1)))] - held_out
    error = lost.std(axis=1, ddof=1) / np.sqrt(lost.shape[1])
    return int(np.flatnonzero(lost.mean(axis=1) <= error)[-1]) + 1


def _forward(centered: FloatArray, target: FloatArray, size: int) -> tuple[tuple[int, ...], FloatArray]:
    """The first ``size`` models of forward selection, with the mean correlation after each."""
    total = np.zeros(target.shape)
    along = np.einsum("tj,tja->ta", target, centered)
    squares = np.einsum("tja,tja->ta", centered, centered)
    # A model whose scores are all equal agrees with nothing, and is no anchor unless there is nothing else.
    useless = ~(squares > 0.0).any(axis=0)
    chosen: list[int] = []
    judged = []
    for _ in range(size):
        dot = (target * total).sum(axis=1, keepdims=True) + along
        square = (total**2).sum(axis=1, keepdims=True) + 2.0 * np.einsum("tj,tja->ta", total, centered) + squares
        value = (dot / np.sqrt(np.maximum(square, 1e-12))).mean(axis=0)
        value[useless] = -2.0
        value[chosen] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        judged.append(float(value[best]))
        total = total + centered[:, :, best]
    return tuple(chosen), np.array(judged)


def _agreement(centered: FloatArray, target: FloatArray, anchors: tuple[int, ...]) -> FloatArray:
    """The correlation on each task for one anchor set."""
    mean = centered[:, :, list(anchors)].sum(axis=2)
    norms = np.sqrt((mean**2).sum(axis=1))
    result: FloatArray = (target * mean).sum(axis=1) / np.where(norms > 0.0, norms, 1.0)
    return result
