"""The pick: of all models, the one that did best on the neighbours on average (Eq. 2)."""

from collections.abc import Collection

import numpy as np

from elect.support.arrays import FloatArray, IntArray


def best_first(mean: FloatArray, failed: Collection[int] = ()) -> IntArray:
    """All models by their mean performance over the neighbours (models,); the first is the pick (Eq. 2).

    Of equal models the one that comes first in the pool is first. Models that ``failed`` do not run on this table:
    they come last, whatever they did before.

    >>> best_first(np.array([0.2, 0.9, 0.5])), best_first(np.array([0.2, 0.9, 0.5]), failed={1})
    (array([1, 2, 0]), array([2, 0, 1]))
    """
    order = np.argsort(-mean, kind="stable")
    left_out = np.isin(order, list(failed))
    return np.concatenate([order[~left_out], order[left_out]])
