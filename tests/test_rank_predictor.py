"""The learned pick: it learns where there is something to learn, steps back where there is not, and says how sure."""

import copy
import pickle
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from elect import ModelPool
from elect.core import RankInterval
from elect.errors import ElectError, InvalidInput
from elect.history.rank_predictor import MARGIN, LearnedPick, RankPredictor, gate_row, rank_interval, ranker_rows
from elect.history.rank_signals import Grid, Signals
from elect.history.rank_training import MIN_GROUPS, rank_shares, train_rank_predictor
from elect.support.arrays import FloatArray
from test_store import LEARNED

POOL = ModelPool.grid("kNN", method=["largest", "mean"], n_neighbors=list(range(1, 11))) + ModelPool.grid(
    "LOF", metric=["euclidean"], n_neighbors=list(range(1, 21))
)
GRID = Grid.of(POOL)
M, SKIP = len(POOL), 2 * GRID.n_families


def history(n_tasks: int, telling: float, agreeing: float, seed: int = 0) -> tuple[list[Signals], FloatArray]:
    """Tasks on which one signal tells the performance of a model so far, and the consensus so far."""
    rng = np.random.default_rng([seed, n_tasks])
    performance = rng.random((n_tasks, M))
    told, agreed = (share * performance + (1 - share) * rng.random(performance.shape) for share in (telling, agreeing))
    signals = []
    for t in range(n_tasks):
        models = rng.normal(size=(M, SKIP + 4))
        models[:, SKIP + 1] = told[t]
        models[:, SKIP + 2] = agreed[t]
        signals.append(Signals(models, rng.normal(size=3), agreed[t]))
    return signals, performance


def groups(n_tasks: int, size: int = 2) -> list[str]:
    return [f"g{t // size}" for t in range(n_tasks)]


@cache
def trained(telling: float, agreeing: float, n_tasks: int = 80, seed: int = 0) -> RankPredictor:
    signals, performance = history(n_tasks, telling, agreeing)
    found = train_rank_predictor(signals, performance, groups(n_tasks), GRID, seed)
    assert found is not None
    return found


def picks(
    predictor: RankPredictor, telling: float, agreeing: float
) -> tuple[list[LearnedPick], FloatArray, FloatArray]:
    """The picks on forty new tasks of the same kind, and the rank shares of these and of the consensus."""
    signals, performance = history(40, telling, agreeing, seed=9)
    shares = rank_shares(performance)
    found = [predictor.pick(one, GRID) for one in signals]
    learned = np.array([shares[t, pick.model] for t, pick in enumerate(found)])
    consensus = np.array([shares[t, one.consensus.argmax()] for t, one in enumerate(signals)])
    return found, learned, consensus


# What is learned


def test_where_signals_tell_the_rank_the_pick_beats_the_consensus() -> None:
    found, learned, consensus = picks(trained(0.9, 0.0), 0.9, 0.0)
    assert learned.mean() < 0.15 < 0.4 < consensus.mean()
    assert np.mean([pick.from_history for pick in found]) > 0.9
    assert all(pick.gain > MARGIN for pick in found if pick.from_history)


def test_where_signals_are_noise_the_consensus_is_picked() -> None:
    found, learned, consensus = picks(trained(0.0, 0.8), 0.0, 0.8)
    assert consensus.mean() < 0.15
    assert learned.mean() < consensus.mean() + 0.03
    # Nothing says that the ranker gains on it, except where the ranker learned to follow it.
    assert all(pick.gain <= 0.1 for pick in found)


def test_a_history_without_anything_to_tell_stays_with_the_consensus() -> None:
    found, learned, consensus = picks(trained(0.0, 0.0), 0.0, 0.0)
    assert np.mean([pick.from_history for pick in found]) < 0.35
    assert abs(learned.mean() - consensus.mean()) < 0.15


def test_a_pick_is_the_best_forecast_or_the_consensus() -> None:
    predictor = trained(0.9, 0.0)
    for one in history(10, 0.9, 0.0, seed=4)[0]:
        shares, pick = predictor.shares(one), predictor.pick(one, GRID)
        best, common = int(shares.argmin()), int(one.consensus.argmax())
        assert pick.model == (best if pick.from_history else common)
        assert pick.share == shares[pick.model]
        alone = replace(one, consensus=np.where(np.arange(M) == best, 1.0, 0.0))
        assert not predictor.pick(alone, GRID).from_history  # both are the same model: nothing is overruled


