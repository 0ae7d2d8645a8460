"""Above which score a row is an outlier."""

from math import log
from typing import Literal

import numpy as np

from elect.committee.scorer import chance_of
from elect.support import wording
from elect.support.arrays import FloatArray

CUTOFF = 3.5
"""Robust standard deviations above the median: the rule for a model's scores."""

EVEN = 0.5
"""The chance that is the rule for the committee. A row above it is rather an outlier than not."""

Scorer = Literal["committee", "model"]


def rule_of(threshold: float, contamination: float | Literal["auto"], scorer: Scorer) -> str:
    """Which rows are flagged, in words.

    >>> rule_of(0.0, "auto", "committee"), rule_of(-1.1, 0.05, "committee")
    ('a chance above 50%', 'a chance above 25%, for 5% of the rows as asked')
    >>> rule_of(0.12, "auto", "model")
    'a score above 0.12, 3.5 robust deviations over the median'
    """
    if scorer == "committee":
        rule = f"a chance above {wording.percent(float(chance_of(np.array(threshold))))}"
    else:
        rule = f"a score above {wording.number(threshold)}"
    if contamination != "auto":
        return f"{rule}, for {wording.percent(contamination)} of the rows as asked"
    return rule if scorer == "committee" else f"{rule}, {CUTOFF:g} robust deviations over the median"


def threshold_of(
    scores: FloatArray, contamination: float | Literal["auto"], scorer: Scorer, chance: float = EVEN
) -> float:
    """The threshold of these scores: rows above it are outliers.

    A share is the score that so many rows lie above. ``"auto"`` is a ``chance`` where the committee scores. For the
    scores of a model it is a modified z-score of 3.5 (Iglewicz and Hoaglin, 1993): a score is outlying if it lies more
    than 3.5 robust standard deviations (the median absolute deviation over 0.6745) above the median. Unlike a share
    both can find no outlier, or many.

    >>> scores = np.array([1.0, 2.0, 3.0, 4.0, 50.0])
    >>> round(threshold_of(scores, "auto", "model"), 2), threshold_of(scores, 0.25, "model")
    (8.19, 4.0)
    """
    if contamination != "auto":
        return float(np.percentile(scores, 100 * (1 - contamination)))
    if scorer == "committee":
        return log(chance / (1 - chance))
    middle = float(np.median(scores))
    spread = float(np.median(np.abs(scores - middle))) / 0.6745
    return middle + CUTOFF * spread
