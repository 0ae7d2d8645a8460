"""The pieces that models share on one table, each built once, on first need."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.pool.kernels.geometry import LocalGeometry, local_geometry
from elect.pool.kernels.neighbors import MAX_NEIGHBORS, Metric, NeighborGraph, NeighborIndex
from elect.pool.kernels.ocsvm import KernelMatrix
from elect.support.arrays import FloatArray, read_only

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
            graph = self.graph("euclidean", size)
            self._geometries[size] = local_geometry(self.Z, self.Z, graph, size, self.n_jobs)
        return self._geometries[size]
