"""New rows scored with a saved detector."""

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elect.detect import opened
from elect.detect.batches import drained, score_batches
from elect.detect.committee_reasons import explain_rows
from elect.detect.detection import Evaluation, TopRow, alarms_above, evaluate
from elect.detect.drift import Drift, drift_of
from elect.detect.findings import Said, places_to_explain, top_rows
from elect.detect.saving import SavedDetector
from elect.detect.threshold import Scorer
from elect.errors import InvalidInput
from elect.support.ahead import ahead
from elect.support.arrays import FloatArray
from elect.support.meter import Meter
from elect.tables import Reading, Table, TableError, iter_batches, read_labels
from elect.tables.errors import unknown_column

if TYPE_CHECKING:
    import polars as pl

NO_NAMES = "The detector was fitted on an array without column names: score new rows with load_detector in Python."


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """Every row's score, the most outlying rows with their reasons, what scored them, and what changed since the
    detector was made."""

    saved: SavedDetector
    scores: FloatArray
    top: tuple[TopRow, ...]
    evaluation: Evaluation | None
    notes: tuple[str, ...]
    id_name: str
    reading: Reading | None = None
    drift: Drift | None = None

    @property
    def threshold(self) -> float:
        return self.saved.threshold

    @property
    def by_chance(self) -> bool:
        """Whether scores are log-odds, from which chances are made."""
        return self.saved.committee is not None

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        """1 for an outlier, a row above the threshold; 0 otherwise."""
        return (self.scores > self.threshold).astype(np.int8)

    @property
    def false_alarms(self) -> float | None:
        """The share of the flagged rows that is expected to be no outliers."""
        return alarms_above(self.scores, self.threshold) if self.by_chance else None

    def names(self, rows: Table) -> "pl.Series":
        """What names rows of the table."""
        assert self.saved.treatment is not None
        return self.saved.treatment.row_ids(rows)


def score_file(
    saved: SavedDetector,
    path: str | PathLike[str],
    *,
    top: int = 10,
    label: str | None = None,
    meter: Meter | None = None,
) -> ScoredTable:
    """Score the rows of a file, a batch at a time: it may be larger than memory. ``meter`` counts the rows."""
    treatment = saved.treatment
    if treatment is None:
        raise InvalidInput(NO_NAMES)
    # A label that was only kept from the training table may be missing here, or of one kind: that is no mistake.
    wanted, label = label is not None, treatment.label if label is None else label
    batches = ahead(iter_batches(path, opened.ROWS_AT_ONCE))
    found = drained(score_batches(batches, treatment, saved.scorer, label, saved.profile, meter))
    if wanted and found.label is None:
        raise unknown_column(str(label), "--label", found.columns)
    known = None
    if found.label is not None:
        try:
            known = evaluate(found.scores, read_labels(found.label))
        except TableError:
            if wanted:
                raise
    scorer: Scorer = "model" if saved.committee is None else "committee"
    shown, few = places_to_explain(found.scores, saved.threshold, top, scorer)
    some = opened.rows_at(iter_batches(path, opened.ROWS_AT_ONCE), shown)
    cells = some.frame
    rows = treatment.transform(cells)
    said = Said([()] * len(shown), [None] * len(shown))
    if saved.committee is not None:
        heard = saved.committee.voices.scores(rows)
        told = explain_rows(saved.committee.committee, treatment, heard, rows, cells)
        said = Said(told.reasons, said.agreeing, True, told.kinds)
    elif saved.explainer is not None:
        said = replace(said, reasons=saved.explainer.reasons(rows, cells))
    names = treatment.row_ids(some)
    tops = top_rows(shown, names, found.scores[shown], saved.threshold, said)
    drift = drift_of(saved.profile, found.profile, saved.scores, found.scores, saved.threshold)
    notes = (*found.remarks, *found.notes, *few)
    return ScoredTable(saved, found.scores, tops, known, notes, names.name, found.reading, drift)
