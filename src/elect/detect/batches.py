"""Scores of a table that is read in batches."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.detect.scorers import TableScorer
from elect.support.arrays import FloatArray
from elect.support.meter import Meter
from elect.tables import ColumnTreatment, Reading, Table
from elect.tables.cells import cells_of_frame
from elect.tables.profile import TableProfile

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredBatches:
    """All scores; the label column if there is one; what was new in the table; how its columns are spread,
    where that was asked for."""

    scores: FloatArray
    label: "pl.Series | None"
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    reading: Reading | None = None
    profile: TableProfile | None = None


def score_batches(
    batches: Iterable[Table],
    treatment: ColumnTreatment,
    score: TableScorer,
    label: str | None = None,
    like: TableProfile | None = None,
    meter: Meter | None = None,
) -> ScoredBatches:
    """Score every row, one batch at a time. A row's score does not depend on its batch. The rows are counted in the
    places of the profile ``like``."""
    import polars as pl

    scores: list[FloatArray] = []
    labels = []
    unread: Counter[str] = Counter()
    columns: tuple[str, ...] = ()
    reading: Reading | None = None
    profile: TableProfile | None = None
    for batch in batches:
        if not scores:
            treatment.refuse_unreadable(batch)
        scores.append(score(treatment.transform(batch), batch.frame))
        unread.update(treatment.unread(batch))
        if meter is not None:
            meter.advance(batch.n_rows)
        columns, reading = batch.columns, batch.reading
        if like is not None:
            counted = like.count(cells_of_frame(treatment, batch.frame))
            profile = counted if profile is None else profile.plus(counted)
        if label is not None and label in columns:
            labels.append(batch.frame[label])
    n_rows = sum(map(len, scores))
    return ScoredBatches(
        np.concatenate(scores),
        pl.concat(labels) if labels else None,
        columns,
        treatment.surprises(unread, n_rows),
        reading,
        profile,
    )
