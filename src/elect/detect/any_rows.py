"""What the scorer says of any rows, of the table it was fitted on or new: scores, chances, kinds and reasons."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elect.committee.committee import FittedCommittee, cell_summary
from elect.detect.committee_reasons import explain_rows
from elect.detect.detection import Detection, TopRow
from elect.detect.explaining import Explainer
from elect.detect.findings import Said, top_rows
from elect.detect.scorers import TableScorer, cells_of
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows that the voices of a committee were fitted on, and what they said of them: a row that is met again must
    not be its own neighbour, which would make it ordinary."""

    rows: FloatArray
    heard: FloatArray

    @classmethod
    def of(cls, detection: Detection) -> "FittedRows | None":
        if detection.heard is None:
            return None
        whole = len(detection.rows) == len(detection.scores)
        return cls(detection.rows[detection.fitted] if whole else detection.rows, detection.heard)

    @cached_property
    def _place(self) -> dict[bytes, int]:
        return {row.tobytes(): place for place, row in enumerate(self.rows + 0.0)}

    def hear(self, fitted: FittedCommittee, rows: FloatArray) -> FloatArray:
        """What the voices say of rows: what they said of those that were fitted, and of the others as of new ones."""
        at = np.array([self._place.get(row.tobytes(), -1) for row in rows + 0.0], dtype=np.intp)
        heard = np.array(self.heard[at])
        if (at < 0).any():
            heard[at < 0] = fitted.voices.scores(rows[at < 0])
        return heard


@dataclass(frozen=True, eq=False)
class AnyRows:
    """What scores rows, the threshold, and what is known of the fitted ones (None for a detector from a file)."""

    scorer: TableScorer
    threshold: float
    seen: FittedRows | None = None
    explainer: Explainer | None = None

    def explain(self, rows: FloatArray, frame: "pl.DataFrame", ids: "pl.Series") -> tuple[TopRow, ...]:
        """One record for each row, in their order; ``frame`` are the rows as the user has them."""
        n = len(rows)
        every = np.arange(n)
        fitted, treatment = self.scorer.committee, self.scorer.treatment
        said = Said([()] * n, [None] * n)
        if fitted is None:
            scores = self.scorer(rows, frame)
            if self.explainer is not None:
                said = Said(self.explainer.reasons(rows, frame), [None] * n)
        else:
            heard = fitted.voices.scores(rows) if self.seen is None else self.seen.hear(fitted, rows)
            cells = cell_summary(fitted.committee.judge, cells_of(treatment, rows, frame))
            scores = fitted.committee.log_odds(heard, cells)
            found = explain_rows(fitted.committee, treatment, heard, rows, frame)
            said = Said(found.reasons, [None] * n, True, found.kinds)
        return top_rows(every, ids, scores, self.threshold, said)
