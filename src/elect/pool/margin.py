"""The family of one-class support vector machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.core.models import ParamValue
from elect.pool import ocsvm
from elect.pool.work import SharedWork
from elect.support.arrays import FloatArray, read_only
from elect.support.compiled import announce_compilation
from elect.support.threads import run_chunks

_USUAL = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class OCSVM:
    name = "OCSVM"
    defaults: Mapping[str, ParamValue] = {"kernel": "rbf", "nu": 0.5}

    def supports(self, params: Mapping[str, Any]) -> bool:
        return (
            set(params) <= set(self.defaults)
            and params["kernel"] in ocsvm.KERNELS
            and isinstance(params["nu"], float)
            and 0 < params["nu"] <= 1
        )

    def group(self, params: Mapping[str, Any], n_rows: int) -> tuple[Any, ...]:
        # Each nu is solved when it is asked for, over a kernel matrix that stays; but rows beyond the fitted ones are
        # scored for every nu at once, since that computes kernels anew.
        return (params["kernel"],) if n_rows > ocsvm.MAX_ROWS else (params["kernel"], params["nu"])

    def scores(self, work: SharedWork, params: Sequence[Mapping[str, Any]]) -> FloatArray:
        kernel = params[0]["kernel"]
        if kernel == "linear":
            return np.zeros((work.n_rows, len(params)))
        rows = ocsvm.fit_rows(work.n_rows, work.seed)
        fitted = work.Z[rows]
        solutions = _solve(work, fitted, kernel, tuple(p["nu"] for p in params))
        for p, solution in zip(params, solutions, strict=True):
            if not solution.converged:
                work.remarks[self.name, kernel, p["nu"]] = f"stopped after {solution.iterations:,} iterations"
        if len(rows) == work.n_rows:
            return np.column_stack([solution.fitted_scores for solution in solutions])
        weights = np.column_stack([solution.weights for solution in solutions])
        offsets = np.array([solution.offset for solution in solutions])
        return ocsvm.new_scores(work.Z, fitted, weights, offsets, kernel, work.n_jobs)

    def note(self, work: SharedWork, params: Mapping[str, Any]) -> str | None:
        if params["kernel"] == "linear":
            return "on standardised columns the linear kernel's optimum is the zero vector: every row scores 0"
        notes = []
        if work.n_rows > ocsvm.MAX_ROWS:
            notes.append(f"fitted on a seeded sample of {ocsvm.MAX_ROWS:,} of the {work.n_rows:,} rows, scored on all")
        if (remark := work.remarks.get((self.name, params["kernel"], params["nu"]))) is not None:
            notes.append(remark)
        return "; ".join(notes) or None

    def fit(self, work: SharedWork, params: Mapping[str, Any]) -> "FittedOCSVM":
        rows = ocsvm.fit_rows(work.n_rows, work.seed)
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


def _solve(work: SharedWork, Z: FloatArray, kernel: str, nus: tuple[float, ...]) -> list[ocsvm.OneClass]:
    """Solutions for each nu over one kernel matrix."""
    announce_compilation(ocsvm._minimise)
    shape = ocsvm.padded_shape(Z.shape[0])
    if work.kernel_room is None or work.kernel_room.shape != shape:
        work.kernel_room = np.empty(shape, dtype=np.float32)
    if work.kernel is None or work.kernel[0] != kernel:
        work.kernel = kernel, ocsvm.KernelMatrix.of(Z, kernel, room=work.kernel_room, n_jobs=work.n_jobs), {}
    _, matrix, starts = work.kernel
    if not set(nus) <= set(starts):
        # One pass over the matrix serves every nu there is; the usual ones are taken along.
        wanted = tuple(sorted({*nus, *_USUAL}))
        starts.update(zip(wanted, ocsvm.start_gradients(matrix, wanted), strict=True))
    solutions: list[ocsvm.OneClass | None] = [None] * len(nus)

    def work_on(start: int, stop: int) -> None:
        for c in range(start, stop):
            solutions[c] = ocsvm.OneClass.solve(matrix, nus[c], starts[nus[c]])

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
        scores = ocsvm.new_scores(
            Z, self.rows, self.weights[:, None], np.array([self.offset]), self.kernel, self.n_jobs
        )
        return scores[:, 0]
