"""The solver of one-class support vector machines, over one kernel matrix for every nu.

It is libsvm's sequential minimal optimisation (second-order choice of the pair, the same start and tolerance),
because its scores depend on the path it takes: the sigmoid kernel is not positive semi-definite, and on few rows the
tolerance leaves room for different answers. Kernel values are float32, gradients and their changes float64, as in
libsvm. It stops after a fixed amount of work, iterations times rows, and says so: 250,000 iterations up to 1,000 rows,
fewer in proportion above, but never fewer than ten a row; that takes less than half a second up to 5,000 rows. The
cubic kernel of extreme rows is so ill-conditioned that libsvm goes on for hundreds of thousands. Where the bound is met
the scores of a small nu differ from libsvm's final ones.
"""

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import announce_compilation, compiled
from elect.support.threads import run_chunks

_TOLERANCE = 1e-3
_WORK, _LEAST_ROWS, _ITERATIONS_A_ROW = 250_000_000, 1_000, 10
_TINY = 1e-12
_FAR = 1e300
_LANES = 256
_ROWS_AT_ONCE = 32


def kernel_values(A: FloatArray, B: FloatArray, kernel: str, out: FloatArray | None = None) -> FloatArray:
    """Kernel of each row of A with each row of B, gamma = 1 / columns, degree 3, as PyOD's defaults are."""
    gamma = 1.0 / A.shape[1]
    values: FloatArray = np.matmul(A, B.T, out=out)
    if kernel == "rbf":
        values *= 2.0 * gamma
        values -= (gamma * np.einsum("ij,ij->i", A, A))[:, None]
        values -= (gamma * np.einsum("ij,ij->i", B, B))[None, :]
        # Below -80 the value is nothing beside 1, but would be a slow denormal number in float32.
        np.clip(values, -80.0, 0.0, out=values)
        return np.exp(values, out=values)
    if kernel == "linear":
        return values
    values *= gamma
    if kernel == "sigmoid":
        return np.tanh(values, out=values)
    cubed = values * values
    values *= cubed
    return values


@dataclass(frozen=True, eq=False)
class KernelMatrix:
    """A kernel matrix in float32, its columns padded with zeros to a multiple of 256, and its diagonal in float64."""

    values: NDArray[np.float32]  # (rows, padded rows)
    diagonal: FloatArray  # (padded rows,)

    @classmethod
    def of(cls, X: FloatArray, kernel: str, room: NDArray[np.float32] | None = None, n_jobs: int = 1) -> "KernelMatrix":
        """``room`` is an array of the right shape to write into: the memory of one kernel serves the next."""
        n = X.shape[0]
        K = np.empty(padded_shape(n), dtype=np.float32) if room is None else room
        K[:, n:] = 0.0
        diagonal = np.zeros(K.shape[1])
        blocks = threading.local()

        def work(start: int, stop: int) -> None:
            # A thread reuses its block of float64 values: fresh memory for each would cost more than the arithmetic.
            if not hasattr(blocks, "room"):
                blocks.room = np.empty((_ROWS_AT_ONCE, n))
            values = kernel_values(X[start:stop], X, kernel, out=blocks.room[: stop - start])
            diagonal[start:stop] = values[np.arange(stop - start), np.arange(start, stop)] if kernel != "rbf" else 1.0
            K[start:stop, :n] = values

        # One thread for each block: how BLAS splits its own work could change the last digit.
        with threadpool_limits(1):
            run_chunks(work, n, _ROWS_AT_ONCE, n_jobs)
        return cls(K, diagonal)


def padded_shape(n: int) -> tuple[int, int]:
    """The shape of a kernel matrix over n rows."""
    return n, n + -n % _LANES


@dataclass(frozen=True, eq=False)
class OneClass:
    """A solution: the weights of the fitted rows and the offset. score(x) = offset - sum of weight * kernel(row, x)."""

    weights: FloatArray
    offset: float
    fitted_scores: FloatArray
    iterations: int
    converged: bool

    @classmethod
    def solve(cls, kernel: KernelMatrix, nu: float, start: FloatArray) -> "OneClass":
        """``start`` is the gradient at libsvm's start, of ``start_gradients``."""
        K = kernel.values
        n = K.shape[0]
        weights = np.zeros(K.shape[1])
        weights[:n] = start_weights(n, nu)
        lower, upper = np.empty(K.shape[1]), np.empty(K.shape[1])
        most = most_iterations(n)
        iterations = _minimise(K, kernel.diagonal, weights, start, lower, upper, most)
        weights = weights[:n]
        gradient = np.where(weights < 1.0, upper[:n], lower[:n])
        free = (weights > 0.0) & (weights < 1.0)
        if free.any():
            offset = float(gradient[free].mean())
        else:
            low = gradient[weights >= 1.0].max(initial=-np.inf)
            high = gradient[weights <= 0.0].min(initial=np.inf)
            ends = [end for end in (low, high) if np.isfinite(end)]
            offset = float(np.mean(ends))
        return cls(read_only(weights.copy()), offset, read_only(offset - gradient), iterations, iterations < most)


