"""The coverage-driven initial set."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elect.core import PerformanceMatrix
from elect.errors import InvalidInput
from elect.paper.coverage import coverage_initial_models


def performance(values) -> PerformanceMatrix:
    values = np.asarray(values, dtype=float)
    n_tasks, n_models = values.shape
    return PerformanceMatrix(values, tuple(f"t{i}" for i in range(n_tasks)), tuple(f"m{i}" for i in range(n_models)))


def chosen(values, size) -> list[int]:
    return [int(model_id[1:]) for model_id in coverage_initial_models(performance(values), size)]


matrices = st.tuples(st.integers(1, 8), st.integers(1, 9)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]))
)


def uncovered(values, models):
    """How many tasks lack a chosen model among those of the best, or of the worst, performance."""
    return sum(
        not ({*np.flatnonzero(row == row.max())} & {*models} and {*np.flatnonzero(row == row.min())} & {*models})
        for row in values
    )


@given(matrices, st.integers(0, 12))
def test_distinct_models_of_the_size_asked_for(values, size):
    models = chosen(values, size)
    assert len(models) == len(set(models)) == min(size, values.shape[1])


@given(matrices, st.integers(0, 9))
def test_a_smaller_set_is_the_beginning_of_a_larger(values, size):
    assert chosen(values, size) == chosen(values, size + 1)[:size]


@given(matrices)
def test_every_task_is_covered_by_two_models_a_task(values):
    assert uncovered(values, chosen(values, 2 * len(values))) == 0


@given(matrices)
def test_each_step_helps_most_tasks_that_lack_something(values):
    models = chosen(values, values.shape[1])

    def helped(candidate, before):
        count = 0
        for row in values:
            top, bottom = {*np.flatnonzero(row == row.max())}, {*np.flatnonzero(row == row.min())}
            count += (candidate in top and not top & before) or (candidate in bottom and not bottom & before)
        return count

    for step, model in enumerate(models):
        before = set(models[:step])
        if uncovered(values, before) == 0:
            break
        gains = {
            candidate: helped(candidate, before) for candidate in range(values.shape[1]) if candidate not in before
        }
        assert gains[model] == max(gains.values())
        assert model == min(candidate for candidate, gain in gains.items() if gain == gains[model])


def test_the_model_that_is_extreme_on_most_tasks_comes_first():
    # m1 is the top of two tasks and the bottom of a third; nobody else is extreme three times.
    assert chosen([[0.5, 0.9, 0.1], [0.1, 0.9, 0.5], [0.5, 0.1, 0.9], [0.1, 0.5, 0.9]], 1) == [1]


def test_a_covered_task_counts_no_more():
    # m0 and m1 cover the first three tasks; m2 is the top of two of them besides m0, m3 of the last one only.
    values = [[1.0, 0.0, 1.0, 0.5, 0.5]] * 3 + [[0.5, 0.5, 0.5, 1.0, 0.1]]
    assert chosen(values, 3) == [0, 1, 3]


def test_all_models_that_share_the_best_performance_are_top_models():
    # m1 shares the best of both tasks, so it is chosen before m0 and m2, which are the best of one each.
    assert chosen([[0.9, 0.9, 0.5, 0.1], [0.5, 0.9, 0.9, 0.1]], 2) == [1, 3]


def test_once_all_is_covered_the_next_best_and_next_worst_follow():
    assert chosen([[0.5, 0.1, 0.9, 0.3, 0.7]], 5) == [1, 2, 3, 4, 0]


def test_one_task():
    assert chosen([[0.2, 0.9, 0.1]], 2) == [1, 2]


def test_equal_performance_everywhere_gives_the_order_of_the_pool():
    assert chosen(np.full((4, 5), 0.5), 3) == [0, 1, 2]


def test_no_task_gives_the_order_of_the_pool():
    assert chosen(np.zeros((0, 3)), 2) == [0, 1]


def test_size_zero_and_size_beyond_the_pool():
    assert chosen([[0.2, 0.9, 0.1]], 0) == []
    assert sorted(chosen([[0.2, 0.9, 0.1]], 99)) == [0, 1, 2]


def test_a_negative_size_is_refused():
    with pytest.raises(InvalidInput, match="at least 0, got -1"):
        coverage_initial_models(performance([[0.2, 0.9]]), -1)
