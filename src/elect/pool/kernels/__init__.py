"""The compiled mathematics of the families: neighbours, densities, forests, projections, histograms, a solver.

Importing this package loads nothing: numba takes a second to import, and naming the models of a pool needs none of it.
A kernel is loaded when it is first named, as in ``kernels.neighbors.NeighborIndex``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.pool.kernels import geometry, hbos, histograms, iforest, loda, lof, neighbors, ocsvm, random_stream

__all__ = ["geometry", "hbos", "histograms", "iforest", "loda", "lof", "neighbors", "ocsvm", "random_stream"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
