"""What the models of a pool agree on, as it is defined, whatever the scores are."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score

from elect.committee.consensus import SHARES, STEEPNESS, RankedRows, consensus_chance, expected_performance
from elect.measures import rank
from toys import SMALL_POOL

N = len(SMALL_POOL)
tied = st.integers(2, 40).flatmap(
    lambda n: hnp.arrays(np.float64, (n, 5), elements=st.sampled_from([0.0, 1.0, 2.0, 3.0]) | st.floats(-9, 9))
)


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
