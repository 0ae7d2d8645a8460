"""New rows scored with a saved detector."""

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.detect.batches import score_batches
from elect.detect.detection import MOST_EXPLAINED, Evaluation, TopRow, evaluate
from elect.detect.explaining import Reason
from elect.detect.opened import ROWS_AT_ONCE
from elect.detect.saving import SavedDetector
from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables import TableError, iter_batches, read_labels
from elect.tables.errors import unknown_column

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """Every row's score and label, and the most outlying rows with their reasons."""

    row_ids: "pl.Series"
    scores: FloatArray
    labels: Any
    top: tuple[TopRow, ...]
    evaluation: Evaluation | None
    notes: tuple[str, ...]


def score_file(
    saved: SavedDetector, path: str | PathLike[str], *, top: int = 10, label: str | None = None, rows: int | None = None
) -> ScoredTable:
    """Score the rows of a file, a batch at a time: it may be larger than memory."""
    detector = saved.detector
    size = ROWS_AT_ONCE if rows is None else rows
    batches = iter_batches(path, size)
    # A label that was only kept from the training table may be missing here, or of one kind: that is no mistake.
    wanted = label is not None
    if label is None and detector.treatment_ is not None:
        label = detector.treatment_.label
    found = score_batches(batches, detector, keep=max(top, MOST_EXPLAINED), label=label)
    labels = (found.scores > detector.threshold_).astype(int)
    count = max(top, min(int(labels.sum()), MOST_EXPLAINED))
    order = np.argsort(-found.scores[found.positions], kind="stable")[:count]
    cells = found.top[order]
    reasons: tuple[tuple[Reason, ...], ...] = ((),) * len(order)
    if saved.explainer is not None:
        reasons = saved.explainer.reasons(found.top_rows[order], cells)
    tops = tuple(
        TopRow(
            position=int(position),
            id=wording.short(str(found.ids[int(position)])),
            score=float(found.scores[position]),
            is_outlier=bool(labels[position]),
            reasons=reasons[place],
        )
        for place, position in enumerate(found.positions[order])
    )
    if wanted and found.label is None:
        raise unknown_column(str(label), "--label", found.top.columns)
    known = None
    if found.label is not None:
        try:
            known = evaluate(found.scores, read_labels(found.label))
        except TableError:
            if wanted:
                raise
    return ScoredTable(found.ids, found.scores, labels, tops, known, found.notes)
