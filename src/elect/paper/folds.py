"""Folds of tasks for cross-validation, siblings never torn apart."""

from collections.abc import Sequence

import numpy as np

from elect.errors import InvalidInput
from elect.support.arrays import IntArray


def group_folds(groups: Sequence[str], n_folds: int) -> IntArray:
    """A fold for each task, so that siblings share one: larger groups first, each to the fold with the fewest tasks.

    >>> group_folds(["wine", "glass", "wine", "letter"], 2)
    array([0, 1, 0, 1])
    """
    sizes: dict[str, int] = {}
    for group in groups:
        sizes[group] = sizes.get(group, 0) + 1
    if n_folds < 2 or len(sizes) < 2:
        raise InvalidInput(
            f"Cross-validation over tasks must have at least 2 folds and 2 groups of tasks, "
            f"got {n_folds} folds and {len(sizes)} groups."
        )
    filled = [0] * min(n_folds, len(sizes))
    fold_of = {}
    for group in sorted(sizes, key=lambda name: -sizes[name]):
        fold_of[group] = filled.index(min(filled))
        filled[fold_of[group]] += sizes[group]
    return np.array([fold_of[group] for group in groups], dtype=np.intp)
