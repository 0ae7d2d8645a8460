"""IForest: how few random cuts isolate a row, the mean over trials.

A forest is grown once per trial and share of columns; a model with fewer trees reads a prefix of it. Scores of a trial
are shifted by their 90th percentile, as PyOD does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.errors import StoreError
from elect.pool import kernels
from elect.pool.families._base import Cost, Family, Params, Piece, is_count, is_share
from elect.storage.stored import Arrays, Numbers, Stored, require_below
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

_COST = Cost(0.0052, rows=1.1e-06, each_trial=True)
_TREES: dict[str, Any] = {
    "features": np.uint32,
    "thresholds": np.float32,
    "children": np.uint32,
    "paths": np.float32,
}

LONGEST_PATH = 1000
"""More than any path through a tree adds for the rows that are left in its leaf."""


class IForest(Family):
    name = "IForest"
    defaults = {"n_estimators": 100, "max_features": 1.0}
    grid = {
        "n_estimators": (10, 20, 30, 40, 50, 75, 100, 150, 200),
        "max_features": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    }
    in_paper = True
    is_random = True

    def supports(self, params: Params) -> bool:
        return (
            set(params) <= set(self.defaults)
            and is_count(params["n_estimators"], 1, 100_000)
            and is_share(params["max_features"])
        )

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        return (params["max_features"],)

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        counts = tuple(sorted({p["n_estimators"] for p in params}))
        share = params[0]["max_features"]
        scores = kernels.iforest.iforest_scores(work.single, share, counts, work.trials, work.seed, work.n_jobs)
        return scores[[counts.index(p["n_estimators"]) for p in params]].T

    def fit(self, work: "SharedWork", params: Params) -> "FittedIForest":
        n_trees = params["n_estimators"]
        forests = tuple(
            kernels.iforest.Forest.grow(work.single, params["max_features"], n_trees, trial, work.seed, work.n_jobs)
            for trial in range(work.trials)
        )
        shifts = [kernels.iforest.shift(forest.anomaly(work.single, work.n_rows, work.n_jobs)) for forest in forests]
        return FittedIForest(forests, read_only(shifts), work.n_rows, work.n_jobs)

    def restore(self, stored: Stored) -> "FittedIForest":
        forests = stored_forests(stored)
        return FittedIForest(forests, stored.array("shifts", (len(forests),)), stored.count("n_rows"), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        return (Piece(self.name, params["max_features"], _COST),)

    def pyod_class(self) -> type:
        from pyod.models.iforest import IForest as Twin

        return Twin  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class FittedIForest:
    forests: "tuple[kernels.iforest.Forest, ...]"  # one a trial
    shifts: FloatArray  # (trials,)
    n_rows: int
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        rows = np.ascontiguousarray(Z, dtype=np.float32)
        total = np.zeros(len(rows))
        for forest, offset in zip(self.forests, self.shifts, strict=True):
            total += forest.anomaly(rows, self.n_rows, self.n_jobs) - offset
        return total / len(self.forests)

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"n_rows": self.n_rows}, {**forest_arrays(self.forests), "shifts": self.shifts}


def forest_arrays(forests: "Sequence[kernels.iforest.Forest]") -> Arrays:
    """Forests as plain arrays, one after the other."""
    return {name: np.stack([getattr(forest, name) for forest in forests]) for name in (*_TREES, "depths")}


def stored_forests(stored: Stored) -> "tuple[kernels.iforest.Forest, ...]":
    """The forests that such arrays came from. They may come from a file: a walk through them must end in a leaf."""
    features = stored.indices("features", (None, None, None), np.uint32, stored.n_features)
    trials, trees, nodes = features.shape
    # The threshold of a leaf is infinite.
    found = {
        name: stored.array(name, features.shape, kind, finite=name != "thresholds") for name, kind in _TREES.items()
    }
    depths = stored.array("depths", (trials, trees), np.int32)
    # The right child follows the left one; at an infinite threshold nothing goes right.
    right = np.isfinite(found["thresholds"])
    require_below(found["children"].astype(np.int64) + right, nodes)
    if np.isnan(found["thresholds"]).any() or not bool(((depths >= 0) & (depths <= nodes)).all()):
        raise StoreError("The trees of its forest are damaged.")
    # A score is a power of a path: what no path can be would make it infinite.
    if not bool(((found["paths"] >= 0) & (found["paths"] <= 2 * nodes + 2 * LONGEST_PATH)).all()):
        raise StoreError("The paths of its forest are damaged.")
    return tuple(
        kernels.iforest.Forest(
            depths=depths[trial],
            **{name: read_only(found[name][trial], kind) for name, kind in _TREES.items()},
        )
        for trial in range(trials)
    )


FAMILY = IForest()
