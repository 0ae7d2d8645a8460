"""Scores of a table that is read in batches."""

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from elect.detect.scorers import TableScorer
from elect.support.arrays import FloatArray
from elect.support.meter import Meter
from elect.tables import ColumnTreatment, Reading, Table
from elect.tables.cells import cells_of_frame
from elect.tables.profile import TableProfile

if TYPE_CHECKING:
    import polars as pl

_Result = TypeVar("_Result")


@dataclass(frozen=True, eq=False)
class ScoredBatches:
    """All scores; the label column if there is one; what was new in the table; how it was read, and what there is to
    say about that; how its columns are spread, where that was asked for."""

    scores: FloatArray
    label: "pl.Series | None"
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    reading: Reading | None = None
    profile: TableProfile | None = None
    remarks: tuple[str, ...] = ()


def drained(work: Generator[int, None, _Result]) -> _Result:
    """What comes out of work that can be watched, for who does not watch it."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: _Result = end.value
            return result


def score_batches(
    batches: Iterable[Table],
    treatment: ColumnTreatment,
    score: TableScorer,
    label: str | None = None,
    like: TableProfile | None = None,
    meter: Meter | None = None,
) -> Generator[int, None, ScoredBatches]:
    """Score every row, one batch at a time; who watches may stop: yields how many rows were scored. A row's score does
    not depend on its batch. The rows are counted in the places of the profile ``like``."""
    import polars as pl

    scores: FloatArray = np.empty(0)
    labels = []
    unread: Counter[str] = Counter()
    columns: tuple[str, ...] = ()
    reading: Reading | None = None
    profile: TableProfile | None = None
    remarks: tuple[str, ...] = ()
    for batch in batches:
        first = len(scores)
        if first == 0:
            treatment.refuse_unreadable(batch)
        own = score(treatment.transform(batch), batch.frame)
        # Grown in place: put together at the end they would be held twice.
        scores.resize(first + len(own), refcheck=False)
        scores[first:] = own
        unread.update(treatment.unread(batch))
        if meter is not None:
            meter.advance(batch.n_rows)
        columns, reading, remarks = batch.columns, batch.reading, batch.remarks
        if like is not None:
            counted = like.count(cells_of_frame(treatment, batch.frame))
            profile = counted if profile is None else profile.plus(counted)
        if label is not None and label in columns:
            labels.append(batch.frame[label])
        yield len(scores)
    return ScoredBatches(
        scores,
        pl.concat(labels) if labels else None,
        columns,
        treatment.surprises(unread, len(scores)),
        reading,
        profile,
        remarks,
    )
