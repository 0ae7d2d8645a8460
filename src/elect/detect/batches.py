"""Scores of a table that is read in batches, with its most outlying rows kept for a closer look."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.support.arrays import FloatArray, IntArray
from elect.tables import Table

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class ScoredBatches:
    """All scores and row ids; of the most outlying rows the position, the numeric matrix and the cells."""

    scores: FloatArray
    ids: "pl.Series"
    positions: IntArray
    top_rows: FloatArray
    top: "pl.DataFrame"
    label: "pl.Series | None"
    notes: tuple[str, ...]


def score_batches(
    batches: Iterable[Table], detector: Any, *, keep: int, fitted: IntArray | None = None, label: str | None = None
) -> ScoredBatches:
    """Score every row, one batch at a time. The rows at ``fitted`` (ascending) keep the scores of their fit."""
    import polars as pl

    treatment, trained = detector.treatment_, np.asarray(detector.decision_scores_)
    fitted = np.empty(0, dtype=np.intp) if fitted is None else fitted
    scores, ids, labels = [], [], []
    surprises: dict[str, None] = {}
    best = np.empty(0)
    positions: IntArray = np.empty(0, dtype=np.intp)
    rows, cells = np.empty((0, len(treatment.features))), None
    first = 0
    for batch in batches:
        matrix = treatment.transform(batch)
        found = detector.detector_.decision_function(matrix)
        low, high = np.searchsorted(fitted, [first, first + batch.n_rows])
        found[fitted[low:high] - first] = trained[low:high]
        surprises |= dict.fromkeys(treatment.surprises(batch))
        scores.append(found)
        ids.append(treatment.row_ids(batch))
        if label is not None and label in batch.columns:
            labels.append(batch.frame[label])
        near = np.sort(np.argsort(-found, kind="stable")[:keep])
        best = np.concatenate([best, found[near]])
        positions = np.concatenate([positions, first + near])
        rows = np.vstack([rows, matrix[near]])
        cells = batch.frame[near] if cells is None else pl.concat([cells, batch.frame[near]])
        # Earlier rows come first among equal scores, here as in the sort of all scores.
        kept = np.sort(np.argsort(-best, kind="stable")[:keep])
        best, positions, rows, cells = best[kept], positions[kept], rows[kept], cells[kept]
        first += batch.n_rows
    assert cells is not None
    return ScoredBatches(
        np.concatenate(scores),
        pl.concat(ids),
        positions,
        rows,
        cells,
        pl.concat(labels) if labels else None,
        tuple(surprises),
    )
