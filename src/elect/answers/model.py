"""What was learned from answers, as plain arrays: it scores rows that were not there when the answers were given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.answers.cuts import N_TREES, SAMPLES
from elect.answers.space import Placed, RowSpace
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only


@dataclass(frozen=True, eq=False)
class AnswerModel:
    """The answered rows in their space, the weight of each, and how much each tree of the cuts counts."""

    space: RowSpace
    answered: Placed
    dual: FloatArray  # (answers,)
    trees: FloatArray  # (trees,)

    def log_odds_shift(self, columns: FloatArray, signals: FloatArray) -> FloatArray:
        """By how much the answers move the log-odds of rows (rows,), seen or new; 0 without answers."""
        if len(self.dual) == 0:
            return np.zeros(len(columns))
        return self.shift_of(self.space.place(columns, signals))

    def shift_of(self, rows: Placed) -> FloatArray:
        """The same for rows that lie in the space already."""
        return self.space.shift(rows, self.answered, self.dual, self.space.heights(self.trees))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            "coordinates": self.answered.coordinates,
            "leaves": self.answered.leaves.astype(np.int32),
            "signals": self.answered.signals,
            "dual": self.dual,
            "trees": self.trees,
        }
        return own | self.space.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "AnswerModel":
        """The model these arrays came from. Shapes and ranges are checked: the arrays may come from a file."""
        space = RowSpace.from_arrays(arrays)
        try:
            coordinates = np.asarray(arrays["coordinates"], dtype=np.float32)
            leaves = np.asarray(arrays["leaves"])
            signals, dual, trees = (np.asarray(arrays[name], np.float64) for name in ("signals", "dual", "trees"))
        except (KeyError, TypeError, ValueError):
            raise InvalidInput("What was learned from answers cannot be read: an array is missing.") from None
        n = len(dual) if dual.ndim == 1 else -1
        shapes = ((n, 2 * len(space.spread)), (n, N_TREES * len(SAMPLES)), (n, len(space.signal_center)))
        found = (coordinates.shape, leaves.shape, signals.shape)
        if leaves.dtype != np.int32 or found != shapes or trees.shape != (shapes[1][1],):
            raise InvalidInput("What was learned from answers cannot be read: an array has another shape.")
        if not all(np.isfinite(array).all() for array in (coordinates, signals, dual, trees)):
            raise InvalidInput("What was learned from answers cannot be read: a number is out of range.")
        if (trees < 0).any() or ((leaves < 0) | (leaves >= space.cuts.worth.shape[1])).any():
            raise InvalidInput("What was learned from answers cannot be read: a number is out of range.")
        answered = Placed(read_only(coordinates, np.float32), read_only(leaves, np.uint16), read_only(signals))
        return cls(space, answered, read_only(dual), read_only(trees))
