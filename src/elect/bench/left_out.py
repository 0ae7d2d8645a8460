"""Row scorers that know nothing of the source they are judged on: each fold of sources has one, of the others."""

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from elect.bench.rows import without
from elect.committee.scorer import RowScorer
from elect.committee.voices import FAMILIES
from elect.history import row_training
from elect.history.pieces import Pieces
from elect.history.row_training import CLEAN, ERRORS, RowTask, train_row_scorer
from elect.paper.folds import group_folds

INNER_FOLDS = 2
"""Of the calibration inside a fold."""


def fold_scorers(
    tasks: Sequence[RowTask],
    judged: Collection[str],
    n_folds: int,
    pieces: Pieces,
    done: Callable[[], None] = lambda: None,
) -> dict[str, RowScorer]:
    """For each judged group a scorer that was trained and calibrated without it. Folds are of all groups there are."""
    groups = [task.group for task in tasks]
    fold_of = dict(zip(groups, group_folds(groups, n_folds).tolist(), strict=True))
    found: dict[str, RowScorer] = {}
    for fold in sorted({fold_of[group] for group in judged}):
        left_out = [group for group, own in fold_of.items() if own == fold]
        scorer = trained(without(tasks, left_out), pieces)
        found |= {group: scorer for group in left_out if group in judged}
        done()
    return found


def scorer_without_kind(tasks: Sequence[RowTask], kind: str, pieces: Pieces) -> RowScorer:
    """A scorer that saw neither tasks of this kind nor other tasks of their sources. Clean tables go with those that
    have errors."""
    kinds = {ERRORS, CLEAN} if kind in (ERRORS, CLEAN) else {kind}
    groups = {task.group for task in tasks if task.kind in kinds}
    return trained([task for task in without(tasks, groups) if task.kind not in kinds], pieces)


def trained(tasks: Sequence[RowTask], pieces: Pieces) -> RowScorer:
    """A row scorer; one that was trained on the same rows in the same way before is read from the work folder."""
    key = _digest(tasks)
    kept = pieces.get("row_scorer", key)
    if kept is not None:
        return RowScorer(FAMILIES, str(kept["wrong"]), str(kept["unusual"]), kept["calibration"], kept["reliability"])
    scorer = train_row_scorer(tasks, n_folds=INNER_FOLDS)
    arrays = {"calibration": scorer.calibration, "reliability": scorer.reliability}
    pieces.put("row_scorer", key, {"wrong": np.array(scorer.wrong), "unusual": np.array(scorer.unusual), **arrays})
    return scorer


def _digest(tasks: Iterable[RowTask]) -> str:
    state = hashlib.blake2b(digest_size=16)
    state.update(repr((INNER_FOLDS, *row_training.recipe())).encode())
    for task in tasks:
        state.update(repr((task.name, task.group, task.kind, task.features.shape)).encode())
        state.update(np.ascontiguousarray(task.features).data)
        state.update(np.ascontiguousarray(task.y).data)
    return state.hexdigest()
