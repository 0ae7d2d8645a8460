"""The pieces that models share on one table, each built once, on first need."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from elect.core.models import ModelSpec, ParamValue
from elect.pool.geometry import LocalGeometry, _geometry, local_geometry
from elect.pool.neighbors import MAX_NEIGHBORS, Metric, NeighborGraph, NeighborIndex, _nearest
from elect.pool.ocsvm import KernelMatrix
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import announce_compilation

_GEOMETRY_STEP = 50


class SharedWork:
    """A standardised table with the neighbour graphs and layouts that families share."""

    def __init__(self, Z: FloatArray, *, seed: int, trials: int, n_jobs: int) -> None:
        self.Z = read_only(np.ascontiguousarray(Z))
        self.seed = seed
        self.trials = trials
        self.n_jobs = n_jobs
        self._graphs: dict[tuple[str, int], NeighborGraph] = {}
        self._geometries: dict[int, LocalGeometry] = {}
        self.remarks: dict[tuple[Any, ...], str] = {}  # what was found out about single models while scoring them
        self.kernel_room: NDArray[np.float32] | None = None
        # The last kernel matrix, in ``kernel_room``, and the gradients that solvers start from.
        self.kernel: tuple[str, KernelMatrix, dict[float, FloatArray]] | None = None

    @property
    def n_rows(self) -> int:
        return int(self.Z.shape[0])

    @cached_property
    def single(self) -> NDArray[np.float32]:
        """The table in float32, row-major, as scikit-learn's trees read it."""
        return np.ascontiguousarray(self.Z, dtype=np.float32)

    @cached_property
    def neighbor_index(self) -> NeighborIndex:
        announce_compilation(_nearest)
        return NeighborIndex.build(self.Z)

    def graph(self, metric: Metric, k: int) -> NeighborGraph:
        """The neighbour graph for models of up to k neighbours.

        Graphs come in steps of 100 neighbours, whatever else was asked for: equally far rows at the end of a list would
        otherwise make a model depend on its company.
        """
        size = MAX_NEIGHBORS * -(-k // MAX_NEIGHBORS)
        key = (metric, min(size, self.n_rows - 1))
        if key not in self._graphs:
            self._graphs[key] = self.neighbor_index.query(self.Z, size, metric, exclude_self=True, n_jobs=self.n_jobs)
        return self._graphs[key]

    def geometry(self, k: int) -> LocalGeometry:
        """The angles and chains among up to k neighbours, in steps of 50."""
        size = _GEOMETRY_STEP * -(-k // _GEOMETRY_STEP)
        if size not in self._geometries:
            announce_compilation(_geometry)
            graph = self.graph("euclidean", size)
            self._geometries[size] = local_geometry(self.Z, self.Z, graph, size, self.n_jobs)
        return self._geometries[size]


class FittedModel(Protocol):
    """A model that can score rows it has not seen. Everything it knows is in plain arrays."""

    def scores(self, Z: FloatArray) -> FloatArray:
        """Scores of standardised rows; higher is more outlying."""
        ...


class Family(Protocol):
    """A detector family with a shared-work implementation."""

    name: str
    defaults: Mapping[str, ParamValue]

    def supports(self, params: Mapping[str, Any]) -> bool:
        """Whether these parameter values are implemented; others are left to PyOD."""
        ...

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        """Models with the same group are scored in one go on a table of so many rows."""
        ...

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        """Training scores (rows, models) of models of one group."""
        ...

    def note(self, work: SharedWork, params: Mapping[str, Any]) -> str | None:
        """What a reader of the scores must know, if anything."""
        ...

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> FittedModel:
        """The model, ready for new rows."""
        ...


def full_params(family: Family, spec: ModelSpec) -> dict[str, ParamValue]:
    """A spec's parameters, PyOD's defaults filled in."""
    return {**family.defaults, **dict(spec.params)}


def is_count(value: Any, low: int = 1, high: int = 2**31) -> bool:
    """Whether a parameter is a whole number in a range."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
