"""The signals of a pool: finite whatever the scores are, blind to the order of rows; the consensus as it is defined."""

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
from elect.errors import InvalidInput
from elect.history.rank_signals import TOPS, Grid, Signals, signals_of
from elect.measures import rank
from toys import SMALL_POOL

N = len(SMALL_POOL)
GRID = Grid.of(SMALL_POOL)
F = GRID.n_families
# Of each model: agreement with families, then described, then the same relative to the mean, then what is added.
SHAPES, OVERLAPS, DESCRIBED = 9, len(TOPS), 5 + len(TOPS) + 2 + 9 + 1
FIRST = 2 * F
SHAPE_COLUMNS = [start + DESCRIBED - 1 - SHAPES + i for start in (FIRST, FIRST + DESCRIBED) for i in range(SHAPES)]
CONSENSUS_COLUMNS = [FIRST + DESCRIBED - 1, FIRST + 2 * DESCRIBED - 1, FIRST + 2 * DESCRIBED]

# Few distinct values make ties and constant columns common; the others are as large and as small as numbers get.
values = st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-300, 1e300, -1e300]) | st.floats(-1e300, 1e300)
hostile = st.integers(2, 60).flatmap(lambda n: hnp.arrays(np.float64, (n, N), elements=values))
tied = st.integers(2, 40).flatmap(
    lambda n: hnp.arrays(np.float64, (n, 5), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0]) | st.floats(-9, 9))
)


def plain(seed: int, n: int, decimals: int | None = None) -> Any:
    """Scores of models that agree more or less; with few decimals there are many ties."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, 1)) + rng.normal(size=(n, N)) * rng.random(N) * 2
    return scores if decimals is None else scores.round(decimals)


def assert_close(one: Signals, other: Signals, columns: Any = slice(None)) -> None:
    np.testing.assert_allclose(one.models[:, columns], other.models[:, columns], atol=1e-9)
    np.testing.assert_allclose(one.table[:-2], other.table[:-2], atol=1e-9)


# Signals


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=60)
@given(hostile)
def test_signals_of_any_scores_are_finite(scores: Any) -> None:
    found = signals_of(scores, GRID)
    assert found.models.shape == (N, FIRST + 2 * DESCRIBED + 1 + 1 + 2)
    assert found.table.shape == (F * (F + 1) + 3,)
    assert found.consensus.shape == (N,)
    for array in (found.models, found.table, found.consensus):
        assert np.isfinite(array).all()
        assert not array.flags.writeable
    # Correlations, shares and average precisions are what they are called.
    agreements = found.models[:, :FIRST]
    assert (np.abs(agreements) <= 1 + 1e-9).all()
    overlaps = found.models[:, FIRST + 5 : FIRST + 5 + OVERLAPS]
    assert ((overlaps >= 0) & (overlaps <= 1)).all()
    assert ((found.consensus > 0) & (found.consensus <= 1 + 1e-9)).all()


@pytest.mark.filterwarnings("error")
def test_constant_scores_and_two_rows_give_no_warning() -> None:
    for scores in (np.zeros((2, N)), np.ones((50, N)), np.arange(2.0 * N).reshape(2, N), plain(0, 50)):
        signals_of(scores, GRID)


def test_signals_have_the_same_width_for_every_table() -> None:
    shapes = {(s.models.shape, s.table.shape) for s in (signals_of(plain(0, n), GRID) for n in (2, 3, 30, 500))}
    assert len(shapes) == 1


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(2, 60), st.sampled_from([None, 1, 0]))
def test_only_shapes_change_when_scores_are_stretched(seed: int, n: int, decimals: int | None) -> None:
    """Everything else rests on ranks, which a strictly rising function leaves alone."""
    scores = plain(seed, n, decimals)
    one, other = signals_of(scores, GRID), signals_of(np.exp(scores / 4) * 100 - 7, GRID)
    ranked = np.setdiff1d(np.arange(one.models.shape[1]), SHAPE_COLUMNS)
    np.testing.assert_array_equal(one.models[:, ranked], other.models[:, ranked])
    np.testing.assert_array_equal(one.table, other.table)
    np.testing.assert_array_equal(one.consensus, other.consensus)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.01, 100.0), st.floats(-100.0, 100.0))
def test_shapes_do_not_see_a_factor_or_a_shift(seed: int, factor: float, shift: float) -> None:
    scores = plain(seed, 80)
    one, other = signals_of(scores, GRID), signals_of(scores * factor + shift, GRID)
    np.testing.assert_allclose(one.models, other.models, atol=1e-6)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(20, 80))
def test_the_order_of_rows_does_not_matter(seed: int, n: int) -> None:
    scores = plain(seed, n)
    one, other = signals_of(scores, GRID), signals_of(np.random.default_rng(seed).permutation(scores), GRID)
    assert_close(one, other)
    np.testing.assert_allclose(one.table, other.table, atol=1e-9)
    np.testing.assert_allclose(one.consensus, other.consensus, atol=1e-9)


def test_the_order_of_rows_does_not_matter_where_scores_are_tied() -> None:
    """Tables often come sorted: which of two equal scores comes first must say nothing."""
    scores = plain(3, 60, decimals=0)
    order = np.argsort(scores.mean(axis=1))
    ascending, descending = signals_of(scores[order], GRID), signals_of(scores[order[::-1]], GRID)
    assert_close(ascending, descending, np.setdiff1d(np.arange(ascending.models.shape[1]), CONSENSUS_COLUMNS))
    np.testing.assert_allclose(ascending.consensus, descending.consensus, atol=1e-9)


def test_the_order_of_models_goes_with_them() -> None:
    order = np.random.default_rng(0).permutation(N)
    scores = plain(1, 50)
    one = signals_of(scores, GRID)
    other = signals_of(scores[:, order], Grid(GRID.family[order], GRID.position[order], F))
    np.testing.assert_allclose(one.models[order], other.models, atol=1e-9)
    np.testing.assert_allclose(one.consensus[order], other.consensus, atol=1e-12)


def test_a_model_that_ranks_at_random_agrees_least() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 1)) + rng.normal(size=(300, N)) * 0.3
    scores[:, 4] = rng.normal(size=300)
    found = signals_of(scores, GRID)
    assert found.consensus.argmin() == 4
    assert found.models[:, FIRST].argmin() == 4
    assert found.models[:, FIRST + 3].argmin() == 4


@pytest.mark.parametrize("scores", [np.full((4, N), np.nan), np.full((4, N), np.inf), np.zeros(N)])
def test_scores_that_are_none_are_refused(scores: Any) -> None:
    with pytest.raises(InvalidInput):
        signals_of(scores, GRID)


def test_equal_scores_give_equal_bits() -> None:
    """Training reads scores model by model, a strategy row by row: the trees must see the same numbers."""
    scores = plain(2, 200)
    one, other = signals_of(scores, GRID), signals_of(np.asfortranarray(scores), GRID)
    for name in ("models", "table", "consensus"):
        assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


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
    np.testing.assert_allclose(grid.averages.sum(axis=1), 1.0)
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


def test_averages_are_over_families() -> None:
    own = np.random.default_rng(0).random(N)
    expected = [own[GRID.family == f].mean() for f in range(F)]
    np.testing.assert_allclose(GRID.averages @ own, expected)


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
