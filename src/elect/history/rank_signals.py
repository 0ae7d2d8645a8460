"""What the scores of a whole pool tell about each model and about the table, without any label.

A model is described by how it agrees with the others (all of them, each family, the consensus of the families, and on
the top rows), by the shape of its scores, and by what it is: its family and where its parameters stand in the grid. The
table is described by how the families agree with each other. Correlations are taken of ranks and of ``-log(rank)``,
which looks at the top.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from elect.committee.consensus import RankedRows, consensus_chance, expected_performance
from elect.core import ModelPool
from elect.measures import rank
from elect.support.arrays import FloatArray, IntArray, read_only

TOPS = (0.01, 0.02, 0.05, 0.1, 0.2)
_QUANTILES = (0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Signals:
    """``models`` (models x signals) of each model, ``table`` of the table, ``consensus`` (models,): the average
    precision each model is expected to have if the pool's common opinion is right."""

    models: FloatArray
    table: FloatArray
    consensus: FloatArray


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

    @cached_property
    def averages(self) -> FloatArray:
        """The weights that average over each family (families x models)."""
        weights = (self.family[None, :] == np.arange(self.n_families)[:, None]).astype(np.float64)
        averages: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return averages

    def smoothed(self, values: FloatArray, width: float = 0.15) -> FloatArray:
        """Values of the models (..., models) averaged over those of neighbouring parameters of the same family.

        The best of hundreds of noisy means is mostly lucky; its neighbours tell how much."""
        distance = ((self.position[:, None] - self.position[None]) ** 2).sum(axis=2)
        kernel = np.exp(-distance / (2 * width**2)) * (self.family[:, None] == self.family[None, :])
        kernel /= kernel.sum(axis=1, keepdims=True)
        smooth: FloatArray = values @ kernel.T
        return smooth


def _order(value: Any) -> tuple[bool, Any]:
    return (True, str(value)) if isinstance(value, str) or value is None else (False, value)


def signals_of(scores: FloatArray, grid: Grid) -> Signals:
    """The signals of a score matrix (rows x models)."""
    from threadpoolctl import threadpool_limits

    # Model by model in memory, as they are stored: sums in another order are other sums in their last bits.
    scores = np.asarray(scores, dtype=np.float64, order="F")
    n = len(scores)
    ranks = rank(scores)
    with threadpool_limits(limits=1):  # a sum over several threads is another sum in its last bits
        weighted = _standardized(-np.log((ranks - 0.5) / n))
        top_agreement = weighted.T @ weighted / n
        ranked = _standardized(ranks)
        agreement = ranked.T @ ranked / n
        common = (weighted @ grid.averages.T).mean(axis=1)
    with_families = np.hstack([agreement @ grid.averages.T, top_agreement @ grid.averages.T])
    f = grid.n_families
    own = np.arange(len(grid.family))
    spread = max(float(common.std()), _TINY)
    consensus = expected_performance(RankedRows.of(ranks), consensus_chance(ranks))
    described = [
        agreement.mean(axis=1),
        with_families[:, :f].mean(axis=1),
        with_families[:, f:].mean(axis=1),
        top_agreement.mean(axis=1),
        weighted.T @ (common - common.mean()) / (n * spread),
        *_overlaps(ranks, common),
        with_families[own, grid.family],
        with_families[own, f + grid.family],
        *_shapes(scores),
    ]
    relative = np.column_stack([*described, consensus])
    described_all = np.hstack(
        [
            with_families,
            relative,
            relative - relative.mean(axis=0),
            (consensus.max() - consensus)[:, None],
            grid.family[:, None],
            grid.position,
        ]
    )
    pairs = np.triu_indices(f)
    between = [grid.averages @ matrix @ grid.averages.T for matrix in (agreement, top_agreement)]
    table = np.r_[between[0][pairs], between[1][pairs], np.log(n), consensus.max(), consensus.std()]
    return Signals(read_only(described_all), read_only(table), read_only(consensus))


def _standardized(columns: FloatArray) -> FloatArray:
    """Columns of mean 0 and variance 1; those that do not vary become 0."""
    centred = columns - columns.mean(axis=0)
    spread = np.sqrt((centred**2).mean(axis=0))
    return np.asarray(centred / np.where(spread > 1e-9, spread, 1.0))


def _overlaps(ranks: FloatArray, common: FloatArray) -> list[FloatArray]:
    """The share of the top rows of the families' consensus that are among the top rows of each model too."""
    n = len(ranks)
    place = rank(common[:, None])[:, 0]
    sizes = [max(1.0, top * n) for top in TOPS]
    found = []
    for size in sizes:
        top = place <= size
        if not top.any():  # the top rows are tied
            top = place == place.min()
        found.append((ranks[top] <= size).mean(axis=0))
    return found


def _shapes(scores: FloatArray) -> list[FloatArray]:
    """How far the top scores stand out, skewness, tails, and how many scores there are."""
    ordered = np.sort(scores, axis=0)
    n = len(scores)
    # The order statistics themselves: interpolating between huge and tiny scores would overflow.
    low, q1, middle, q3, q90, q95, q99, highest = (ordered[round(q * (n - 1))] for q in _QUANTILES)
    spread = q3 - q1 + _TINY
    z = (scores - scores.mean(axis=0)) / np.maximum(scores.std(axis=0), _TINY)
    skewness = (z**3).mean(axis=0)
    distinct = 1.0 + (np.diff(ordered, axis=0) > 0).sum(axis=0)
    return [
        _log((highest - middle) / spread),
        _log((q99 - middle) / spread),
        _log((q95 - middle) / spread),
        _log((q90 - middle) / spread),
        _log((middle - low) / spread),
        _log((highest - q99) / (q99 - middle + _TINY)),
        np.sign(skewness) * _log(np.abs(skewness)),
        _log((z**4).mean(axis=0)),
        distinct / n,
    ]


def _log(values: FloatArray) -> FloatArray:
    return np.log1p(np.clip(values, 0.0, 1e9))
