"""LODA's random projections and the histograms along them.

PyOD's LODA divides by the number of cuts twice and looks bins up one too far to the right; the published scores were
made so, and so are these.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elect.pool.kernels.histograms import as_columns, range_of
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import announce_compilation, compiled
from elect.support.threads import run_chunks

_FINE = 300
_BATCH = 8


@dataclass(frozen=True, eq=False)
class Projections:
    """Random directions, each along about sqrt(d) of the columns."""

    features: NDArray[np.int32]  # (trials, cuts, nonzero)
    weights: FloatArray  # (trials, cuts, nonzero)

    @classmethod
    def draw(cls, n_columns: int, n_cuts: int, trials: int, seed: int) -> "Projections":
        """The first cuts of a trial are the same however many are drawn, and a trial does not depend on the others."""
        nonzero = int(np.sqrt(n_columns))
        features = np.empty((trials, n_cuts, nonzero), dtype=np.int32)
        weights = np.empty((trials, n_cuts, nonzero))
        for trial in range(trials):
            # Two streams, so that how far one is read does not move the other.
            which = np.random.default_rng([seed, trial, 0])
            how = np.random.default_rng([seed, trial, 1])
            order = which.random((n_cuts, n_columns))
            features[trial] = np.argpartition(order, nonzero - 1, axis=1)[:, :nonzero]
            weights[trial] = how.standard_normal((n_cuts, nonzero))
        return cls(read_only(features, dtype=np.int32), read_only(weights))


def resolution(n_bins: int) -> int:
    """How finely a projection is cut for a model: numbers of bins that divide 300 share one fine histogram.

    The rule looks at nothing but the model, so a score does not depend on which other models were asked for.
    """
    return _FINE if _FINE % n_bins == 0 else n_bins


def loda_scores(
    X: FloatArray, projections: Projections, n_bins: tuple[int, ...], n_cuts: tuple[int, ...], n_jobs: int = 1
) -> FloatArray:
    """Training scores (numbers of bins, numbers of cuts, rows), the mean over trials."""
    announce_compilation(_score)
    trials = projections.features.shape[0]
    columns = as_columns(X)
    each = np.empty((trials, len(n_bins), len(n_cuts), X.shape[0]))
    cuts, most = np.array(n_cuts), max(n_cuts)
    batches = [
        (fine, group[i : i + _BATCH])
        for fine in sorted({resolution(b) for b in n_bins})
        for group in [[p for p, b in enumerate(n_bins) if resolution(b) == fine]]
        for i in range(0, len(group), _BATCH)
    ]

    def work(start: int, stop: int) -> None:
        for trial in range(start, stop):
            for fine, positions in batches:
                bins = np.array([n_bins[p] for p in positions])
                out = np.empty((len(positions), len(n_cuts), X.shape[0]))
                _score(columns, projections.features[trial], projections.weights[trial], fine, bins, cuts, most, out)
                each[trial, positions] = out

    run_chunks(work, trials, 1, n_jobs)
    mean: FloatArray = each.mean(axis=0)
    return mean


def fit_histograms(X: FloatArray, projections: Projections, n_bins: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The histograms of one model: where they start (trials, cuts), fine cells per unit (trials, cuts), and -log(share)
    by fine cell (trials, cuts, fine cells + 1)."""
    trials, cuts = projections.features.shape[:2]
    lows, scales = np.empty((trials, cuts)), np.empty((trials, cuts))
    rarity = np.empty((trials, cuts, resolution(n_bins) + 1))
    columns = as_columns(X)
    for t in range(trials):
        _fit(columns, projections.features[t], projections.weights[t], n_bins, lows[t], scales[t], rarity[t])
    return lows, scales, rarity


def new_scores(
    X: FloatArray, projections: Projections, lows: FloatArray, scales: FloatArray, rarity: FloatArray
) -> FloatArray:
    """Scores of new rows; one outside a projection's range counts as in its outer bin, as in PyOD."""
    trials = lows.shape[0]
    out = np.zeros((trials, X.shape[0]))
    columns = as_columns(X)
    for t in range(trials):
        _score_new(columns, projections.features[t], projections.weights[t], lows[t], scales[t], rarity[t], out[t])
    mean: FloatArray = out.mean(axis=0)
    return mean


@compiled(fastmath=True)
def _project(columns, features, weights, along):  # type: ignore[no-untyped-def]
    along[:] = 0.0
    for j in range(features.shape[0]):
        column, weight = columns[features[j]], weights[j]
        for p in range(along.shape[0]):
            along[p] += weight * column[p]