def test_forecasts_come_true_on_tasks_that_were_left_out() -> None:
    predictor = trained(0.9, 0.0)
    assert predictor.outcomes.shape == (80, 2)
    assert predictor.outcomes[:, 1].mean() < 0.2
    assert ((predictor.outcomes[:, 1] >= 0) & (predictor.outcomes[:, 1] <= 1)).all()
    useless = trained(0.0, 0.0)
    assert useless.outcomes[:, 1].mean() > 0.35


def test_expected_ranks_of_new_tasks_cover_them() -> None:
    for telling, agreeing in ((0.9, 0.0), (0.0, 0.0)):
        predictor = trained(telling, agreeing)
        found, learned, _ = picks(predictor, telling, agreeing)
        ranks = 1 + learned * (M - 1)
        known = [predictor.expected_rank(pick.share) for pick in found]
        covered = [k is not None and k.low <= r <= k.high for k, r in zip(known, ranks, strict=True)]
        assert np.mean(covered) >= 0.8


def test_the_prior_is_the_mean_rank_of_the_history() -> None:
    signals, performance = history(40, 0.5, 0.5)
    performance[:, 7] = 2.0  # always the best
    found = train_rank_predictor(signals, performance, groups(40, 1), GRID)
    assert found is not None
    expected = GRID.smoothed(rank_shares(performance).mean(axis=0))
    np.testing.assert_allclose(found.prior, expected, atol=1e-6)
    assert found.prior.argmin() == 7


def test_a_group_of_siblings_speaks_less_than_as_many_strangers() -> None:
    signals, performance = history(40, 0.5, 0.5)
    performance[:20, 7], performance[20:, 7] = 2.0, -1.0
    siblings = ["one"] * 20 + groups(20, 1)
    one, other = (train_rank_predictor(signals, performance, names, GRID) for names in (siblings, groups(40, 1)))
    assert one is not None
    assert other is not None
    assert one.prior[7] > other.prior[7] + 0.05


# When nothing is learned


@pytest.mark.parametrize("n_groups", [1, 2, MIN_GROUPS - 1])
def test_few_sources_teach_nothing(n_groups: int) -> None:
    signals, performance = history(30, 0.9, 0.0)
    names = [f"g{t % n_groups}" for t in range(30)]
    assert train_rank_predictor(signals, performance, names, GRID) is None


def test_just_enough_sources_do() -> None:
    signals, performance = history(MIN_GROUPS, 0.9, 0.0)
    assert train_rank_predictor(signals, performance, groups(MIN_GROUPS, 1), GRID) is not None


def test_equal_performances_are_no_error() -> None:
    signals, performance = history(20, 0.5, 0.5)
    found = train_rank_predictor(signals, np.full_like(performance, 0.3), groups(20, 1), GRID)
    assert found is not None
    np.testing.assert_allclose(found.prior, 0.5)
    pick = found.pick(signals[0], GRID)
    assert pick.model == signals[0].consensus.argmax()


# Repeatable


def test_equal_arguments_give_equal_bytes() -> None:
    one, signals, performance = trained(0.9, 0.0), *history(80, 0.9, 0.0)
    other = train_rank_predictor(signals, np.asfortranarray(performance), groups(80), GRID)
    assert other is not None
    assert (one.ranker, one.gate) == (other.ranker, other.gate)
    assert one.prior.tobytes() == other.prior.tobytes()
    assert one.outcomes.tobytes() == other.outcomes.tobytes()
    another = trained(0.9, 0.0, seed=4)
    assert another.ranker != one.ranker
    assert another.gate != one.gate


def test_copies_and_pickles_pick_the_same() -> None:
    predictor = trained(0.9, 0.0)
    signals = history(5, 0.9, 0.0, seed=5)[0]
    for twin in (pickle.loads(pickle.dumps(predictor)), copy.deepcopy(predictor)):
        assert (twin.ranker, twin.gate) == (predictor.ranker, predictor.gate)
        assert not twin.prior.flags.writeable
        assert not twin.outcomes.flags.writeable
        for one in signals:
            assert twin.pick(one, GRID) == predictor.pick(one, GRID)
            np.testing.assert_array_equal(twin.shares(one), predictor.shares(one))


def test_trees_over_other_signals_are_not_used() -> None:
    signals = history(1, 0.5, 0.5)[0][0]
    wider = replace(signals, models=np.hstack([signals.models, signals.models]))
    longer = replace(signals, table=np.r_[signals.table, 0.0])
    for other in (wider, longer):
        with pytest.raises(InvalidInput, match="train it again"):
            trained(0.9, 0.0).pick(other, GRID)


