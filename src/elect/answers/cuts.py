"""Which rows random cuts keep together: those that share a leaf are alike.

Two forests of random cuts are grown on the rows of a table, without labels. A leaf is small where rows are dense and
large where they are few, so that an answer about a row far out speaks for others far out in the same way, however far
apart they lie; distances alone would let it speak for hardly any. Each tree sees a quarter of the columns. The trees of
the fine forest part most rows of their sample; those of the coarse one see few rows, and hardly ever an outlier.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput, StoreError
from elect.pool.families.iforest import forest_arrays, stored_forests
from elect.pool.kernels.iforest import Forest
from elect.storage.stored import Stored
from elect.support.arrays import FloatArray
from elect.support.compiled import compiled

SAMPLES = {"coarse": 32, "fine": 256}
"""How many rows the trees of each forest see."""

N_TREES = 200
COLUMNS = 0.25
"""The share of the columns that a tree sees. Chosen, with the samples, on one half of the owners of the OddBench tasks:
a half of them is hardly worse, all of them are."""

Leaves = NDArray[np.uint16]
"""(rows, trees) the leaf of each row, of all forests"""


@dataclass(frozen=True, eq=False)
class Cuts:
    """The forests of one table."""

    forests: tuple[Forest, ...]

    @classmethod
    def of(cls, columns: FloatArray, seed: int = 0) -> "Cuts":
        """Grown on the standardised columns (rows x columns) of a table."""
        rows = np.ascontiguousarray(columns, dtype=np.float32)
        return cls(
            tuple(Forest.grow(rows, COLUMNS, N_TREES, 0, seed, max_samples=samples) for samples in SAMPLES.values())
        )

    def leaves(self, columns: FloatArray) -> Leaves:
        """Where rows fall, those of the table or new ones."""
        rows = np.ascontiguousarray(columns, dtype=np.float32)
        return np.hstack([forest.leaves(rows) for forest in self.forests])

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {
            f"{name}_{part}": array
            for name, forest in zip(SAMPLES, self.forests, strict=True)
            for part, array in forest_arrays([forest]).items()
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_columns: int) -> "Cuts":
        """The cuts these arrays came from. Every index is checked: the arrays may come from a file."""
        stored = Stored({}, arrays, n_columns, 1)
        try:
            forests = tuple(stored_forests(stored.part(f"{name}_"))[0] for name in SAMPLES)
        except StoreError as error:
            raise InvalidInput(f"What was learned from answers cannot be read: {error}") from None
        if any(forest.features.shape[0] != N_TREES for forest in forests):
            raise InvalidInput("What was learned from answers cannot be read: an array has another shape.")
        return cls(forests)


def add_together(some: Leaves, others: Leaves, height: float, out: FloatArray) -> None:
    """Add to ``out`` (some x others) the share of trees that keep two rows together, times ``height``."""
    _add_together(some, others, height / some.shape[1], out)


@compiled(fastmath=True)
def _add_together(some, others, height, out):  # type: ignore[no-untyped-def]
    for j in range(others.shape[0]):
        other = others[j]
        for i in range(some.shape[0]):
            row = some[i]
            shared = 0
            for t in range(some.shape[1]):
                shared += row[t] == other[t]
            out[i, j] += height * shared
