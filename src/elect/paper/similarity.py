"""Performance-driven similarity of tasks: the weighted Kendall's tau (Eq. 1).

Two tasks are similar when the gaps between the performances of models are alike on both, in sign and in size. A pair
of models with gaps a and b weighs the smaller over the larger of the two, negative when they disagree on which model
is better. A pair with no gap on either task weighs 1; with a gap on one of them only, 0. The similarity is the sum
of the weights over the sum of their magnitudes. Where every weight is 0, or where there is no pair, nothing was
compared and the similarity is 0.

Pairs are always those of ``pair_indices``. With ``scale=True`` the gaps of each task are first divided by the largest
of them in magnitude, so that tasks of different difficulty compare; a task without any gap stays as it is.
"""

import numpy as np

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, IntArray
from elect.support.compiled import compiled


def pair_indices(n_models: int) -> tuple[IntArray, IntArray]:
    """The pairs (i, j) of models with i < j, row by row of the upper triangle.

    >>> pair_indices(3)
    (array([0, 0, 1]), array([1, 2, 2]))
    """
    i, j = np.triu_indices(n_models, k=1)
    return i, j


def pairwise_gaps(performance: FloatArray) -> FloatArray:
    """Performance of i minus performance of j, for every pair, along the last axis (models).

    >>> pairwise_gaps(np.array([0.5, 0.25, 0.0]))
    array([0.25, 0.5 , 0.25])
    """
    performance = np.asarray(performance, dtype=np.float64)
    i, j = pair_indices(performance.shape[-1])
    gaps: FloatArray = performance[..., i] - performance[..., j]
    return gaps


def similarity_to_tasks(gaps: FloatArray, performance: FloatArray, models: IntArray, scale: bool = False) -> FloatArray:
    """The similarity of one task to each historical one, on a subset of the models (Eq. 1).

    ``gaps`` are those of the pairs of ``models`` (columns of ``performance``, tasks x models), in the order given. The
    historical gaps are never laid out in memory, so that the search can ask again for every model it adds.

    >>> performance = np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]])
    >>> similarity_to_tasks(np.array([0.8]), performance, np.array([0, 2]))
    array([ 1., -1.])
    """
    gaps = _checked(gaps, 1, "gaps")
    models = np.asarray(models, dtype=np.intp)
    chosen = np.ascontiguousarray(_checked(performance, 2, "performance")[:, models])
    _match(len(gaps), len(models) * (len(models) - 1) // 2)
    result = np.empty(len(chosen))
    _fill_similarities(gaps, _divisors(gaps[np.newaxis], scale)[0], chosen, _spans(chosen, scale), result)
    return result


def task_similarities(performance: FloatArray, scale: bool = False) -> FloatArray:
    """The similarity of every task to every other (tasks x tasks, Eq. 1), from performances (tasks x models).

    >>> task_similarities(np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    performance = _checked(performance, 2, "performance")
    models = np.arange(performance.shape[1])
    rows = [similarity_to_tasks(pairwise_gaps(row), performance, models, scale=scale) for row in performance]
    return np.array(rows).reshape(len(performance), len(performance))


def _checked(values: FloatArray, ndim: int, name: str) -> FloatArray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), got {array.ndim}.")
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} must be finite; some values are NaN or infinite.")
    return array


def _match(n_pairs: int, expected: int) -> None:
    if n_pairs != expected:
        raise InvalidInput(f"gaps must hold one value for each of the {expected} pairs of models, got {n_pairs}.")


def _divisors(gaps: FloatArray, scale: bool) -> FloatArray:
    """What to divide the gaps of each task (tasks x pairs) by."""
    if not scale or gaps.shape[1] == 0:
        return np.ones(len(gaps))
    largest = np.maximum(gaps.max(axis=1), -gaps.min(axis=1))
    return np.where(largest > 0.0, largest, 1.0)


def _spans(performance: FloatArray, scale: bool) -> FloatArray:
    """The same from performances (tasks x models): the largest gap is that between the best and the worst model."""
    if not scale or performance.shape[1] == 0:
        return np.ones(len(performance))
    largest = performance.max(axis=1) - performance.min(axis=1)
    return np.where(largest > 0.0, largest, 1.0)


@compiled()
def pair_weight(a: float, b: float) -> float:
    """The weight w of a pair of models with gap a on the one task and b on the other (Eq. 1, case by case)."""
    # Signs are compared rather than multiplied: the product of two tiny gaps would be 0.
    size_a, size_b = abs(a), abs(b)
    smaller, larger = min(size_a, size_b), max(size_a, size_b)
    if larger == 0.0:
        return 1.0
    size = smaller / larger
    return size if (a < 0.0) == (b < 0.0) else -size


@compiled()
def _fill_similarities(
    gaps: FloatArray, divisor: float, performance: FloatArray, divisors: FloatArray, result: FloatArray
) -> None:
    n_tasks, n_models = performance.shape
    for task in range(n_tasks):
        total = 0.0
        magnitude = 0.0
        pair = 0
        for i in range(n_models):
            for j in range(i + 1, n_models):
                gap = (performance[task, i] - performance[task, j]) / divisors[task]
                weight = pair_weight(gaps[pair] / divisor, gap)
                total += weight
                magnitude += abs(weight)
                pair += 1
        result[task] = total / magnitude if magnitude > 0.0 else 0.0
