"""The weighted Kendall's tau of Eq. 1, against its definition and its properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elect.errors import InvalidInput
from elect.paper.similarity import pair_indices, pair_weight, pairwise_gaps, similarity_to_tasks, task_similarities

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


@given(matrices(), st.data())
def test_the_order_of_models_does_not_matter(performance, data):
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
        (0.0, 0.0, 1.0),
        (-0.0, 0.0, 1.0),
        (0.0, 0.2, 0.0),
        (0.3, 0.0, 0.0),
        (0.2, 0.2, 1.0),
        (0.2, 0.4, 0.5),
        (0.4, -0.2, -0.5),
        (-0.1, -0.2, 0.5),
        (1e-300, -1e-300, -1.0),
    ],
)
def test_cases_of_the_equation(a, b, expected):
    assert pair_weight(a, b) == pytest.approx(expected)
    assert pair_weight(b, a) == pytest.approx(expected)
    on_one_pair = similarity_to_tasks(np.array([a]), np.array([[b, 0.0]]), np.array([0, 1]))
    assert on_one_pair[0] == np.sign(expected)


def test_the_weights_of_all_pairs_are_summed():
    # The pairs weigh 1, 1/2 and 1/3, the last with another sign: 7/6 of 11/6.
    gaps, history = np.array([0.2, 0.2, -0.1]), np.array([[0.4, 0.2, 0.0]])
    weights = [pair_weight(a, b) for a, b in zip(gaps, pairwise_gaps(history)[0], strict=True)]
    expected = sum(weights) / sum(map(abs, weights))
    assert -1.0 < expected < 1.0
    assert similarity_to_tasks(gaps, history, np.arange(3))[0] == pytest.approx(expected)


def test_scaling_weighs_pairs_within_their_task():
    # Unscaled the pairs weigh 0.1, 1/9 and -1/2; scaled by 1 and 0.1 they weigh 1, 0.9 and -0.2.
    task, history = np.array([1.0, 0.0, 0.1]), np.array([[0.1, 0.0, -0.05]])
    for scale in (False, True):
        expected = naive(task, history[0], scale)
        assert similarity_to_tasks(pairwise_gaps(task), history, np.arange(3), scale)[0] == pytest.approx(expected)
    assert naive(task, history[0], True) - naive(task, history[0]) > 0.3


def test_fewer_than_two_models_compare_nothing():
    for n_models in (0, 1):
        performance = np.full((3, n_models), 0.5)
        np.testing.assert_array_equal(task_similarities(performance, scale=True), np.zeros((3, 3)))
        result = similarity_to_tasks(np.zeros(0), performance, np.arange(n_models), scale=True)
        np.testing.assert_array_equal(result, np.zeros(3))


def test_no_history_gives_no_similarity():
    assert similarity_to_tasks(np.zeros(3), np.zeros((0, 3)), np.arange(3)).shape == (0,)


def test_pairs_are_the_upper_triangle_row_by_row():
    i, j = pair_indices(4)
    assert list(zip(i.tolist(), j.tolist(), strict=True)) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    gaps = pairwise_gaps(np.array([[1.0, 2.0, 4.0, 8.0]]))
    np.testing.assert_array_equal(gaps, [[-1.0, -3.0, -7.0, -2.0, -6.0, -4.0]])


def test_read_only_and_strided_inputs_are_taken():
    performance = np.random.default_rng(0).random((4, 10))
    performance.flags.writeable = False
    gaps = pairwise_gaps(performance[0])
    expected = [naive(performance[0], row) for row in performance]
    for layout in (performance, np.asfortranarray(performance)):
        np.testing.assert_allclose(similarity_to_tasks(gaps, layout, np.arange(10)), expected, atol=1e-12)
        np.testing.assert_allclose(task_similarities(layout)[0], expected, atol=1e-12)


@pytest.mark.parametrize(
    "call",
    [
        lambda: similarity_to_tasks(np.zeros(2), np.zeros((1, 3)), np.array([0, 1])),
        lambda: similarity_to_tasks(np.zeros((1, 1)), np.zeros((1, 3)), np.array([0, 1])),
        lambda: similarity_to_tasks(np.array([np.nan]), np.zeros((1, 2)), np.array([0, 1])),
        lambda: similarity_to_tasks(np.zeros(1), np.array([[np.inf, 0.0]]), np.array([0, 1])),
        lambda: task_similarities(np.array([[np.nan, 0.0]])),
    ],
)
def test_what_cannot_be_compared_is_refused(call):
    with pytest.raises(InvalidInput):
        call()
