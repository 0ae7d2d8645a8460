"""What is known of the rows of a table before any answer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from elect.answers.posterior import Posterior
from elect.errors import InvalidInput
from elect.measures import rank
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


def evidence_of_ranks(
    ranks: FloatArray, families: Sequence[str], posterior: Posterior, columns: FloatArray
) -> RowEvidence:
    """From descending ranks (rows x models), the family of each model, and what the history says about the models.

    The signals are the mean log-ranks of the families.
    """
    names = np.array(families)
    high = -np.log((ranks - 0.5) / len(ranks))
    signals = np.column_stack([high[:, names == name].mean(axis=1) for name in dict.fromkeys(families)])
    chance = np.clip(posterior.outlier_chance(), 1e-4, 1 - 1e-4)
    return RowEvidence(read_only(logit(chance)), read_only(columns), read_only(signals))


def evidence_of_scores(
    log_odds: FloatArray, scores: FloatArray, families: Sequence[str], columns: FloatArray
) -> RowEvidence:
    """From the log-odds of the committee, and the scores of its voices (rows x voices) with the family of each.

    The signals are, as above, the mean log-ranks of the families.
    """
    names = np.array(families)
    high = -np.log((rank(scores) - 0.5) / len(scores))
    signals = np.column_stack([high[:, names == name].mean(axis=1) for name in dict.fromkeys(families)])
    return RowEvidence(read_only(log_odds), read_only(columns), read_only(signals))
