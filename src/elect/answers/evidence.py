"""What is known of the rows of a table before any answer."""

from dataclasses import dataclass

import numpy as np

from elect.committee.committee import Committee
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only


@dataclass(frozen=True, eq=False)
class RowEvidence:
    """The log-odds of each row to be an outlier, where it lies, and what speaks for it.

    Signals are whatever answers may give more or less weight: what each family of models says, the kinds of oddity.
    """

    log_odds: FloatArray  # (rows,)
    columns: FloatArray  # (rows, columns) standardised
    signals: FloatArray  # (rows, signals)

    def __post_init__(self) -> None:
        n = len(self.log_odds)
        if self.log_odds.ndim != 1 or any(a.ndim != 2 or len(a) != n for a in (self.columns, self.signals)):
            raise InvalidInput("Log-odds, columns and signals must be of the same rows.")
        if not all(np.isfinite(a).all() for a in (self.log_odds, self.columns, self.signals)):
            raise InvalidInput("Log-odds, columns and signals must be finite.")


SIGNALS = (
    *("rank IForest", "rank Extremes", "rank kNN", "rank LOF"),
    *("far_least first", "gap first", "alone first", "rare first", "near first", "missing first"),
    *("residual first", "excess first", "unlikely first", "tail mean"),
)
"""What the committee hears of a row that answers may give more or less weight: models, wrong values, combinations."""


def evidence_of_committee(committee: Committee, features: FloatArray, columns: FloatArray) -> RowEvidence:
    """From what a committee knows of rows (``RowTable.describe``) and their standardised columns."""
    log_odds, signals = committee.scorer.log_odds(features), committee_signals(committee, features)
    return RowEvidence(read_only(log_odds), read_only(columns), read_only(signals))


def committee_signals(committee: Committee, features: FloatArray) -> FloatArray:
    """The signals of rows (rows, signals)."""
    names = committee.scorer.names
    found: FloatArray = features[:, [names.index(name) for name in SIGNALS]]
    return found
