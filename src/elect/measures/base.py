"""The contract of an internal measure: what a model's scores say about its quality, without labels."""

from typing import Protocol

from elect.core import ScoreMatrix
from elect.support.arrays import FloatArray


class Reference(Protocol):
    """A measure with its anchors fixed: all it needs from them is computed once and kept."""

    def values(self, scores: FloatArray) -> FloatArray:
        """One finite value a model, from scores (points x models) of the points the anchors scored.

        The value of a model depends on its own column and on the anchors, never on the other columns: a newly
        evaluated model costs one call with one column, and leaves every other value as it was.
        """
        ...


class Measure(Protocol):
    """An internal measure, addressed by its name. Higher values mean closer to what the anchors agree on."""

    @property
    def name(self) -> str: ...

    def reference(self, anchor_scores: ScoreMatrix) -> Reference:
        """Fix the anchors: their scores on the task at hand, at least one column."""
        ...
