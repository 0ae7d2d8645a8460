"""The acquisition functions, against their definitions and at their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import quad
from scipy.stats import norm

from elect.errors import InvalidInput
from elect.paper.acquisition import expected_improvement, greedy, mean_plus_variance, neighbor_moments

unit = st.floats(0.0, 1.0)


@given(hnp.arrays(np.float64, 6, elements=unit), hnp.arrays(np.float64, 6, elements=unit), unit)
def test_expected_improvement_is_finite_and_never_negative(mean, std, best):
    values = expected_improvement(mean, std, best)
    assert np.isfinite(values).all()
    assert (values >= 0.0).all()
    assert (values[std == 0.0] == 0.0).all()
    assert (values >= np.where(std > 0.0, mean - best, 0.0) - 1e-15).all()


@given(unit, st.floats(0.01, 1.0), unit)
def test_expected_improvement_equals_equation_7(mean, std, best):
    u = (mean - best) / std
    expected = std * (u * norm.cdf(u) + norm.pdf(u))
    assert expected_improvement(np.array([mean]), np.array([std]), best)[0] == pytest.approx(expected, abs=1e-14)


def test_expected_improvement_is_the_mean_of_the_improvement():
    integral, _ = quad(lambda x: (x - 0.6) * norm.pdf(x, 0.5, 0.2), 0.6, 3.0)
    assert expected_improvement(np.array([0.5]), np.array([0.2]), 0.6)[0] == pytest.approx(integral, rel=1e-6)


@given(unit, st.floats(0.01, 1.0), unit, st.floats(0.01, 0.5))
def test_expected_improvement_grows_with_mean_and_deviation(mean, std, best, more):
    base, better, wider = expected_improvement(
        np.array([mean, mean + more, mean]), np.array([std, std, std + more]), best
    )
    assert better >= base - 1e-12  # rounding
    assert wider >= base - 1e-12


def test_expected_improvement_at_the_edges():
    mean = np.array([0.9, 0.1, 0.5, 0.9, 0.1])
    std = np.array([0.0, 0.0, 0.0, 5e-324, 5e-324])
    np.testing.assert_allclose(expected_improvement(mean, std, 0.5), [0.0, 0.0, 0.0, 0.4, 0.0], atol=1e-15)
    assert expected_improvement(np.zeros(0), np.zeros(0), 0.5).shape == (0,)


def test_mean_plus_variance_and_greedy():
    mean, std = np.array([0.5, 0.4]), np.array([0.1, 0.5])
    np.testing.assert_allclose(mean_plus_variance(mean, std, 0.0), [0.51, 0.65])
    np.testing.assert_array_equal(greedy(mean, std, 0.0), mean)
    assert greedy(mean, std, 0.0) is not mean


def test_moments_are_those_of_the_neighbours():
    values = np.random.default_rng(0).random((5, 8))
    mean, std = neighbor_moments(values)
    np.testing.assert_allclose(mean, values.mean(axis=0))
    np.testing.assert_allclose(std, np.sqrt(((values - values.mean(axis=0)) ** 2).mean(axis=0)))


@given(unit, st.integers(1, 12))
def test_equal_performance_has_no_deviation_at_all(value, n_neighbors):
    mean, std = neighbor_moments(np.full((n_neighbors, 2), value))
    np.testing.assert_array_equal(mean, [value, value])
    np.testing.assert_array_equal(std, [0.0, 0.0])


@pytest.mark.parametrize("bad", [np.zeros((0, 3)), np.zeros(3)])
def test_no_neighbours_are_refused(bad):
    with pytest.raises(InvalidInput):
        neighbor_moments(bad)
