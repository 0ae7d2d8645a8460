"""Cells judged by the other columns of their row: what these foretell, orders that hold, cells that changed places.

One ridge regression a column, all from one inverse: with G the Gram matrix of all features and P its inverse, what
the features of a column deviate from their best forecast by all features of the *other* columns is F P_g (P_gg)^-1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray, for_kernel
from elect.support.compiled import compiled
from elect.tables.cells._base import PLACE, Cells, Signals, log1p
from elect.tables.cells.numbers import ODD, USUAL, NumberJudge

CLIP = 3.0
"""Spreads: beyond, a value foretells no more. A wrong cell must not make its whole row look wrong."""

MOST_FEATURES = 400
MOST_LEVELS = 8
LEAST_SHARE = 0.01
MOST_PAIRED = 40
"""Number columns that are compared with each other."""

BROKEN = 0.015
"""An order that holds in all rows but this share counts as one."""


@dataclass(frozen=True, eq=False)
class GivenJudge:
    """Forecasts of each column by the others, and the orders between columns."""

    levels: tuple[tuple[str, ...], ...]
    """For each column of words, the levels that have a feature."""
    number_kept: NDArray[np.bool_]
    """(2, number columns): whether the column has a plain and a logarithmic feature."""
    mean: FloatArray
    spread: FloatArray
    forecast: FloatArray
    """(features, features): what each feature adds to the forecast of each other one; nothing within a column."""
    noise: FloatArray
    """(features,) the usual size of what a forecast misses, in units of the feature."""
    pairs: NDArray[np.int64]
    """(orders, 2): the first number column is at most as large as the second."""
    broken: FloatArray
    """(orders,) the signal of breaking one"""

    @classmethod
    def fit(cls, cells: Cells, numbers: NumberJudge) -> "GivenJudge":
        levels = tuple(_levels(series) for series in cells.words)
        kept = np.vstack([numbers.counts > 0, numbers.positive & (numbers.counts > 0)])
        if 2 * kept.shape[1] + sum(map(len, levels)) > MOST_FEATURES:
            kept[1] = False
        if kept[0].sum() + sum(map(len, levels)) > MOST_FEATURES:
            kept[:] = False
            levels = tuple(() for _ in levels)
        raw = _features(cells, numbers, levels, kept)
        mean, spread = raw.clipped.mean(axis=0), raw.clipped.std(axis=0)
        spread = np.where(spread > 1e-9, spread, 1.0)
        forecast = _forecasts((raw.clipped - mean) / spread, raw.group)
        missed = np.abs(_missed(raw, mean, spread, forecast))
        half = np.median(missed, axis=0) / 0.6745 if len(missed) else np.ones(len(mean))
        wide = np.quantile(missed, 0.9, axis=0) / 1.6449 if len(missed) else half
        noise = np.maximum(half, 0.5 * wide)
        pairs, broken = _orders(cells, numbers)
        return cls(levels, kept, mean, spread, forecast, np.where(noise > 1e-9, noise, 1e-3), pairs, broken)

    def judge(self, cells: Cells, numbers: NumberJudge, out: Signals) -> None:
        """Fill in what the other columns say of each cell."""
        if len(self.mean):
            self._forecasts(cells, numbers, out)
        self._order(cells, out)
        _swaps(cells, numbers, out)

    def _forecasts(self, cells: Cells, numbers: NumberJudge, out: Signals) -> None:
        raw = _features(cells, numbers, self.levels, self.number_kept)
        missed = _missed(raw, self.mean, self.spread, self.forecast)
        size = log1p(np.abs(missed) / self.noise)
        size[raw.absent] = 0.0
        at = np.array(cells.number_at, dtype=np.intp)
        plain, logs = np.flatnonzero(self.number_kept[0]), np.flatnonzero(self.number_kept[1])
        out[:, at[plain], PLACE["residual"]] = size[:, : len(plain)]
        ends = len(plain) + len(logs)
        out[:, at[logs], PLACE["residual_log"]] = size[:, len(plain) : ends]
        only = np.setdiff1d(plain, logs)
        out[:, at[only], PLACE["residual_log"]] = out[:, at[only], PLACE["residual"]]
        least = np.minimum(out[:, at, PLACE["residual"]], out[:, at, PLACE["residual_log"]])
        out[:, at, PLACE["excess"]] = np.maximum(least - out[:, at, PLACE["far_least"]], 0.0)
        first = ends
        for place, known in zip(cells.word_at, self.levels, strict=True):
            if known:
                here = slice(first, first + len(known))
                share = self.mean[here]
                chance = raw.own[:, here] - missed[:, here] * self.spread[here]
                surprise = np.log(share) - np.log(np.clip(chance, 0.01, 1.0))
                out[:, place, PLACE["unlikely"]] = np.maximum(
                    np.where(raw.own[:, here] > 0, surprise, 0.0).max(axis=1), 0.0
                )
            first += len(known)

    def foretold(self, cells: Cells, numbers: NumberJudge, row: int, j: int) -> float:
        """What the other columns foretell of a number."""
        if not self.number_kept[0, j]:
            return float(numbers.scale.middle[j])
        raw = _features(cells.rows(np.array([row])), numbers, self.levels, self.number_kept)
        at = int(self.number_kept[0, :j].sum())
        missed = _missed(raw, self.mean, self.spread, self.forecast)[0, at]
        z = float(raw.own[0, at] - missed * self.spread[at])
        return float(numbers.scale.middle[j] + z * (numbers.scale.up[j] if z >= 0 else numbers.scale.down[j]))

    def broken_with(self, cells: Cells, row: int, j: int) -> tuple[bool, float, str] | None:
        """An order that a number breaks: whether it is too large, in which share of rows, and the other column."""
        x = cells.numbers[row]
        for (a, b), signal in zip(self.pairs, self.broken, strict=True):
            if j in (a, b) and x[a] > x[b]:
                return bool(j == a), float(np.exp(-signal)), cells.names[cells.number_at[int(b if j == a else a)]]
        return None

    def _order(self, cells: Cells, out: Signals) -> None:
        at = np.array(cells.number_at, dtype=np.intp)
        for (a, b), signal in zip(self.pairs, self.broken, strict=True):
            with np.errstate(invalid="ignore"):
                rows = cells.numbers[:, a] > cells.numbers[:, b]
            for place in (at[a], at[b]):
                out[rows, place, PLACE["order"]] = np.maximum(out[rows, place, PLACE["order"]], signal)


@dataclass(frozen=True, eq=False)
class _Features:
    clipped: FloatArray
    own: FloatArray
    absent: NDArray[np.bool_]
    group: NDArray[np.intp]


def _features(
    cells: Cells, numbers: NumberJudge, levels: tuple[tuple[str, ...], ...], kept: NDArray[np.bool_]
) -> _Features:
    """Number columns in spreads, then their logarithms, then 0/1 for frequent words; absent where missing."""
    x = cells.numbers
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = numbers.log_scale.signed(np.log(np.where(x > 0, x, np.nan)))
    blocks = [numbers.scale.signed(x)[:, kept[0]], logs[:, kept[1]]]
    groups = [np.flatnonzero(kept[0]), np.flatnonzero(kept[1])]
    for k, (series, known) in enumerate(zip(cells.words, levels, strict=True)):
        codes = {word: float(i) for i, word in enumerate(known)}
        if known:
            found = series.replace_strict(list(codes), list(codes.values()), default=-1.0).fill_null(-1.0).to_numpy()
            blocks.append((found[:, None] == np.arange(len(known))).astype(np.float64))
            groups.append(np.full(len(known), x.shape[1] + k))
    own = np.hstack(blocks) if blocks else np.empty((len(x), 0))
    absent = np.isnan(own)
    own = np.where(absent, 0.0, own)
    return _Features(np.clip(own, -CLIP, CLIP), np.clip(own, -1e4, 1e4), absent, np.concatenate(groups))


def _levels(series: "object") -> tuple[str, ...]:
    counted = series.drop_nulls().alias("word").value_counts(name="count")  # type: ignore[attr-defined]
    counted = counted.sort(["count", "word"], descending=[True, False]).head(MOST_LEVELS)
    least = max(3.0, LEAST_SHARE * len(series))  # type: ignore[arg-type]
    return tuple(word for word, count in counted.iter_rows() if count >= least)


def _forecasts(F: FloatArray, group: NDArray[np.intp]) -> FloatArray:
    """(features, features): the ridge forecast of each feature from all features of other groups."""
    n, p = F.shape
    if p == 0 or n == 0:
        return np.zeros((p, p))
    ridge = 1e-3 + 0.3 * p / n
    gram = F.T @ F / n + ridge * np.eye(p)
    inverse = np.linalg.inv(gram)
    out = np.zeros((p, p))
    for g in np.unique(group):
        here, others = np.flatnonzero(group == g), np.flatnonzero(group != g)
        # The conditional mean of the group given the others, by the blocks of the inverse.
        out[np.ix_(others, here)] = -inverse[np.ix_(others, here)] @ np.linalg.inv(inverse[np.ix_(here, here)])
    return out


def _missed(raw: _Features, mean: FloatArray, spread: FloatArray, forecast: FloatArray) -> FloatArray:
    foretold = np.zeros_like(raw.clipped)
    _add_products((raw.clipped - mean) / spread, for_kernel(forecast), foretold)
    return (raw.own - mean) / spread - foretold


@compiled()
def _add_products(rows, weights, out):  # type: ignore[no-untyped-def]
    """rows @ weights, always added in the same order: BLAS rounds a row by the number of rows it comes with."""
    n, p = rows.shape
    for i in range(n):
        own = out[i]
        for f in range(p):
            x, w = rows[i, f], weights[f]
            for j in range(own.shape[0]):
                own[j] += x * w[j]


def _orders(cells: Cells, numbers: NumberJudge) -> tuple[NDArray[np.int64], FloatArray]:
    """Pairs of number columns in one range where the one is at most as large as the other, nearly always."""
    k = cells.numbers.shape[1]
    found, signals = [], []
    if 2 <= k <= MOST_PAIRED and cells.n_rows >= 30:
        s = numbers.scale
        for a in range(k):
            with np.errstate(invalid="ignore"):
                larger = cells.numbers[:, [a]] > cells.numbers
                both = ~np.isnan(cells.numbers[:, [a]] + cells.numbers)
                less = (cells.numbers[:, [a]] < cells.numbers).sum(axis=0)
            total = both.sum(axis=0)
            share = larger.sum(axis=0) / np.maximum(total, 1)
            reach = np.maximum(s.up[a] + s.down[a], s.up + s.down)
            near = np.abs(s.middle[a] - s.middle) <= 3.0 * reach
            alike = np.maximum(s.up[a], s.up) <= 30.0 * np.minimum(s.up[a], s.up)
            same = numbers.is_time[a] == numbers.is_time
            holds = (share <= BROKEN) & near & alike & same & (total >= 30) & (less >= 0.1 * total)
            for b in np.flatnonzero(holds):
                if b != a:
                    found.append((a, int(b)))
                    signals.append(-np.log(max(share[b], 0.5 / total[b])))
    return np.array(found, dtype=np.int64).reshape(-1, 2), np.array(signals)


def _swaps(cells: Cells, numbers: NumberJudge, out: Signals) -> None:
    """Two odd numbers in a row that would both be usual in each other's place."""
    k = cells.numbers.shape[1]
    if not 2 <= k <= MOST_PAIRED:
        return
    at = np.array(cells.number_at, dtype=np.intp)
    far = np.abs(np.nan_to_num(numbers.scale.signed(cells.numbers)))
    rows = np.flatnonzero((far > ODD).sum(axis=1) >= 2)
    if len(rows) == 0:
        return
    x, far = cells.numbers[rows], far[rows]
    for a in range(k - 1):
        both = (far[:, [a]] > ODD) & (far[:, a + 1 :] > ODD)
        if not both.any():
            continue
        i, b = np.nonzero(both)
        b = b + a + 1
        here = np.full(len(i), a)
        there = np.maximum(np.abs(numbers.signed_at(x[i, b], here)), np.abs(numbers.signed_at(x[i, here], b)))
        gain = np.where(there < USUAL, log1p(np.minimum(far[i, a], far[i, b]) - there), 0.0)
        for place in (np.full(len(i), at[a]), at[b]):
            np.maximum.at(out[:, :, PLACE["swap"]], (rows[i], place), gain.astype(np.float32))
