"""A first guess at the chance of each row, while models are still being scored."""

import numpy as np

from elect.detect.threshold import threshold_of
from elect.page._base import Ranking
from elect.support.arrays import FloatArray, IntArray

ONE_KIND = ("unusual",)


class Together:
    """What the models heard so far say together: the mean of the logarithms of their ranks."""

    def __init__(self, n_rows: int) -> None:
        self.heard = 0
        self._sum = np.zeros(n_rows)

    def hear(self, scores: FloatArray) -> None:
        n = len(scores)
        place = np.empty(n)
        place[np.argsort(-scores, kind="stable")] = np.arange(1, n + 1)
        self._sum -= np.log(place / n)
        self.heard += 1

    def chance(self) -> FloatArray:
        """A first guess at the chance of each row: one half where a row stands 3.5 robust deviations out, as the
        threshold of scores has it."""
        if self.heard == 0:
            return np.full(len(self._sum), 0.01)
        said = self._sum / self.heard
        spread = max(float(np.median(np.abs(said - np.median(said)))) / 0.6745, 1e-12)
        found: FloatArray = 1.0 / (
            1.0 + np.exp(np.clip((threshold_of(said, "auto", "model") - said) / spread, -30, 30))
        )
        return found


def ranked(n_rows: int, positions: IntArray, together: Together, pick: str) -> Ranking:
    """The rows as far as the models were heard; those that no model looked at come last."""
    chance = np.zeros(n_rows)
    chance[positions] = together.chance()
    return Ranking(chance, np.zeros(n_rows, np.int8), ONE_KIND, 0.5, pick)


def over_all_rows(chance: FloatArray, seen: IntArray, scores: FloatArray) -> FloatArray:
    """Chances of the rows that were looked at, and of all others the chance that rows with such a score have."""
    if len(seen) == len(scores):
        found = np.empty(len(scores))
        found[seen] = chance
        return found
    from sklearn.isotonic import IsotonicRegression

    curve = IsotonicRegression(out_of_bounds="clip").fit(scores[seen], chance)
    found = np.asarray(curve.predict(scores), dtype=np.float64)
    found[seen] = chance
    return found
