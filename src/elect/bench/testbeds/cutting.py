"""Outlier tasks cut from labelled classes: some classes are normal, a thinned sample of the others is outlying.

After Emmott et al., "Systematic construction of anomaly detection benchmarks from real data" (2013), a task is set by
which points are normal, by the share of outliers, and by their scatter: drawn at random from all that may be outliers,
or a clump, one of them with those nearest to it.
"""

from typing import Literal, get_args
from zlib import crc32

import numpy as np

from elect.core import LabeledTask
from elect.support.arrays import FloatArray

Scatter = Literal["scattered", "clumped"]
SCATTERS: tuple[Scatter, ...] = get_args(Scatter)

MAX_ROWS = 3000
"""More rows would tell little more about a task and cost much more."""

MIN_NORMAL, MIN_OUTLIERS = 60, 8
"""With fewer outliers the average precision of a model is mostly luck."""

MAX_SHARE = 0.25


def task_stream(seed: int, name: str) -> np.random.Generator:
    """The random numbers of one task: they follow from the seed and its name, whatever other tasks there are."""
    return np.random.default_rng([seed, crc32(name.encode())])


def cut_task(
    name: str,
    group: str,
    normal: FloatArray,
    others: FloatArray,
    share: float,
    rng: np.random.Generator,
    scatter: Scatter = "scattered",
    max_rows: int = MAX_ROWS,
) -> LabeledTask | None:
    """A task of ``normal`` rows with about ``share`` outliers from ``others``, shuffled; None where too few are left.

    >>> rng = np.random.default_rng(0)
    >>> task = cut_task("a", "a", rng.normal(size=(190, 2)), rng.normal(9, 1, (50, 2)), 0.05, rng)
    >>> task.X.shape, int(task.y.sum())
    ((200, 2), 10)
    """
    if not 0.0 < share <= MAX_SHARE:
        raise ValueError(f"share must lie in (0, {MAX_SHARE}], got {share!r}.")
    n_normal = min(len(normal), int(max_rows * (1 - share)))
    n_outliers = min(max(round(share / (1 - share) * n_normal), MIN_OUTLIERS), len(others))
    too_many = n_outliers > MAX_SHARE * (n_normal + n_outliers)
    if n_normal < MIN_NORMAL or n_outliers < MIN_OUTLIERS or too_many:
        return None
    kept = normal[np.sort(rng.choice(len(normal), n_normal, replace=False))]
    if scatter == "scattered":
        drawn = others[np.sort(rng.choice(len(others), n_outliers, replace=False))]
    else:
        drawn = _clump(others, n_outliers, rng)
    X = np.vstack([kept, drawn])
    y = np.repeat(np.array([0, 1], dtype=np.int8), [n_normal, n_outliers])
    order = rng.permutation(len(X))
    varies = X.min(axis=0) < X.max(axis=0)
    if not varies.any():
        return None
    return LabeledTask(name, group, np.ascontiguousarray(X[np.ix_(order, varies)]), y[order])


def _clump(points: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """A point drawn at random and the ``n - 1`` nearest to it, in units of the columns' own spread."""
    spread = points.std(axis=0)
    scaled = points / np.where(spread > 0, spread, 1.0)
    distance = ((scaled - scaled[rng.integers(len(points))]) ** 2).sum(axis=1)
    return points[np.sort(np.argsort(distance, kind="stable")[:n])]
