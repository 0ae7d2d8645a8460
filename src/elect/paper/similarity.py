"""Performance-driven similarity of tasks: the weighted Kendall's tau of Eq. 1.

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

_COMPARED_MODELS = 60


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


def similarity(gaps: FloatArray, historical_gaps: FloatArray, scale: bool = False) -> FloatArray:
    """The similarity of one task (gaps of its pairs) to each historical task (tasks x pairs).

    >>> similarity(np.array([0.2, 0.4]), np.array([[0.2, 0.4], [0.1, 0.8], [0.1, -0.2], [0.0, 0.0]]))
    array([1., 1., 0., 0.])
    """
    gaps = _checked(gaps, 1, "gaps")
    historical_gaps = _checked(historical_gaps, 2, "historical_gaps")
    _match(len(gaps), historical_gaps.shape[1])
    result = np.empty(len(historical_gaps))
    _fill_from_gaps(
        gaps, _divisors(gaps[np.newaxis], scale)[0], historical_gaps, _divisors(historical_gaps, scale), result
    )
    return result


def similarity_to_tasks(gaps: FloatArray, performance: FloatArray, models: IntArray, scale: bool = False) -> FloatArray:
    """The similarity of one task to each historical one, on a subset of the models.

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
    _fill_from_performance(gaps, _divisors(gaps[np.newaxis], scale)[0], chosen, _spans(chosen, scale), result)
    return result


def task_similarities(performance: FloatArray, scale: bool = False) -> FloatArray:
    """The similarity of every task to every other (tasks x tasks), from performances (tasks x models).

    >>> task_similarities(np.array([[0.9, 0.5, 0.1], [0.1, 0.5, 0.9]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    performance = _checked(performance, 2, "performance")
    result = np.empty((len(performance), len(performance)))
    _fill_all(performance, _spans(performance, scale), result)
    return result


def _checked(values: FloatArray, ndim: int, name: str) -> FloatArray:
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != ndim:
        raise InvalidInput(f"{name} must have {ndim} dimension(s), got {array.ndim}.")
    if not np.isfinite(array).all():
        raise InvalidInput(f"{name} must be finite; some values are NaN or infinite.")
    return array


def tasks_like(
    expected: FloatArray, performance: FloatArray, order: IntArray, n_tasks: int, scale: bool = False
) -> list[tuple[int, float]]:
    """The historical tasks whose gaps between models resemble those of the expected performances, nearest first.

    ``order`` ranks the models; those compared are spread over the whole of it.
    """
    spread = order[np.unique(np.linspace(0, len(order) - 1, _COMPARED_MODELS).astype(int))]
    if len(spread) < 2:
        return []
    found = similarity_to_tasks(pairwise_gaps(expected[spread]), performance, spread, scale=scale)
    return [(int(t), float(found[t])) for t in np.argsort(-found, kind="stable")[:n_tasks]]


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
def _weight(a: float, b: float) -> float:
    # Signs are compared rather than multiplied: the product of two tiny gaps would be 0.
    size_a, size_b = abs(a), abs(b)
    smaller, larger = min(size_a, size_b), max(size_a, size_b)
    if larger == 0.0:
        return 1.0
    size = smaller / larger
    return size if (a < 0.0) == (b < 0.0) else -size


@compiled()
def _fill_from_gaps(
    gaps: FloatArray, divisor: float, historical: FloatArray, divisors: FloatArray, result: FloatArray
) -> None:
    n_tasks, n_pairs = historical.shape
    for task in range(n_tasks):
        total = 0.0
        magnitude = 0.0
        for pair in range(n_pairs):
            weight = _weight(gaps[pair] / divisor, historical[task, pair] / divisors[task])
            total += weight
            magnitude += abs(weight)
        result[task] = total / magnitude if magnitude > 0.0 else 0.0


@compiled()
def _fill_from_performance(
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
                weight = _weight(gaps[pair] / divisor, gap)
                total += weight
                magnitude += abs(weight)
                pair += 1
        result[task] = total / magnitude if magnitude > 0.0 else 0.0


@compiled()
def _fill_all(performance: FloatArray, divisors: FloatArray, result: FloatArray) -> None:
    n_tasks, n_models = performance.shape
    for s in range(n_tasks):
        for t in range(s + 1):
            total = 0.0
            magnitude = 0.0
            for i in range(n_models):
                for j in range(i + 1, n_models):
                    weight = _weight(
                        (performance[s, i] - performance[s, j]) / divisors[s],
                        (performance[t, i] - performance[t, j]) / divisors[t],
                    )
                    total += weight
                    magnitude += abs(weight)
            result[s, t] = result[t, s] = total / magnitude if magnitude > 0.0 else 0.0
