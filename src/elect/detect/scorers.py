"""How rows are scored: by the committee, or by the elected model alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.answers.evidence import committee_signals
from elect.answers.model import AnswerModel
from elect.committee.committee import FittedCommittee
from elect.support.arrays import FloatArray
from elect.support.threads import run_chunks
from elect.tables import ColumnTreatment
from elect.tables.cells import Cells, cells_of_array, cells_of_frame

if TYPE_CHECKING:
    import polars as pl

ROWS_TOGETHER = 4_096
"""Rows that a thread judges at a time: all that is known of them fits into a processor's cache."""


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
        if self.committee is None:
            scores: FloatArray = self.detector.decision_function(rows)
            return scores
        found = np.empty(len(rows))
        own = self.committee.in_one_thread

        def work(start: int, stop: int) -> None:
            here = slice(start, stop)
            found[here] = self._judged(own, rows[here], None if frame is None else frame[here])

        run_chunks(work, len(rows), ROWS_TOGETHER, self.committee.voices.n_jobs)
        return found

    def one_by_one(self, rows: FloatArray, frame: "pl.DataFrame | None") -> FloatArray:
        """The same in one thread."""
        assert self.committee is not None
        return self._judged(self.committee.in_one_thread, rows, frame)

    def _judged(self, committee: FittedCommittee, rows: FloatArray, frame: "pl.DataFrame | None") -> FloatArray:
        """What the committee says, answers counted."""
        features = committee.describe(rows, cells_of(self.treatment, rows, frame))
        log_odds, experts = committee.committee.scorer.judged(features)
        if self.answers is None:
            return log_odds
        signals = committee_signals(committee.committee, features, experts)
        columns = committee.voices.standardizer.transform(rows)
        return log_odds + self.answers.log_odds_shift(columns, signals)


def cells_of(treatment: ColumnTreatment | None, rows: FloatArray, frame: "pl.DataFrame | None") -> Cells:
    """The cells of rows as the committee judges them."""
    if treatment is None or frame is None:
        return cells_of_array(rows)
    return cells_of_frame(treatment, frame)
