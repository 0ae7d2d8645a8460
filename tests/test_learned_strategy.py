"""The strategies ``consensus`` and ``learned``: when the history is asked, and when it is not."""

from dataclasses import replace

import numpy as np
import pytest

from elect import MetaDatabase, ModelPool
from elect.core import PerformanceMatrix
from elect.errors import ElectError
from elect.history.rank_predictor import RankPredictor, gate_row, ranker_rows
from elect.history.rank_signals import Grid, signals_of
from elect.strategies import select
from elect.support.boosting import Growth, boost
from test_strategies import N, Source, scores
from toys import SMALL_POOL, toy_rank_predictor


def test_consensus_owes_nothing_to_the_history(small_database: MetaDatabase) -> None:
    values = np.random.default_rng(0).random(small_database.performance.values.shape)
    another = replace(
        small_database, performance=PerformanceMatrix(values, small_database.tasks, small_database.pool.ids)
    )
    one, other = (select(d, Source(), strategy="consensus") for d in (small_database, another))
    assert one.model_id == other.model_id
    assert [c.model_id for c in one.runners_up] == [c.model_id for c in other.runners_up]
    assert one.expected_rank is None


def test_a_small_history_gives_the_consensus_and_says_so(small_database: MetaDatabase) -> None:
    assert small_database.rank_predictor is None
    learned, consensus = (select(small_database, Source(), strategy=name) for name in ("learned", "consensus"))
    assert learned.pick == consensus.pick
    assert learned.runners_up == consensus.runners_up
    assert learned.expected_rank is None
    assert "the history is too small" in learned.why
    assert "the history is too small" not in consensus.why
    assert "the history is too small" in str(learned.explain())


def decided(best: int, gain: float) -> RankPredictor:
    """A rank predictor that always forecasts this model to be the best, and this gain from picking it."""
    rng = np.random.default_rng(0)
    grid = Grid.of(SMALL_POOL)
    signals = signals_of(np.asarray(scores().values), grid)
    prior = np.where(np.arange(N) == best, 0.0, np.linspace(0.4, 0.6, N))
    texts = []
    for width, value in (
        (ranker_rows(signals, prior).shape[1], 0.0),
        (len(gate_row(signals, prior, best, 0, grid)), gain),
    ):
        texts.append(boost(rng.normal(size=(40, width)), np.full(40, value), Growth(2, 1, 1.0, min_leaf_rows=5)))
    outcomes = np.column_stack([np.linspace(0, 1, 400)] * 2)
    return RankPredictor(texts[0], texts[1], prior, outcomes)


def test_the_history_overrules_the_consensus_only_where_that_is_expected_to_pay(small_database: MetaDatabase) -> None:
    consensus = select(small_database, Source(), strategy="consensus")
    for best in (0, N // 2, N - 1):
        if SMALL_POOL.ids[best] == consensus.model_id:
            continue
        opened = replace(small_database, rank_predictor=decided(best, 0.3))
        shut = replace(small_database, rank_predictor=decided(best, 0.0))
        from_history, from_consensus = (select(d, Source()) for d in (opened, shut))
        assert from_history.model_id == SMALL_POOL.ids[best]
        assert from_consensus.model_id == consensus.model_id
        assert "expected to rank best" in from_history.why
        assert "low confidence" in from_consensus.why
        assert from_history.expected_rank is not None
        assert from_consensus.expected_rank is not None
        assert from_history.expected_rank.expected < from_consensus.expected_rank.expected
        for database in (opened, shut):
            assert select(database, Source(), strategy="consensus").pick == consensus.pick


def test_a_forecast_model_that_fails_gives_way_to_the_next(small_database: MetaDatabase) -> None:
    database = replace(small_database, rank_predictor=decided(0, 0.3))
    selection = select(database, Source(SMALL_POOL.ids[:1]))
    assert selection.model_id == SMALL_POOL.ids[1]  # of the forecasts, the second smallest
    assert selection.failures[0][0] == SMALL_POOL.ids[0]


def test_a_predictor_of_another_pool_is_refused(small_database: MetaDatabase) -> None:
    learned = toy_rank_predictor(ModelPool.grid("kNN", method=["mean"], n_neighbors=list(range(1, N + 1))))
    database = replace(small_database, rank_predictor=learned)
    with pytest.raises(ElectError, match="train it again"):
        select(database, Source())
    assert select(database, Source(), strategy="consensus").model_id in SMALL_POOL


# Small pools and small tables
