"""The measures as the published files hold them: ascending ranks, and all models as reference.

These compare with the published values and nothing else: adding a model changes the value of every other.
"""

import numpy as np

from elect.core import ScoreMatrix
from elect.measures.centrality import Centrality
from elect.measures.hits import Hits
from elect.measures.select import Select
from elect.support.arrays import FloatArray


def published_centrality(scores: ScoreMatrix) -> FloatArray:
    """The sum of a model's Spearman correlations with the *other* models, divided by the number of models.

    >>> published_centrality(ScoreMatrix([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]], ("a", "b")))
    array([0.25, 0.25])
    """
    with_itself = np.ptp(scores.values, axis=0) > 0.0
    mean = Centrality(convention="ascending").reference(scores).values(scores.values)
    others: FloatArray = mean - with_itself / len(scores.model_ids)
    return others


def published_select(scores: ScoreMatrix) -> FloatArray:
    """SELECT on one over the ascending rank, where the *least* outlying point weighs most."""
    return Select(convention="ascending").reference(scores).values(scores.values)


def published_hits(scores: ScoreMatrix) -> FloatArray:
    """The unit-norm hub vector on one over the ascending rank.

    >>> published_hits(ScoreMatrix([[1.0, 1.0], [2.0, 2.0]], ("a", "b"))).round(3)
    array([0.707, 0.707])
    """
    return Hits(convention="ascending").reference(scores).values(scores.values)
