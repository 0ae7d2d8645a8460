"""kNN: the distance to the k-th neighbour, or the mean or median over the k nearest."""

from elect.support.arrays import FloatArray


def knn_scores(distances: FloatArray, method: str, k: int) -> FloatArray:
    """Scores from sorted neighbour distances (rows, at least k); k is capped at their number.

    >>> import numpy as np
    >>> knn_scores(np.array([[1.0, 2.0, 6.0]]), "mean", 3)
    array([3.])
    >>> knn_scores(np.array([[1.0, 2.0, 6.0]]), "median", 2)
    array([1.5])
    """
    k = min(k, distances.shape[1])
    if method == "largest":
        return distances[:, k - 1].copy()
    if method == "mean":
        mean: FloatArray = distances[:, :k].mean(axis=1)
        return mean
    # The distances are sorted, so the median is read off the middle.
    return 0.5 * (distances[:, (k - 1) // 2] + distances[:, k // 2])
