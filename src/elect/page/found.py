"""What a search found in a table: chances, reasons, the map, files to leave with; and what answers do to it."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from elect.answers import Feedback, open_scores
from elect.core import Selection
from elect.detect.agreement import FamilyAgreement, family_agreement
from elect.detect.detection import Detection
from elect.detect.election import Election
from elect.detect.explaining import Explainer, explainer_for_fitted
from elect.detect.findings import findings_of
from elect.detect.output import table_bytes
from elect.detect.saving import kept, saved_bytes
from elect.errors import InvalidInput
from elect.page._base import Aim, ColumnFacts, Download, DownloadKind, Placed, Ranking, Reason
from elect.page.together import ONE_KIND, Together, over_all_rows
from elect.report.reporting import report_of
from elect.report.snippet import code
from elect.report.summary import plane, rows_to_draw
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

    from elect.page.product import TableProduct

_EXPLAINED = 200
_FIRST_REASONS = 100
_CUT = 3.0
"""A row is like another if most columns are: a difference counts up to so many deviations."""


class TableFound:
    """A finished election. Answers need every model of the pool; after a search that was stopped they place their own
    rows only."""

    def __init__(self, product: "TableProduct", election: Election, selection: Selection, together: Together) -> None:
        self._product = product
        self._election = election
        self._together = together
        self._unlabelled = selection
        self._detection = election.detect(selection)
        self._told: dict[int, bool | None] = {}
        self._lock = threading.Lock()
        self._reasons: dict[int, list[Reason]] = {}
        self._feedback = self._new_feedback()
        self._place = np.full(product.frame.height, -1)
        self._place[election.positions] = np.arange(len(election.positions))
        self._first = self.ranking().chance
        self.reasons([int(row) for row in np.argsort(-self._first, kind="stable")[:_FIRST_REASONS]])

    # What was found.

    @property
    def selection(self) -> Selection:
        return self._unlabelled if self._feedback is None else self._feedback.selection

    @cached_property
    def columns(self) -> Sequence[ColumnFacts]:
        assert self._election.treatment is not None
        return tuple(
            ColumnFacts(s.column, s.role, s.kind, s.done, s.why, s.missing) for s in self._election.treatment.summary()
        )

    @cached_property
    def agreement(self) -> FamilyAgreement:
        return family_agreement(self._election.scorer, self._unlabelled.evaluated)

    @property
    def notes(self) -> Sequence[str]:
        detection = self._detection
        known = [] if detection.evaluation is None else [str(detection.evaluation)]
        partly = ["answers speak for similar rows once the whole pool was scored"] if self._feedback is None else []
        return [*known, *detection.selection.notes, *detection.notes, *partly]

    def ranking(self) -> Ranking:
        feedback = self._feedback
        seen = self._together.chance() if feedback is None else feedback.chance
        chance = over_all_rows(seen, self._election.positions, self._detection.scores)
        for row, said in self._told.items():
            if said is not None:
                chance[row] = max(chance[row], 0.95) if said else min(chance[row], 0.05)
        return Ranking(
            chance=chance,
            kind=np.zeros(len(chance), np.int8),
            kinds=ONE_KIND,
            threshold=0.5 if feedback is None else feedback.threshold,
            pick=self.selection.model_id,
            left=None if feedback is None else str(feedback.left),
        )

    def reasons(self, positions: Sequence[int]) -> Sequence[Sequence[Reason]]:
        with self._lock:
            new = [row for row in positions if row not in self._reasons]
            if new:
                cells = self._product.frame[new]
                assert self._election.treatment is not None
                found = self._explainer.reasons(self._election.treatment.transform(cells), cells)
                for row, why in zip(new, found, strict=True):
                    self._reasons[row] = [Reason(r.column, r.usual, r.share) for r in why]
            return [self._reasons[row] for row in positions]

    @cached_property
    def _explainer(self) -> Explainer:
        election = self._election
        assert election.treatment is not None
        top = np.argsort(-self._first, kind="stable")[:_EXPLAINED]
        places = self._place[top]
        return explainer_for_fitted(
            self._detection.detector,
            election.database.pool[self._detection.selection.model_id],
            election.rows,
            [int(place) for place in places[places >= 0]],
            election.treatment,
        )

    @cached_property
    def _rows_at(self) -> IntArray:
        """The positions of the rows of the numeric matrix that is held."""
        detection = self._detection
        whole = len(detection.rows) == len(detection.scores)
        return np.arange(len(detection.scores)) if whole else np.asarray(detection.fitted)

    @cached_property
    def _plane(self) -> tuple[FloatArray, float]:
        return plane(self._detection.rows)

    def placed(self) -> Placed:
        xy, shown = self._plane
        drawn = rows_to_draw(self._first[self._rows_at], self._product.options.seed)
        which = wording.count(len(drawn), "row")
        if len(drawn) < len(self._first):
            which = f"{wording.count(len(drawn))} of {wording.count(len(self._first), 'row')}"
        note = (
            f"{which} along the two directions in which the table varies most ({wording.percent(shown)} of its "
            "variance). A row that looks ordinary here can be unusual in what the picture does not show."
        )
        return Placed(self._rows_at[drawn], xy[drawn], note)

    def ordinary_like(self, position: int) -> int | None:
        rows, at = self._detection.rows, self._rows_at
        ordinary = np.flatnonzero(self._first[at] <= np.median(self._first[at]))
        ordinary = ordinary[at[ordinary] != position]
        if len(ordinary) == 0:
            return None
        own = self._matrix_row(position)
        away = np.square(np.minimum(np.abs(rows[ordinary] - own), _CUT)).sum(axis=1)
        return int(at[ordinary[np.argmin(away)]])

    def _matrix_row(self, position: int) -> FloatArray:
        place = np.flatnonzero(self._rows_at == position)
        if len(place):
            found: FloatArray = self._detection.rows[place[0]]
            return found
        assert self._election.treatment is not None
        made: FloatArray = self._election.treatment.transform(self._product.frame[[position]])[0]
        return made

    def model_scores(self, model_id: str) -> FloatArray:
        scores = np.full(self._product.frame.height, np.nan)
        scores[self._election.positions] = self._election.scorer.scores(model_id)
        return scores

    # Answers.

    def ask(self, aim: Aim) -> int | None:
        if len(self._told) >= self._product.frame.height:
            return None
        if aim == "learn" and self._feedback is not None and len(self._feedback.answers) < self._feedback.n_rows:
            return int(self._election.positions[self._feedback.ask("learn")])
        chance = self.ranking().chance
        chance[list(self._told)] = -1.0
        return int(np.argmax(chance))

    def tell(self, position: int, said: bool | None) -> str:
        place = int(self._place[position])
        self._told[position] = said
        return self._feedback.tell(place, said) if self._feedback is not None and place >= 0 else ""

    def undo(self) -> None:
        position, _ = self._told.popitem()
        if self._feedback is not None and self._place[position] >= 0:
            self._feedback.undo()

    def _new_feedback(self) -> Feedback | None:
        election = self._election
        if len(self._unlabelled.evaluated) + len(self._unlabelled.failures) < len(election.database.pool):
            return None
        try:
            columns = np.asarray(election.scorer.work.Z)
            evidence = open_scores(election.database, election.scorer, columns, self._unlabelled)
            return Feedback.of(*evidence, random_state=self._product.options.seed)
        except InvalidInput:
            return None  # a database without calibration, or of another metric

    # What to leave with.

    def download(self, kind: DownloadKind, ranking: Ranking, threshold: float) -> Download:
        stem = self._product.path.stem
        if kind == "report":
            detection = self._detected()
            page = report_of(detection, findings_of(self._election, detection))
            return Download(f"{stem}.report.html", "text/html; charset=utf-8", page.encode())
        if kind == "detector":
            content = saved_bytes(kept(self._detected(), self._explainer))
            return Download(f"{stem}.elect-detector", "application/octet-stream", content)
        content = table_bytes(self._frame(ranking, threshold), f".{kind}")
        media = "text/csv; charset=utf-8" if kind == "csv" else "application/octet-stream"
        return Download(f"{stem}.outliers.{kind}", media, content)

    def _detected(self) -> Detection:
        """The detection with the model that the answers elected."""
        chosen = self.selection
        if chosen.model_id != self._detection.selection.model_id:
            return self._election.detect(chosen)
        return replace(self._detection, selection=replace(chosen, notes=self._detection.selection.notes))

    def _frame(self, ranking: Ranking, threshold: float) -> "pl.DataFrame":
        import polars as pl

        above = ranking.chance >= threshold
        texts: list[str | None] = [None] * len(above)
        for row, why in self._reasons.items():
            if above[row] and why:
                texts[row] = "; ".join(f"{r.column} ({r.usual})" if r.usual else r.column for r in why)
        return self._product.frame.with_columns(
            pl.Series("elect_score", self._detection.scores),
            pl.Series("elect_chance", ranking.chance),
            pl.Series("elect_outlier", above).cast(pl.Int8),
            pl.Series(
                "elect_kind", [ranking.kinds[k] if a else None for k, a in zip(ranking.kind, above, strict=True)]
            ),
            pl.Series("elect_reasons", texts, dtype=pl.String),
        )

    def snippet(self, threshold: float) -> str:
        product = self._product
        return code(str(product.path), product.frame.columns, self._election.options, self.selection)
