"""New rows scored with a saved detector."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elect.committee.scorer import chance_of
from elect.detect import opened
from elect.detect.batches import score_batches
from elect.detect.committee_reasons import explain_rows
from elect.detect.detection import Evaluation, TopRow, evaluate, false_alarms_of
from elect.detect.findings import Said, places_to_explain, top_rows
from elect.detect.saving import SavedDetector
from elect.detect.threshold import Scorer
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray
from elect.tables import Reading, TableError, iter_batches, read_labels
from elect.tables.errors import unknown_column

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredTable:
    """Every row's score and label, and the most outlying rows with their reasons."""

    row_ids: "pl.Series"
    scores: FloatArray
    labels: NDArray[np.intp]
    top: tuple[TopRow, ...]
    evaluation: Evaluation | None
    notes: tuple[str, ...]
    chance: FloatArray | None = None
    reading: Reading | None = None

    @property
    def false_alarms(self) -> float | None:
        """The share of the flagged rows that is expected to be no outliers."""
        return false_alarms_of(self.chance, self.labels)


def score_file(
    saved: SavedDetector, path: str | PathLike[str], *, top: int = 10, label: str | None = None
) -> ScoredTable:
    """Score the rows of a file, a batch at a time: it may be larger than memory."""
    treatment = saved.treatment
    if treatment is None:
        raise InvalidInput(
            "The detector was fitted on an array without column names: score new rows with load_detector in Python."
        )
    # A label that was only kept from the training table may be missing here, or of one kind: that is no mistake.
    wanted, label = label is not None, treatment.label if label is None else label
    batches = iter_batches(path, opened.ROWS_AT_ONCE)
    found = score_batches(batches, treatment, saved.scorer, label)
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
    cells = opened.cells_at(iter_batches(path, opened.ROWS_AT_ONCE), shown)
    rows = treatment.transform(cells)
    said = Said([()] * len(shown), [None] * len(shown))
    chance = None if saved.committee is None else chance_of(found.scores)
    if saved.committee is not None:
        heard = saved.committee.voices.scores(rows)
        told = explain_rows(saved.committee.committee, treatment, heard, rows, cells)
        said = replace(said, reasons=told.reasons, kinds=told.kinds, chance=chance)
    elif saved.explainer is not None:
        said = replace(said, reasons=saved.explainer.reasons(rows, cells))
    tops = top_rows(shown, found.ids[shown], found.scores, saved.threshold, said)
    labels = (found.scores > saved.threshold).astype(np.intp)
    return ScoredTable(found.ids, found.scores, labels, tops, known, (*found.notes, *few), chance, found.reading)
