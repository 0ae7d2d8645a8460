"""The grid of a pool, and what its models agree on: each as it is defined, whatever the scores are."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score

from elect import ModelPool, ModelSpec, default_pool
from elect.committee.consensus import SHARES, STEEPNESS, RankedRows, consensus_chance, expected_performance
from elect.history.grid import Grid
from elect.measures import rank
from toys import SMALL_POOL

N = len(SMALL_POOL)
GRID = Grid.of(SMALL_POOL)
tied = st.integers(2, 40).flatmap(
    lambda n: hnp.arrays(np.float64, (n, 5), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0]) | st.floats(-9, 9))
)


# The grid of a pool


@cache
def default_grid() -> Grid:
    return Grid.of(default_pool())


@pytest.mark.parametrize("pool", [SMALL_POOL, default_pool()], ids=["small", "default"])
def test_positions_lie_between_0_and_1_and_tell_the_models_of_a_family_apart(pool: ModelPool) -> None:
    grid = Grid.of(pool)
    assert grid.position.shape == (len(pool), 2)
    assert ((grid.position >= 0) & (grid.position <= 1)).all()
    assert grid.n_families == len({spec.detector for spec in pool})
    assert [list(dict.fromkeys(s.detector for s in pool))[f] for f in grid.family] == [s.detector for s in pool]
    places = {(int(f), *map(float, at)) for f, at in zip(grid.family, grid.position, strict=True)}
    assert len(places) == len(pool)
    for f in range(grid.n_families):
        own = grid.position[grid.family == f]
        if len(own) > 1:
            assert own.min() == 0.0
            assert own.max() == 1.0


def test_positions_follow_the_order_of_values() -> None:
    grid = Grid.of(ModelPool.grid("kNN", method=["mean"], n_neighbors=[20, 5, 10]))
    assert grid.position.tolist() == [[1.0, 0.0], [0.0, 0.0], [0.5, 0.0]]


def test_one_and_one_point_zero_are_two_values() -> None:
    """scikit-learn takes max_features=1 for one column, and 1.0 for all of them."""
    grid = Grid.of(ModelPool.grid("IForest", n_estimators=[10], max_features=[1, 1.0]))
    assert ((grid.position >= 0) & (grid.position <= 1)).all()


params = st.dictionaries(
    st.sampled_from("abc"), st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.sampled_from("xy")
)


@settings(max_examples=80)
@given(st.lists(st.tuples(st.sampled_from(["LOF", "kNN"]), params), min_size=1, max_size=8))
def test_any_pool_has_a_grid(models: Any) -> None:
    """Parameters of several kinds, and some that are missing."""
    specs = {spec.id: spec for spec in (ModelSpec.of(detector, **given) for detector, given in models)}
    grid = Grid.of(ModelPool.of(specs.values()))
    assert ((grid.position >= 0) & (grid.position <= 1)).all()
    np.testing.assert_allclose(grid.smoothed(np.ones(len(specs))), 1.0)


@given(st.floats(-5, 5), st.floats(0.01, 2.0))
def test_smoothing_keeps_constants_and_stays_within_a_family(value: float, width: float) -> None:
    np.testing.assert_allclose(GRID.smoothed(np.full(N, value), width), value, atol=1e-12)
    by_family = GRID.family.astype(float)
    np.testing.assert_allclose(GRID.smoothed(by_family, width), by_family, atol=1e-12)


def test_smoothing_is_an_average_that_pulls_neighbours_together() -> None:
    rng = np.random.default_rng(0)
    rough = rng.random((4, len(default_pool())))
    smooth = default_grid().smoothed(rough)
    assert smooth.shape == rough.shape
    np.testing.assert_allclose(default_grid().smoothed(rough[2]), smooth[2])
    assert smooth.min() >= rough.min()
    assert smooth.max() <= rough.max()
    assert smooth.std() < 0.5 * rough.std()
    alone = np.flatnonzero(np.bincount(GRID.family)[GRID.family] == 1)
    own = rng.random(N)
    np.testing.assert_allclose(GRID.smoothed(own)[alone], own[alone])


# The consensus


def slow_chance(ranks: Any) -> Any:
    """The chance as it is defined: over shares and models, a word that falls with the place of the row."""
    n, n_models = ranks.shape
    chance = np.zeros(n)
    for i in range(n):
        for m in range(n_models):
            for share in SHARES:
                place = (ranks[i, m] - 0.5) / n
                chance[i] += 1.0 / (1.0 + (place / share) ** STEEPNESS)
    return chance / (n_models * len(SHARES))


@settings(max_examples=60)
@given(tied)
def test_chances_equal_their_definition(scores: Any) -> None:
    ranks = rank(scores)
    np.testing.assert_allclose(consensus_chance(ranks), slow_chance(ranks), rtol=1e-12)


@given(tied)
def test_chances_are_chances_and_fall_with_rank(scores: Any) -> None:
    chance = consensus_chance(rank(scores))
    assert ((chance > 0) & (chance < 1)).all()
    same = rank(np.repeat(scores[:, :1], 3, axis=1))
    falling = consensus_chance(same)[np.argsort(same[:, 0], kind="stable")]
    assert (np.diff(falling) <= 1e-15).all()


def test_one_perfect_opinion_is_the_consensus() -> None:
    ranks = np.repeat(np.arange(1.0, 101.0)[:, None], 4, axis=1)
    assert consensus_chance(ranks).argsort()[::-1].tolist() == list(range(100))


@settings(max_examples=60)
@given(st.integers(2, 50), st.integers(0, 10**6), st.data())
def test_certain_labels_give_the_average_precision(n: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    # Few values make ties, which must count at once.
    scores = rng.integers(0, data.draw(st.sampled_from([2, 5, 1000])), size=(n, 4)).astype(float)
    y = np.zeros(n)
    y[rng.permutation(n)[: data.draw(st.integers(1, n))]] = 1.0
    expected = [average_precision_score(y, column) for column in scores.T]
    np.testing.assert_allclose(expected_performance(RankedRows.of(rank(scores)), y), expected, rtol=1e-12)


def test_expected_performance_is_the_mean_over_labels_it_stands_for() -> None:
    """With small chances the expected precision is close to that of labels drawn with them."""
    rng = np.random.default_rng(0)
    n = 400
    chance = np.where(np.arange(n) < 40, 0.6, 0.02)
    good, bad = np.arange(n), rng.permutation(n)
    place = np.argsort(np.array([good, bad]), axis=1)
    draws = [rng.random(n) < chance for _ in range(400)]
    drawn = np.mean([[average_precision_score(y, -place[m]) for m in range(2)] for y in draws], axis=0)
    np.testing.assert_allclose(expected_performance(RankedRows.of(place.T + 1.0), chance), drawn, atol=0.02)
