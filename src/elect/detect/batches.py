"""Scores of a table that is read in batches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.detect.scorers import TableScorer
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment, Reading, Table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredBatches:
    """All scores and row ids; the label column if there is one; what was new in the table."""

    scores: FloatArray
    ids: "pl.Series"
    label: "pl.Series | None"
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    reading: Reading | None = None


def score_batches(
    batches: Iterable[Table], treatment: ColumnTreatment, score: TableScorer, label: str | None = None
) -> ScoredBatches:
    """Score every row, one batch at a time. A row's score does not depend on its batch."""
    import polars as pl

    scores: list[FloatArray] = []
    ids, labels = [], []
    unread: Counter[str] = Counter()
    columns: tuple[str, ...] = ()
    reading: Reading | None = None
    for batch in batches:
        if not scores:
            treatment.refuse_unreadable(batch)
        scores.append(score(treatment.transform(batch), batch.frame))
        ids.append(treatment.row_ids(batch))
        unread.update(treatment.unread(batch))
        columns, reading = batch.columns, batch.reading
        if label is not None and label in columns:
            labels.append(batch.frame[label])
    n_rows = sum(map(len, scores))
    return ScoredBatches(
        np.concatenate(scores),
        pl.concat(ids),
        pl.concat(labels) if labels else None,
        columns,
        treatment.surprises(unread, n_rows),
        reading,
    )
