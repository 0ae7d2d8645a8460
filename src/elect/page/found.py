"""What was found in a table: chances, kinds, reasons, the map, files to leave with; and what answers do to it."""

import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logit

from elect.answers.space import Placed as InSpace
from elect.committee.committee import KINDS, FittedCommittee
from elect.committee.scorer import chance_of
from elect.core import Selection
from elect.detect.agreement import FamilyAgreement, family_agreement
from elect.detect.asked import asked_positions, likely_others
from elect.detect.committee_reasons import explain_rows
from elect.detect.detection import Detection
from elect.detect.election import Election
from elect.detect.findings import findings_of, heard_at
from elect.detect.scorers import cells_of
from elect.page._base import Aim, ColumnFacts, Download, DownloadKind, Placed, Ranking, Reason
from elect.report.snippet import answered_code, code
from elect.report.summary import plane, rows_to_draw
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnTreatment

if TYPE_CHECKING:
    import polars as pl

    from elect.page.product import TableProduct

_YES, _NO = 0.95, 0.05
_UNKNOWN = 1e-4
_FIRST_REASONS = 100
# Kinds are told of rows that are likely at all, and of some more.
_LIKELY, _FEWEST_KINDS, _MOST_KINDS = 0.1, 200, 2000
MOST_POINTS = 4000
"""A canvas draws more rows than the picture of a report."""

_UNHEARD = "# The answers are not part of these lines; the detector to download has heard them."

_CUT = 3.0
"""A row is like another if most columns are: a difference counts up to so many deviations."""


