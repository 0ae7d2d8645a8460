"""Numeric tables with a few glaring values: what nobody would call a rare row, whatever else the table holds.

The tables are drawn from plain distributions, or are tasks of other testbeds without their outliers. In one to five
rows one cell, rarely two, gets a value that is wrong beyond doubt: moved by two to four powers of ten or by twenty to a
thousand spreads, with its sign turned, or a sentinel.
"""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from elect.bench.testbeds.cutting import task_stream
from elect.core import LabeledTask
from elect.support.arrays import FloatArray

DRAWN = 90
MOST_ROWS = 3_000


def planted_tasks(others: Iterable[LabeledTask] = ()) -> list[LabeledTask]:
    """Drawn tables, then those of other tasks, each with planted values, whatever others there are."""
    drawn = [
        LabeledTask(f"planted/drawn-{k}", f"planted-drawn-{k}", *_planted(_drawn(k), f"drawn-{k}"))
        for k in range(DRAWN)
    ]
    return [*drawn, *_from_tasks(others)]


def _from_tasks(others: Iterable[LabeledTask]) -> Iterator[LabeledTask]:
    for task in others:
        rng = task_stream(1, task.name)
        rows = np.flatnonzero(task.y == 0)
        rows = np.sort(rng.permutation(rows)[:MOST_ROWS])
        if len(rows) >= 30:
            X, y = _planted(task.X[rows], task.name)
            yield LabeledTask(f"planted/{task.name}", task.group, X, y)


def _drawn(k: int) -> FloatArray:
    """A table of independent or related columns of one or several plain shapes."""
    rng = task_stream(2, str(k))
    n, d = int(rng.integers(100, MOST_ROWS)), int(rng.integers(2, 25))
    X = rng.normal(size=(n, d))
    if rng.random() < 0.5:
        X = X @ rng.normal(size=(d, d))
    shape = rng.integers(0, 6, size=d) if rng.random() < 0.5 else np.full(d, rng.integers(0, 6))
    heavy = rng.standard_t(4, size=(n, d))
    spread = X.std(axis=0)
    columns = [
        X,
        np.exp(X / spread),
        heavy,
        rng.random(size=(n, d)),
        np.round(10 * X),
        np.round(X / spread * 5 + 50, 1),
    ]
    return np.column_stack([columns[int(s)][:, j] for j, s in enumerate(shape)])


def _planted(X: FloatArray, name: str) -> tuple[FloatArray, "np.ndarray[tuple[int], np.dtype[np.int8]]"]:
    rng = task_stream(3, name)
    X, y = np.array(X, dtype=np.float64), np.zeros(len(X), dtype=np.int8)
    usable = np.flatnonzero(X.std(axis=0) > 0)
    for row in rng.permutation(len(X))[: int(rng.integers(1, 6))]:
        for j in rng.permutation(usable)[: 1 + int(rng.random() < 0.15)]:
            X[row, j] = _wrong(X[:, j], X[row, j], int(rng.integers(0, 4)), rng)
        y[row] = 1
    return X, y


def _wrong(column: Sequence[float] | FloatArray, value: float, kind: int, rng: np.random.Generator) -> float:
    v = np.asarray(column)
    middle = float(np.median(v))
    spread = float(np.quantile(np.abs(v - middle), 0.9)) or float(v.std())
    if kind == 0 and abs(value) > 0.1 * spread:
        return value * 10.0 ** int(rng.integers(2, 5))
    if kind == 1:
        return 9999.0 if abs(middle) + 20 * spread < 9999.0 else -9999.0 if middle > -100 * spread else 0.0
    if kind == 2 and abs(middle) > 5 * spread:
        return -value
    far = middle + float(rng.choice([-1.0, 1.0])) * spread * 10.0 ** float(rng.uniform(1.3, 3.0))
    return float(np.round(far)) if (v == np.round(v)).all() else far
