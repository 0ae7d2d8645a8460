"""Simulated answers: what the benchmark of feedback reports."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elect.answers import AnsweredElection
from elect.answers.electing import posterior_of, ranks_of
from elect.answers.left import remaining
from elect.answers.opening import committee_evidence, scorer_of
from elect.answers.posterior import RankedTable
from elect.bench.answers import AnswerTask, databases, run_answers, simulate, summarise
from elect.bench.askers import ASKERS, OpenedTask, chosen_askers
from elect.core import LabeledTask
from elect.core.metrics import performance
from elect.core.sources import ReplayedScores
from elect.errors import InvalidInput
from elect.history import train
from elect.history.database import MetaDatabase
from elect.history.records import Recipe, work_folder
from elect.history.shipped import row_scorer_of, shipped_database
from elect.history.train import make_records
from elect.pool import score_pool
from toys import SMALL_POOL, corpus, make_task


@pytest.fixture(scope="module")
def database() -> MetaDatabase:
    return train(corpus(9), SMALL_POOL, tune=False)


def opened(database: MetaDatabase, task: LabeledTask) -> AnswerTask:
    scores = score_pool(task.X, SMALL_POOL)
    source = ReplayedScores(scores)
    evidence = committee_evidence(row_scorer_of(database), *scorer_of(task.X, database, 0))
    election = AnsweredElection(database, source)
    posterior = partial(posterior_of, database, RankedTable.of(ranks_of(database, source)))
    return AnswerTask(task.name, OpenedTask(evidence, posterior, election), task.y, performance(scores, task.y))


@pytest.mark.parametrize("name", list(ASKERS))
def test_every_method_asks_learns_and_is_judged(database: MetaDatabase, name: str) -> None:
    pytest.importorskip({"XGBOD": "xgboost", "AADForest": "coniferest", "PineForest": "coniferest"}.get(name, "numpy"))
    task = opened(database, make_task(70))
    found = simulate(task, chosen_askers([name]), counts=(0, 12), wrong=(0.0, 0.3))
    assert set(found) == {(name, wrong, n) for wrong in (0.0, 0.3) for n in (0, 12)}
    assert found[name, 0.0, 0] == found[name, 0.3, 0]
    after = found[name, 0.0, 12]
    assert (after.found > 0) or name == "elect, learn"
    assert after.found <= int(task.y.sum())
    assert 0 < after.ap <= 1
    assert (after.rank is not None) == name.startswith("elect")


def test_answered_rows_are_placed_by_their_answers(database: MetaDatabase) -> None:
    task = opened(database, make_task(71))

    class Stubborn:
        """Asks about the outliers, learns nothing."""

        def __init__(self, opened: Any) -> None:
            self.rows = list(np.flatnonzero(task.y))

        def ask(self) -> int:
            return int(self.rows.pop(0))

        def tell(self, row: int, said: bool) -> None:
            pass

        def scores(self) -> Any:
            return np.where(task.y == 1, 0.0, 1.0)

    count = int(task.y.sum())
    found = simulate(task, {"stubborn": Stubborn}, counts=(0, count - 1, count), wrong=(0.0,))
    assert found["stubborn", 0.0, count].ap == 1.0
    assert found["stubborn", 0.0, count].ap_unasked is None
    assert found["stubborn", 0.0, count].found == count
    last = found["stubborn", 0.0, count - 1]
    assert last.ap_unasked == pytest.approx(1 / (len(task.y) - count + 1))
    rows = {row["n"]: row for row in summarise([found, found])}
    assert rows[count]["gain"] == pytest.approx(1 - found["stubborn", 0.0, 0].ap, abs=1e-4)
    assert rows[count]["worse"] == 0
    assert rows[count]["low"] == rows[count]["high"] == 1.0
    assert rows[count]["mean_ap_unasked"] is None


def test_bad_runs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="whole numbers"):
        run_answers("wild", counts=[])
    with pytest.raises(InvalidInput, match="testbed must be"):
        run_answers("tame")
    with pytest.raises(InvalidInput, match="methods must be"):
        run_answers("wild", methods=["magic"])


def test_a_task_is_judged_by_a_database_that_has_not_learned_from_it() -> None:
    with work_folder(None) as pieces:
        records = make_records(corpus(4), Recipe(SMALL_POOL), pieces)
        drawn = {record.name for record in records.tasks[1:]}
        found = list(databases("wild", records, drawn, "strict", pieces))
        assert {name for names, _ in found for name in names} == drawn
        for names, database in found:
            assert database.tasks
            assert not set(names) & set(database.tasks)
        # The shipped database knows no rare classes: one task alone can be judged.
        one = make_records(corpus(4)[:1], Recipe(SMALL_POOL), pieces)
        assert list(databases("odd", one, drawn, "strict", pieces)) == [([one.tasks[0].name], shipped_database())]


@given(st.integers(0, 99), st.integers(0, 60), st.floats(-30, 30), st.floats(0, 5), st.floats(-8, 8))
def test_what_is_left_lies_in_its_interval_among_the_open_rows(
    seed: int, n_open: int, level: float, width: float, moved: float
) -> None:
    rng = np.random.default_rng(seed)
    prior = level + width * rng.normal(size=60)
    is_open = rng.permutation(60) < n_open
    left = remaining(prior, prior + moved * rng.random(60), is_open)
    assert 0 <= left.low <= left.expected + 0.5 <= left.high + 1 <= n_open + 1
    assert left.expected <= n_open
    # A row less among the open ones never makes it more.
    fewer = is_open.copy()
    fewer[np.flatnonzero(is_open)[:1]] = False
    assert remaining(prior, prior, fewer).expected <= remaining(prior, prior, is_open).expected