class TableFound:
    """What the committee says of the rows, and from ``elected`` on what the election says of the models. ``early``
    knows only the rows that were looked at first; all others come last, and files leave them empty."""

    def __init__(self, product: "TableProduct", election: Election, *, early: bool = False) -> None:
        said = election.first_look if early else election.committee
        assert said is not None
        assert said.heard is not None
        assert said.scorer.committee is not None
        assert election.treatment is not None
        self._product = product
        self._election = election
        self._early = early
        self._treatment: ColumnTreatment = election.treatment
        self._committee: FittedCommittee = said.scorer.committee
        self._heard: FloatArray = said.heard
        self._log_odds: FloatArray = said.scores
        if early:
            self._log_odds = np.full(product.frame.height, float(logit(_UNKNOWN)))
            self._log_odds[election.positions] = said.scores
        self._first = chance_of(self._log_odds)
        self._beyond = None if early else likely_others(election)
        self._asked: IntArray = asked_positions(election, self._beyond)
        self._place = np.full(len(self._first), -1)
        self._place[self._asked] = np.arange(len(self._asked))
        self._told: dict[int, bool | None] = {}
        self._feedback = election.feedback(others=self._beyond)
        self._elects = False
        self._selection: Selection | None = None
        self._detection: Detection | None = None
        self._lock = threading.Lock()
        self._reasons: dict[int, list[Reason]] = {}
        self.reasons(self._top[:_FIRST_REASONS].tolist())

    def elected(self, selection: Selection) -> None:
        """Take the pick. Where all models of the pool were scored, answers elect from now on."""
        election = self._election
        self._detection = None if self._early else election.detect(selection)
        self._elects = len(selection.evaluated) == len(election.database.pool)
        if self._elects:
            feedback = election.feedback(selection, others=self._beyond)
            feedback.resume(self._feedback.answers)
            self._feedback = feedback
        self._selection = selection
        _ = self._others  # so that the first answer need not wait for it

    # What was found.

    @property
    def selection(self) -> Selection | None:
        return self._feedback.selection if self._selection is not None and self._elects else self._selection

    @cached_property
    def columns(self) -> Sequence[ColumnFacts]:
        return tuple(ColumnFacts(s.column, s.role, s.kind, s.done, s.why, s.missing) for s in self._treatment.summary())

    @cached_property
    def agreement(self) -> FamilyAgreement:
        assert self._selection is not None
        return family_agreement(self._election.scorer, self._selection.evaluated)

    @property
    def notes(self) -> Sequence[str]:
        if self._early and self._selection is not None:
            rest = wording.count(len(self._first) - len(self._election.positions), "row")
            return [f"{rest} were not ranked, since it was stopped: they come last. Open the table again to rank them"]
        if self._detection is None:
            return ()
        known = [] if self._detection.evaluation is None else [str(self._detection.evaluation)]
        return [*known, *self._detection.selection.notes, *self._detection.notes]

    def ranking(self) -> Ranking:
        odds = np.array(self._log_odds)
        odds[self._asked] = self._feedback.log_odds
        if self._told and len(self._asked) < len(odds):
            others, placed = self._others
            odds[others] += self._feedback.model.shift_of(placed)
        chance = chance_of(odds)
        for row, said in self._told.items():
            if said is not None:
                chance[row] = max(chance[row], _YES) if said else min(chance[row], _NO)
        selection = self.selection
        whole = len(self._election.positions) == len(chance)
        return Ranking(
            chance=chance,
            kind=self._kinds,
            kinds=("", *KINDS),
            threshold=self._feedback.threshold,
            pick=None if selection is None else selection.model_id,
            left=str(self._feedback.left) if whole else None,
        )

    @cached_property
    def _others(self) -> tuple[IntArray, InSpace]:
        """The rows that were learned from and are not asked about: their positions, and where they lie among those that
        are. What the models say of these unlikely rows is not at hand any more; their columns are."""
        others = np.flatnonzero(self._place[self._learned_at] < 0)
        space = self._feedback.model.space
        plain = np.tile(space.signal_center, (len(others), 1))
        return self._learned_at[others], space.place(self._election.learned[others], plain)

    @property
    def _learned_at(self) -> IntArray:
        """The positions of the rows of the numeric matrix that is held."""
        at = self._election.opened.positions
        return np.arange(len(self._first)) if at is None else at

    # Rows looked at closely.

    @cached_property
    def _top(self) -> IntArray:
        return np.argsort(-self._log_odds, kind="stable")

    @cached_property
    def _kinds(self) -> "np.ndarray[tuple[int], np.dtype[np.int8]]":
        """The kind of oddity of the likely rows, from 1; 0 of all others."""
        likely = int(np.clip((self._first >= _LIKELY).sum(), _FEWEST_KINDS, _MOST_KINDS))
        at = self._top[:likely]
        cells, rows, heard = self._looked_at(at)
        signals = self._committee.committee.judge.judge(cells_of(self._treatment, rows, cells))
        found = np.zeros(len(self._first), np.int8)
        found[at] = [1 + KINDS.index(kind) for kind in self._committee.committee.kinds(heard, signals)]
        return found

    def _looked_at(self, positions: IntArray) -> "tuple[pl.DataFrame, FloatArray, FloatArray]":
        """The cells of rows, their part of the matrix, and what the voices say of them."""
        cells = self._product.frame[positions]
        rows = self._treatment.transform(cells)
        return cells, rows, heard_at(positions, self._committee, self._heard, self._election.positions, rows)

    def reasons(self, positions: Sequence[int]) -> Sequence[Sequence[Reason]]:
        with self._lock:
            new = np.array([row for row in positions if row not in self._reasons], dtype=np.intp)
            if len(new):
                cells, rows, heard = self._looked_at(new)
                found = explain_rows(self._committee.committee, self._treatment, heard, rows, cells)
                for row, why in zip(new, found.reasons, strict=True):
                    self._reasons[int(row)] = [Reason(r.column, r.value, r.usual, r.share) for r in why]
            return [self._reasons[row] for row in positions]

    @cached_property
    def _plane(self) -> tuple[FloatArray, float]:
        return plane(self._election.learned)

    def placed(self) -> Placed:
        xy, shown = self._plane
        drawn = rows_to_draw(self._first[self._learned_at], self._product.options.seed, MOST_POINTS)
        which = "All rows"
        if len(drawn) < len(self._first):
            which = f"The oddest rows and a sample of the others, {wording.count(len(drawn))} in all,"
        note = (
            f"{which} along the two directions in which the table varies most ({wording.percent(shown)} of its "
            "variance). What lies beyond is drawn at the border. A row that looks ordinary here can be unusual in what "
            "the picture does not show."
        )
        return Placed(self._learned_at[drawn], xy[drawn], note)

    def ordinary_like(self, position: int) -> int | None:
        rows, at = self._election.learned, self._learned_at
        ordinary = np.flatnonzero(self._first[at] <= np.median(self._first[at]))
        ordinary = ordinary[at[ordinary] != position]
        if len(ordinary) == 0:
            return None
        place = np.flatnonzero(at == position)
        own = rows[place[0]] if len(place) else self._treatment.transform(self._product.frame[[position]])[0]
        away = np.square(np.minimum(np.abs(rows[ordinary] - own), _CUT)).sum(axis=1)
        return int(at[ordinary[np.argmin(away)]])

    def model_scores(self, model_id: str) -> FloatArray:
        scores = np.full(len(self._first), np.nan)
        scores[self._election.positions] = self._election.scorer.scores(model_id)
        return scores

    # Answers.

    def ask(self, aim: Aim) -> int | None:
        if len(self._told) >= len(self._first):
            return None
        if aim == "learn" and len(self._feedback.answers) < self._feedback.n_rows:
            return int(self._asked[self._feedback.ask("learn")])
        chance = self.ranking().chance
        chance[list(self._told)] = -1.0
        return int(np.argmax(chance))

    def tell(self, position: int, said: bool | None) -> str:
        place = int(self._place[position])
        self._told[position] = said
        return self._feedback.tell(place, said) if place >= 0 else ""

    def undo(self) -> None:
        position, _ = self._told.popitem()
        if self._place[position] >= 0:
            self._feedback.undo()

    # What to leave with.

    def download(self, kind: DownloadKind, ranking: Ranking, threshold: float) -> Download:
        stem = self._product.path.stem
        # Files are made long after the first rows were shown: what makes them is imported here.
        if kind == "report":
            from elect.report.reporting import report_of

            detection = self._as_seen(ranking, threshold)
            page = report_of(detection, findings_of(self._election, detection), python=self.snippet(threshold))
            return Download(f"{stem}.report.html", "text/html; charset=utf-8", page.encode())
        if kind == "detector":
            from elect.detect.saving import kept, saved_bytes

            detection = self._as_seen(ranking, threshold)
            if self._feedback.answers:
                detection = replace(detection, scorer=replace(detection.scorer, answers=self._feedback.model))
            return Download(f"{stem}.elect-detector", "application/octet-stream", saved_bytes(kept(detection)))
        from elect.detect.output import table_bytes

        content = table_bytes(self._frame(ranking, threshold), f".{kind}")
        media = "text/csv; charset=utf-8" if kind == "csv" else "application/octet-stream"
        return Download(f"{stem}.outliers.{kind}", media, content)

    def _elected(self) -> Detection:
        """The detection with the model that the answers elected."""
        chosen = self.selection
        assert chosen is not None
        detection = self._detection or self._election.detect(chosen)
        if chosen.model_id != detection.selection.model_id:
            return self._election.detect(chosen)
        return replace(detection, selection=replace(chosen, notes=detection.selection.notes))

    def _as_seen(self, ranking: Ranking, threshold: float) -> Detection:
        """The detection with the chances that the answers made, and the threshold of the page."""
        return replace(self._elected(), scores=_log_odds(ranking.chance), threshold=_above(threshold))

    def _frame(self, ranking: Ranking, threshold: float) -> "pl.DataFrame":
        import polars as pl

        above = np.flatnonzero(ranking.chance >= threshold)
        texts: list[str | None] = [None] * len(ranking.chance)
        for row, why in zip(above.tolist(), self.reasons(above.tolist()), strict=True):
            texts[row] = "; ".join(map(str, why)) or None
        kinds = np.array([None, *KINDS], dtype=object)[ranking.kind]
        kinds[ranking.chance < threshold] = None
        results = pl.DataFrame(
            [
                pl.Series("elect_score", _log_odds(ranking.chance)),
                pl.Series("elect_chance", ranking.chance),
                pl.Series("elect_outlier", ranking.chance >= threshold).cast(pl.Int8),
                pl.Series("elect_kind", kinds.tolist(), dtype=pl.String),
                pl.Series("elect_reasons", texts, dtype=pl.String),
            ]
        )
        if self._early:
            known = np.zeros(len(self._first), dtype=bool)
            known[[*self._election.positions.tolist(), *self._told]] = True
            results = results.select(pl.when(pl.lit(pl.Series(known))).then(pl.all()))
        return self._product.frame.with_columns(results)

    def snippet(self, threshold: float) -> str:
        product, selection = self._product, self.selection
        if selection is None:
            return ""
        options, path, columns = self._election.options, str(product.path), product.frame.columns
        if self._told and len(self._election.positions) == len(self._first):
            return answered_code(path, columns, options, self._told, threshold, database=product.history)
        lines = code(path, columns, options, selection, database=product.history, threshold=threshold)
        return f"{_UNHEARD}\n{lines}" if self._told else lines


def _above(threshold: float) -> float:
    """Log-odds that all rows of at least this chance lie above."""
    return float(np.nextafter(_log_odds(np.array(threshold)), -np.inf))


def _log_odds(chance: FloatArray) -> FloatArray:
    """Log-odds that are finite even where a chance is rounded to certainty."""
    found: FloatArray = logit(np.clip(chance, 1e-12, 1 - 1e-12))
    return found
