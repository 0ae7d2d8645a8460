"""A closer look at the most outlying rows: their reasons, and how far the models agree about them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.detect.agreement import Agreement, agreement_of
from elect.detect.detection import Detection, TopRow
from elect.detect.election import Election
from elect.detect.explaining import Explainer, Reason, explainer_for_fitted
from elect.detect.opened import cells_at
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

MOST_EXPLAINED = 100
"""Rows found outlying get reasons, the most outlying first, up to so many (or as many as are shown)."""


@dataclass(frozen=True, eq=False)
class Findings:
    """The most outlying rows, most outlying first, with their cells; what their reasons are made from; how far the
    models agree."""

    top: tuple[TopRow, ...]
    cells: "pl.DataFrame"
    explainer: Explainer
    agreement: Agreement


def findings_of(election: Election, detection: Detection, top: int = 10) -> Findings:
    """Explain the most outlying rows of a detection: ``top`` of them, and up to 100 more above the threshold."""
    treatment = detection.treatment
    assert treatment is not None, "an array has no columns to speak of"
    shown = places_to_explain(detection.scores, detection.threshold, top)
    agreement = agreement_of(election.scorer, detection.selection, int(detection.labels.sum()))
    place_of = {int(position): place for place, position in enumerate(detection.fitted)}
    explainer = explainer_for_fitted(
        detection.detector,
        election.database.pool[detection.selection.model_id],
        election.rows,
        [place_of[int(position)] for position in shown if int(position) in place_of],
        treatment,
    )
    cells = cells_at(detection.opened.batches(), shown)
    reasons = explainer.reasons(treatment.transform(cells), cells)
    agreeing = [agreement.of_row(place_of.get(int(position))) for position in shown]
    tops = top_rows(shown, detection.row_ids[shown], detection.scores, detection.threshold, reasons, agreeing)
    return Findings(tops, cells, explainer, agreement)


def places_to_explain(scores: FloatArray, threshold: float, top: int) -> IntArray:
    """The rows to explain, most outlying first."""
    count = max(top, min(int((scores > threshold).sum()), MOST_EXPLAINED))
    return np.argsort(-scores, kind="stable")[:count]


def top_rows(
    shown: IntArray,
    ids: Iterable[object],
    scores: FloatArray,
    threshold: float,
    reasons: Sequence[tuple[Reason, ...]],
    agreeing: Sequence[float | None],
) -> tuple[TopRow, ...]:
    """The rows at these positions with what is said about them."""
    return tuple(
        TopRow(int(at), wording.short(str(name)), float(scores[at]), bool(scores[at] > threshold), why, share)
        for at, name, why, share in zip(shown, ids, reasons, agreeing, strict=True)
    )
