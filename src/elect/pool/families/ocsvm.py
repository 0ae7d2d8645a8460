"""OCSVM: one-class support vector machines over one shared kernel matrix, for every nu.

They are fitted on a seeded sample above 12,000 rows: the kernel matrix grows with the square of their number.

With a linear kernel on standardised columns the zero vector is the optimum for every nu (equal weights sum to zero and
are feasible), so its exact scores are all zero. libsvm returns the residue of its stopping rule instead, which depends
on the order of the rows. The exact answer is given here: these models rank nothing, and say so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.pool import kernels
from elect.pool.families._base import Cost, Family, Params, Piece, is_share
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray, read_only
from elect.support.threads import run_chunks

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

MAX_ROWS = 12_000
_KERNELS = ("linear", "poly", "rbf", "sigmoid")
_NUS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_COST = Cost(0.0043, pairs=6.9e-09, most_rows=MAX_ROWS)


class OCSVM(Family):
    name = "OCSVM"
    defaults = {"kernel": "rbf", "nu": 0.5}
    grid = {"kernel": _KERNELS, "nu": _NUS}
    in_paper = True

    def supports(self, params: Params) -> bool:
        return set(params) <= set(self.defaults) and params["kernel"] in _KERNELS and is_share(params["nu"])

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        # Each nu is solved when it is asked for, over a kernel matrix that stays; but rows beyond the fitted ones are
        # scored for every nu at once, since that computes kernels anew.
        return (params["kernel"],) if n_rows > MAX_ROWS else (params["kernel"], params["nu"])

    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        kernel = params[0]["kernel"]
        if kernel == "linear":
            return np.zeros((work.n_rows, len(params)))
        rows = fit_rows(work.n_rows, work.seed)
        fitted = work.Z[rows]
        solutions = _solve(work, fitted, kernel, tuple(p["nu"] for p in params))
        for p, solution in zip(params, solutions, strict=True):
            if not solution.converged:
                work.remarks[self.name, kernel, p["nu"]] = f"stopped after {solution.iterations:,} iterations"
        if len(rows) == work.n_rows:
            return np.column_stack([solution.fitted_scores for solution in solutions])
        weights = np.column_stack([solution.weights for solution in solutions])
        offsets = np.array([solution.offset for solution in solutions])
        return kernels.ocsvm.new_scores(work.Z, fitted, weights, offsets, kernel, work.n_jobs)

    def note(self, work: "SharedWork", params: Params) -> str | None:
        if params["kernel"] == "linear":
            return "on standardised columns the linear kernel's optimum is the zero vector: every row scores 0"
        notes = []
        if work.n_rows > MAX_ROWS:
            notes.append(f"fitted on a seeded sample of {MAX_ROWS:,} of the {work.n_rows:,} rows, scored on all")
        if (remark := work.remarks.get((self.name, params["kernel"], params["nu"]))) is not None:
            notes.append(remark)
        return "; ".join(notes) or None

    def fit(self, work: "SharedWork", params: Params) -> "FittedOCSVM":
        rows = fit_rows(work.n_rows, work.seed)
        kernel = params["kernel"]
        if kernel == "linear":
            return FittedOCSVM(read_only(work.Z[:1]), read_only([0.0]), 0.0, kernel, work.n_jobs)
        solution = _solve(work, work.Z[rows], kernel, (params["nu"],))[0]
        support = np.flatnonzero(solution.weights)
        return FittedOCSVM(
            read_only(work.Z[rows[support]]),
            read_only(solution.weights[support]),
            solution.offset,
            kernel,
            work.n_jobs,
        )

    def restore(self, stored: Stored) -> "FittedOCSVM":
        rows = stored.rows()
        weights = stored.array("weights", (len(rows),))
        return FittedOCSVM(rows, weights, stored.number("offset"), stored.word("kernel", _KERNELS), stored.n_jobs)

    def pieces(self, params: Params) -> tuple[Piece, ...]:
        if params["kernel"] == "linear":
            return ()
        return (Piece(self.name, (params["kernel"], params["nu"]), _COST),)

    def pyod_class(self) -> type:
        from pyod.models.ocsvm import OCSVM as Twin

        return Twin  # type: ignore[no-any-return]


def fit_rows(n: int, seed: int) -> NDArray[np.intp]:
    """The rows an OCSVM is fitted on: all of them up to 12,000, a seeded sample of that many above."""
    if n <= MAX_ROWS:
        return np.arange(n)
    rng = np.random.default_rng(int(kernels.random_stream.stream_seed("ocsvm", seed)))
    return np.sort(rng.choice(n, MAX_ROWS, replace=False))


def _solve(work: "SharedWork", Z: FloatArray, kernel: str, nus: tuple[float, ...]) -> "list[kernels.ocsvm.OneClass]":
    """Solutions for each nu over one kernel matrix."""
    shape = kernels.ocsvm.padded_shape(Z.shape[0])
    if work.kernel_room is None or work.kernel_room.shape != shape:
        work.kernel_room = np.empty(shape, dtype=np.float32)
    if work.kernel is None or work.kernel[0] != kernel:
        work.kernel = kernel, kernels.ocsvm.KernelMatrix.of(Z, kernel, room=work.kernel_room, n_jobs=work.n_jobs), {}
    _, matrix, starts = work.kernel
    if not set(nus) <= set(starts):
        # One pass over the matrix serves every nu there is; the usual ones are taken along.
        wanted = tuple(sorted({*nus, *_NUS}))
        starts.update(zip(wanted, kernels.ocsvm.start_gradients(matrix, wanted), strict=True))
    solutions: list[kernels.ocsvm.OneClass | None] = [None] * len(nus)

    def work_on(start: int, stop: int) -> None:
        for c in range(start, stop):
            solutions[c] = kernels.ocsvm.OneClass.solve(matrix, nus[c], starts[nus[c]])

    run_chunks(work_on, len(nus), 1, work.n_jobs)
    return [solution for solution in solutions if solution is not None]


@dataclass(frozen=True, eq=False)
class FittedOCSVM:
    rows: FloatArray
    weights: FloatArray
    offset: float
    kernel: str
    n_jobs: int

    def scores(self, Z: FloatArray) -> FloatArray:
        scores = kernels.ocsvm.new_scores(
            Z, self.rows, self.weights[:, None], np.array([self.offset]), self.kernel, self.n_jobs
        )
        return scores[:, 0]

    def plain(self) -> tuple[Numbers, Arrays]:
        return {"kernel": self.kernel, "offset": float(self.offset)}, {"rows": self.rows, "weights": self.weights}


FAMILY = OCSVM()
