"""A run over many files: what was learned from all of them, and what was found in each."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elect.core import Selection
from elect.detect.detection import TopRow
from elect.detect.election import Election
from elect.detect.findings import model_explainer
from elect.detect.judged import Known
from elect.detect.parts import Part
from elect.detect.run_folder import RunFolder
from elect.detect.saving import SavedDetector, kept, saved_bytes
from elect.detect.scored_parts import MOST_EXPLAINED, Job, Told
from elect.support.arrays import FloatArray


def keep_learned(folder: RunFolder, election: Election, selection: Selection, *, trust: bool) -> None:
    """Fit what scores all rows, and keep it for every worker. The threshold of a share is that of the sample."""
    sample = election.of_sample()
    detection = replace(sample.detect(selection), selection=selection)
    explainer = model_explainer(sample, detection) if detection.scorer.committee is None else None
    known = Known(election.positions, detection.scores[election.drawn], detection.heard)
    remarks = election.opened.sample.remarks
    told = {"columns": election.opened.n_columns, "notes": [*remarks, *selection.notes, *detection.notes]}
    folder.keep(saved_bytes(kept(detection, explainer), trust=trust), known, told)


def explain_above(scores: FloatArray, threshold: float, n_rows: int) -> float:
    """The score above which flagged rows of a table of so many get reasons, judged by scores of a sample of its rows.

    >>> explain_above(np.arange(10.0), 4.5, 100), explain_above(np.arange(10.0), 4.5, 500_000)
    (4.5, 7.0)
    """
    expected = float((scores > threshold).mean()) * n_rows
    if expected <= MOST_EXPLAINED:
        return threshold
    return max(threshold, float(np.sort(scores)[-1 - int(MOST_EXPLAINED / n_rows * len(scores))]))


def jobs_of(folder: RunFolder, parts: Sequence[Part], saved: SavedDetector, **how: Any) -> list[Job]:
    """A job for each part; ``how`` are fields of ``Job``."""
    n_rows = sum(part.rows for part in parts)
    above = explain_above(saved.scores, saved.threshold, n_rows)
    return [
        Job(part, str(folder.folder), folder.names[part.path], folder.run, explain_above=above, **how) for part in parts
    ]


@dataclass(frozen=True)
class Place:
    """Where a row is: the file, and its row there, counted from 0."""

    file: str
    row: int


def place_of(parts: Sequence[Part], row: TopRow) -> Place:
    """Where a row of the whole table is."""
    part = next(part for part in parts if part.first <= row.position < part.first + part.rows)
    return Place(part.path, row.position - part.first)


def share_flagged(told: Told) -> float:
    return told.flagged / max(told.rows, 1)
