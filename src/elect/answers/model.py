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
    """The answered rows in their space, and the weight of each."""

    space: RowSpace
    answered: Placed
    dual: FloatArray  # (answers,)

    def log_odds_shift(self, columns: FloatArray, signals: FloatArray) -> FloatArray:
        """By how much the answers move the log-odds of rows (rows,), seen or new; 0 without answers."""
        if len(self.dual) == 0:
            return np.zeros(len(columns))
        shift: FloatArray = self.space.covariance(self.space.place(columns, signals), self.answered) @ self.dual
        return shift

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        own: dict[str, NDArray[Any]] = {
            "coordinates": self.answered.coordinates,
            "leaves": self.answered.leaves.astype(np.int32),
            "signals": self.answered.signals,
            "dual": self.dual,
        }
        return own | self.space.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "AnswerModel":
        """The model these arrays came from. Shapes and ranges are checked: the arrays may come from a file."""
        space = RowSpace.from_arrays(arrays)
        try:
            coordinates = np.asarray(arrays["coordinates"], dtype=np.float32)
            leaves = np.asarray(arrays["leaves"])
            signals, dual = (np.asarray(arrays[name], dtype=np.float64) for name in ("signals", "dual"))
        except (KeyError, TypeError, ValueError):
            raise InvalidInput("What was learned from answers cannot be read: an array is missing.") from None
        n = len(dual) if dual.ndim == 1 else -1
        shapes = ((n, 2 * len(space.spread)), (n, N_TREES * len(SAMPLES)), (n, len(space.signal_center)))
        if leaves.dtype != np.int32 or (coordinates.shape, leaves.shape, signals.shape) != shapes:
            raise InvalidInput("What was learned from answers cannot be read: an array has another shape.")
        if not all(np.isfinite(array).all() for array in (coordinates, signals, dual)):
            raise InvalidInput("What was learned from answers cannot be read: a number is out of range.")
        if ((leaves < 0) | (leaves > np.iinfo(np.uint16).max)).any():
            raise InvalidInput("What was learned from answers cannot be read: a number is out of range.")
        answered = Placed(read_only(coordinates, np.float32), read_only(leaves, np.uint16), read_only(signals))
        return cls(space, answered, read_only(dual))
