"""Answers: they sharpen the pick, forgive mistakes, and change nothing where there are none."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elect import Feedback, MetaDatabase, score_pool
from elect.answers import Answer
from elect.answers.posterior import RankedTable, prior
from elect.committee.consensus import expected_performance
from elect.committee.curves import OutlierCurves, task_counts
from elect.core import LabeledTask
from elect.core.metrics import performance
from elect.core.sources import ReplayedScores
from elect.errors import InvalidInput
from elect.history import train
from elect.strategies import select
from toys import SMALL_POOL, corpus, make_task


@pytest.fixture(scope="module")
def database() -> MetaDatabase:
    return train(corpus(9), SMALL_POOL, tune=False)


def session(database: MetaDatabase, task: LabeledTask, **options: Any) -> Feedback:
    return Feedback(database, source_of(task), **options)


def source_of(task: LabeledTask) -> ReplayedScores:
    return ReplayedScores(score_pool(task.X, SMALL_POOL))


def ranks_after(database: MetaDatabase, task: LabeledTask, n: int, wrong: float = 0.0, seed: int = 0) -> float:
    """The rank of the pick after n answers, 1 the best."""
    truth = performance(score_pool(task.X, SMALL_POOL), task.y)
    feedback = session(database, task)
    rng = np.random.default_rng(seed)
    for _ in range(n):
        row = feedback.ask()
        feedback.tell(row, bool(task.y[row]) != bool(rng.random() < wrong))
    return float((truth > truth[SMALL_POOL.index(feedback.selection.model_id)]).sum() + 1)


def test_answers_improve_the_pick_on_average(database: MetaDatabase) -> None:
    tasks = [make_task(seed, n=150) for seed in range(40, 52)]
    before, after = (np.mean([ranks_after(database, task, n) for task in tasks]) for n in (0, 20))
    assert after < before
    assert after < 3.0


def test_without_an_answer_the_unlabelled_pick_stays(database: MetaDatabase) -> None:
    feedback = session(database, make_task(60))
    pick = feedback.selection
    assert pick == replace(select(database, source_of(make_task(60))), seconds=pick.seconds, steps=pick.steps)
    assert pick.strategy == "learned"
    feedback.tell(feedback.ask(), None)
    feedback.tell(feedback.ask(), None)
    assert feedback.selection == pick
    assert [answer.is_outlier for answer in feedback.answers] == [None, None]
    row = feedback.ask()
    feedback.tell(row, True)
    assert feedback.selection.strategy == "answers"
    assert feedback.selection.stopped_because == "1 answers were given"
    assert feedback.selection.why.startswith("1 answers were given")
    assert feedback.selection.expected_rank is None
    assert len(feedback.selection.neighbors) == database.settings.n_neighbor_tasks


def test_asks_each_row_once_and_only_open_ones(database: MetaDatabase) -> None:
    task = make_task(61, n=20)
    feedback = session(database, task)
    asked = []
    for _ in range(task.n_rows):
        asked.append(feedback.ask())
        feedback.tell(asked[-1], bool(task.y[asked[-1]]))
    assert sorted(asked) == list(range(task.n_rows))
    with pytest.raises(InvalidInput, match="asked about already"):
        feedback.ask()


def test_a_session_can_be_resumed(database: MetaDatabase) -> None:
    task = make_task(62)
    one, other = session(database, task), session(database, task)
    for _ in range(8):
        row = one.ask()
        one.tell(row, bool(task.y[row]))
    other.resume(one.answers)
    assert other.ask() == one.ask()
    assert other.selection.pick == one.selection.pick


def test_answered_rows_are_nearly_certain(database: MetaDatabase) -> None:
    feedback = session(database, make_task(63))
    yes, no = feedback.ask(), 0
    before = feedback.outlier_chance
    feedback.tell(yes, True)
    no = feedback.ask()
    feedback.tell(no, False)
    chance = feedback.outlier_chance
    assert ((chance > 0) & (chance < 1)).all()
    assert chance[yes] > before[yes]
    assert chance[no] < 0.2


@pytest.mark.parametrize(
    ("row", "said", "message"),
    [
        (-1, True, "row must be"),
        (10**6, True, "row must be"),
        (True, True, "row must be"),
        (1, "yes", "True, False or None"),
    ],
)
def test_bad_answers_are_refused(database: MetaDatabase, row: Any, said: Any, message: str) -> None:
    feedback = session(database, make_task(64))
    with pytest.raises(InvalidInput, match=message):
        feedback.tell(row, said)
    assert feedback.answers == ()


def test_a_row_is_answered_once(database: MetaDatabase) -> None:
    feedback = session(database, make_task(65))
    feedback.tell(3, True)
    with pytest.raises(InvalidInput, match="answered already"):
        feedback.tell(3, False)
    assert feedback.answers == (Answer(3, True),)


def test_databases_without_calibration_are_refused(database: MetaDatabase) -> None:
    with pytest.raises(InvalidInput, match="carries no calibration"):
        session(replace(database, calibration=None), make_task(66))
    with pytest.raises(InvalidInput, match="out of range"):
        session(replace(database, calibration={"curves": {"chance": [[2.0]], "shares": [0.1]}}), make_task(66))
    with pytest.raises(InvalidInput, match="wrong"):
        session(database, make_task(66), wrong=0.5)


def test_expected_performance_of_certain_labels_is_average_precision() -> None:
    task = make_task(67)
    scores = score_pool(task.X, SMALL_POOL)
    from elect.measures import rank

    table = RankedTable.of(rank(scores.values))
    certain = np.where(task.y == 1, 1.0, 0.0)
    assert expected_performance(table.rows, certain) == pytest.approx(performance(scores, task.y))


def test_curves_fall_with_rank_and_rise_with_quality(database: MetaDatabase) -> None:
    curves = OutlierCurves.from_json(database.calibration["curves"])  # type: ignore[index]
    assert (np.diff(curves.chance, axis=1) <= 1e-12).all()
    assert curves.chance[-1, 5] > 0.8
    assert curves.chance[-1, 5] > curves.chance[0, 5]
    assert len(curves.shares) == 9


def test_counts_of_a_perfect_model() -> None:
    y = np.r_[np.ones(5), np.zeros(45)].astype(np.int8)
    ranks = np.arange(1.0, 51.0)[:, None]
    outliers, rows = task_counts(ranks, y, np.array([1.0]))
    assert outliers[:-1].sum() == 0
    assert outliers[-1].sum() == pytest.approx(rows[-1].sum() * 0.1)


def test_priors_are_distributions() -> None:
    belief = prior(np.random.default_rng(0).random((6, 4)), np.linspace(0.01, 0.3, 6))
    assert belief.sum(axis=(1, 2)) == pytest.approx(np.ones(4))
    assert (belief > 0).all()


def test_the_store_keeps_the_calibration(database: MetaDatabase, tmp_path: Any) -> None:
    database.save(tmp_path / "it.elect")
    again = MetaDatabase.load(tmp_path / "it.elect")
    task = make_task(68)
    one, other = session(database, task), session(again, task)
    assert one.ask() == other.ask()
