"""The expected rank of a pick, with an interval that covers."""

from dataclasses import replace

import numpy as np
import pytest

from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.history.expectation import expected_rank
from toys import toy_database

N_MODELS = len(toy_database().pool)


def calibrated(ranks: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> MetaDatabase:
    return replace(toy_database(), calibration={"held_out_ranks": ranks.tolist()})


def test_none_without_calibration_or_with_few_tasks() -> None:
    assert expected_rank(toy_database()) is None
    assert expected_rank(calibrated(np.full(19, 4.0))) is None


def test_new_tasks_of_the_same_kind_are_covered() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        found = expected_rank(calibrated(rng.beta(1, 2, size=38).clip(1e-6) * N_MODELS))
        assert found is not None
        assert found.low <= found.expected <= found.high
        new = rng.beta(1, 2, size=50) * N_MODELS
        covered.append(np.mean((new >= found.low) & (new <= found.high)))
    assert 0.87 < np.mean(covered) < 0.95


def test_values_out_of_range_are_refused() -> None:
    for rank in (0.0, -1.0, N_MODELS + 0.5):
        with pytest.raises(InvalidInput, match="out of range"):
            expected_rank(calibrated(np.full(30, rank)))
    for told in ("many", ["a"] * 30, [[1], [1, 2]], {"a": 1}, [None] * 30):
        with pytest.raises(InvalidInput, match="train it again"):
            expected_rank(replace(toy_database(), calibration={"held_out_ranks": told}))


def test_ranks_that_were_stored_as_shares_of_the_pool_mean_the_same() -> None:
    ranks = np.arange(1.0, 31.0) % N_MODELS + 1
    before = replace(toy_database(), calibration={"rank_shares": (ranks / N_MODELS).round(6).tolist()})
    now, then = expected_rank(calibrated(ranks)), expected_rank(before)
    assert now is not None
    assert then is not None
    np.testing.assert_allclose([then.expected, then.low, then.high], [now.expected, now.low, now.high], atol=1e-5)
