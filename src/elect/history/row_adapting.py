"""A team's own labelled tables lean the row scorer towards what they call an outlier; a small history leans it less.

A few trees go on from what the shipped scorer says of the rows. They are kept only where they gain on tables that they
had not seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from elect.committee.scorer import RowScorer
from elect.core import LabeledTask
from elect.core.metrics import average_precision
from elect.history.pieces import Pieces, digest, task_digest
from elect.history.row_training import OWN_GROWTH, RowTask, describe_array, grow
from elect.paper.folds import group_folds
from elect.support.meter import Meter
from elect.support.trees import TreeEnsemble

LEAST_GROUPS = 3
HALF = 10.0
"""With so many sources, what the own tables say counts half."""

_VERSION = 1


@dataclass(frozen=True)
class Leaning:
    """What the own tables added: mean average precision on left-out ones without and with it, and the standard error of
    the difference. ``kept`` tells whether it is in the scorer."""

    tasks: int
    before: float
    after: float
    error: float
    kept: bool


def row_tasks(tasks: Sequence[LabeledTask], pieces: Pieces, bar: Meter) -> list[RowTask]:
    """The tasks with their rows described, each kept as a piece."""
    bar.stage("describing rows", len(tasks))
    found = []
    for task in tasks:
        key = digest(_VERSION, task_digest(task))
        piece = pieces.get("rows", key)
        if piece is None or set(piece) != {"features"}:
            piece = {"features": describe_array(task.X)}
            pieces.put("rows", key, piece)
        found.append(RowTask(task.name, task.group, "own", piece["features"], task.y))
        bar.advance()
    return found


def adapt(base: RowScorer, tasks: Sequence[RowTask]) -> tuple[RowScorer, Leaning | None]:
    """The scorer leaned towards these tasks where that gains; with too few sources nothing can be left out to tell."""
    groups = [task.group for task in tasks]
    if len(set(groups)) < LEAST_GROUPS:
        return base, None
    plain = replace(base, own="", own_weight=0.0)
    said = [plain.log_odds(task.features.astype(np.float64)) for task in tasks]
    fold_of = group_folds(groups, min(5, len(set(groups))))
    before, after = np.zeros(len(tasks)), np.zeros(len(tasks))
    for fold in np.unique(fold_of):
        inside = [place for place in range(len(tasks)) if fold_of[place] != fold]
        leaned = _leaned(plain, [tasks[p] for p in inside], [said[p] for p in inside])
        trees = TreeEnsemble.from_lightgbm_text(leaned.own)
        for place in np.flatnonzero(fold_of == fold).tolist():
            own = trees.predict(tasks[place].features.astype(np.float64))
            both = np.column_stack([said[place], said[place] + leaned.own_weight * own])
            before[place], after[place] = average_precision(both, tasks[place].y)
    gain = np.array([(after - before)[np.array(groups) == group].mean() for group in sorted(set(groups))])
    error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    kept = bool(gain.mean() > error)
    told = Leaning(len(tasks), float(before.mean()), float(after.mean()), error, kept)
    return (_leaned(plain, tasks, said) if kept else base), told


def _leaned(base: RowScorer, tasks: Sequence[RowTask], said: Sequence[np.ndarray]) -> RowScorer:
    groups = len({task.group for task in tasks})
    text = grow(tasks, {"own": 1.0}, OWN_GROWTH, 0, start=said)
    return replace(base, own=text, own_weight=groups / (groups + HALF))
