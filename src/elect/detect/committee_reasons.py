"""Reasons of the committee: the cells that speak for a row, and what is odd about each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.committee.committee import Committee
from elect.detect.explaining import Reason, cell_text
from elect.detect.scorers import cells_of
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment
from elect.tables.cells import say

if TYPE_CHECKING:
    import polars as pl

MOST_REASONS = 3
ROWS_AT_ONCE = 500
LEAST_SHARE = 0.2
"""A cell with a smaller share of what speaks for its row is not named."""


@dataclass(frozen=True, eq=False)
class Explained:
    """For each of some rows, its kind of oddity and its reasons, strongest first."""

    kinds: tuple[str, ...]
    reasons: tuple[tuple[Reason, ...], ...]


def explain_rows(
    committee: Committee,
    treatment: ColumnTreatment | None,
    heard: FloatArray,
    rows: FloatArray,
    frame: "pl.DataFrame",
) -> Explained:
    """Kinds and reasons of rows, given what the voices say, the numeric matrix, and the rows as the user has them."""
    kinds: list[str] = []
    reasons: list[tuple[Reason, ...]] = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        part = slice(start, start + ROWS_AT_ONCE)
        found = _explain(committee, treatment, heard[part], rows[part], frame[part])
        kinds += found.kinds
        reasons += found.reasons
    return Explained(tuple(kinds), tuple(reasons))


def _explain(
    committee: Committee,
    treatment: ColumnTreatment | None,
    heard: FloatArray,
    rows: FloatArray,
    frame: "pl.DataFrame",
) -> Explained:
    cells = cells_of(treatment, rows, frame)
    signals = committee.judge.judge(cells)
    blame = committee.blame(heard, signals)
    names = cells.names if treatment is not None else frame.columns
    reasons = tuple(
        tuple(
            Reason(names[j], cell_text(frame[names[j]], row), say(committee.judge, cells, signals, row, j), share)
            for j, share in _named(blame[row])
        )
        for row in range(cells.n_rows)
    )
    return Explained(tuple(committee.kinds(heard, signals)), reasons)


def _named(blame: FloatArray) -> list[tuple[int, float]]:
    """The columns to name, with their shares, the one to blame most first."""
    total = float(blame.sum())
    if total <= 0:
        return []
    order = np.argsort(-blame, kind="stable")[:MOST_REASONS]
    return [(int(j), float(blame[j] / total)) for j in order if blame[j] / total >= LEAST_SHARE or j == order[0]]
