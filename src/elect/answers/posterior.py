"""What answers say about each model: a likelihood from calibrated curves, a prior from the history.

Each model is asked how well it would have foretold the answers, for every quality it may have on this table and every
share of outliers there may be: the curve of that quality gives the chance that the row at its rank is an outlier, and
an answer may be wrong with a small chance. The prior of quality and share is how the model did on the historical tasks.

The chance of an answer is conditional on where the models rank the row, and rows are chosen by those ranks and the
answers so far, never by the truth: which rows were asked needs no further correction in the likelihood.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.committee.consensus import RankedRows
from elect.committee.curves import N_QUALITIES, QUALITIES, QUALITY_EDGES, OutlierCurves, place_of
from elect.support.arrays import FloatArray
from elect.support.compiled import compiled

SHARES = np.array([0.006, 0.012, 0.025, 0.05, 0.1, 0.2, 0.36])
"""The shares of outliers a table may have."""

N_BINS = 64
# How far, on a logarithmic scale, a historical share speaks for others; how much of the prior is common to all models;
# and how much of that is spread evenly over qualities. Set beforehand, not tuned.
_SHARE_WIDTH, _COMMON, _EVEN = 0.8, 0.25, 0.3
# How sharply likely models stand out; chosen, with the share of wrong answers, on the controlled testbed, never on the
# wild tasks it is reported on.
_TEMPERATURE = 0.1
_LIKELY_MODELS = 120


@dataclass(frozen=True, eq=False)
class RankedTable:
    """The ranks of every row under every model, laid out for fast updates."""

    bins: NDArray[np.uint8]  # (models, rows) rank on a logarithmic scale
    rows: RankedRows
    centers: FloatArray  # (bins,) log(rank / rows) in the middle of each bin

    @classmethod
    def of(cls, ranks: FloatArray) -> "RankedTable":
        """From descending ranks (rows x models), 1 the most outlying, ties averaged."""
        n = ranks.shape[0]
        edges = np.linspace(np.log(0.2 / n), 0.0, N_BINS - 1)
        centers = np.r_[edges[0], (edges[1:] + edges[:-1]) / 2, 0.0]
        bins = np.digitize(np.log((ranks.T - 0.5) / n), edges).astype(np.uint8)
        return cls(np.ascontiguousarray(bins), RankedRows.of(ranks), centers)

    @property
    def n_rows(self) -> int:
        return int(self.bins.shape[1])


def prior(performance: FloatArray, shares: FloatArray) -> FloatArray:
    """The prior of each model (models, qualities, shares), from performances (tasks x models) and shares (tasks)."""
    near = np.exp(-0.5 * ((np.log(shares)[:, None] - np.log(SHARES)[None, :]) / _SHARE_WIDTH) ** 2)
    near /= near.sum(axis=1, keepdims=True)
    level = np.clip(np.digitize(performance, QUALITY_EDGES) - 1, 0, N_QUALITIES - 1)
    own = np.zeros((performance.shape[1], N_QUALITIES, len(SHARES)))
    for quality in range(N_QUALITIES):
        own[:, quality] = (level == quality).T.astype(np.float64) @ near
    own /= own.sum(axis=(1, 2), keepdims=True)
    common = own.mean(axis=0)
    common = (1 - _EVEN) * common + _EVEN * common.sum(axis=0, keepdims=True) / N_QUALITIES
    mixed: FloatArray = (1 - _COMMON) * own + _COMMON * common
    return mixed


class Posterior:
    """The belief in each quality and share, for each model, given the answers so far."""

    def __init__(self, table: RankedTable, curves: OutlierCurves, performance: FloatArray, wrong: float = 0.05) -> None:
        self.table = table
        self.wrong = wrong
        self.log_belief = np.log(prior(performance, curves.shares))
        places = np.array([place_of(table.centers - np.log(share)) for share in SHARES])
        self.chance = curves.chance[:, places]  # (qualities, shares, bins)
        self._refresh()

    def tell(self, row: int, is_outlier: bool) -> None:
        self.hear({row: is_outlier})

    def hear(self, answers: Mapping[int, bool]) -> None:
        """Take several answers at once."""
        said_yes = (1 - 2 * self.wrong) * self.chance + self.wrong
        for row, is_outlier in answers.items():
            likelihood = np.moveaxis(said_yes[:, :, self.table.bins[:, row]], 2, 0)
            self.log_belief = self.log_belief + np.log(likelihood if is_outlier else 1 - likelihood)
        self._refresh()

    def _refresh(self) -> None:
        belief = np.exp(self.log_belief - self.log_belief.max(axis=(1, 2), keepdims=True))
        belief /= belief.sum(axis=(1, 2), keepdims=True)
        self.quality = belief.sum(axis=2) @ QUALITIES  # (models,) expected average precision
        # What each model says of a row in each bin (models, bins), its quality and the share averaged out.
        flat = belief.reshape(len(belief), -1)
        self.says = np.ascontiguousarray(flat @ self.chance.reshape(flat.shape[1], -1))
        weight = np.exp((self.quality - self.quality.max()) / _TEMPERATURE)
        likely = np.sort(np.argsort(-weight, kind="stable")[:_LIKELY_MODELS])
        self.likely, self.weight = likely, weight[likely] / weight[likely].sum()

    def outlier_chance(self) -> FloatArray:
        """The chance of each row to be an outlier, by the likely models together."""
        return _mixture(self.table.bins, self.says, self.likely, self.weight)

    def information(self) -> FloatArray:
        """How much the answer for each row would tell about which model is right (mutual information)."""
        chance = self.outlier_chance()
        each = _mixture(self.table.bins, _entropy(self.says), self.likely, self.weight)
        return _entropy(chance) - each


def placed(chance: FloatArray, answers: Mapping[int, bool], wrong: float) -> FloatArray:
    """Chances of which those of the answered rows are what the answers say, as far as these may be trusted."""
    found = chance.copy()
    for row, said in answers.items():
        found[row] = max(found[row], 1 - wrong) if said else min(found[row], wrong)
    return found


def _entropy(p: FloatArray) -> FloatArray:
    p = np.clip(p, 1e-12, 1 - 1e-12)
    entropy: FloatArray = -(p * np.log(p) + (1 - p) * np.log(1 - p))
    return entropy


def _mixture(bins: NDArray[np.uint8], values: FloatArray, models: NDArray[np.intp], weight: FloatArray) -> FloatArray:
    out = np.zeros(bins.shape[1])
    _add_weighted(bins, values, models, weight, out)
    return out


@compiled()
def _add_weighted(bins, values, models, weight, out):  # type: ignore[no-untyped-def]
    for m in range(models.shape[0]):
        row, table, w = bins[models[m]], values[models[m]], weight[m]
        for i in range(out.shape[0]):
            out[i] += w * table[row[i]]
