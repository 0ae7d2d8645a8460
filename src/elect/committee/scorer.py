"""The row scorer: from what models and cells say of a row to its chance to be an outlier, learned from labelled tasks.

Two experts speak. One learned from tables with entry errors which rows hold a *wrong value*; the other from tasks with
rare classes, injected and simulated outliers which rows are *unusual*, leaning on a plain model.
A row is an outlier if either is right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from elect.committee.features import feature_names
from elect.errors import InvalidInput, StoreError
from elect.support.arrays import FloatArray, read_only
from elect.support.trees import TreeEnsemble

LEANING = {"rank Core": 1.0}
"""How much the unusual expert leans on the distance to the core: a table that is unlike all of the history has at least
that. From 0.5 to 4 the mean average precision of no kind of tasks changes by more than a hundredth."""

RARER = 1.2
"""Taken off the log-odds of an unusual row: most rare rows are what they should be."""

UNLIKELY = 1.5
"""Log-odds below even of a wrong value count so much more: what is hardly wrong shall not disturb the order of
unusual rows."""


@dataclass(frozen=True, eq=False)
class RowScorer:
    """The trees of both experts as text, and the straight lines that calibrate their log-odds.

    ``calibration`` holds slope and offset of the log-odds of a wrong value, then of an unusual row. ``reliability``
    says how far stated chances came true on left-out tasks: rows of (chance, share of outliers, rows). ``own`` are the
    trees of a team's own history, which add to the log-odds with a weight; empty where there are none.
    """

    families: tuple[str, ...]
    wrong: str
    unusual: str
    calibration: FloatArray
    reliability: FloatArray
    own: str = ""
    own_weight: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "families", tuple(self.families))
        calibration, reliability = read_only(self.calibration), read_only(self.reliability, order="C")
        if calibration.shape != (4,) or not np.isfinite(calibration).all() or (calibration[[0, 2]] < 0).any():
            raise InvalidInput("A row scorer must have two calibrations of a slope and an offset each.")
        if reliability.ndim != 2 or reliability.shape[1] != 3 or not np.isfinite(reliability).all():
            raise InvalidInput("The reliability of a row scorer must be chances x 3 finite numbers.")
        object.__setattr__(self, "calibration", calibration)
        object.__setattr__(self, "reliability", reliability)
        if not 0.0 <= self.own_weight <= 1.0:
            raise InvalidInput("The weight of a row scorer's own trees must be a share.")
        n = len(self.names)
        own = () if self._own is None else (self._own,)
        if any(trees.n_features != n for trees in (*self._trees, *own)):
            raise StoreError(f"A row scorer must have trees over the {n} features of a row.")

    def __reduce__(self) -> Any:
        experts = (self.families, self.wrong, self.unusual, self.calibration, self.reliability)
        return (RowScorer, (*experts, self.own, self.own_weight))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return feature_names(self.families)

    @cached_property
    def _trees(self) -> tuple[TreeEnsemble, TreeEnsemble]:
        return TreeEnsemble.from_lightgbm_text(self.wrong), TreeEnsemble.from_lightgbm_text(self.unusual)

    @cached_property
    def _own(self) -> TreeEnsemble | None:
        return TreeEnsemble.from_lightgbm_text(self.own) if self.own else None

    def experts(self, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The calibrated log-odds of a wrong value and of an unusual row."""
        features = np.ascontiguousarray(features, dtype=np.float64)
        wrong, unusual = (trees.predict(features) for trees in self._trees)
        return calibrated(wrong, leaning(unusual, features, self.names), self.calibration)

    def log_odds(self, features: FloatArray) -> FloatArray:
        """The log-odds of each row to be an outlier."""
        return self.judged(features)[0]

    def judged(self, features: FloatArray) -> tuple[FloatArray, tuple[FloatArray, FloatArray]]:
        """The log-odds of each row to be an outlier, and those of both experts."""
        experts = self.experts(features)
        found = either(*experts)
        if self._own is not None:
            found = found + self.own_weight * self._own.predict(np.ascontiguousarray(features, dtype=np.float64))
        return found, experts


def leaning(unusual: FloatArray, features: FloatArray, names: Sequence[str]) -> FloatArray:
    """What the unusual expert says, with the model that it leans on."""
    lean = sum(weight * features[:, names.index(name)] for name, weight in LEANING.items())
    result: FloatArray = unusual + lean
    return result


def calibrated(wrong: FloatArray, unusual: FloatArray, calibration: FloatArray) -> tuple[FloatArray, FloatArray]:
    a, b, c, d = calibration
    line = a * wrong + b
    return np.where(line < 0.0, UNLIKELY * line, line), c * unusual + d - RARER


def either(wrong: FloatArray, unusual: FloatArray) -> FloatArray:
    """The log-odds that one of two independent things is so.

    >>> either(np.array([0.0]), np.array([0.0])).round(4)  # 1 - 0.5 * 0.5
    array([1.0986])
    """
    # log(1 - p) = -log(1 + exp(x)); odds = 1 / prod(1 - p) - 1
    none = np.logaddexp(0.0, wrong) + np.logaddexp(0.0, unusual)
    result: FloatArray = np.where(none > 30.0, none, np.log(np.expm1(np.maximum(none, 1e-300))))
    return result


def chance_of(log_odds: FloatArray) -> FloatArray:
    """Chances from log-odds."""
    result: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(log_odds, -700.0, 700.0)))
    return result
