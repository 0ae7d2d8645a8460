"""A closer look at the most outlying rows: their reasons, and how far the models agree about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.committee.committee import FittedCommittee
from elect.detect.agreement import Agreement, agreement_of
from elect.detect.committee_reasons import Explained, explain_rows
from elect.detect.detection import Detection, TopRow
from elect.detect.election import Election
from elect.detect.explaining import Explainer, Reason, explainer_for_fitted
from elect.detect.opened import cells_at
from elect.detect.threshold import Scorer
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

MOST_EXPLAINED: dict[Scorer, int] = {"committee": 5_000, "model": 100}
"""Flagged rows get reasons, the most outlying first, up to so many (or as many as are shown). Those of a model cost its
scores of many rows each."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The most outlying rows, most outlying first, with their cells; what their reasons are made from; how far the
    models agree."""

    top: tuple[TopRow, ...]
    cells: "pl.DataFrame"
    explainer: Explainer | None
    agreement: Agreement
    notes: tuple[str, ...] = ()


def findings_of(election: Election, detection: Detection, top: int = 10) -> Findings:
    """Explain the most outlying rows of a detection: ``top`` of them, and more above the threshold."""
    shown, notes = places_to_explain(detection.scores, detection.threshold, top, detection.options.scorer)
    agreement = agreement_of(election.scorer, detection.selection, int(detection.labels.sum()))
    place_of = {int(position): place for place, position in enumerate(detection.fitted)}
    agreeing = [agreement.of_row(place_of.get(int(position))) for position in shown]
    cells = cells_at(detection.opened.batches(), shown)
    explainer, kinds = None, None
    if detection.scorer.committee is not None:
        found = explained(detection, shown, cells)
        reasons, kinds = found.reasons, found.kinds
    else:
        explainer = model_explainer(
            election, detection, [place_of[int(position)] for position in shown if int(position) in place_of]
        )
        reasons = ((),) * len(shown)
        if explainer is not None:
            reasons = explainer.reasons(explainer.treatment.transform(cells), cells)
    said = Said(reasons, agreeing, detection.chance, kinds)
    tops = top_rows(shown, detection.row_ids[shown], detection.scores, detection.threshold, said)
    return Findings(tops, cells, explainer, agreement, notes)


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
    """What is said of the rows shown: their reasons, how many models agree, kinds; and the chances of all rows."""

    reasons: Sequence[tuple[Reason, ...]]
    agreeing: Sequence[float | None]
    chance: FloatArray | None = None
    kinds: Sequence[str] | None = None


def places_to_explain(
    scores: FloatArray, threshold: float, top: int, scorer: Scorer
) -> tuple[IntArray, tuple[str, ...]]:
    """The rows to explain, most outlying first, and a note where some flagged ones are not among them."""
    flagged = int((scores > threshold).sum())
    count = max(top, min(flagged, MOST_EXPLAINED[scorer]))
    shown = np.argsort(-scores, kind="stable")[:count]
    if flagged <= count:
        return shown, ()
    most = f"the {wording.count(count)} most outlying of the {wording.count(flagged, 'flagged row')}"
    return shown, (f"reasons are given for {most}",)


def top_rows(
    shown: IntArray, ids: Iterable[object], scores: FloatArray, threshold: float, said: Said
) -> tuple[TopRow, ...]:
    """The rows at these positions with what is said about them."""
    kinds = [None] * len(shown) if said.kinds is None else said.kinds
    return tuple(
        TopRow(
            position=int(at),
            id=wording.short(str(name)),
            score=float(scores[at]),
            is_outlier=bool(scores[at] > threshold),
            reasons=why,
            agreeing=share,
            chance=None if said.chance is None else float(said.chance[at]),
            kind=kind,
        )
        for at, name, why, share, kind in zip(shown, ids, said.reasons, said.agreeing, kinds, strict=True)
    )
