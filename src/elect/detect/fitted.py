"""The fitted models of the engine as plain numbers and arrays, and back.

Each family has a pair of functions. Going back, every index and size is checked before a compiled kernel, which checks
nothing, gets to see it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import StoreError
from elect.pool.hbos import HistogramTable
from elect.pool.iforest import FittedForests, Forest
from elect.pool.loda import LodaHistograms, Projections
from elect.pool.lof import LocalDensities
from elect.pool.margin import FittedOCSVM
from elect.pool.neighbors import NeighborIndex
from elect.pool.ocsvm import KERNELS
from elect.pool.proximity import FittedABOD, FittedCOF, FittedKNN, FittedLOF
from elect.pool.sampling import FittedIForest
from elect.support.arrays import FloatArray, read_only

LARGEST = 1e100
"""Of any stored number, in magnitude: products of such numbers stay finite."""

Numbers = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Stored:
    """What a file says about a fitted model, checked as it is asked for."""

    numbers: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    n_features: int
    n_jobs: int

    def array(self, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64, *, finite: bool = True) -> Any:
        """An array of this type and shape (None: any size of at least 1)."""
        found = self.arrays.get(name)
        if found is None or found.dtype != dtype or found.ndim != len(shape):
            raise StoreError(f"Its array {name!r} is missing or of another type or shape than expected.")
        if any(
            size < 1 or (wanted is not None and size != wanted) for size, wanted in zip(found.shape, shape, strict=True)
        ):
            raise StoreError(f"Its array {name!r} has another size than expected.")
        # A comparison with NaN is false.
        if finite and not bool((np.abs(found.astype(np.float64, copy=False)) <= LARGEST).all()):
            raise StoreError(f"Its array {name!r} must hold finite numbers.")
        return found

    def rows(self) -> FloatArray:
        found: FloatArray = self.array("rows", (None, self.n_features))
        return found

    def count(self, name: str, low: int = 1) -> int:
        value = self.numbers.get(name)
        if type(value) is not int or not low <= value <= 10**9:
            raise StoreError(f"Its number {name!r} must be a whole one of at least {low}.")
        return value

    def number(self, name: str) -> float:
        value = self.numbers.get(name)
        if not isinstance(value, float) or not abs(value) <= LARGEST:
            raise StoreError(f"Its number {name!r} must be finite.")
        return value

    def word(self, name: str, allowed: tuple[str, ...]) -> Any:
        value = self.numbers.get(name)
        if value not in allowed:
            raise StoreError(f"Its {name!r} must be one of {', '.join(allowed)}.")
        return value


def _knn(model: FittedKNN) -> tuple[Numbers, Arrays]:
    return {"metric": model.metric, "method": model.method, "k": model.k}, {"rows": model.index.rows}


def _new_knn(stored: Stored) -> FittedKNN:
    method = stored.word("method", ("largest", "mean", "median"))
    return FittedKNN(_index(stored), _metric(stored), method, stored.count("k"), stored.n_jobs)


def _lof(model: FittedLOF) -> tuple[Numbers, Arrays]:
    inner = model.densities
    numbers = {"metric": model.metric, "k": model.k, "asked": inner.ks[0]}
    return numbers, {"rows": model.index.rows, "radii": inner.radii, "densities": inner.densities}


def _new_lof(stored: Stored) -> FittedLOF:
    index = _index(stored)
    n = len(index.rows)
    densities = LocalDensities(
        (stored.count("asked"),), stored.array("radii", (n, 1)), stored.array("densities", (n, 1))
    )
    return FittedLOF(index, _metric(stored), densities, stored.count("k"), stored.n_jobs)


def _abod(model: FittedABOD) -> tuple[Numbers, Arrays]:
    return {"k": model.k, "lowest": model.lowest}, {"rows": model.index.rows}


def _new_abod(stored: Stored) -> FittedABOD:
    return FittedABOD(_index(stored), stored.count("k"), stored.number("lowest"), stored.n_jobs)


def _cof(model: FittedCOF) -> tuple[Numbers, Arrays]:
    return {"k": model.k, "ceiling": model.ceiling}, {"rows": model.index.rows, "chaining": model.chaining}


def _new_cof(stored: Stored) -> FittedCOF:
    index = _index(stored)
    chaining = stored.array("chaining", (len(index.rows),))
    return FittedCOF(index, chaining, stored.count("k"), stored.number("ceiling"), stored.n_jobs)


def _hbos(model: HistogramTable) -> tuple[Numbers, Arrays]:
    return {}, {"edges": model.edges, "heights": model.heights}


def _new_hbos(stored: Stored) -> HistogramTable:
    heights = stored.array("heights", (stored.n_features, None))
    edges = stored.array("edges", (stored.n_features, heights.shape[1] + 1))
    if not bool((np.diff(edges, axis=1) >= 0).all() and (edges[:, -1] > edges[:, 0]).all()):
        raise StoreError("The edges of its histograms must ascend.")
    return HistogramTable(edges, heights)


def _loda(model: LodaHistograms) -> tuple[Numbers, Arrays]:
    return {}, {
        "features": model.projections.features,
        "weights": model.projections.weights,
        "lows": model.lows,
        "scales": model.scales,
        "rarity": model.rarity,
    }


def _new_loda(stored: Stored) -> LodaHistograms:
    features = stored.array("features", (None, None, None), np.int32)
    weights = stored.array("weights", features.shape)
    trials, cuts, _ = features.shape
    _require_below(features, stored.n_features)
    rarity = stored.array("rarity", (trials, cuts, None))
    return LodaHistograms(
        Projections(features, weights),
        stored.array("lows", (trials, cuts)),
        stored.array("scales", (trials, cuts)),
        rarity,
    )


_FOREST = {
    "features": np.uint32,
    "thresholds": np.float32,
    "children": np.uint32,
    "paths": np.float32,
}


def _iforest(model: FittedIForest) -> tuple[Numbers, Arrays]:
    trials = model.forests.forests
    arrays: Arrays = {name: np.stack([getattr(forest, name) for forest in trials]) for name in (*_FOREST, "depths")}
    return {"n_rows": model.forests.n_rows}, {**arrays, "shifts": model.forests.shifts}


def _new_iforest(stored: Stored) -> FittedIForest:
    features = stored.array("features", (None, None, None), np.uint32)
    trials, trees, nodes = features.shape
    # The threshold of a leaf is infinite.
    found = {
        name: stored.array(name, features.shape, kind, finite=name != "thresholds") for name, kind in _FOREST.items()
    }
    depths = stored.array("depths", (trials, trees), np.int32)
    _require_below(features, stored.n_features)
    # The right child follows the left one; at an infinite threshold nothing goes right.
    right = np.isfinite(found["thresholds"])
    _require_below(found["children"].astype(np.int64) + right, nodes)
    if np.isnan(found["thresholds"]).any() or not bool(((depths >= 0) & (depths <= nodes)).all()):
        raise StoreError("The trees of its forest are damaged.")
    shifts = stored.array("shifts", (trials,))
    forests = tuple(
        Forest(depths=depths[trial], **{name: read_only(found[name][trial], kind) for name, kind in _FOREST.items()})
        for trial in range(trials)
    )
    return FittedIForest(FittedForests(forests, shifts, stored.count("n_rows")), stored.n_jobs)


def _ocsvm(model: FittedOCSVM) -> tuple[Numbers, Arrays]:
    return {"kernel": model.kernel, "offset": float(model.offset)}, {"rows": model.rows, "weights": model.weights}


def _new_ocsvm(stored: Stored) -> FittedOCSVM:
    rows = stored.rows()
    weights = stored.array("weights", (len(rows),))
    return FittedOCSVM(rows, weights, stored.number("offset"), stored.word("kernel", KERNELS), stored.n_jobs)


def _index(stored: Stored) -> NeighborIndex:
    return NeighborIndex.build(stored.rows())


def _metric(stored: Stored) -> Any:
    return stored.word("metric", ("euclidean", "manhattan"))


def _require_below(indices: NDArray[Any], size: int) -> None:
    if not bool(((indices >= 0) & (indices < size)).all()):
        raise StoreError("It points outside of its own arrays.")


_CODECS: dict[str, tuple[Callable[[Any], tuple[Numbers, Arrays]], Callable[[Stored], Any]]] = {
    "kNN": (_knn, _new_knn),
    "LOF": (_lof, _new_lof),
    "ABOD": (_abod, _new_abod),
    "COF": (_cof, _new_cof),
    "HBOS": (_hbos, _new_hbos),
    "LODA": (_loda, _new_loda),
    "IForest": (_iforest, _new_iforest),
    "OCSVM": (_ocsvm, _new_ocsvm),
}

FAMILIES = tuple(_CODECS)


def to_plain(family: str, model: Any) -> tuple[Numbers, Arrays]:
    """A fitted model of the engine as numbers and arrays."""
    return _CODECS[family][0](model)


def from_plain(family: str, stored: Stored) -> Any:
    """The fitted model again; it scores exactly as the one that was stored."""
    if family not in _CODECS:
        raise StoreError(f"It names an unknown family of detectors, {family[:50]!r}.")
    return _CODECS[family][1](stored)