def most_iterations(n: int) -> int:
    """Where the solver stops: an iteration costs as much as its rows, or as 1,000 where there are fewer.

    >>> [most_iterations(n) for n in (100, 1_000, 2_500, 5_000, 12_000)]
    [250000, 250000, 100000, 50000, 120000]
    """
    return max(_WORK // max(n, _LEAST_ROWS), _ITERATIONS_A_ROW * n)


def start_weights(n: int, nu: float) -> FloatArray:
    """libsvm's start: the first nu * n rows carry the weight.

    >>> start_weights(5, 0.5)
    array([1. , 1. , 0.5, 0. , 0. ])
    """
    weights = np.zeros(n)
    full = int(nu * n)
    weights[:full] = 1.0
    if full < n:
        weights[full] = nu * n - full
    return weights


def start_gradients(kernel: KernelMatrix, nus: tuple[float, ...]) -> FloatArray:
    """The gradient at the start, for each nu (nus, padded rows), from one pass over the kernel matrix."""
    announce_compilation(_minimise)
    K = kernel.values
    n = K.shape[0]
    full = np.array([int(nu * n) for nu in nus])
    rest = np.array([nu * n for nu in nus]) - full
    out = np.empty((len(nus), K.shape[1]))
    _prefix_sums(K, full, rest, out)
    return out


def new_scores(
    Z: FloatArray, rows: FloatArray, weights: FloatArray, offsets: FloatArray, kernel: str, n_jobs: int = 1
) -> FloatArray:
    """Scores (rows, models) of any rows, from the fitted rows and each model's weights on them (rows, models)."""
    out = np.empty((Z.shape[0], weights.shape[1]))

    def work(start: int, stop: int) -> None:
        # Always the same number of rows: BLAS multiplies fewer of them in another order, and a row's last digit would
        # depend on the rows it comes with.
        block = np.zeros((_ROWS_AT_ONCE, Z.shape[1]))
        block[: stop - start] = Z[start:stop]
        out[start:stop] = (offsets - kernel_values(block, rows, kernel) @ weights)[: stop - start]

    with threadpool_limits(1):
        run_chunks(work, Z.shape[0], _ROWS_AT_ONCE, n_jobs)
    return out


@compiled()
def _prefix_sums(K, full, rest, out):  # type: ignore[no-untyped-def]
    n, width = K.shape
    sums = np.zeros(width)
    for row in range(n + 1):
        for c in range(full.shape[0]):
            if full[c] == row:
                for t in range(width):
                    out[c, t] = sums[t]
                if row < n:
                    for t in range(width):
                        out[c, t] += rest[c] * K[row, t]
        if row < n:
            values = K[row]
            for t in range(width):
                sums[t] += values[t]


# Each loop below touches few arrays and counts from zero: that is what lets the compiler vectorise it.


@compiled(fastmath=True)
def _add_step(upper, lower, at_i, at_j, step):  # type: ignore[no-untyped-def]
    for t in range(upper.shape[0]):
        change = step * (np.float64(at_i[t]) - np.float64(at_j[t]))
        upper[t] += change
        lower[t] += change


@compiled(fastmath=True)
def _lane_max(values, sign, lanes):  # type: ignore[no-untyped-def]
    """Largest ``sign * value`` in each of 256 lanes."""
    lanes[:] = -1e301
    for r in range(values.shape[0] // _LANES):
        part = values[r * _LANES : (r + 1) * _LANES]
        for c in range(_LANES):
            x = sign * part[c]
            lanes[c] = x if x > lanes[c] else lanes[c]


@compiled(fastmath=True)
def _gains(lower, at_i, diagonal, most, own, gains):  # type: ignore[no-untyped-def]
    """How much the objective falls when row i trades weight with each row: Eq. of libsvm's second-order rule."""
    for t in range(lower.shape[0]):
        gap = most + lower[t]
        gap = gap if gap > 0.0 else 0.0
        curvature = own + diagonal[t] - 2.0 * at_i[t]
        curvature = curvature if curvature > _TINY else _TINY
        gains[t] = gap * gap / curvature


@compiled()
def _largest(values, sign, lanes):  # type: ignore[no-untyped-def]
    """The largest ``sign * value`` and the last place it stands, which is the one libsvm takes."""
    _lane_max(values, sign, lanes)
    most = lanes[0]
    for c in range(_LANES):
        if lanes[c] > most:
            most = lanes[c]
    place = -1
    for c in range(_LANES):
        if lanes[c] == most:
            for t in range(c, values.shape[0], _LANES):
                if sign * values[t] == most:
                    place = max(place, t)
    return most, place


@compiled()
def _minimise(K, diagonal, weights, gradient, lower, upper, max_iterations):  # type: ignore[no-untyped-def]
    """Sequential minimal optimisation. ``upper`` ends as the gradient of rows that can gain weight, ``lower`` of rows
    that can lose it; the others hold a number too far to be chosen."""
    n, width = K.shape
    for t in range(width):
        upper[t] = gradient[t] if t < n and weights[t] < 1.0 else _FAR
        lower[t] = gradient[t] if t < n and weights[t] > 0.0 else -_FAR
    lanes = np.empty(_LANES)
    gains = np.empty(width)
    for iteration in range(max_iterations):
        most, i = _largest(upper, -1.0, lanes)
        if most < -_FAR / 2:
            return iteration
        _lane_max(lower, 1.0, lanes)
        if most + lanes.max() < _TOLERANCE:
            return iteration
        _gains(lower, K[i], diagonal, most, diagonal[i], gains)
        best, j = _largest(gains, 1.0, lanes)
        if best <= 0.0:
            return iteration
        curvature = diagonal[i] + diagonal[j] - 2.0 * K[i, j]
        if curvature <= 0.0:
            curvature = _TINY
        grad_i, grad_j = upper[i], lower[j]
        step = min((grad_j - grad_i) / curvature, 1.0 - weights[i], weights[j])
        full_i = step == 1.0 - weights[i]
        empty_j = step == weights[j]
        weights[i] = 1.0 if full_i else weights[i] + step
        weights[j] = 0.0 if empty_j else weights[j] - step
        # Row i can now lose weight and row j can gain it, unless they just reached a bound.
        lower[i] = grad_i
        upper[j] = grad_j
        _add_step(upper, lower, K[i], K[j], step)
        if full_i:
            upper[i] = _FAR
        if empty_j:
            lower[j] = -_FAR
    return max_iterations
