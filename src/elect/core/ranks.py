"""Ranks of points by outlier score, and the base of the measures that look at nothing else."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from elect.core import ScoreMatrix
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, IntArray
from elect.support.compiled import compiled

Convention = Literal["descending", "ascending"]
"""``descending``: rank 1 is the most outlying point. ``ascending``: rank 1 is the least, as in the published files."""


def rank(scores: FloatArray, convention: Convention = "descending") -> FloatArray:
    """The ranks of the points within each column (points x models); tied points share their mean rank.

    >>> rank(np.array([[0.1, 5.0], [0.9, 5.0], [0.4, 7.0]]))
    array([[3. , 2.5],
           [1. , 2.5],
           [2. , 1. ]])
    >>> rank(np.array([[0.1], [0.9], [0.4]]), "ascending").T
    array([[1., 3., 2.]])
    """
    if convention not in get_args(Convention):
        raise InvalidInput(f"convention must be one of {', '.join(get_args(Convention))}, got {convention!r}.")
    scores = np.asarray(scores, dtype=np.float64)
    if scores.ndim != 2:
        raise InvalidInput(f"Scores must have two dimensions (points x models), got {scores.ndim}.")
    if not np.isfinite(scores).all():
        raise InvalidInput("Scores must be finite to be ranked; some are NaN or infinite.")
    # One model after the other in memory: every kernel below reads the points of a single model.
    by_model = np.ascontiguousarray(scores.T)
    order = np.argsort(by_model, axis=1)
    ranks = np.empty_like(by_model)
    _fill_ranks(np.take_along_axis(by_model, order, axis=1), order, convention == "descending", ranks)
    return ranks.T


@compiled()
def _fill_ranks(ascending: FloatArray, order: IntArray, descending: bool, ranks: FloatArray) -> None:
    n_models, n_points = ascending.shape
    for model in range(n_models):
        start = 0
        while start < n_points:
            end = start + 1
            while end < n_points and ascending[model, end] == ascending[model, start]:
                end += 1
            shared = 0.5 * (start + 1 + end)
            if descending:
                shared = n_points + 1 - shared
            for i in range(start, end):
                ranks[model, order[model, i]] = shared
            start = end


@dataclass(frozen=True, eq=False)
class RankReference(ABC):
    """A reference that needs the ranks of the points only, so that several can share one ranking."""

    convention: Convention
    n_points: int

    def values(self, scores: FloatArray) -> FloatArray:
        return self.values_of_ranks(rank(scores, self.convention))

    def values_of_ranks(self, ranks: FloatArray) -> FloatArray:
        """The same values from ranks (points x models) taken by this reference's convention."""
        if ranks.shape[0] != self.n_points:
            raise InvalidInput(
                f"Scores must be of the {self.n_points} points that the anchors scored, got {ranks.shape[0]} points."
            )
        values = np.empty(ranks.shape[1])
        self._fill(np.ascontiguousarray(ranks.T), values)
        return values

    @abstractmethod
    def _fill(self, ranks_by_model: FloatArray, values: FloatArray) -> None:
        """Write one value a model; ``ranks_by_model`` is models x points."""


@dataclass(frozen=True)
class RankMeasure(ABC):
    """A measure that looks at the ranks of the points only."""

    name: str
    convention: Convention = "descending"

    def reference(self, anchor_scores: ScoreMatrix) -> RankReference:
        if not anchor_scores.model_ids:
            raise InvalidInput(f"The measure {self.name!r} needs at least one anchor, got none.")
        return self.reference_of_ranks(rank(anchor_scores.values, self.convention))

    @abstractmethod
    def reference_of_ranks(self, anchor_ranks: FloatArray) -> RankReference:
        """Fix the anchors from their ranks (points x anchors) by this measure's convention."""
