"""The named steps of the paper, against their definitions: pick (2), neighbours (3, 5), next model (8), stopping."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elect.errors import InvalidInput
from elect.paper.acquisition import ACQUISITIONS, neighbor_moments, next_model
from elect.paper.neighbors import COMPARED_MODELS, NOBODY, estimated_neighbors, neighbors_by_performance
from elect.paper.pick import best_first
from elect.paper.similarity import pairwise_gaps, task_similarities
from elect.paper.steps import N_RUNNERS_UP, attempt, candidates
from elect.paper.stopping import Budget, Patience

values = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 1.0)
histories = st.tuples(st.integers(1, 6), st.integers(2, 8)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=values)
)


@given(histories, st.data())
def test_the_pick_is_the_best_mean_over_the_neighbours_of_all_models_that_run(history: Any, data: Any) -> None:
    mean, _ = neighbor_moments(history)
    n_models = len(mean)
    failed = set(data.draw(st.sets(st.integers(0, n_models - 1), max_size=n_models - 1)))
    order = best_first(mean, failed).tolist()
    assert sorted(order) == list(range(n_models))
    runs = [model for model in range(n_models) if model not in failed]
    assert order[0] == max(runs, key=lambda model: (mean[model], -model))
    assert set(order[len(runs) :]) == failed


@given(histories, st.integers(1, 8), st.booleans())
def test_neighbours_are_the_most_similar_tasks_nearest_first(history: Any, size: int, scale: bool) -> None:
    models = np.arange(history.shape[1])
    similar = task_similarities(history, scale)[0]
    found = estimated_neighbors(pairwise_gaps(history[0]), history, models, size, scale)
    assert len(found.tasks) == min(size, len(history))
    np.testing.assert_allclose(found.similarities, np.sort(similar)[::-1][: len(found.tasks)], atol=1e-12)
    np.testing.assert_array_equal(similar[found.tasks], found.similarities)
    # Where the performance itself is known, Eq. 3, the same tasks are found from it.
    known = neighbors_by_performance(history[0], history, models, size, scale)
    np.testing.assert_array_equal(known.tasks, found.tasks)


def test_of_a_large_pool_a_spread_of_models_is_compared() -> None:
    rng = np.random.default_rng(0)
    history = rng.random((5, 4 * COMPARED_MODELS))
    order = np.argsort(-history[2], kind="stable")
    found = neighbors_by_performance(history[2], history, order, 2)
    assert found.tasks[0] == 2
    assert found.named("abcde")[0].task == "c"
    assert neighbors_by_performance(np.ones(1), np.ones((3, 1)), np.arange(1), 2) is NOBODY


@pytest.mark.parametrize("name", ACQUISITIONS)
def test_the_next_model_has_the_largest_value_for_its_cost(name: str) -> None:
    rng = np.random.default_rng(1)
    mean, std, cost = rng.random(9), rng.random(9), rng.random(5) + 0.1
    left = np.array([1, 3, 4, 6, 8])
    model, value = next_model(ACQUISITIONS[name], mean, std, left, 0.4, cost)
    worth = ACQUISITIONS[name](mean[left], std[left], 0.4) / cost
    assert model == left[np.argmax(worth)]
    assert value == worth.max()


@given(st.lists(st.sampled_from(["ab", "ba", "bc", "d"]), max_size=12), st.integers(1, 4))
def test_patience_ends_after_as_many_equal_steps_in_a_row(steps: list[str], patience: int) -> None:
    settled = Patience(patience, "ab")
    before, row = {"a", "b"}, 0
    for step in steps:
        row = row + 1 if set(step) == before else 0
        before = set(step)
        why = settled.after(step)
        assert (why is not None) == (row >= patience)
        assert settled.why() == why
        if why is not None:
            assert why == f"the neighbours stayed the same for {row} steps"
            return


def test_budgets_are_spent_by_models_and_by_time() -> None:
    assert Budget().spent(10**9) is None
    assert Budget(max_models=3).spent(2) is None
    assert Budget(max_models=3).spent(3) == "the budget of 3 models is spent"
    assert Budget(max_seconds=1e9).spent(0) is None
    assert Budget(max_seconds=0.5, started=-1e9).spent(0) == "the budget of 0.5 s is spent"
    for budget in ({"max_models": -1}, {"max_seconds": -0.1}, {"max_seconds": float("nan")}):
        with pytest.raises(InvalidInput, match="at least 0"):
            Budget(**budget)


def test_candidates_are_the_pick_and_its_runners_up() -> None:
    rng = np.random.default_rng(2)
    history = rng.random((3, 6))
    mean, std = neighbor_moments(history)
    shown = candidates("abcdef", best_first(mean), mean, std, history[:2])
    assert len(shown) == 1 + N_RUNNERS_UP
    assert [c.mean for c in shown] == sorted(mean, reverse=True)[: len(shown)]
    first = int(np.argmax(mean))
    assert shown[0].model_id == "abcdef"[first]
    assert shown[0].on_neighbors == tuple(history[:2, first])
    assert candidates("abcdef", best_first(mean), mean, std, history[:0])[0].on_neighbors == ()
    assert len(candidates("ab", np.array([1, 0]), mean, std, history)) == 2


def test_what_is_no_fault_of_a_model_is_not_caught() -> None:
    assert attempt(lambda: 5) == (5, None)

    def fail(error: BaseException) -> None:
        raise error

    assert attempt(lambda: fail(InvalidInput("no"))) == (None, "InvalidInput: no")
    for error in (KeyboardInterrupt(), SystemExit(), OSError()):
        with pytest.raises(type(error)):
            attempt(lambda error=error: fail(error))  # type: ignore[misc]
