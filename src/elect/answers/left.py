"""How many outliers are left among the rows not asked about.

The chances of the open rows add up to the number expected, with two corrections. What answers say of a row counts a
quarter: they rank rows well, but say too surely how many there are. And the many unlikely rows count by how clearly
the table speaks. Where much of what is expected of all rows lies in a few likely ones, as with wrong values, the others
hold next to nothing; where no row is likely, as with rare classes, they hold more than their chances say.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elect.support.arrays import FloatArray

COUNTED = 0.25
"""How much of what the answers say of a row counts for the number."""

LIKELY = 0.3
"""The chance from which a row counts as it is."""

UNLIKELY, FADES = 2.27, 8.2
"""What all other rows count where no row is likely, and how fast that falls with the share of what is expected that
lies in likely rows. Fitted with the spread on 391 tasks with wrong values, rare classes and of the paper, each kind as
much as the others, after 0 to 20 answers."""

SPREAD, NARROWS = 1.66, 5.2
"""The logarithm of the true number scatters so much about that of the expected one where no row is likely, and how fast
that falls in the same way. Of the intervals of 90 % that follow, 99 % hold on tables with wrong values, 90 % with rare
classes, 96 % on the wild tasks after ten answers, and nearly all on other kinds of tasks, but for glaring values in
mere noise: there are fewer of those than expected."""

_NINETY = 1.645


@dataclass(frozen=True)
class Remaining:
    """The number of outliers not yet asked about, with a 90 % interval.

    >>> print(Remaining(12.3, 5, 24))
    about 12 more (5 to 24)
    """

    expected: float
    low: int
    high: int

    def __str__(self) -> str:
        return f"about {round(self.expected):,} more ({self.low:,} to {self.high:,})"


def remaining(prior: FloatArray, log_odds: FloatArray, is_open: NDArray[np.bool_]) -> Remaining:
    """From the log-odds of all rows, without and with the answers, and which rows were not asked about (rows,).

    >>> log_odds = np.full(100, -4.0)
    >>> log_odds[:4] = 4.0
    >>> print(remaining(log_odds, log_odds, np.ones(100, dtype=bool)))
    about 4 more (2 to 9)
    """
    clear = _clearness(expit(prior))
    said = expit((prior + COUNTED * (log_odds - prior))[is_open])
    if not len(said):
        return Remaining(0.0, 0, 0)
    likely = float(said[said > LIKELY].sum())
    others = UNLIKELY * float(np.exp(-FADES * clear)) * (float(said.sum()) - likely)
    expected = min(likely + others, float(len(said)))
    # Half an outlier more, so that there is a logarithm where none is left; few scatter by chance alone, too.
    middle = expected + 0.5
    spread = np.sqrt((SPREAD * np.exp(-NARROWS * clear)) ** 2 + 1 / middle)
    low, high = (round(float(middle * np.exp(way * _NINETY * spread)) - 0.5) for way in (-1, 1))
    return Remaining(expected, max(low, 0), min(high, len(said)))


def _clearness(chance: FloatArray) -> float:
    """The share of what is expected of all rows that lies in likely ones."""
    return float(chance[chance > LIKELY].sum() / max(chance.sum(), 1e-9))
