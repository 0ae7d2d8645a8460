"""How well a method finds the rows with wrong values, and whether it points at the wrong cell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from elect.bench.testbeds.errors import ErrorTask
from elect.core.metrics import average_precision
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray


@dataclass(frozen=True)
class Judged:
    """A ranking of the rows of one task against the truth.

    ``found``: wrong rows among as many first rows as there are wrong ones. ``named``: those of them whose cell that was
    named first is a wrong one; None where the method names none.
    """

    task: str
    group: str
    ap: float
    found: int = 0
    named: int | None = None


def judge(task: ErrorTask, scores: FloatArray, named: Sequence[str | None] | None = None) -> Judged:
    """Judge the scores of the rows and, where a method names one, the column it names first for each row."""
    if scores.shape != task.y.shape or (named is not None and len(named) != len(scores)):
        raise InvalidInput(f"{task.name!r} has {len(task.y)} rows: one score and one named column are needed for each.")
    ap = float(average_precision(scores[:, None], task.y)[0])
    first = np.argsort(-scores, kind="stable")[: int(task.y.sum())]
    found = [int(row) for row in first if task.y[row]]
    if named is None:
        return Judged(task.name, task.group, ap, len(found))
    wrong = {(cell.row, cell.column) for cell in task.cells}
    return Judged(task.name, task.group, ap, len(found), sum((row, named[row]) in wrong for row in found))


@dataclass(frozen=True)
class MethodSummary:
    """A method over a testbed. ``named_first``: the share of the found rows whose wrong cell was named first."""

    name: str
    mean_ap: float
    standard_error: float
    tasks: int
    groups: int
    named_first: float | None


def summarize(name: str, judged: Iterable[Judged]) -> MethodSummary:
    """The mean over tasks, all of equal weight. Tasks of one group err together: the standard error is by group.

    >>> two = [Judged("a", "g", 0.5, 4, 3), Judged("b", "h", 0.7, 0, 0)]
    >>> summary = summarize("x", two)
    >>> round(summary.mean_ap, 3), round(summary.standard_error, 3), summary.named_first
    (0.6, 0.1, 0.75)
    """
    every = tuple(judged)
    if not every:
        raise InvalidInput("A method can be judged on at least one task, got none.")
    ap = np.array([one.ap for one in every])
    names = [one.group for one in every]
    groups = sorted(set(names))
    error = float("nan")
    if len(groups) > 1:
        totals = np.bincount([groups.index(group) for group in names], ap - ap.mean())
        error = float(np.sqrt(len(groups) / (len(groups) - 1) * (totals**2).sum()) / len(ap))
    found = sum(one.found for one in every if one.named is not None)
    named = sum(one.named for one in every if one.named is not None)
    return MethodSummary(name, float(ap.mean()), error, len(every), len(groups), named / found if found else None)
