"""Core: distances to the rows of a table that lie least far out."""

from typing import Any

import numpy as np
import pytest

from elect import ModelPool, fit_detector, score_pool
from elect.core import ModelSpec
from elect.errors import InvalidInput
from elect.pool import PoolScorer
from elect.pool.families.core import SHARE, core_rows

POOL = ModelPool.grid("Core", n_neighbors=[5, 10])
RNG = np.random.default_rng(3)


def test_scores_are_mean_distances_to_the_core() -> None:
    X = RNG.normal(size=(100, 3)) * [1.0, 10.0, 0.1]
    scorer = PoolScorer(X, POOL)
    core = core_rows(scorer.work)
    assert len(core) == int(SHARE * len(X))
    A = np.arcsinh(np.asarray(scorer.work.Z))
    apart = np.linalg.norm(A[:, None] - A[core][None], axis=2)
    apart[core, np.arange(len(core))] = np.inf  # a row is not its own neighbour
    for k in (5, 10):
        expected = np.sort(apart, axis=1)[:, :k].mean(axis=1)
        assert scorer.scores(f"Core(n_neighbors={k})") == pytest.approx(expected)


def test_outliers_that_lie_together_do_not_hide() -> None:
    """Thirty rows close together: each has all its neighbours among them, and none in the core."""
    X = np.vstack([RNG.normal(size=(300, 4)), RNG.normal(size=(30, 4)) * 0.05 + 4.0])
    first = np.argsort(-score_pool(X, POOL)["Core(n_neighbors=10)"])[:30]
    assert set(first) == set(range(300, 330))
    near = ModelPool.grid("kNN", method=["mean"], n_neighbors=[10])
    assert not set(np.argsort(-score_pool(X, near).values[:, 0])[:30]) & set(range(300, 330))


def test_one_wild_column_does_not_drown_the_others() -> None:
    X = RNG.normal(size=(400, 6))
    X[:, 0] = RNG.standard_t(1.0, size=400) * 50
    X[7, 1:] = 3.5
    order = np.argsort(-score_pool(X, POOL)["Core(n_neighbors=10)"])
    assert 7 in order[:5]


@pytest.mark.parametrize("k", [0, -1, 2.5, "many"])
def test_an_impossible_number_of_neighbours_is_refused(k: Any) -> None:
    with pytest.raises(InvalidInput, match="n_neighbors must be a whole number of at least 1"):
        fit_detector(ModelSpec.of("Core", n_neighbors=k), RNG.normal(size=(20, 2)))


def test_a_small_table_is_all_core_and_says_what_it_used() -> None:
    X = RNG.normal(size=(8, 2))
    scorer = PoolScorer(X, ModelPool.grid("Core", n_neighbors=[50]))
    assert len(core_rows(scorer.work)) == 8
    assert np.isfinite(scorer.scores("Core(n_neighbors=50)")).all()
    assert "7 used instead" in str(scorer.note("Core(n_neighbors=50)"))
