"""Simulated answers: what the benchmark of feedback reports."""

import numpy as np
import pytest

from elect.bench.answers import run_answers, simulate_answers, summarise
from elect.errors import InvalidInput
from elect.history.records import Recipe, work_folder
from elect.history.train import make_records
from toys import SMALL_POOL, corpus


def test_outcomes_by_number_and_share_of_wrong_answers() -> None:
    tasks = corpus(6)
    with work_folder(None) as pieces:
        records = make_records(tasks, Recipe(SMALL_POOL), pieces)
        found = list(simulate_answers(tasks, records, pieces, counts=(0, 25), wrong=(0.0, 0.2)))
    assert [name for name, _ in found] == [task.name for task in tasks]
    results = {(r.wrong, r.n): r for r in summarise([outcomes for _, outcomes in found])}
    assert set(results) == {(0.0, 0), (0.0, 25), (0.2, 0), (0.2, 25)}
    for result in results.values():
        assert 1 <= result.mean_rank <= len(SMALL_POOL)
        assert 0 < result.mean_ap <= 1
        assert result.tasks == 6
    assert results[0.0, 0].mean_rank == results[0.2, 0].mean_rank
    assert results[0.0, 25].mean_rank <= results[0.0, 0].mean_rank
    truth = np.array([record.performance.max() for record in records.tasks]).mean()
    assert results[0.0, 25].mean_ap <= truth + 1e-4


def test_numbers_of_answers_are_checked() -> None:
    with pytest.raises(InvalidInput, match="whole numbers"):
        run_answers("wild", counts=[])
