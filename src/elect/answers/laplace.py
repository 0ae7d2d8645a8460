"""What the answers say of the answered rows: a Gaussian process seen through answers that may be wrong.

The log-odds of a row are its prior plus a function drawn from a Gaussian process. An answer is yes with chance
``wrong + (1 - 2 wrong) sigmoid(log-odds)``. The most likely function is found by Newton's method on the answered rows
alone, so that matrices are answers x answers (Rasmussen and Williams, Gaussian Processes for Machine Learning,
algorithm 3.1, with the expected curvature, which stays positive where answers may be wrong).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from scipy.special import expit

from elect.support.arrays import FloatArray

_STEPS, _LONGEST, _CLOSE = 60, 3.0, 1e-6
_LEAST_CURVATURE = 1e-6


@dataclass(frozen=True, eq=False)
class Belief:
    """The belief after some answers. The shift of any row is its covariance with the answered rows times ``dual``."""

    dual: FloatArray  # (answers,)
    factor: FloatArray  # (answers, answers) lower Cholesky factor of covariance + noise

    def explained(self, covariance: FloatArray) -> FloatArray:
        """What the answers explain of the covariance with the answered rows (rows, answers): its inner product with
        itself is by how much the variance falls. (answers, rows)"""
        known: FloatArray = solve_triangular(self.factor, covariance.T, lower=True, check_finite=False)
        return known


def believe(covariance: FloatArray, prior: FloatArray, said: NDArray[np.bool_], wrong: float) -> Belief:
    """From the covariance of the answered rows, their prior log-odds and the answers.

    >>> belief = believe(np.array([[4.0]]), np.array([-2.0]), np.array([True]), 0.05)
    >>> bool(belief.dual[0] > 0)
    True
    """
    said_yes = said.astype(np.float64)
    log_odds = prior.copy()
    steady = covariance + 1e-6 * np.eye(len(prior))
    step = _LONGEST
    while True:
        chance = expit(log_odds)
        yes = wrong + (1 - 2 * wrong) * chance
        slope = (1 - 2 * wrong) * chance * (1 - chance)
        spread = yes * (1 - yes)
        curvature = np.maximum(slope * slope / spread, _LEAST_CURVATURE)
        factor, _ = cho_factor(steady + np.diag(1 / curvature), lower=True, check_finite=False)
        target = log_odds - prior + slope * (said_yes - yes) / spread / curvature
        dual = cho_solve((factor, True), target, check_finite=False)
        move = prior + steady @ dual - log_odds
        longest = float(np.abs(move).max())
        if longest < _CLOSE or step < _CLOSE:
            return Belief(dual, np.tril(factor))
        # Shorter and shorter, so that it ends even where it would go to and fro.
        log_odds = log_odds + move * min(1.0, step / longest)
        step *= 0.8 if longest > _CLOSE * 100 else 0.5
