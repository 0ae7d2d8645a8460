"""Extremes: values far from their column's median, measured on their own side of it."""

from typing import Any

import numpy as np
import pytest

from elect import ModelPool, fit_detector, score_pool
from elect.core import ModelSpec
from elect.errors import InvalidInput

POOL = ModelPool.grid("Extremes", how=["largest", "two", "sum"])


def test_scores_are_distances_in_median_distances() -> None:
    X = np.column_stack([[-2.0, -1.0, 0.0, 10.0, 30.0], [0.0, 0.0, 0.0, 0.0, 8.0]])
    scores = score_pool(X, POOL)
    # By hand: below 0 the median distance is 1.5, above it 20; in the second column 8 is the only distance.
    first, second = np.array([2 / 1.5, 1 / 1.5, 0, 0.5, 1.5]), np.array([0, 0, 0, 0, 1.0])
    assert scores["Extremes(how=largest)"] == pytest.approx(np.maximum(first, second))
    assert scores["Extremes(how=two)"] == pytest.approx(first + second)
    assert scores["Extremes(how=sum)"] == pytest.approx(first + second)


def test_a_wrong_value_on_the_short_side_of_a_skewed_column_stands_out() -> None:
    column = np.random.default_rng(0).exponential(size=500) * 100 + 50
    X = np.column_stack([np.r_[column, -999.0], np.random.default_rng(1).normal(size=501)])
    for model_id in POOL.ids:
        assert score_pool(X, POOL)[model_id].argmax() == 500


def test_units_do_not_matter() -> None:
    X = np.random.default_rng(2).lognormal(size=(80, 4))
    moved = X * [1e3, 1, 1e-3, 5] + [0, 7, 0, -1]
    assert np.allclose(score_pool(X, POOL).values, score_pool(moved, POOL).values, rtol=1e-9)


@pytest.mark.parametrize("how", ["most", 3, None])
def test_an_unknown_way_is_refused(how: Any) -> None:
    with pytest.raises(InvalidInput, match="largest, two, sum"):
        fit_detector(ModelSpec.of("Extremes", how=how), [[0.0], [1.0]])
