"""A closer look at the most outlying rows: their reasons, and how far the models agree about them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from elect.committee.committee import FittedCommittee
from elect.committee.scorer import chance_of
from elect.detect.agreement import Agreement, agreement_of, row_shares
from elect.detect.committee_reasons import Explained, explain_rows
from elect.detect.detection import Detection, TopRow
from elect.detect.election import Election
from elect.detect.explaining import Explainer, Reason, explainer_for_fitted
from elect.detect.opened import rows_at
from elect.detect.threshold import Scorer
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

MOST_EXPLAINED: dict[Scorer, int] = {"committee": 5_000, "model": 100}
"""Flagged rows get reasons, the most outlying first, up to so many (or as many as are shown). Those of a model cost its
scores of many rows each."""

_AT_ONCE = 1 << 20
"""Scores that are looked through at a time for the highest."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The most outlying rows, most outlying first, with their cells; what their reasons are made from; how far the
    models agree, which is found out on first need."""

    top: tuple[TopRow, ...]
    cells: "pl.DataFrame"
    explainer: Explainer | None
    compare: Callable[[], Agreement]
    notes: tuple[str, ...] = ()

    @cached_property
    def agreement(self) -> Agreement:
        return self.compare()


def findings_of(election: Election, detection: Detection, top: int = 10) -> Findings:
    """Explain the most outlying rows of a detection: ``top`` of them, and more above the threshold."""
    shown, notes = places_to_explain(detection.scores, detection.threshold, top, detection.options.scorer)
    flagged = int(detection.labels.sum())
    shares = row_shares(election.scorer, detection.selection, flagged)
    place_of = {int(position): place for place, position in enumerate(detection.fitted)}
    places = [place_of.get(int(position)) for position in shown]
    agreeing = [None if place is None or shares is None else float(shares[place]) for place in places]
    rows = rows_at(detection.opened.batches(), shown)
    cells = rows.frame
    explainer, kinds = None, None
    if detection.scorer.committee is not None:
        found = explained(detection, shown, cells)
        reasons, kinds = found.reasons, found.kinds
    else:
        explainer = model_explainer(election, detection, [place for place in places if place is not None])
        reasons = ((),) * len(shown)
        if explainer is not None:
            reasons = explainer.reasons(explainer.treatment.transform(cells), cells)
    said = Said(reasons, agreeing, detection.by_chance, kinds)
    tops = top_rows(shown, detection.names(rows), detection.scores[shown], detection.threshold, said)
    compare = partial(agreement_of, election.scorer, detection.selection, flagged)
    return Findings(tops, cells, explainer, compare, notes)


def model_explainer(election: Election, detection: Detection, places: Sequence[int] = ()) -> Explainer | None:
    """What reasons of the elected model are made from, for the fitted rows at ``places`` and for new ones; None for an
    array, whose columns it cannot tell apart."""
    if detection.treatment is None:
        return None
    spec = election.database.pool[detection.selection.model_id]
    return explainer_for_fitted(detection.detector, spec, election.rows, places, detection.treatment)


def explained(detection: Detection, positions: IntArray, cells: "pl.DataFrame") -> Explained:
    """What the committee says of rows of the table; ``cells`` are those rows."""
    committee, heard, treatment = detection.scorer.committee, detection.heard, detection.treatment
    assert committee is not None
    assert heard is not None
    array = detection.opened.array
    rows = array[positions] if treatment is None and array is not None else treatment.transform(cells)  # type: ignore[union-attr]
    own = heard_at(positions, committee, heard, detection.fitted, rows)
    return explain_rows(committee.committee, treatment, own, rows, cells)


def heard_at(
    positions: IntArray, committee: FittedCommittee, heard: FloatArray, fitted: IntArray, rows: FloatArray
) -> FloatArray:
    """What the voices say of rows of the table: known of those that were fitted, asked of the others."""
    at = np.minimum(np.searchsorted(fitted, positions), len(fitted) - 1)
    new = fitted[at] != positions
    found = np.array(heard[at])
    if new.any():
        found[new] = committee.voices.scores(rows[new])
    return found


@dataclass(frozen=True, eq=False)
class Said:
    """What is said of the rows shown: their reasons, how many models agree, kinds; whether scores tell chances."""

    reasons: Sequence[tuple[Reason, ...]]
    agreeing: Sequence[float | None]
    by_chance: bool = False
    kinds: Sequence[str] | None = None


def places_to_explain(
    scores: FloatArray, threshold: float, top: int, scorer: Scorer
) -> tuple[IntArray, tuple[str, ...]]:
    """The rows to explain, most outlying first, and a note where some flagged ones are not among them."""
    flagged = int((scores > threshold).sum())
    count = max(top, min(flagged, MOST_EXPLAINED[scorer]))
    shown = highest(scores, count)
    if flagged <= count:
        return shown, ()
    most = f"the {wording.count(count)} most outlying of the {wording.count(flagged, 'flagged row')}"
    return shown, (f"reasons are given for {most}",)


def highest(scores: FloatArray, count: int) -> IntArray:
    """The places of the highest scores, the highest first; of equal ones the first.

    >>> highest(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    if count <= 0:
        return np.empty(0, dtype=np.intp)
    # All rows are neither put in order nor copied for the sake of a few.
    best: FloatArray = np.empty(0)
    for start in range(0, len(scores), _AT_ONCE):
        best = np.r_[best, scores[start : start + _AT_ONCE]]
        best = np.partition(best, -count)[-count:] if len(best) > count else best
    among = np.flatnonzero(scores >= best.min(initial=np.inf))
    found: IntArray = among[np.argsort(-scores[among], kind="stable")[:count]]
    return found


def top_rows(
    shown: IntArray, ids: Iterable[object], scores: FloatArray, threshold: float, said: Said
) -> tuple[TopRow, ...]:
    """The rows at these positions, with their scores and what is said about them."""
    kinds = [None] * len(shown) if said.kinds is None else said.kinds
    chances = chance_of(scores).tolist() if said.by_chance else [None] * len(shown)
    return tuple(
        TopRow(
            position=int(at),
            id=wording.short(f"row {at}" if name is None or name == "" else str(name)),
            score=float(score),
            is_outlier=bool(score > threshold),
            reasons=why,
            agreeing=share,
            chance=chance,
            kind=kind,
        )
        for at, name, score, chance, why, share, kind in zip(
            shown, ids, scores, chances, said.reasons, said.agreeing, kinds, strict=True
        )
    )
