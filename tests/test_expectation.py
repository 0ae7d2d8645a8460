"""The expected rank of a pick, with an interval that covers."""

from dataclasses import replace

import numpy as np
import pytest

from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.history.expectation import expected_rank
from toys import toy_database


def calibrated(shares: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> MetaDatabase:
    return replace(toy_database(), calibration={"rank_shares": shares.tolist()})


def test_none_without_calibration_or_with_few_tasks() -> None:
    assert expected_rank(toy_database()) is None
    assert expected_rank(calibrated(np.full(19, 0.5))) is None


def test_new_tasks_of_the_same_kind_are_covered() -> None:
    rng = np.random.default_rng(0)
    covered = []
    for _ in range(300):
        found = expected_rank(calibrated(rng.beta(1, 2, size=38).clip(1e-6)))
        assert found is not None
        assert found.low <= found.expected <= found.high
        new = rng.beta(1, 2, size=50) * 8
        covered.append(np.mean((new >= found.low) & (new <= found.high)))
    assert 0.87 < np.mean(covered) < 0.95


def test_values_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInput, match="out of range"):
        expected_rank(calibrated(np.full(30, 1.5)))
