"""How many outliers are left among the rows not asked about, and which rows to flag.

The chances of the open rows add up to a first guess. How it is to be taken the answers tell: before each answer the
session knew the chance it gave to a yes, and what it heard was more or less often yes than that. The number left is
Poisson with the guess times that ratio, whose distribution is a Gamma: so the number is negative binomial.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import nbinom

from elect.support.arrays import FloatArray

TRUST = 1.5
"""How many expected outliers the chances are worth by themselves. The fewer, the wider the interval without answers."""


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


def remaining(open_chance: FloatArray, foretold: float, yes: int) -> Remaining:
    """From the chances of the open rows, the sum of the chances the answered rows had just before, and the yeses.

    >>> remaining(np.full(100, 0.1), foretold=0.0, yes=0)
    Remaining(expected=10.0, low=1, high=28)
    """
    guess = float(open_chance.sum())
    if guess <= 0:
        return Remaining(0.0, 0, 0)
    shape, rate = TRUST + yes, TRUST + foretold
    expected = guess * shape / rate
    low, high = nbinom.ppf([0.05, 0.95], shape, rate / (rate + guess))
    most = len(open_chance)
    return Remaining(min(expected, float(most)), min(int(low), most), min(int(high), most))


def threshold_of(chance: FloatArray) -> float:
    """The chance from which rows are flagged: the cut with the best F1 to be expected from these chances.

    >>> threshold_of(np.array([0.9, 0.8, 0.05, 0.01]))
    0.8
    """
    falling = np.sort(chance)[::-1]
    flagged = np.arange(1, len(falling) + 1)
    expected = 2 * np.cumsum(falling) / (flagged + falling.sum())
    return float(falling[int(np.argmax(expected))])
