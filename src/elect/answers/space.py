"""Where rows lie, so that an answer about one speaks for those like it.

Two rows are alike in three ways. They lie close in every column: by the place of a value among the others, which knows
no scale, and by the value itself on a scale that keeps far ones apart; the likeness falls with the sum of the
distances, as exp(-distance / length). Random cuts of the table keep them together (``cuts``), in trees that count more
the better they foretell the answers. And the models and the cells say the same of them, or they are odd in the same
way: that part is linear in the signals, so that answers shift the weight of each signal and of each kind.

Chosen on the OddBench tasks, a part of the tables with wrong values and the wild tasks: the amplitudes, the length and
the cuts. There, places beside values are better than the values alone, squared distances, a sum over columns, distances
in random subsets of the columns, and distances between scores. Weighing several amplitudes, lengths or shares of trust
by how well they foretell the answers gained nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.answers.cuts import Cuts, LeafTable, Leaves, add_moves, add_own, add_together
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import compiled

LENGTH = 1.2
"""The length, in medians of the distance between two rows."""

AMPLITUDE = 3.0
"""How many log-odds an answer may move the rows that lie close to the one it is about."""

CUTS_AMPLITUDE = 2.8
"""How many log-odds an answer may move the rows that random cuts keep together with the one it is about."""

SIGNAL_AMPLITUDE = 1.0
"""How many log-odds the answers may move a row whose signals lie a standard deviation out."""

KIND_AMPLITUDE = 0.45
"""How far the answers may go towards one kind of oddity alone, as a standard deviation; 1 would be all the way."""

FAR_SIGNAL = 8.0
"""Standard deviations beyond which a signal counts no further. A signal of a glaring value lies ninety out: without a
limit, one "no" to another row puts the most glaring value of a table last. From 3 to 20 the
mean average precision of no testbed changes by more than twice its standard error, but for .001 on wrong values."""

_GRID = 256
_PAIRS = 2000
_FAR = 50.0
# The places of a column from first to last, spread as wide as a standardised column mostly is.
_WIDTH = 3.4


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows in the space: coordinates (rows, 2 x columns), the leaf that each tree of the cuts puts them in (rows,
    trees), and signals on a common scale (rows, signals)."""

    coordinates: NDArray[np.float32]
    leaves: Leaves
    signals: FloatArray

    def __len__(self) -> int:
        return len(self.coordinates)

    def at(self, rows: Any) -> "Placed":
        return Placed(self.coordinates[rows], self.leaves[rows], self.signals[rows])


