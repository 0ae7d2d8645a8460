"""Which row to ask about next.

``find`` asks for the likeliest outlier not yet asked about, unless it has long asked in vain. ``learn`` asks for the
row whose answer is expected to make the others surest: by how much it would lessen the variance of the rows that
matter, those that could be either, times a power of its own chance to be an outlier, since a yes is rarer, tells more,
and places its row; and times how unsure it is itself, so that no question is spent on what is known. Rows that tell
something about themselves (mutual information) are shortlisted, then judged by what they tell about others.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elect.answers.cuts import LeafTable
from elect.answers.laplace import Belief
from elect.answers.space import Placed, RowSpace
from elect.support.arrays import FloatArray, IntArray

AIMS = ("learn", "find")

# How many rows are considered at all, shortlisted, and asked after, drawn and likeliest. Not tuned.
_CONSIDERED, _SHORTLIST, _DRAWN, _LIKELIEST = 2000, 80, 300, 100
# The power. Chosen with the amplitude of the space on one half of the owners of the OddBench tasks; 3 to 6 do as well.
_EAGER = 4.0
# The power of how unsure a row is. Chosen with the amplitudes of the space; 0.7 does as well.
_UNSURE = 1.0


def most_likely(log_odds: FloatArray, open_rows: NDArray[np.bool_]) -> int:
    """The likeliest outlier among the open rows."""
    return int(np.argmax(np.where(open_rows, log_odds, -np.inf)))


def most_telling(
    space: RowSpace,
    rows: Placed,
    heights: LeafTable,
    log_odds: FloatArray,
    open_rows: NDArray[np.bool_],
    belief: Belief | None,
    covariance: Callable[[IntArray], FloatArray],
    order: IntArray,
) -> int:
    """The open row whose answer is expected to tell most about all rows.

    ``covariance`` of some rows is with the answered ones (some, answers); ``order`` is all rows in a random order,
    fixed for the session: long tables are judged by the likeliest rows and the first of it.
    """
    likely = _largest(np.where(open_rows, log_odds, -np.inf), _CONSIDERED)
    considered = np.union1d(likely, order[:_CONSIDERED])
    considered = considered[open_rows[considered]]
    known = None if belief is None else belief.explained(covariance(considered))
    variance = space.variance(rows.at(considered), heights)
    if known is not None:
        variance = np.maximum(variance - np.square(known).sum(axis=0), 1e-9)
    chance = _chance(log_odds[considered], variance)
    short = _largest(_information(log_odds[considered], variance, chance), _SHORTLIST)

    drawn = np.isin(considered, order[:_DRAWN])
    drawn[_largest(chance, _LIKELIEST)] = True
    asked_after = np.flatnonzero(drawn)
    both = space.covariance(rows.at(considered[short]), rows.at(considered[asked_after]), heights)
    if known is not None:
        both -= known[:, short].T @ known[:, asked_after]
    either = chance * (1 - chance)
    gain = (np.square(both) @ np.square(either[asked_after])) / (variance[short] + 1 / np.maximum(either[short], 1e-3))
    itself = expit(log_odds[considered[short]])
    gain *= chance[short] ** _EAGER * (4 * itself * (1 - itself)) ** _UNSURE
    return int(considered[short[np.argmax(gain)]])


def _largest(values: FloatArray, count: int) -> IntArray:
    """The places of the largest values, the first of equal ones first."""
    if len(values) > 4 * count:
        near = np.flatnonzero(values >= np.partition(values, -count)[-count])
        return near[np.argsort(-values[near], kind="stable")[:count]]
    return np.argsort(-values, kind="stable")[:count]


def _chance(log_odds: FloatArray, variance: FloatArray) -> FloatArray:
    """The chance of rows whose log-odds are uncertain (MacKay's approximation)."""
    chance: FloatArray = expit(log_odds / np.sqrt(1 + np.pi * variance / 8))
    return chance


def _information(log_odds: FloatArray, variance: FloatArray, chance: FloatArray) -> FloatArray:
    """What an answer would tell about the log-odds of its own row (Houlsby et al., 2011, equation 3)."""
    scale, width = np.pi / 8, np.pi * np.log(2) / 2
    spread = variance * scale + width
    expected = np.log(2) * np.sqrt(width / spread) * np.exp(-np.square(log_odds) * scale / (2 * spread))
    p = np.clip(chance, 1e-12, 1 - 1e-12)
    entropy: FloatArray = -(p * np.log(p) + (1 - p) * np.log(1 - p)) - expected
    return entropy
