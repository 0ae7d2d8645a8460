"""Which model to evaluate next: the value of each candidate, given how models did on the neighbours (Eq. 6, 7 and 8).

Every acquisition takes the mean and the standard deviation of each model's performance over the neighbours, and the
best mean among the models evaluated so far; the candidate of the largest value is next (Eq. 8).
"""

from collections.abc import Callable

import numpy as np

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, IntArray

Acquisition = Callable[[FloatArray, FloatArray, float], FloatArray]


def neighbor_moments(neighbor_performance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The mean and the (population) standard deviation of each model over the neighbours (tasks x models).

    A model that did exactly the same on every neighbour has a deviation of exactly 0, a case Eq. 7 treats apart:
    rounding in the mean would leave a trace of a deviation otherwise.

    >>> neighbor_moments(np.array([[0.1, 0.2], [0.1, 0.4], [0.1, 0.6]]))
    (array([0.1, 0.4]), array([0.        , 0.16329932]))
    """
    values = np.asarray(neighbor_performance, dtype=np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise InvalidInput(f"Neighbour performances must be tasks x models with a task or more, got {values.shape}.")
    same = (values == values[0]).all(axis=0)
    mean = np.where(same, values[0], values.mean(axis=0))
    std = np.where(same, 0.0, values.std(axis=0))
    return mean, std


def expected_improvement(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """How much a model is expected to improve on ``best``, if its performance is Gaussian (Eq. 7).

    Never negative; 0 where the deviation is 0, whatever the mean, as in the paper.

    >>> expected_improvement(np.array([0.5, 0.5, 0.9]), np.array([0.1, 0.2, 0.0]), 0.5).round(4)
    array([0.0399, 0.0798, 0.    ])
    """
    from scipy.special import ndtr  # only the search needs it; importing it takes a while

    mean, std = np.asarray(mean, dtype=np.float64), np.asarray(std, dtype=np.float64)
    gain = mean - best
    uncertain = std > 0.0
    # The ratio overflows where a deviation is tiny; sigma (u Phi(u) + phi(u)) multiplied out stays finite even there.
    with np.errstate(over="ignore", under="ignore"):
        u = np.divide(gain, std, out=np.zeros(np.broadcast(gain, std).shape), where=uncertain)
        density = np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi)
        improvement = gain * ndtr(u) + std * density
    # Far below the best the two terms nearly cancel: the sign is guaranteed here, not left to the accuracy of ndtr.
    return np.where(uncertain, np.maximum(improvement, 0.0), 0.0)


def mean_plus_variance(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """The sum of quality and uncertainty (Eq. 6); ``best`` plays no part.

    >>> mean_plus_variance(np.array([0.5, 0.5]), np.array([0.0, 0.5]), 0.9)
    array([0.5 , 0.75])
    """
    return np.asarray(mean, dtype=np.float64) + np.asarray(std, dtype=np.float64) ** 2


def greedy(mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
    """Quality alone; neither ``std`` nor ``best`` plays a part.

    >>> greedy(np.array([0.5, 0.25]), np.array([0.0, 0.5]), 0.9)
    array([0.5 , 0.25])
    """
    return np.array(mean, dtype=np.float64)


ACQUISITIONS: dict[str, Acquisition] = {
    "ei": expected_improvement,
    "mean+variance": mean_plus_variance,
    "greedy": greedy,
}


def next_model(
    acquisition: Acquisition, mean: FloatArray, std: FloatArray, candidates: IntArray, best: float, cost: FloatArray
) -> tuple[int, float]:
    """The candidate of the largest value, divided by what it costs, and that value (Eq. 8)."""
    values = acquisition(mean[candidates], std[candidates], best) / cost
    chosen = int(np.argmax(values))
    return int(candidates[chosen]), float(values[chosen])
