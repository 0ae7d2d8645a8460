"""The pairwise performance predictor f: from the measures of two models to the gap between their performances (Eq. 4).

``elect.paper.predictor_training`` trains it.
"""

from dataclasses import dataclass, field

import numpy as np

from elect.errors import InvalidInput
from elect.paper.similarity import pair_indices
from elect.support.arrays import FloatArray
from elect.support.trees import TreeEnsemble


@dataclass(frozen=True)
class PairwisePredictor:
    """Predicts by how much one model outperforms another, from the internal measures of both.

    ``text`` is the model as LightGBM writes it; ``trees`` are made from it. Features of a pair are the measures of the
    first model, those of the second, and their difference. The gap is half the difference of what the trees say of the
    pair and of the pair turned around, so that ``gap(i, j) == -gap(j, i)`` whatever the trees are.
    """

    text: str = field(repr=False)
    measure_names: tuple[str, ...]
    trees: TreeEnsemble = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure_names", tuple(self.measure_names))
        object.__setattr__(self, "trees", TreeEnsemble.from_lightgbm_text(self.text))
        expected = 3 * len(self.measure_names)
        if self.trees.n_features != expected:
            raise InvalidInput(
                f"A predictor on {len(self.measure_names)} measures must have {expected} features, "
                f"got {self.trees.n_features}."
            )

    def gaps(self, measures: FloatArray) -> FloatArray:
        """The predicted gap of every pair of models (models x measures), in the order of ``pair_indices`` (Eq. 4)."""
        measures = self._checked(measures, "measures")
        first, second = pair_indices(len(measures))
        return predicted_gaps(self.trees, measures[first], measures[second])

    def gaps_between(self, measures_a: FloatArray, measures_b: FloatArray) -> FloatArray:
        """The gap of each model of the one set over each of the other (models a x models b)."""
        a, b = self._checked(measures_a, "measures_a"), self._checked(measures_b, "measures_b")
        first, second = np.repeat(np.arange(len(a)), len(b)), np.tile(np.arange(len(b)), len(a))
        return predicted_gaps(self.trees, a[first], b[second]).reshape(len(a), len(b))

    def with_model(self, gaps: FloatArray, measures: FloatArray, new: FloatArray) -> FloatArray:
        """The gaps of every pair once a model comes last: as ``gaps`` of all, with only the new pairs predicted.

        ``gaps`` are those of the models before it (``measures``, models x measures); ``new`` are its own measures.
        """
        n_models = len(measures)
        if np.shape(gaps) != (n_models * (n_models - 1) // 2,):
            raise InvalidInput(f"gaps must hold one value for each pair of {n_models} models, got {np.shape(gaps)}.")
        column = self.gaps_between(measures, np.atleast_2d(new))[:, 0]
        # Row i of the upper triangle ends with the pair of model i and the new one.
        return np.insert(gaps, np.cumsum(np.arange(n_models - 1, -1, -1)), column)

    def _checked(self, measures: FloatArray, name: str) -> FloatArray:
        measures = np.asarray(measures, dtype=np.float64)
        if measures.ndim != 2 or measures.shape[1] != len(self.measure_names):
            raise InvalidInput(
                f"{name} must have a row for each model and a column for each of "
                f"{', '.join(self.measure_names)}, got shape {measures.shape}."
            )
        return measures


def predicted_gaps(trees: TreeEnsemble, first: FloatArray, second: FloatArray) -> FloatArray:
    """The predicted gap f(m_i, m_j) of one model over another, row by row of their measures (Eq. 4).

    Half the difference of the two directions, so that the gap of the pair turned around is exactly its negative.
    """
    n = len(first)
    both = np.empty((2 * n, 3 * first.shape[1]))
    fill_features(both[:n], first, second)
    fill_features(both[n:], second, first)
    directions = trees.predict(both)
    gaps: FloatArray = (directions[:n] - directions[n:]) / 2.0
    return gaps


def fill_features(rows: FloatArray, first: FloatArray, second: FloatArray) -> None:
    """What the trees see of a pair: the measures of the first model, those of the second, and their difference."""
    k = first.shape[1]
    rows[:, :k] = first
    rows[:, k : 2 * k] = second
    np.subtract(first, second, out=rows[:, 2 * k :])
