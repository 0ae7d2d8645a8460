"""Where the models of a pool stand in its grid of parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.core import ModelPool, PerformanceMatrix
from elect.support.arrays import FloatArray, IntArray, read_only


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the models of a pool stand: their families, and the position of their parameters from 0 to 1."""

    family: IntArray  # (models,)
    position: FloatArray  # (models, parameters)
    n_families: int

    @classmethod
    def of(cls, pool: ModelPool) -> "Grid":
        """The grid of a pool, parameters in the order of their names, at most two of them."""
        names = list(dict.fromkeys(spec.detector for spec in pool))
        family = np.array([names.index(spec.detector) for spec in pool], dtype=np.intp)
        position = np.zeros((len(pool), 2))
        for f in range(len(names)):
            members = np.flatnonzero(family == f)
            params = [dict(pool.specs[m].params) for m in members]
            shared = sorted(set.intersection(*(set(p) for p in params)))
            varying = [name for name in shared if len({str(p[name]) for p in params}) > 1]
            for column, name in enumerate(varying[:2]):
                values = sorted({p[name] for p in params}, key=_order)
                for m, p in zip(members, params, strict=True):
                    position[m, column] = values.index(p[name]) / max(len(values) - 1, 1)
        return cls(family, read_only(position), len(names))

    def smoothed(self, values: FloatArray, width: float = 0.15) -> FloatArray:
        """Values of the models (..., models) averaged over those of neighbouring parameters of the same family.

        The best of hundreds of noisy means is mostly lucky; its neighbours tell how much."""
        distance = ((self.position[:, None] - self.position[None]) ** 2).sum(axis=2)
        kernel = np.exp(-distance / (2 * width**2)) * (self.family[:, None] == self.family[None, :])
        kernel /= kernel.sum(axis=1, keepdims=True)
        smooth: FloatArray = values @ kernel.T
        return smooth


def model_order(performance: PerformanceMatrix, pool: ModelPool) -> IntArray:
    """The models by mean rank over tasks, the best first; models with similar parameters count in."""
    return np.argsort(Grid.of(pool).smoothed(performance.ranks().mean(axis=0)), kind="stable")


def _order(value: Any) -> tuple[bool, Any]:
    return (True, str(value)) if isinstance(value, str) or value is None else (False, value)
