"""What is known of the rows of a table before any answer."""

from dataclasses import dataclass

import numpy as np

from elect.committee.committee import Committee
from elect.committee.scorer import either
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only


@dataclass(frozen=True, eq=False)
class RowEvidence:
    """The log-odds of each row to be an outlier, where it lies, and what speaks for it.

    Signals are whatever answers may give more or less weight: what each family of models says, what cells say. The last
    ``n_kinds`` are kinds of oddity: by how much the log-odds of a row change if that kind alone is meant.
    """

    log_odds: FloatArray  # (rows,)
    columns: FloatArray  # (rows, columns) standardised
    signals: FloatArray  # (rows, signals)
    n_kinds: int = 0

    def __post_init__(self) -> None:
        n = len(self.log_odds)
        if self.log_odds.ndim != 1 or any(a.ndim != 2 or len(a) != n for a in (self.columns, self.signals)):
            raise InvalidInput("Log-odds, columns and signals must be of the same rows.")
        if not 0 <= self.n_kinds <= self.signals.shape[1]:
            raise InvalidInput(f"n_kinds must be at most the number of signals, got {self.n_kinds}.")
        if not all(np.isfinite(a).all() for a in (self.log_odds, self.columns, self.signals)):
            raise InvalidInput("Log-odds, columns and signals must be finite.")


SIGNALS = (
    *("rank IForest", "rank Extremes", "rank Core"),
    *("far_least first", "gap first", "alone first", "rare first", "near first", "missing first"),
    *("residual first", "excess first", "unlikely first", "tail mean"),
)
"""What the committee hears of a row that answers may give more or less weight: models, wrong values, combinations."""

N_KINDS = 2
"""A wrong value, an unusual row: the two experts of the committee."""

_MOST = 6.0
"""Log-odds beyond which a kind does not count further."""


def evidence_of_committee(committee: Committee, features: FloatArray, columns: FloatArray) -> RowEvidence:
    """From what a committee knows of rows (``RowTable.describe``) and their standardised columns."""
    log_odds, experts = committee.scorer.judged(features)
    signals = committee_signals(committee, features, experts)
    return RowEvidence(read_only(log_odds), read_only(columns), read_only(signals), N_KINDS)


def committee_signals(committee: Committee, features: FloatArray, experts: tuple[FloatArray, FloatArray]) -> FloatArray:
    """The signals of rows (rows, signals), the kinds of oddity last, from what both experts say (``judged``)."""
    names = committee.scorer.names
    both = either(*experts)
    kinds = [np.clip(alone - both, -_MOST, _MOST) for alone in experts]
    return np.column_stack([features[:, [names.index(name) for name in SIGNALS]], *kinds])
