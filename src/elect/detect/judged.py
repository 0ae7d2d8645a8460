"""What a saved detector says of some rows: scores, and kinds and reasons of those that are flagged."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.detect.committee_reasons import explain_rows
from elect.detect.detection import TopRow
from elect.detect.findings import Said, top_rows
from elect.detect.result_table import result_columns
from elect.detect.saving import SavedDetector
from elect.support.arrays import FloatArray, IntArray
from elect.tables import Table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Known:
    """The rows that a detector was fitted on: their positions in ascending order, their scores, and what the voices of
    the committee said of them (None: a model scores). Met again they are not their own neighbours."""

    positions: IntArray
    scores: FloatArray
    heard: FloatArray | None

    def among(self, first: int, n: int) -> tuple[IntArray, slice]:
        """Which of ``n`` rows from ``first`` on were fitted, and where they are here."""
        start, stop = np.searchsorted(self.positions, [first, first + n])
        here = slice(int(start), int(stop))
        return self.positions[here] - first, here


NOBODY = Known(np.empty(0, dtype=np.intp), np.empty(0), None)


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows that were scored, the first of them at ``first`` of the table they are part of."""

    saved: SavedDetector
    table: Table
    first: int
    rows: FloatArray
    scores: FloatArray
    known: Known

    def explain(self, places: IntArray) -> tuple[TopRow, ...]:
        """The rows at these places, with what speaks for them."""
        saved, treatment = self.saved, self.saved.treatment
        assert treatment is not None
        rows, frame = self.rows[places], self.table.frame[places]
        said = Said([()] * len(places), [None] * len(places))
        if saved.committee is not None and len(places):
            found = explain_rows(saved.committee.committee, treatment, self._heard(places, rows), rows, frame)
            said = Said(found.reasons, said.agreeing, True, found.kinds)
        elif saved.explainer is not None:
            said = Said(saved.explainer.reasons(rows, frame), said.agreeing)
        names = treatment.row_ids(self.table)[places]
        return top_rows(places + self.first, names, self.scores[places], saved.threshold, said)

    def _heard(self, places: IntArray, rows: FloatArray) -> FloatArray:
        assert self.saved.committee is not None
        heard = self.saved.committee.voices.scores(rows)
        at, here = self.known.among(self.first, len(self.scores))
        if self.known.heard is not None:
            own = np.flatnonzero(np.isin(places, at))
            heard[own] = self.known.heard[here][np.searchsorted(at, places[own])]
        return heard

    def results(self, told: tuple[TopRow, ...]) -> "pl.DataFrame":
        """The result columns, with the kinds and reasons of rows that are told of."""
        kinds: list[str | None] = [None] * len(self.scores)
        whys = list(kinds)
        for row in told:
            kinds[row.position - self.first], whys[row.position - self.first] = row.kind, row.why
        return result_columns(self.scores, self.saved.threshold, self.saved.committee is not None, kinds, whys)


def judge(saved: SavedDetector, table: Table, first: int = 0, known: Known = NOBODY) -> Judged:
    """Score rows, each as if it came alone; those that are known keep their scores."""
    assert saved.treatment is not None
    rows = saved.treatment.transform(table)
    scores = np.array(saved.scorer(rows, table.frame))
    at, here = known.among(first, len(scores))
    scores[at] = known.scores[here]
    return Judged(saved, table, first, rows, scores, known)
