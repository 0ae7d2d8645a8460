"""Several measures at once, with the points ranked once for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from elect.core import ScoreMatrix
from elect.core.ranks import Convention, RankReference, rank
from elect.errors import InvalidInput
from elect.measures.base import Reference
from elect.measures.registry import PAPER_MEASURES, get
from elect.support.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class References:
    """Measures with their anchors fixed, ready for models one by one or many at a time.

    >>> anchors = ScoreMatrix([[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]], ("a", "b"))
    >>> References.of(anchors).values(np.array([[3.0], [2.0], [1.0]])).round(3)
    array([[1.   , 1.   , 0.707]])
    """

    names: tuple[str, ...]
    references: tuple[Reference, ...]

    @classmethod
    def of(cls, anchor_scores: ScoreMatrix, names: Sequence[str] = PAPER_MEASURES) -> "References":
        return cls(tuple(names), tuple(get(name).reference(anchor_scores) for name in names))

    def values(self, scores: FloatArray) -> FloatArray:
        """The value of each measure for each model (models x measures), from scores (points x models)."""
        table = np.empty((scores.shape[1], len(self.names)))
        ranks: dict[Convention, FloatArray] = {}
        for column, (name, reference) in enumerate(zip(self.names, self.references, strict=True)):
            if isinstance(reference, RankReference):
                if reference.convention not in ranks:
                    ranks[reference.convention] = rank(scores, reference.convention)
                values = reference.values_of_ranks(ranks[reference.convention])
            else:
                values = np.asarray(reference.values(scores), dtype=np.float64)
            if values.shape != table.shape[:1] or not np.isfinite(values).all():
                raise InvalidInput(
                    f"The measure {name!r} must give one finite value for each of {len(table)} models, "
                    f"got an array of shape {values.shape} with {(~np.isfinite(values)).sum()} values not finite."
                )
            table[:, column] = values
        return table


def measure_table(scores: ScoreMatrix, anchors: Sequence[str], names: Sequence[str] = PAPER_MEASURES) -> FloatArray:
    """The named measures of every model (models x measures), the anchors being models of the same matrix.

    >>> scores = ScoreMatrix([[3.0, 1.0, 2.0], [2.0, 2.0, 2.0], [1.0, 3.0, 2.0]], ("a", "b", "c"))
    >>> measure_table(scores, anchors=["a"], names=["mc", "select"])
    array([[ 1.,  1.],
           [-1., -1.],
           [ 0.,  0.]])
    """
    return References.of(scores.subset(anchors), names).values(scores.values)
