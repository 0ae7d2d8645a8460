"""Equal-width histograms with numpy's and PyOD's conventions for values on an edge, for HBOS and LODA."""

import numpy as np

from elect.support.arrays import FloatArray
from elect.support.compiled import compiled


@compiled()
def fill_edges(low, high, edges):  # type: ignore[no-untyped-def]
    """The edges numpy.histogram would use; a constant column gets a bin of width 1 around it."""
    n_bins = edges.shape[0] - 1
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = (high - low) / n_bins
    for i in range(n_bins):
        edges[i] = low + i * step
    edges[n_bins] = high
    return low, n_bins / (high - low)


@compiled()
def bin_of(x, low, scale, edges):  # type: ignore[no-untyped-def]
    """The bin that holds x: closed on the left, the last one closed on both sides."""
    last = edges.shape[0] - 2
    i = min(max(int((x - low) * scale), 0), last)
    # The arithmetic can be off by one next to an edge; the edges decide.
    if x < edges[i] and i > 0:
        i -= 1
    elif i < last and x >= edges[i + 1]:
        i += 1
    return i


@compiled()
def bin_closed_right(i, x, edges):  # type: ignore[no-untyped-def]
    """The bin that holds x when bins are closed on the right instead, given ``i = bin_of(x)``."""
    return i - 1 if i > 0 and x == edges[i] else i


@compiled()
def range_of(column):  # type: ignore[no-untyped-def]
    low = column[0]
    high = column[0]
    for x in column:
        if x < low:
            low = x
        if x > high:
            high = x
    return low, high


def as_columns(X: FloatArray) -> FloatArray:
    """The table feature-major, so that each column is contiguous."""
    return np.ascontiguousarray(X.T)
