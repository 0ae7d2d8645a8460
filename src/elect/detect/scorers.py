"""How rows are scored: by the committee, or by the elected model alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elect.answers.evidence import committee_signals
from elect.answers.model import AnswerModel
from elect.committee.committee import FittedCommittee
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment
from elect.tables.cells import Cells, cells_of_array, cells_of_frame

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class TableScorer:
    """Scores rows that are not of the fitted ones. Without a committee the elected detector scores them; answers that
    were given count."""

    detector: Any
    treatment: ColumnTreatment | None
    committee: FittedCommittee | None
    answers: AnswerModel | None = None

    def __call__(self, rows: FloatArray, frame: "pl.DataFrame | None") -> FloatArray:
        """The scores of rows, given as the numeric matrix and as the user has them (None for an array)."""
        if self.committee is not None:
            features = self.committee.describe(rows, cells_of(self.treatment, rows, frame))
            log_odds = self.committee.committee.scorer.log_odds(features)
            if self.answers is None:
                return log_odds
            signals = committee_signals(self.committee.committee, features)
            columns = self.committee.voices.standardizer.transform(rows)
            return log_odds + self.answers.log_odds_shift(columns, signals)
        scores: FloatArray = self.detector.decision_function(rows)
        return scores


def cells_of(treatment: ColumnTreatment | None, rows: FloatArray, frame: "pl.DataFrame | None") -> Cells:
    """The cells of rows as the committee judges them."""
    if treatment is None or frame is None:
        return cells_of_array(rows)
    return cells_of_frame(treatment, frame)
