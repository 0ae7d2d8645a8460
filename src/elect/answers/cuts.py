"""Which rows random cuts keep together: those that share a leaf are alike.

Two forests of random cuts are grown on the rows of a table, without labels. A leaf is small where rows are dense and
large where they are few, so that an answer about a row far out speaks for others far out in the same way, however far
apart they lie; distances alone would let it speak for hardly any. Each tree sees a quarter of the columns. The trees of
the fine forest part most rows of their sample; those of the coarse one see few rows, and hardly ever an outlier.

To share a leaf says more the fewer rows it holds. And trees differ: those whose leaves keep the answered outliers apart
from the answered normal rows count more from then on, so that answers also tell which columns matter.
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
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import compiled

SAMPLES = {"coarse": 32, "fine": 256}
"""How many rows the trees of each forest see."""

N_TREES = 200
COLUMNS = 0.25
"""The share of the columns that a tree sees. Chosen, with the samples, on one half of the owners of the OddBench tasks:
a half of them is hardly worse, all of them are."""

FEW = 0.25
"""The power by which a leaf says more the smaller its share of the rows is."""

SURE = 0.5
"""How far the trees that foretell the answers best are believed: the power of their likelihood."""

DOUBT = 2.0
"""How many answers the committee is worth, where the answers in a leaf foretell one another."""

_USUAL = 0.05
_COUNTED = 5000
_WRONG = 0.05

Leaves = NDArray[np.uint16]
"""(rows, trees) the leaf of each row, of all forests"""

LeafTable = NDArray[np.float32]
"""(trees, leaves) a number for each leaf of each tree"""


@dataclass(frozen=True, eq=False)
class Cuts:
    """The forests of one table, and what it says to share a leaf of theirs."""

    forests: tuple[Forest, ...]
    worth: LeafTable  # 1 for a leaf that holds one row in twenty

    @classmethod
    def of(cls, columns: FloatArray, seed: int = 0) -> "Cuts":
        """Grown on the standardised columns (rows x columns) of a table."""
        rows = np.ascontiguousarray(columns, dtype=np.float32)
        forests = tuple(Forest.grow(rows, COLUMNS, N_TREES, 0, seed, max_samples=size) for size in SAMPLES.values())
        drawn = np.random.default_rng(seed).permutation(len(rows))[:_COUNTED]
        held = np.zeros((N_TREES * len(SAMPLES), _width(forests)), dtype=np.float32)
        for tree, leaves in enumerate(_leaves(forests, rows[drawn]).T):
            held[tree] = np.bincount(leaves, minlength=held.shape[1])
        worth = (np.maximum(held, 1) / (_USUAL * len(drawn))) ** -FEW
        return cls(forests, read_only(worth, np.float32))

    def leaves(self, columns: FloatArray) -> Leaves:
        """Where rows fall, those of the table or new ones."""
        return _leaves(self.forests, np.ascontiguousarray(columns, dtype=np.float32))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        forests = {
            f"{name}_{part}": array
            for name, forest in zip(SAMPLES, self.forests, strict=True)
            for part, array in forest_arrays([forest]).items()
        }
        return {"worth": self.worth, **forests}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], n_columns: int) -> "Cuts":
        """The cuts these arrays came from. Every index is checked: the arrays may come from a file."""
        stored = Stored({}, arrays, n_columns, 1)
        try:
            forests = tuple(stored_forests(stored.part(f"{name}_"))[0] for name in SAMPLES)
            worth = stored.array("worth", (N_TREES * len(SAMPLES), _width(forests)), np.float32)
        except StoreError as error:
            raise InvalidInput(f"What was learned from answers cannot be read: {error}") from None
        if any(forest.features.shape[0] != N_TREES for forest in forests):
            raise InvalidInput("What was learned from answers cannot be read: an array has another shape.")
        if not ((worth > 0) & (worth <= _COUNTED)).all():
            raise InvalidInput("What was learned from answers cannot be read: a number is out of range.")
        return cls(forests, worth)


def _width(forests: tuple[Forest, ...]) -> int:
    return max(int(forest.features.shape[1]) for forest in forests)


def _leaves(forests: tuple[Forest, ...], rows: NDArray[np.float32]) -> Leaves:
    return np.hstack([forest.leaves(rows) for forest in forests])


def foretelling(leaves: Leaves, chance: FloatArray, said: NDArray[np.bool_]) -> FloatArray:
    """How much each tree counts (trees,), 1 on average: by how well the answers in its leaves foretell one another.

    Each answer is foretold from the other answers in its leaf and from the ``chance`` of its row without answers.
    """
    if len(said) < 2:
        return np.ones(leaves.shape[1])
    likely = np.zeros(leaves.shape[1])
    _foretell(leaves, np.clip(chance, _WRONG, 1 - _WRONG), said, DOUBT, _WRONG, likely)
    weight = np.exp(SURE * (likely - likely.max()))
    counts: FloatArray = weight / weight.mean()
    return counts


def add_together(some: Leaves, others: Leaves, table: LeafTable, out: FloatArray) -> None:
    """Add to ``out`` (some x others) the numbers of the leaves that two rows share."""
    _add_together(some, others, table, out)


def add_own(rows: Leaves, table: LeafTable, out: FloatArray) -> None:
    """Add to ``out`` (rows,) the numbers of the leaves of each row."""
    _add_own(rows, table, out)


def add_moves(rows: Leaves, others: Leaves, moves: FloatArray, table: LeafTable, out: FloatArray) -> None:
    """Add to ``out`` (rows,) what ``add_together`` would say of rows and others, times the moves (others,), summed. It
    takes as long for many others as for one."""
    moved = np.zeros_like(table)
    tree = np.arange(len(table))
    for leaves, move in zip(others, moves, strict=True):
        moved[tree, leaves] += np.float32(move) * table[tree, leaves]
    _add_own(rows, moved, out)


@compiled()
def _foretell(leaves, chance, said, doubt, wrong, likely):  # type: ignore[no-untyped-def]
    n = len(said)
    for t in range(leaves.shape[1]):
        for i in range(n):
            others, yes = 0, 0
            for j in range(n):
                if j != i and leaves[j, t] == leaves[i, t]:
                    others += 1
                    yes += said[j]
            foretold = wrong + (1 - 2 * wrong) * (doubt * chance[i] + yes) / (doubt + others)
            likely[t] += np.log(foretold if said[i] else 1 - foretold)


@compiled(fastmath=True)
def _add_together(some, others, table, out):  # type: ignore[no-untyped-def]
    n_trees = some.shape[1]
    own = np.empty(n_trees, dtype=np.float32)
    for j in range(others.shape[0]):
        other = others[j]
        for t in range(n_trees):
            own[t] = table[t, other[t]]
        for i in range(some.shape[0]):
            row = some[i]
            shared = np.float32(0.0)
            for t in range(n_trees):
                shared += own[t] if row[t] == other[t] else np.float32(0.0)
            out[i, j] += shared


@compiled(fastmath=True)
def _add_own(rows, table, out):  # type: ignore[no-untyped-def]
    for i in range(rows.shape[0]):
        row = rows[i]
        own = np.float32(0.0)
        for t in range(rows.shape[1]):
            own += table[t, row[t]]
        out[i] += own
