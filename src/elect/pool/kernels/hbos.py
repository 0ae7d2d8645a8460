"""The histograms of HBOS: one pass serves every number of bins and alpha."""

import numpy as np

from elect.pool.kernels.histograms import as_columns, bin_closed_right, bin_of, fill_edges, range_of
from elect.support.arrays import FloatArray
from elect.support.compiled import announce_compilation, compiled


def hbos_scores(X: FloatArray, n_bins: tuple[int, ...], alphas: tuple[float, ...]) -> FloatArray:
    """Training scores (numbers of bins, alphas, rows)."""
    announce_compilation(_score)
    out = np.zeros((len(n_bins), len(alphas), X.shape[0]))
    _score(as_columns(X), np.array(n_bins), max(n_bins), np.array(alphas), out)
    return out


def fit_histograms(X: FloatArray, n_bins: int, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The edges (columns, bins + 1) and the heights (columns, bins) of one model: log2(density + alpha)."""
    d = X.shape[1]
    edges, heights = np.empty((d, n_bins + 1)), np.empty((d, n_bins))
    _fit(as_columns(X), alpha, edges, heights)
    return edges, heights


def new_scores(X: FloatArray, edges: FloatArray, heights: FloatArray, tol: float = 0.5) -> FloatArray:
    """Scores of new rows. As in PyOD, a value no more than ``tol`` bin widths outside counts as in the outer bin; one
    farther out is as rare as the rarest bin."""
    out = np.zeros(X.shape[0])
    _score_new(as_columns(X), edges, heights, tol, out)
    return out


@compiled()
def _densities(column, bins, edges, density):  # type: ignore[no-untyped-def]
    """Fill the edges and densities of one column and the bin each row is scored by."""
    n_bins = density.shape[0]
    low, high = range_of(column)
    low, scale = fill_edges(low, high, edges)
    density[:] = 0.0
    for p in range(column.shape[0]):
        i = bin_of(column[p], low, scale, edges)
        density[i] += 1.0
        # Counted with bins closed on the left, looked up with bins closed on the right: PyOD does both.
        bins[p] = bin_closed_right(i, column[p], edges)
    for i in range(n_bins):
        density[i] /= column.shape[0] * (edges[i + 1] - edges[i])


@compiled()
def _score(columns, n_bins, most, alphas, out):  # type: ignore[no-untyped-def]
    n = columns.shape[1]
    bins = np.empty(n, dtype=np.int16)
    for b in range(n_bins.shape[0]):
        edges = np.empty(n_bins[b] + 1)
        density = np.empty(n_bins[b])
        heights = np.empty(most)
        for f in range(columns.shape[0]):
            _densities(columns[f], bins, edges, density)
            for a in range(alphas.shape[0]):
                for i in range(n_bins[b]):
                    heights[i] = np.log2(density[i] + alphas[a])
                row = out[b, a]
                for p in range(n):
                    row[p] -= heights[bins[p]]


@compiled()
def _fit(columns, alpha, edges, heights):  # type: ignore[no-untyped-def]
    bins = np.empty(columns.shape[1], dtype=np.int16)
    for f in range(columns.shape[0]):
        _densities(columns[f], bins, edges[f], heights[f])
        for i in range(heights.shape[1]):
            heights[f, i] = np.log2(heights[f, i] + alpha)


@compiled()
def _score_new(columns, edges, heights, tol, out):  # type: ignore[no-untyped-def]
    n_bins = heights.shape[1]
    for f in range(columns.shape[0]):
        low, high = edges[f, 0], edges[f, n_bins]
        scale = n_bins / (high - low)
        rarest = heights[f, 0]
        for i in range(1, n_bins):
            rarest = min(rarest, heights[f, i])
        for p in range(columns.shape[1]):
            x = columns[f, p]
            if x < low:
                near = low - x <= tol * (edges[f, 1] - low)
                out[p] -= heights[f, 0] if near else rarest
            elif x > high:
                near = x - high <= tol * (high - edges[f, n_bins - 1])
                out[p] -= heights[f, n_bins - 1] if near else rarest
            else:
                i = bin_of(x, low, scale, edges[f])
                out[p] -= heights[f, bin_closed_right(i, x, edges[f])]
