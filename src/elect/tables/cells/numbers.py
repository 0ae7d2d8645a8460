"""Numbers judged by their own column: how far out, how lonely, and whether a usual slip would explain them."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.support.arrays import FloatArray
from elect.tables.cells._base import PLACE, Cells, Signals, log1p
from elect.tables.cells.survey import NumberEnds, Survey

MOST_DECIMALS = 7
POSITIVE = 0.98
"""A column is judged on a logarithmic scale too where at least this share of its values is positive."""

ODD = 2.0
USUAL = 1.5
"""Spreads from the median: beyond the one a value may be a slip, within the other what it was meant to be."""

_QUANTILES = np.array([0.75, 0.9, 0.95])
_NORMAL = np.array([0.6745, 1.2816, 1.6449])
_DEFAULT_DAYS = np.array([-25569.0, -25568.0, -25567.0, -719162.0, 0.0, 10957.0, 2932896.0])
"""Days from 1970 to dates that stand for none: the ends of 1899 and 9999, the starts of 1, 1900, 1970 and 2000."""


@dataclass(frozen=True, eq=False)
class Scale:
    """A median for each column and one spread a side, each at least so wide that the usual tail is not odd."""

    middle: FloatArray
    up: FloatArray
    down: FloatArray

    def signed(self, x: FloatArray) -> FloatArray:
        """Spreads from the median, negative below it; NaN stays."""
        away = x - self.middle
        with np.errstate(over="ignore", invalid="ignore"):
            return np.clip(np.where(away >= 0, away / self.up, away / self.down), -1e9, 1e9)


def scale_of(columns: list[FloatArray]) -> Scale:
    """From the sorted finite values of each column."""
    middle, up, down = (np.zeros(len(columns)) for _ in range(3))
    for j, v in enumerate(columns):
        if len(v) == 0:
            up[j] = down[j] = 1.0
            continue
        middle[j] = np.median(v)
        high, low = np.quantile(v, _QUANTILES), np.quantile(v, 1 - _QUANTILES)
        up[j] = ((high - middle[j]) / _NORMAL).max()
        down[j] = ((middle[j] - low) / _NORMAL).max()
        if up[j] <= 0:
            up[j] = _half(v[v > middle[j]] - middle[j])
        if down[j] <= 0:
            down[j] = _half(middle[j] - v[v < middle[j]])
        widest = max(up[j], down[j])
        # An empty side is as wide as the other; a constant column as wide as its value.
        smallest = max(abs(middle[j]) * 1e-9, 1e-300)
        up[j] = max(up[j] if up[j] > 0 else widest, smallest)
        down[j] = max(down[j] if down[j] > 0 else widest, smallest)
        if widest <= 0:
            up[j] = down[j] = max(abs(middle[j]), 1.0)
    return Scale(middle, up, down)


def _half(away: FloatArray) -> float:
    return float(np.median(away)) if len(away) else 0.0


@dataclass(frozen=True, eq=False)
class NumberJudge:
    """What was learned of the number columns. Values are kept sorted, one after the other, ``starts`` telling where."""

    scale: Scale
    log_scale: Scale
    positive: NDArray[np.bool_]
    starts: NDArray[np.int64]
    distinct: FloatArray
    at_most: NDArray[np.int64]
    """For each distinct value, how many values of its column are at most so large."""
    stretch: FloatArray
    """For each distinct value, the widest gap on the way from the median to it."""
    counts: NDArray[np.int64]
    decimals: FloatArray
    """(columns, MOST_DECIMALS + 1) the signal of having so many decimals"""
    missing: FloatArray
    negative: FloatArray
    zero: FloatArray
    """(columns,) the signal of a missing value, the share of negative values and of zeros"""
    is_time: NDArray[np.bool_]

    @classmethod
    def fit(cls, cells: Cells) -> "NumberJudge":
        columns = [np.sort(x[~np.isnan(x)]) for x in cells.numbers.T]
        n = max(cells.n_rows, 1)
        counts = np.array([len(v) for v in columns], dtype=np.int64)
        positive = np.array([len(v) > 0 and (v > 0).mean() >= POSITIVE for v in columns], dtype=bool)
        logs = [np.log(v[v > 0]) if ok else np.empty(0) for v, ok in zip(columns, positive, strict=True)]
        scale = scale_of(columns)
        distinct, at_most, stretch, starts = [], [], [], [0]
        for j, v in enumerate(columns):
            values, first = np.unique(v, return_index=True)
            distinct.append(values)
            at_most.append(np.r_[first[1:], len(v)] if len(v) else np.empty(0))
            stretch.append(_stretch(values, scale.middle[j]))
            starts.append(starts[-1] + len(values))
        share_missing = 1 - counts / n
        return cls(
            scale,
            scale_of(logs),
            positive,
            np.array(starts, dtype=np.int64),
            np.concatenate([*distinct, np.empty(0)]),
            np.concatenate([*at_most, np.empty(0)]).astype(np.int64),
            np.concatenate([*stretch, np.empty(0)]),
            counts,
            np.array([_decimal_signal(v) for v in columns]).reshape(len(columns), MOST_DECIMALS + 1),
            -np.log(np.maximum(share_missing, 0.5 / n)),
            np.array([(v < 0).mean() if len(v) else 0.0 for v in columns]),
            np.array([(v == 0).mean() if len(v) else 0.0 for v in columns]),
            np.array(cells.is_time, dtype=bool),
        )

    def surveyed(self, survey: Survey) -> "NumberJudge":
        """Learned from a sample, with what is known of all rows: how many values there are, and both ends of each
        column. Between the ends the sample stands for all."""
        distinct, at_most, stretch, starts = [], [], [], [0]
        counts = self.counts.copy()
        for j, ends in enumerate(survey.numbers):
            here = self._column(j)
            u, below = self.distinct[here], self.at_most[here]
            if counts[j] >= 2:
                u, below = _with_ends(u, below, int(counts[j]), ends)
                counts[j] = ends.count
            distinct.append(u)
            at_most.append(below)
            stretch.append(_stretch(u, self.scale.middle[j]))
            starts.append(starts[-1] + len(u))
        rows = max(survey.rows, 1)
        gone = np.array([1 - ends.count / rows for ends in survey.numbers])
        return replace(
            self,
            starts=np.array(starts, dtype=np.int64),
            distinct=np.concatenate([*distinct, np.empty(0)]),
            at_most=np.concatenate([*at_most, np.empty(0)]).astype(np.int64),
            stretch=np.concatenate([*stretch, np.empty(0)]),
            counts=counts,
            missing=-np.log(np.maximum(gone, 0.5 / rows)),
        )

    def judge(self, cells: Cells, out: Signals) -> None:
        """Fill in the signals of the number columns. Rows that were fitted and rows that were not are judged alike."""
        x, at = cells.numbers, list(cells.number_at)
        if not at:
            return
        gone = np.isnan(x)
        signed = self.scale.signed(x)
        far = np.abs(np.nan_to_num(signed))
        least = self._least(x, far)
        odd = far > ODD
        out[:, at, PLACE["far"]] = log1p(far)
        out[:, at, PLACE["far_least"]] = log1p(least)
        out[:, at, PLACE["missing"]] = np.where(gone, self.missing + 3.0 * cells.unread, 0.0)
        for j, place in enumerate(at):
            tail, gap, alone = self._places(x[:, j], j)
            out[:, place, PLACE["tail"]] = tail
            out[:, place, PLACE["gap"]] = gap
            out[:, place, PLACE["alone"]] = alone
            out[:, place, PLACE["decimals"]] = np.where(gone[:, j], 0.0, self.decimals[j][_n_decimals(x[:, j])])
        self._slips(x, far, odd, np.array(at), out)
        self._sentinels(x, np.array(at), out)

    def _least(self, x: FloatArray, far: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.abs(self.log_scale.signed(np.log(np.where(x > 0, x, np.nan))))
        usable = self.positive & (x > 0)
        return np.where(usable, np.fmin(far, logs), far)

    def _column(self, j: int) -> slice:
        return slice(int(self.starts[j]), int(self.starts[j + 1]))

    def _places(self, x: FloatArray, j: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """How few values are as extreme, the widest gap towards the median, the distance of the nearest other value."""
        here = self._column(j)
        u, at_most, stretch = self.distinct[here], self.at_most[here], self.stretch[here]
        n = int(self.counts[j])
        known = ~np.isnan(x)
        tail, gap, alone = np.zeros(len(x)), np.zeros(len(x)), np.zeros(len(x))
        if n < 2 or len(u) < 2:
            return tail, gap, alone
        v = x[known]
        left = np.searchsorted(u, v, side="left")
        seen = (left < len(u)) & (u[np.minimum(left, len(u) - 1)] == v)
        middle = self.scale.middle[j]
        above = v >= middle
        spread = np.where(above, self.scale.up[j], self.scale.down[j])
        below = np.r_[0, at_most][left]
        beyond = np.where(above, n - below, np.r_[0, at_most][np.minimum(left + seen, len(u))])
        tail[known] = -np.log(np.clip(beyond, 1, n) / n)
        lower, upper = u[np.maximum(left - 1, 0)], u[np.minimum(left + seen, len(u) - 1)]
        inner = np.where(above, lower, upper)
        inside = np.where(above, np.maximum(left - 1, 0), np.minimum(left + seen, len(u) - 1))
        own = np.where(seen, stretch[np.minimum(left, len(u) - 1)], np.maximum(stretch[inside], np.abs(v - inner)))
        gap[known] = log1p(own / spread)
        many = np.where(seen, np.diff(np.r_[0, at_most])[np.minimum(left, len(u) - 1)], 1) > 1
        to_lower = np.where(left > 0, v - lower, np.inf)
        to_upper = np.where(left + seen < len(u), upper - v, np.inf)
        alone[known] = np.where(many, 0.0, log1p(np.minimum(to_lower, to_upper) / spread))
        return tail, gap, alone

    def _slips(self, x: FloatArray, far: FloatArray, odd: Any, at: NDArray[np.intp], out: Signals) -> None:
        """A decimal point moved, or a sign turned: how much more usual the value would have been."""
        i, j = np.nonzero(odd & ~self.is_time)
        if len(i) == 0:
            return
        v, now = x[i, j], far[i, j]
        moved = v[:, None] * 10.0 ** np.array([-3, -2, -1, 1, 2, 3])
        best = np.abs(self.signed_at(moved, j[:, None])).min(axis=1)
        out[i, at[j], PLACE["shift"]] = np.where(best < USUAL, log1p(now - best), 0.0)
        turned = np.abs(self.signed_at(-v, j))
        out[i, at[j], PLACE["sign"]] = np.where(turned < ODD, log1p(now - turned), 0.0)

    def signed_at(self, v: Any, j: Any) -> FloatArray:
        """Spreads from the median of single values, each in its own column."""
        away = v - self.scale.middle[j]
        result: FloatArray = np.where(away >= 0, away / self.scale.up[j], away / self.scale.down[j])
        return result

    def _sentinels(self, x: FloatArray, at: NDArray[np.intp], out: Signals) -> None:
        size = np.abs(np.nan_to_num(x))
        nines = np.isin(size, (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0, 88.0, 888.0, 8888.0))
        minus = (x < 0) & (self.negative <= 0.03) & np.isin(size, (1.0, 9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0))
        empty = (x == 0) & (self.zero <= 0.03) & ((self.negative <= 0.01) | (self.negative >= 0.9))
        default = self.is_time & np.isin(np.floor(np.nan_to_num(x, nan=0.5)), _DEFAULT_DAYS)
        gap = out[:, at, PLACE["gap"]]
        tail = out[:, at, PLACE["tail"]]
        found = np.where(nines & ~self.is_time, gap, 0.0)
        found = np.where(minus & ~self.is_time, 1.0 + gap, found)
        found = np.where(empty & ~self.is_time, np.maximum(found, 0.5 + gap + 0.25 * tail), found)
        out[:, at, PLACE["sentinel"]] = np.where(default, 1.0 + gap, found)


def _with_ends(
    u: FloatArray, at_most: NDArray[np.int64], n: int, ends: NumberEnds
) -> tuple[FloatArray, NDArray[np.int64]]:
    """The distinct values of a column and how many are at most so large: exact at the ends, estimated between.

    >>> sample = np.array([2.0, 5.0, 6.0])
    >>> ends = NumberEnds(30, np.array([0.0, 1.0]), np.array([8.0, 90.0]))
    >>> _with_ends(sample, np.array([1, 2, 3]), 3, ends)
    (array([ 0.,  1.,  2.,  5.,  6.,  8., 90.]), array([ 1,  2, 10, 20, 28, 29, 30]))
    """
    low, high = ends.low, ends.high
    values = np.unique(np.r_[low, u[(u > low[-1]) & (u < high[0])], high])
    guess = np.r_[0, np.round(at_most * (ends.count / n))][np.searchsorted(u, values, side="right")]
    found = np.clip(guess, np.searchsorted(low, values, side="right"), ends.count - len(high))
    # Of the last value at the low end there may be more than are known.
    found = np.where(values < low[-1], np.searchsorted(low, values, side="right"), found)
    above = len(high) - np.searchsorted(high, values, side="right")
    found = np.where(values >= high[0], ends.count - above, found)
    return values, np.maximum.accumulate(found).astype(np.int64)


def _stretch(u: FloatArray, middle: float) -> FloatArray:
    """The widest gap between neighbouring values on the way from the median out to each value.

    >>> _stretch(np.array([1.0, 2.0, 3.0, 9.0, 10.0]), 2.0)
    array([1., 0., 1., 6., 6.])
    """
    if len(u) == 0:
        return u
    gaps = np.diff(u)
    start = int(np.searchsorted(u, middle))
    if start < len(u) and u[start] > middle and start > 0:
        start -= 1
    start = min(start, len(u) - 1)
    out = np.zeros(len(u))
    out[start + 1 :] = np.maximum.accumulate(gaps[start:]) if start < len(gaps) else 0.0
    out[:start] = np.maximum.accumulate(gaps[:start][::-1])[::-1]
    return out


def _n_decimals(x: FloatArray) -> NDArray[np.intp]:
    """How many decimals each number is written with, up to a limit.

    >>> _n_decimals(np.array([3.0, 2.5, 0.1 + 0.2, 1 / 3]))
    array([0, 1, 1, 7])
    """
    left = np.nan_to_num(x)
    found = np.full(x.shape, MOST_DECIMALS, dtype=np.intp)
    for places in range(MOST_DECIMALS - 1, -1, -1):
        shifted = left * 10.0**places
        with np.errstate(invalid="ignore", over="ignore"):
            whole = np.abs(shifted - np.round(shifted)) <= 1e-9 * np.maximum(np.abs(shifted), 1.0)
        found[whole | (np.abs(shifted) > 1e15)] = places
    return found


def _decimal_signal(v: FloatArray) -> FloatArray:
    counts = np.bincount(_n_decimals(v), minlength=MOST_DECIMALS + 1).astype(np.float64)
    return tail_signal(counts, counts)


def tail_signal(counts: FloatArray, of: FloatArray) -> FloatArray:
    """For kinds seen so many times: minus the logarithm of the share of rows whose kind is as rare, or rarer.

    >>> tail_signal(np.array([98.0, 1.0, 1.0]), np.array([98.0, 1.0])).round(2)
    array([0.  , 3.91])
    """
    total = max(float(counts.sum()), 1.0)
    order = np.sort(counts)
    sums = np.r_[0.0, np.cumsum(order)]
    as_rare = sums[np.searchsorted(order, of, side="right")]
    signal: FloatArray = -np.log(np.clip(np.maximum(as_rare, 1.0) / total, 1e-12, 1.0))
    return np.maximum(signal, 0.0)


FIELDS = tuple(field.name for field in fields(NumberJudge))