@dataclass(frozen=True, eq=False)
class RowSpace:
    """The space of the rows of one table, learned without labels. New rows are placed by the same rule."""

    grid: FloatArray  # (grid, columns) values at evenly spaced places, ascending
    spread: FloatArray  # (columns,) standard deviation: columns that were given less weight keep less
    length: float
    signal_center: FloatArray  # (signals,)
    signal_scale: FloatArray  # (signals,) what counts as one; 0 for a signal that is constant
    signal_limit: FloatArray  # (signals,) how far out a signal counts
    cuts: Cuts

    @classmethod
    def of(cls, columns: FloatArray, signals: FloatArray, seed: int = 0, *, n_kinds: int = 0) -> "RowSpace":
        """From the standardised columns (rows x columns) and the signals (rows x signals) of a table, of which the last
        ``n_kinds`` are kinds of oddity."""
        n = len(columns)
        if columns.ndim != 2 or signals.ndim != 2 or len(signals) != n or n == 0:
            raise InvalidInput("Columns and signals must be two tables of the same rows.")
        at = np.minimum(((np.arange(_GRID) + 0.5) / _GRID * n).astype(np.intp), n - 1)
        grid = np.sort(columns, axis=0)[at]
        plain = signals.shape[1] - n_kinds
        # All signals together have the amplitude of one; a kind is log-odds already, and has its own.
        scale = np.r_[
            signals[:, :plain].std(axis=0) * np.sqrt(plain), np.full(n_kinds, SIGNAL_AMPLITUDE / KIND_AMPLITUDE)
        ]
        center = np.r_[signals[:, :plain].mean(axis=0), np.zeros(n_kinds)]
        limit = np.r_[np.full(plain, FAR_SIGNAL / np.sqrt(max(plain, 1))), np.full(n_kinds, _FAR)]
        spread = columns.std(axis=0)
        rng = np.random.default_rng(seed)
        pairs = rng.integers(0, n, size=(2, _PAIRS))
        one, other = (_coordinates(columns[rows], grid, spread) for rows in pairs)
        apart = np.abs(one - other).sum(axis=1, dtype=np.float64)
        middle = float(np.median(apart[apart > 0])) if (apart > 0).any() else 1.0
        grid, spread, center, scale, limit = (read_only(array) for array in (grid, spread, center, scale, limit))
        return cls(grid, spread, LENGTH * middle, center, scale, limit, Cuts.of(columns, seed))

    def place(self, columns: FloatArray, signals: FloatArray) -> Placed:
        """Rows of this table or new ones, placed in the space."""
        n, d = columns.shape
        if d != self.grid.shape[1] or signals.shape != (n, len(self.signal_center)):
            raise InvalidInput(
                f"Rows must have {self.grid.shape[1]} columns and {len(self.signal_center)} signals, "
                f"got {d} and {signals.shape[-1]}."
            )
        scale = np.where(self.signal_scale > 0, self.signal_scale, 1.0)
        centred = np.where(self.signal_scale > 0, (signals - self.signal_center) / scale, 0.0)
        heard = np.clip(centred, -self.signal_limit, self.signal_limit)
        return Placed(_coordinates(columns, self.grid, self.spread), self.cuts.leaves(columns), heard)

    def closeness(self, some: Placed, others: Placed) -> FloatArray:
        """The covariance without the cuts (some x others): it does not depend on the answers."""
        out = np.empty((len(some), len(others)))
        _near(some.coordinates, others.coordinates, 1.0 / self.length, AMPLITUDE**2, out)
        out += SIGNAL_AMPLITUDE**2 * (some.signals @ others.signals.T)
        return out

    def heights(self, trees: FloatArray) -> LeafTable:
        """By how much sharing a leaf adds to the covariance, where each tree counts so much (trees,)."""
        heights: LeafTable = self.cuts.worth * (CUTS_AMPLITUDE**2 / len(trees) * trees[:, None]).astype(np.float32)
        return heights

    def covariance(self, some: Placed, others: Placed, heights: LeafTable) -> FloatArray:
        """How much what is learned about one row says about another (some x others)."""
        out = self.closeness(some, others)
        add_together(some.leaves, others.leaves, heights, out)
        return out

    def variance(self, rows: Placed, heights: LeafTable) -> FloatArray:
        """The covariance of each row with itself (rows,)."""
        own: FloatArray = AMPLITUDE**2 + SIGNAL_AMPLITUDE**2 * np.square(rows.signals).sum(axis=1)
        add_own(rows.leaves, heights, own)
        return own

    def shift(self, rows: Placed, others: Placed, dual: FloatArray, heights: LeafTable) -> FloatArray:
        """The covariance of rows with others, times the dual of these (rows,)."""
        moved: FloatArray = self.closeness(rows, others) @ dual
        add_moves(rows.leaves, others.leaves, dual, heights, moved)
        return moved

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "grid": self.grid,
            "spread": self.spread,
            "length": np.array([self.length]),
            "signal_center": self.signal_center,
            "signal_scale": self.signal_scale,
            "signal_limit": self.signal_limit,
            **self.cuts.to_arrays(),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "RowSpace":
        try:
            grid, spread, length, center, scale, limit = (
                np.asarray(arrays[name], dtype=np.float64)
                for name in ("grid", "spread", "length", "signal_center", "signal_scale", "signal_limit")
            )
        except (KeyError, TypeError, ValueError):
            raise InvalidInput("What was learned from answers cannot be read: an array is missing.") from None
        shapes = grid.ndim == 2 and grid.shape[0] == _GRID and spread.shape == (grid.shape[1],) and length.shape == (1,)
        if not shapes or center.ndim != 1 or scale.shape != center.shape or limit.shape != center.shape:
            raise InvalidInput("What was learned from answers cannot be read: an array has another shape.")
        finite = all(np.isfinite(array).all() for array in (grid, spread, length, center, scale, limit))
        if not finite or length[0] <= 0 or (scale < 0).any() or (limit < 0).any():
            raise InvalidInput("What was learned from answers cannot be read: a number is out of range.")
        cuts = Cuts.from_arrays(arrays, len(spread))
        grid, spread, center, scale, limit = (read_only(array) for array in (grid, spread, center, scale, limit))
        return cls(grid, spread, float(length[0]), center, scale, limit, cuts)


def _coordinates(columns: FloatArray, grid: FloatArray, spread: FloatArray) -> NDArray[np.float32]:
    """The place of each value in its column, and the value itself (rows, 2 x columns)."""
    n, d = columns.shape
    coordinates = np.empty((n, 2 * d), dtype=np.float32)
    for c in range(d):
        values, own = columns[:, c], grid[:, c]
        rank = np.searchsorted(own, values, "left") + np.searchsorted(own, values, "right")
        coordinates[:, c] = (rank / (2.0 * _GRID) - 0.5) * _WIDTH * spread[c]
    coordinates[:, d:] = np.arcsinh(np.clip(columns, -_FAR, _FAR))
    return coordinates


@compiled(fastmath=True)
def _near(some, others, inverse, height, out):  # type: ignore[no-untyped-def]
    for j in range(others.shape[0]):
        other = others[j]
        for i in range(some.shape[0]):
            apart = np.float32(0.0)
            for c in range(some.shape[1]):
                apart += abs(some[i, c] - other[c])
            out[i, j] = height * np.exp(-apart * inverse)
