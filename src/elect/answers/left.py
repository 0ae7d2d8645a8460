"""How many outliers are left among the rows not asked about.

The chances of the open rows add up to the number expected, the answers counting a quarter: they rank rows well, but say
too surely how many there are. On tasks with known outliers the true number is that times a factor that scatters like a
Gamma distribution of mean 1, hardly less after many answers than after few; given the factor it is Poisson, so that it
is negative binomial.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, expit, nbdtrik

from elect.support.arrays import FloatArray

COUNTED = 0.25
"""How much of what the answers say of a row counts for the number. Chosen with the shape."""

SHAPE = 0.25
"""Of that Gamma distribution. After ten answers 90 % intervals then hold for all of the tables with wrong values, for
79 % of the wild tasks and 76 % of those with rare classes, where there are more outliers than anything foretells."""


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


def remaining(prior: FloatArray, log_odds: FloatArray) -> Remaining:
    """From the log-odds of the rows not asked about, without and with the answers (rows,).

    >>> tenth = np.full(100, np.log(1 / 9))
    >>> found = remaining(tenth, tenth)
    >>> round(found.expected), found.low, found.high
    (10, 0, 49)
    """
    expected = float(expit(prior + COUNTED * (log_odds - prior)).sum())
    if expected <= 0:
        return Remaining(0.0, 0, 0)
    low, high = (_quantile(share, expected) for share in (0.05, 0.95))
    return Remaining(expected, low, min(high, len(prior)))


def _quantile(share: float, expected: float) -> int:
    """Of the negative binomial distribution with this mean, as scipy.stats has it, which takes long to import."""
    odds = SHAPE / (SHAPE + expected)
    count = max(int(np.ceil(nbdtrik(share, SHAPE, odds))), 0)
    return count - 1 if count > 0 and betainc(SHAPE, count, odds) >= share else count