@pytest.mark.parametrize(
    "changes",
    [
        {"prior": np.array([])},
        {"prior": np.full(5, np.nan)},
        {"prior": np.full((5, 1), 0.5)},
        {"prior": np.array([0.0, 0.5, 1.1])},
        {"outcomes": np.full((30, 2), np.nan)},
        {"outcomes": np.zeros((30, 3))},
        {"outcomes": np.zeros(30)},
        {"ranker": ""},
        {"gate": "tree"},
    ],
)
def test_a_predictor_that_contradicts_itself_is_refused(changes: Any) -> None:
    with pytest.raises(ElectError):
        replace(LEARNED, **changes)


# Intervals


def test_intervals_cover_what_they_say() -> None:
    """The true share depends on the forecast, in its mean and in its spread, and intervals are read from neighbours."""
    rng = np.random.default_rng(0)

    def draw(n: int) -> FloatArray:
        forecast = rng.beta(2, 5, size=n)
        return np.column_stack([forecast, rng.beta(1 + 4 * forecast, 3, size=n)])

    covered, widths = [], []
    for _ in range(150):
        known = draw(300)
        for forecast, truth in draw(20):
            found = rank_interval(known, forecast, 297)
            assert found is not None
            covered.append(found.low <= 1 + truth * 296 <= found.high)
            widths.append((forecast, found.high - found.low))
    assert 0.85 < np.mean(covered) < 0.95
    low, high = (np.mean([c for c, (f, _) in zip(covered, widths, strict=True) if near(f)]) for near in (_low, _high))
    assert min(low, high) > 0.82  # not too narrow here because too wide there


def _low(forecast: float) -> bool:
    return forecast < 0.2


def _high(forecast: float) -> bool:
    return forecast > 0.4


def test_good_forecasts_give_better_and_narrower_ranks() -> None:
    rng = np.random.default_rng(1)
    forecast = rng.random(400)
    outcomes = np.column_stack([forecast, np.clip(forecast * rng.random(400), 0, 1)])
    sure, unsure = (rank_interval(outcomes, share, 100) for share in (0.05, 0.9))
    assert sure is not None
    assert unsure is not None
    assert sure.expected < unsure.expected
    assert sure.high - sure.low < unsure.high - unsure.low


@pytest.mark.parametrize("share", [-5.0, 0.0, 0.3, 1.0, 40.0])
@pytest.mark.parametrize("n_models", [1, 2, 297])
def test_ranks_lie_within_the_pool(share: float, n_models: int) -> None:
    rng = np.random.default_rng(2)
    for outcomes in (rng.random((20, 2)), np.zeros((25, 2)), np.ones((500, 2))):
        found = rank_interval(outcomes, share, n_models)
        assert found is not None
        assert 1.0 <= found.low <= found.expected <= found.high <= n_models


def test_few_outcomes_say_nothing() -> None:
    assert rank_interval(np.zeros((19, 2)), 0.5, 10) is None
    assert rank_interval(np.zeros((0, 2)), 0.5, 10) is None
    assert isinstance(rank_interval(np.zeros((20, 2)), 0.5, 10), RankInterval)


# What the trees see


def test_rows_hold_what_they_are_made_from() -> None:
    signals = history(1, 0.5, 0.5)[0][0]
    prior = np.linspace(0, 1, M)
    rows = ranker_rows(signals, prior)
    np.testing.assert_array_equal(rows[:, :-1], signals.models)
    np.testing.assert_array_equal(rows[:, -1], prior)
    shares = np.linspace(0.2, 0.8, M)
    row = gate_row(signals, shares, 3, 10, GRID)
    expected = [*signals.table, shares[10] - shares[3], shares[3], shares[10], shares.std()]
    np.testing.assert_array_equal(row, [*expected, *signals.models[3, SKIP:], *signals.models[10, SKIP:]])


def test_rank_shares_run_from_the_best_to_the_worst() -> None:
    shares = rank_shares(np.array([[0.3, 0.9, 0.3, 0.1], [0.5, 0.5, 0.5, 0.5]]))
    np.testing.assert_allclose(shares, [[0.5, 0.0, 0.5, 1.0], [0.5, 0.5, 0.5, 0.5]])
    assert rank_shares(np.array([[0.7]])).tolist() == [[0.0]]
