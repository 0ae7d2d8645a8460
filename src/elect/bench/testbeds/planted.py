"""Numeric tables of plain shapes with a few glaring values: what nobody would call a rare row.

Real tables have columns that explain each other, and extremes of their own. In a table of mere noise a value of sixty
spreads stands alone all the same. In one row of a thousand to one of fifty one cell, rarely two, gets a value that is
wrong beyond doubt: moved by two to four powers of ten or by ten to a thousand spreads, with its sign turned, or a
sentinel.
"""

import numpy as np

from elect.bench.testbeds.cutting import task_stream
from elect.core import LabeledTask
from elect.support.arrays import FloatArray

TABLES = 120
MOST_ROWS = 5_000


def planted_tasks() -> list[LabeledTask]:
    """The tables, each a source of its own."""
    found = []
    for k in range(TABLES):
        X, y = _planted(_drawn(k), str(k))
        found.append(LabeledTask(f"planted/{k}", f"planted-{k}", X, y))
    return found


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
    for row in rng.permutation(len(X))[: max(1, round(len(X) * 10.0 ** float(rng.uniform(-3.0, -1.7))))]:
        for j in rng.permutation(usable)[: 1 + int(rng.random() < 0.15)]:
            X[row, j] = _wrong(X[:, j], X[row, j], int(rng.integers(0, 4)), rng)
        y[row] = 1
    return X, y


def _wrong(v: FloatArray, value: float, kind: int, rng: np.random.Generator) -> float:
    middle = float(np.median(v))
    spread = float(np.quantile(np.abs(v - middle), 0.9)) or float(v.std())
    if kind == 0 and abs(value) > 0.1 * spread:
        return value * 10.0 ** int(rng.integers(2, 5))
    if kind == 1:
        return 9999.0 if abs(middle) + 20 * spread < 9999.0 else -9999.0 if middle > -100 * spread else 0.0
    if kind == 2 and abs(middle) > 5 * spread:
        return -value
    far = middle + float(rng.choice([-1.0, 1.0])) * spread * 10.0 ** float(rng.uniform(1.0, 3.0))
    return float(np.round(far)) if (v == np.round(v)).all() else far