@compiled()
def _range(along, fine):  # type: ignore[no-untyped-def]
    """Where the histogram of a projection starts, and how many fine cells there are per unit."""
    low, high = range_of(along)
    if low == high:  # a constant projection gets a bin of width 1 around it, as numpy's histogram does
        low, high = low - 0.5, high + 0.5
    return low, fine / (high - low)


@compiled()
def _cells(along, low, scale, fine, left, right, counts):  # type: ignore[no-untyped-def]
    """The fine cell of each row, closed on the left (for counting) and on the right (for looking up)."""
    for p in range(along.shape[0]):
        t = (along[p] - low) * scale
        left[p] = np.int16(t)
        right[p] = np.int16(np.ceil(t))
    counts[:] = 0
    for p in range(along.shape[0]):
        counts[min(left[p], fine - 1)] += 1


@compiled()
def _fill_rarity(counts, n, n_bins, rarity):  # type: ignore[no-untyped-def]
    """By fine cell (closed on the right), the rarity of the bin PyOD reads: the number of edges below the value, which
    is one to the right of the bin the value is in."""
    fine = counts.shape[0]
    width = fine // n_bins
    bins = np.zeros(n_bins)
    for i in range(fine):
        bins[i // width] += counts[i]
    total = n + 1e-12 * n_bins
    for i in range(n_bins):
        bins[i] = -np.log((bins[i] + 1e-12) / total)
    for cell in range(fine + 1):
        rarity[cell] = bins[min((cell + width - 1) // width, n_bins - 1)]


@compiled(fastmath=True)
def _add_rows(table, cells, sums):  # type: ignore[no-untyped-def]
    """Add to each row of ``sums`` the row of ``table`` of its cell: one vector instruction a row."""
    last = table.shape[0] - 1
    for p in range(cells.shape[0]):
        cell = min(cells[p], last)
        for b in range(_BATCH):
            sums[p, b] += table[cell, b]


@compiled()
def _score(columns, features, weights, fine, n_bins, n_cuts, most, out):  # type: ignore[no-untyped-def]
    n = columns.shape[1]
    along = np.empty(n)
    left = np.empty(n, dtype=np.int16)
    right = np.empty(n, dtype=np.int16)
    counts = np.empty(fine, dtype=np.int64)
    rarity = np.empty(fine + 1)
    table = np.zeros((fine + 1, _BATCH))
    sums = np.zeros((n, _BATCH))
    for cut in range(most):
        _project(columns, features[cut], weights[cut], along)
        low, scale = _range(along, fine)
        _cells(along, low, scale, fine, left, right, counts)
        for b in range(n_bins.shape[0]):
            _fill_rarity(counts, n, n_bins[b], rarity)
            for cell in range(fine + 1):
                table[cell, b] = rarity[cell]
        _add_rows(table, right, sums)
        for c in range(n_cuts.shape[0]):
            if n_cuts[c] == cut + 1:
                for b in range(n_bins.shape[0]):
                    for p in range(n):
                        out[b, c, p] = sums[p, b] / (n_cuts[c] * n_cuts[c])


@compiled()
def _fit(columns, features, weights, n_bins, lows, scales, rarity):  # type: ignore[no-untyped-def]
    n = columns.shape[1]
    fine = rarity.shape[1] - 1
    along = np.empty(n)
    left = np.empty(n, dtype=np.int16)
    right = np.empty(n, dtype=np.int16)
    counts = np.empty(fine, dtype=np.int64)
    for cut in range(features.shape[0]):
        _project(columns, features[cut], weights[cut], along)
        lows[cut], scales[cut] = _range(along, fine)
        _cells(along, lows[cut], scales[cut], fine, left, right, counts)
        _fill_rarity(counts, n, n_bins, rarity[cut])


@compiled()
def _score_new(columns, features, weights, lows, scales, rarity, out):  # type: ignore[no-untyped-def]
    n = columns.shape[1]
    along = np.empty(n)
    n_cuts = rarity.shape[0]
    fine = rarity.shape[1] - 1
    for cut in range(n_cuts):
        _project(columns, features[cut], weights[cut], along)
        for p in range(n):
            cell = np.ceil((along[p] - lows[cut]) * scales[cut])
            out[p] += rarity[cut, int(min(max(cell, 0.0), float(fine)))]
    for p in range(n):
        out[p] /= n_cuts * n_cuts
