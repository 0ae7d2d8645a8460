"""The weighted Kendall's tau of Eq. 1, against its definition and its properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elect.errors import InvalidInput
from elect.paper.similarity import pair_indices, pairwise_gaps, similarity, similarity_to_tasks, task_similarities

# A short range of values makes ties, and so zero gaps, common.
performances = st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]) | st.floats(0.0, 1.0)


def matrices(min_tasks=1, min_models=2):
    shapes = st.tuples(st.integers(min_tasks, 5), st.integers(min_models, 8))
    return shapes.flatmap(lambda shape: hnp.arrays(np.float64, shape, elements=performances))


def naive(p, q, scale=False):
    """Eq. 1, case by case, for the performances of all models on two tasks."""
    pairs = [(j, k) for j in range(len(p)) for k in range(j + 1, len(p))]
    a = [p[j] - p[k] for j, k in pairs]
    b = [q[j] - q[k] for j, k in pairs]
    if scale:
        largest_a, largest_b = max(map(abs, a)) or 1.0, max(map(abs, b)) or 1.0
        a, b = [x / largest_a for x in a], [x / largest_b for x in b]
    weights = []
    for x, y in zip(a, b, strict=True):
        if x == y == 0:
            weights.append(1.0)
        elif abs(x) <= abs(y):
            weights.append(x / y)
        else:
            weights.append(y / x)
    magnitude = sum(map(abs, weights))
    return sum(weights) / magnitude if magnitude else 0.0


@settings(max_examples=200)
@given(matrices(), st.booleans())
def test_every_way_equals_the_definition(performance, scale):
    n_models = performance.shape[1]
    expected = [[naive(p, q, scale) for q in performance] for p in performance]
    np.testing.assert_allclose(task_similarities(performance, scale), expected, atol=1e-12)
    gaps = pairwise_gaps(performance)
    np.testing.assert_allclose(similarity(gaps[0], gaps, scale), expected[0], atol=1e-12)
    on_all = similarity_to_tasks(gaps[0], performance, np.arange(n_models), scale)
    np.testing.assert_allclose(on_all, expected[0], atol=1e-12)


@given(matrices(min_models=3), st.booleans(), st.data())
def test_a_subset_of_models_equals_the_definition_on_it(performance, scale, data):
    n_models = performance.shape[1]
    models = np.array(data.draw(st.permutations(range(n_models)))[: data.draw(st.integers(2, n_models))])
    expected = [naive(performance[0, models], row, scale) for row in performance[:, models]]
    gaps = pairwise_gaps(performance[0, models])
    np.testing.assert_allclose(similarity_to_tasks(gaps, performance, models, scale), expected, atol=1e-12)


@given(matrices(), st.booleans())
def test_symmetric_within_bounds_and_one_on_itself(performance, scale):
    result = task_similarities(performance, scale)
    np.testing.assert_array_equal(result, result.T)
    assert (np.abs(result) <= 1.0).all()
    np.testing.assert_array_equal(np.diag(result), np.ones(len(performance)))
    gaps = pairwise_gaps(performance)
    for one in gaps:
        for other in gaps:
            assert similarity(one, other[np.newaxis], scale)[0] == similarity(other, one[np.newaxis], scale)[0]


@given(matrices(), st.data())
def test_order_of_pairs_and_of_models_does_not_matter(performance, data):
    gaps = pairwise_gaps(performance)
    pairs = np.array(data.draw(st.permutations(range(gaps.shape[1]))))
    np.testing.assert_allclose(similarity(gaps[0, pairs], gaps[:, pairs]), similarity(gaps[0], gaps), atol=1e-12)
    models = np.array(data.draw(st.permutations(range(performance.shape[1]))))
    np.testing.assert_allclose(task_similarities(performance[:, models]), task_similarities(performance), atol=1e-12)


@given(matrices(), st.floats(0.01, 100.0))
def test_scaled_similarity_does_not_see_a_factor(performance, factor):
    larger = performance * factor
    # A factor may push a tiny difference below rounding, which turns a gap into a tie.
    gaps, larger_gaps = pairwise_gaps(performance), pairwise_gaps(larger)
    if ((gaps == 0.0) != (larger_gaps == 0.0)).any() or (np.abs(gaps[gaps != 0.0]) < 1e-9).any():
        return
    np.testing.assert_allclose(
        task_similarities(larger, scale=True), task_similarities(performance, scale=True), atol=1e-6
    )


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([0.0, 0.0], [0.0, 0.0], 1.0),
        ([0.0, 0.3], [0.0, 0.1], 1.0),
        ([0.0, 0.3], [0.2, 0.0], 0.0),
        ([0.2, 0.2], [0.4, -0.2], -1 / 3),
        ([0.2, -0.1], [-0.2, 0.1], -1.0),
        ([1e-300, 1e-300], [-1e-300, 1e-300], 0.0),
        ([-0.0], [0.0], 1.0),
    ],
)
def test_cases_of_the_equation(a, b, expected):
    assert similarity(np.array(a), np.array([b]))[0] == pytest.approx(expected)


def test_scaling_weighs_pairs_within_their_task():
    a, b = np.array([1.0, 0.1]), np.array([[0.1, -0.1]])
    # Unscaled the second pair weighs -1 and the first 0.1; scaled, the first weighs 1 and the second -0.1.
    assert similarity(a, b)[0] == pytest.approx((0.1 - 1.0) / 1.1)
    assert similarity(a, b, scale=True)[0] == pytest.approx((1.0 - 1.0 * 0.1) / 1.1)


def test_fewer_than_two_models_compare_nothing():
    for n_models in (0, 1):
        performance = np.full((3, n_models), 0.5)
        np.testing.assert_array_equal(task_similarities(performance, scale=True), np.zeros((3, 3)))
        result = similarity_to_tasks(np.zeros(0), performance, np.arange(n_models), scale=True)
        np.testing.assert_array_equal(result, np.zeros(3))
    np.testing.assert_array_equal(similarity(np.zeros(0), np.zeros((3, 0)), scale=True), np.zeros(3))


def test_no_history_gives_no_similarity():
    assert similarity(np.zeros(3), np.zeros((0, 3))).shape == (0,)


def test_pairs_are_the_upper_triangle_row_by_row():
    i, j = pair_indices(4)
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    gaps = pairwise_gaps(np.array([[1.0, 2.0, 4.0, 8.0]]))
    np.testing.assert_array_equal(gaps, [[-1.0, -3.0, -7.0, -2.0, -6.0, -4.0]])


def test_read_only_and_strided_inputs_are_taken():
    performance = np.random.default_rng(0).random((4, 10))
    performance.flags.writeable = False
    gaps = pairwise_gaps(performance)
    expected = similarity(gaps[0], gaps)
    np.testing.assert_array_equal(similarity(gaps[0], np.asfortranarray(gaps)), expected)
    np.testing.assert_allclose(task_similarities(performance)[0], expected, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: similarity(np.zeros(2), np.zeros((1, 3))),
        lambda: similarity(np.zeros((1, 3)), np.zeros((1, 3))),
        lambda: similarity(np.array([np.nan]), np.zeros((1, 1))),
        lambda: similarity(np.zeros(1), np.array([[np.inf]])),
        lambda: similarity_to_tasks(np.zeros(2), np.zeros((1, 3)), np.array([0, 1])),
        lambda: task_similarities(np.array([[np.nan, 0.0]])),
    ],
)
def test_what_cannot_be_compared_is_refused(call):
    with pytest.raises(InvalidInput):
        call()
