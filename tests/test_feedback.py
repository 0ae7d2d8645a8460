"""Answers: they speak for similar rows, forgive mistakes, and change nothing where there are none."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import expit, logit

from elect import ElectDetector, Feedback, MetaDatabase, load_detector, save_detector, score_pool
from elect.answers import Answer, AnsweredElection, AnswerModel, RowEvidence
from elect.answers.electing import posterior_of, tells_quality
from elect.answers.opening import committee_evidence, scorer_of
from elect.answers.posterior import RankedTable
from elect.committee.consensus import RankedRows, expected_performance
from elect.committee.curves import OutlierCurves, task_counts
from elect.core import LabeledTask
from elect.core.metrics import performance
from elect.core.sources import ReplayedScores
from elect.errors import InvalidInput
from elect.history import train
from elect.history.shipped import row_scorer_of
from elect.measures import rank
from elect.strategies import select
from toys import SMALL_POOL, corpus, make_task


@pytest.fixture(scope="module")
def database() -> MetaDatabase:
    return train(corpus(9), SMALL_POOL, tune=False)


def session(database: MetaDatabase, task: LabeledTask, **options: Any) -> Feedback:
    evidence = committee_evidence(row_scorer_of(database), *scorer_of(task.X, database, 0))
    source = ReplayedScores(score_pool(task.X, SMALL_POOL))
    return Feedback.of(evidence, AnsweredElection(database, source), **options)


def two_groups(n: int = 200, seed: int = 0) -> tuple[RowEvidence, Any]:
    """Rows of one cloud and of a small one beside it, which nothing but the answers can tell from the others."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) < n // 10
    columns = rng.normal(size=(n, 2))
    columns[y] = columns[y] * 0.2 + [1.5, -1.0]
    return RowEvidence(np.full(n, -2.0), columns, rng.normal(size=(n, 3))), y


def told(feedback: Feedback, y: Any, n: int, wrong: float = 0.0) -> Feedback:
    rng = np.random.default_rng(1)
    for _ in range(n):
        row = feedback.ask()
        feedback.tell(row, bool(y[row]) != bool(rng.random() < wrong))
    return feedback


def ap(scores: Any, y: Any) -> float:
    from elect.core.metrics import METRICS

    return float(METRICS["ap"](np.asarray(scores)[:, None], np.asarray(y).astype(np.int8))[0])


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_answers_speak_for_similar_rows(wrong: float) -> None:
    gains = []
    for seed in range(3):
        evidence, y = two_groups(seed=seed)
        feedback = told(Feedback.of(evidence), y, 20, wrong)
        unasked = np.ones(len(y), dtype=bool)
        unasked[[answer.row for answer in feedback.answers]] = False
        gains.append(ap(feedback.log_odds[unasked], y[unasked]))
    assert np.mean(gains) > 0.5


def test_find_finds_more_and_learn_ranks_better() -> None:
    evidence, y = two_groups(400)
    learn, find = (told(Feedback.of(evidence, aim=aim), y, 30) for aim in ("learn", "find"))  # type: ignore[arg-type]
    found = [sum(bool(a.is_outlier) for a in feedback.answers) for feedback in (learn, find)]
    assert found[1] > found[0]
    assert find.ask("learn") != find.ask()


def test_it_understands_which_kind_of_oddity_is_meant() -> None:
    """Three times no on extreme values and a yes on an odd combination: combinations come first."""
    rng = np.random.default_rng(2)
    n = 300
    signals = np.abs(rng.normal(size=(n, 2)))  # (extreme value, odd combination)
    signals[:20, 0] += 4
    signals[20:40, 1] += 4
    evidence = RowEvidence(-4 + signals.sum(axis=1), rng.normal(size=(n, 6)), signals)
    feedback = Feedback.of(evidence)
    before = feedback.log_odds
    assert before[1:20].mean() == pytest.approx(before[21:40].mean(), abs=0.5)
    for row, said in ((0, False), (1, False), (2, False), (20, True)):
        feedback.tell(row, said)
    after = feedback.log_odds
    assert after[21:40].mean() > after[3:20].mean() + 1.0


def test_a_no_does_not_bury_the_most_glaring_value() -> None:
    """A signal may lie ninety standard deviations out: what is said of a row that lies three out says little of it."""
    rng = np.random.default_rng(3)
    n = 1000
    signals = np.abs(rng.normal(size=(n, 4)))
    signals[:5] = 3.0
    signals[5] = 300.0
    log_odds = np.full(n, -4.0)
    log_odds[:6] = [1.0, 0.8, 0.6, 0.4, 0.2, 4.5]
    feedback = Feedback.of(RowEvidence(log_odds, rng.normal(size=(n, 6)), signals))
    for row in range(5):
        feedback.tell(row, False)
        assert feedback.log_odds.argmax() == 5
        # After five times no to all that came next, even the most glaring row is in doubt.
        assert feedback.flagged[5] or row == 4


def test_without_answers_the_table_speaks_alone(database: MetaDatabase) -> None:
    feedback = session(database, make_task(60))
    pick = feedback.selection
    source = ReplayedScores(score_pool(make_task(60).X, SMALL_POOL))
    assert pick == replace(select(database, source), seconds=pick.seconds, steps=pick.steps)
    assert pick.strategy == "committee"
    before = feedback.chance
    feedback.tell(feedback.ask(), None)
    feedback.tell(feedback.ask(), None)
    assert feedback.selection == pick
    assert feedback.chance == pytest.approx(before)
    assert [answer.is_outlier for answer in feedback.answers] == [None, None]
    feedback.tell(feedback.ask(), True)
    assert feedback.selection.strategy == "answers"
    assert feedback.selection.stopped_because == "1 answer was given"
    assert feedback.selection.why.startswith("1 answer was given")
    assert feedback.selection.expected_rank is None
    assert len(feedback.selection.neighbors) == database.settings.n_neighbor_tasks


def test_answers_elect_one_of_the_best_models(database: MetaDatabase) -> None:
    def place(task: LabeledTask) -> float:
        truth = performance(score_pool(task.X, SMALL_POOL), task.y)
        feedback = told(session(database, task), task.y, 40)
        assert feedback.selection.strategy == "answers"
        return float((truth > truth[SMALL_POOL.index(feedback.selection.model_id)]).sum() + 1)

    # Of 13 models; a random one is the seventh.
    assert np.mean([place(make_task(seed, n=150)) for seed in range(40, 52)]) < 5.0


def test_to_find_is_to_learn_first_where_nothing_was_found() -> None:
    evidence, _ = two_groups()
    feedback = Feedback.of(evidence, aim="find")
    told_no, learnt = [], []
    for _ in range(17):
        row = feedback.ask()
        chance = feedback.chance
        chance[[answer.row for answer in feedback.answers]] = -1
        learnt.append(row == feedback.ask("learn") and row != chance.argmax())
        assert learnt[-1] or row == chance.argmax()
        feedback.tell(row, False)
        told_no.append(row)
    assert len(set(told_no)) == 17
    assert [place for place, is_learning in enumerate(learnt) if is_learning] == [10, 13, 16]
    feedback.tell(feedback.ask(), True)
    chance = feedback.chance
    chance[[answer.row for answer in feedback.answers]] = -1
    assert feedback.ask() == chance.argmax()


@pytest.mark.parametrize("aim", ["learn", "find"])
def test_asks_each_row_once(aim: Any) -> None:
    evidence, y = two_groups(25)
    feedback = told(Feedback.of(evidence, aim=aim), y, len(y))
    assert sorted(answer.row for answer in feedback.answers) == list(range(len(y)))
    with pytest.raises(InvalidInput, match="asked about already"):
        feedback.ask()


def sure_of(row: int, log_odds: float = 3.0) -> RowEvidence:
    """Evidence that is sure of one row, and of no other."""
    evidence, _ = two_groups()
    return replace(evidence, log_odds=np.where(np.arange(200) == row, log_odds, -2.0))


def test_a_no_against_all_evidence_is_asked_about_once_more() -> None:
    feedback = Feedback.of(sure_of(60))
    feedback.tell(60, False)
    assert feedback.ask() != 60  # not at once
    for row in (120, 121):
        feedback.tell(row, False)
    assert feedback.doubted == 60
    assert feedback.ask() == 60
    assert feedback.ask("find") == 60
    feedback.tell(60, False)
    assert feedback.doubted is None
    assert feedback.ask() != 60


def test_to_find_only_a_no_to_a_nearly_sure_row_is_asked_about_again() -> None:
    feedback = Feedback.of(sure_of(60, 1.5))
    for row in (60, 120, 121):
        feedback.tell(row, False)
    assert feedback.ask("learn") == 60
    assert feedback.ask("find") not in (60, 120, 121)


def test_a_slip_is_mended_by_the_second_look() -> None:
    feedback = Feedback.of(sure_of(60))
    for row, said in ((60, False), (120, False), (121, False)):
        feedback.tell(row, said)
    assert feedback.tell(feedback.ask(), True) == "Row 60 was answered no before: yes counts now."
    assert feedback.flagged[60]


def test_models_expected_alike_are_told_apart_by_the_history(database: MetaDatabase) -> None:
    task = make_task(3, n=80)
    feedback = session(database, task)
    election = feedback._election
    assert election is not None
    chance = np.full(80, 0.3)
    alike = replace(database, calibration=None)
    pick = AnsweredElection(alike, ReplayedScores({name: np.zeros(80) for name in SMALL_POOL.ids})).elect(
        chance, {0: True}
    )
    usual = database.performance.ranks().mean(axis=0)
    assert pick.model_id == database.performance.model_ids[int(usual.argmin())]


def test_only_a_no_of_this_session_to_a_likely_row_is_doubted() -> None:
    yes, unsure, resumed = Feedback.of(sure_of(60)), Feedback.of(sure_of(60, 0.5)), Feedback.of(sure_of(60))
    yes.tell(60, True)
    unsure.tell(60, False)
    resumed.resume([Answer(60, False)])
    for feedback in (yes, unsure, resumed):
        for row in (120, 121, 122):
            feedback.tell(row, False)
        assert feedback.doubted is None


def test_the_threshold_is_higher_where_hardly_anything_but_outliers_was_asked_about() -> None:
    evidence, y = two_groups()
    yes, no = np.flatnonzero(y), np.flatnonzero(~y)
    feedback, seen = Feedback.of(evidence), []
    for row in yes[:10]:
        seen.append(feedback.threshold)
        feedback.tell(int(row), True)
        assert feedback.flagged[yes[: len(seen)]].all()
    assert seen[0] == 0.5
    assert (np.diff(seen) > 0).all()
    assert feedback.threshold < feedback.chance[yes[:10]].min()
    feedback.tell(int(no[20]), None)
    assert feedback.threshold > seen[-1]
    for row in no[:10]:
        before = feedback.threshold
        feedback.tell(int(row), False)
        assert feedback.threshold < before
    assert feedback.threshold == 0.5
    feedback.tell(int(no[10]), False)
    assert feedback.threshold == 0.5


def test_answered_rows_are_flagged_as_answered() -> None:
    evidence, y = two_groups()
    evidence = replace(evidence, log_odds=np.where(y, 3.0, -3.0))
    feedback = Feedback.of(evidence)
    assert feedback.flagged[:5].all()
    no, yes = [0, 1, 2], [100, 101]
    for row in no:
        feedback.tell(row, False)
    for row in yes:
        feedback.tell(row, True)
    assert not feedback.flagged[no].any()
    assert feedback.flagged[yes].all()
    assert (feedback.chance[no] < feedback.threshold).all()
    assert (feedback.chance[yes] >= feedback.threshold).all()


def test_undo_takes_back_the_last_answer() -> None:
    evidence, y = two_groups()
    feedback = told(Feedback.of(evidence), y, 5)
    answers, chance, left, row = feedback.answers, feedback.chance, feedback.left, feedback.ask()
    feedback.tell(row, True)
    assert feedback.undo() == row
    assert feedback.answers == answers
    assert feedback.chance == pytest.approx(chance)
    assert feedback.left == left
    assert feedback.ask() == row
    for _ in answers:
        feedback.undo()
    assert feedback.answers == ()
    with pytest.raises(InvalidInput, match="no answer to take back"):
        feedback.undo()


def test_a_second_answer_counts_and_is_said() -> None:
    evidence, _ = two_groups()
    feedback, plain = Feedback.of(evidence), Feedback.of(evidence)
    assert feedback.tell(3, True) == ""
    assert feedback.tell(3, True) == "Row 3 was answered yes before: nothing changes."
    assert feedback.tell(3, False) == "Row 3 was answered yes before: no counts now."
    plain.tell(3, False)
    assert feedback.answers == (Answer(3, False),)
    assert feedback.chance == pytest.approx(plain.chance)
    assert feedback.undo() == 3
    assert feedback.answers == (Answer(3, True),)


def test_equal_rows_with_unequal_answers_are_said() -> None:
    evidence, _ = two_groups()
    columns = evidence.columns.copy()
    columns[7] = columns[3]
    feedback = Feedback.of(replace(evidence, columns=columns))
    feedback.tell(3, True)
    assert feedback.tell(7, False) == "Row 3, which has the same values, was answered yes."
    assert np.isfinite(feedback.chance).all()


def test_a_session_can_be_resumed() -> None:
    evidence, y = two_groups()
    one, other = told(Feedback.of(evidence), y, 8), Feedback.of(evidence)
    other.resume(one.answers)
    assert other.ask() == one.ask()
    assert other.chance == pytest.approx(one.chance)


def test_what_was_learned_scores_new_rows_and_can_be_stored() -> None:
    evidence, y = two_groups()
    feedback = told(Feedback.of(evidence), y, 12)
    again = AnswerModel.from_arrays({name: np.array(a) for name, a in feedback.model.to_arrays().items()})
    shift = again.log_odds_shift(evidence.columns, evidence.signals)
    assert evidence.log_odds + shift == pytest.approx(feedback.log_odds)
    alone = again.log_odds_shift(evidence.columns[5:6], evidence.signals[5:6])
    assert alone == pytest.approx(shift[5:6], abs=1e-12)
    assert not Feedback.of(evidence).model.log_odds_shift(evidence.columns, evidence.signals).any()
    for name in feedback.model.to_arrays():
        arrays = feedback.model.to_arrays()
        del arrays[name]
        with pytest.raises(InvalidInput, match="cannot be read"):
            AnswerModel.from_arrays(arrays)
        arrays[name] = np.full((3, 3, 3), np.nan)
        with pytest.raises(InvalidInput, match="cannot be read"):
            AnswerModel.from_arrays(arrays)


@pytest.mark.parametrize("frame", [False, True])
def test_an_array_or_a_frame(database: MetaDatabase, frame: bool) -> None:
    task = make_task(63)
    X: Any = (
        pd.DataFrame(task.X, columns=["a", "b", "c"]).assign(d=["x", "y"] * (task.n_rows // 2)) if frame else task.X
    )
    feedback = Feedback(X, database=database)
    row = feedback.ask()
    feedback.tell(row, True)
    assert feedback.chance.shape == (task.n_rows,)
    assert ((feedback.chance > 0) & (feedback.chance < 1)).all()
    assert feedback.flagged[row]
    assert feedback.selection.strategy == "answers"
    assert repr(feedback).startswith("Feedback(98 rows, 1 answer (1 yes, 0 no, 0 unknown), about ")


@pytest.mark.parametrize(
    ("row", "said", "message"),
    [
        (-1, True, "row must be"),
        (10**6, True, "row must be"),
        (True, True, "row must be"),
        (1, "yes", "True, False or None"),
    ],
)
def test_bad_answers_are_refused(row: Any, said: Any, message: str) -> None:
    feedback = Feedback.of(two_groups()[0])
    with pytest.raises(InvalidInput, match=message):
        feedback.tell(row, said)
    assert feedback.answers == ()


def test_bad_sessions_are_refused(database: MetaDatabase) -> None:
    evidence, _ = two_groups()
    with pytest.raises(InvalidInput, match="aim must be"):
        Feedback.of(evidence, aim="both")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="without an election"):
        _ = Feedback.of(evidence).selection
    assert session(replace(database, calibration=None), make_task(66)).ask() >= 0  # answers need no calibration
    with pytest.raises(InvalidInput, match="same rows"):
        RowEvidence(np.zeros(3), np.zeros((3, 1)), np.zeros((2, 1)))


def test_constant_columns_and_signals_do_no_harm() -> None:
    evidence = RowEvidence(np.linspace(-3, 1, 30), np.zeros((30, 2)), np.ones((30, 2)))
    feedback = told(Feedback.of(evidence), np.arange(30) > 25, 10)
    assert np.isfinite(feedback.chance).all()


def test_the_number_left_follows_the_answers() -> None:
    evidence, y = two_groups(400)
    evidence = replace(evidence, log_odds=np.full(400, float(logit(0.1))))
    fresh = Feedback.of(evidence)
    assert fresh.left.low <= 40 <= fresh.left.high
    feedback = told(Feedback.of(evidence), y, 40)
    truly = int(y.sum()) - sum(bool(a.is_outlier) for a in feedback.answers)
    assert feedback.left.low <= truly <= feedback.left.high
    assert str(feedback.left).startswith("about ")


def test_where_the_table_speaks_clearly_unlikely_rows_hold_next_to_nothing() -> None:
    evidence, _ = two_groups(400)
    unlikely = np.full(400, float(logit(0.03)))
    clear = np.where(np.arange(400) < 20, float(logit(0.9)), unlikely)
    vague, surely = (Feedback.of(replace(evidence, log_odds=odds)).left for odds in (unlikely, clear))
    assert vague.expected > expit(unlikely).sum()
    assert surely.expected == pytest.approx(18, abs=1.5)
    assert surely.high / surely.low < 3 < vague.high / vague.low
    feedback = Feedback.of(replace(evidence, log_odds=clear))
    for row in range(20):
        feedback.tell(row, True)
    assert feedback.left.expected < vague.expected  # what was found is left no more


def test_expected_performance_of_certain_labels_is_average_precision() -> None:
    task = make_task(67)
    scores = score_pool(task.X, SMALL_POOL)
    certain = np.where(task.y == 1, 1.0, 0.0)
    rows = RankedRows.of(rank(scores.values))
    assert expected_performance(rows, certain) == pytest.approx(performance(scores, task.y))


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


def test_the_store_keeps_the_calibration(database: MetaDatabase, tmp_path: Any) -> None:
    database.save(tmp_path / "it.elect")
    again = MetaDatabase.load(tmp_path / "it.elect")
    task = make_task(68)
    assert session(database, task).ask() == session(again, task).ask()


def test_answers_tell_which_kind_of_oddity_is_meant() -> None:
    """Rows odd in one of two ways, as likely: three times no to the one, one yes to the other, and it is understood."""
    rng = np.random.default_rng(0)
    n = 200
    kinds = np.zeros((n, 2))
    kinds[:20, 1] = kinds[20:40, 0] = -4.0  # the first are odd by the first kind alone, the next by the second
    log_odds = np.where(np.arange(n) < 40, 0.0, -4.0)
    asked = Feedback.of(RowEvidence(log_odds, rng.normal(size=(n, 5)), kinds, n_kinds=2))
    for row, said in ((0, False), (1, False), (2, False), (20, True)):
        asked.tell(row, said)
    assert np.median(asked.log_odds[21:40]) > np.median(asked.log_odds[3:20]) + 0.5


def test_a_database_of_another_metric_does_not_weigh_models(database: MetaDatabase) -> None:
    other = replace(
        database,
        settings=replace(database.settings, metric="roc"),
        performance=replace(database.performance, metric="roc"),
    )
    assert tells_quality(database)
    assert not tells_quality(other)
    with pytest.raises(InvalidInput, match="average precision"):
        posterior_of(other, RankedTable.of(np.arange(1.0, 7.0)[:, None]))


def test_a_detector_that_is_fitted_with_answers_has_heard_them(tmp_path: Path) -> None:
    frame = pl.DataFrame(np.random.default_rng(5).normal(size=(300, 4)), schema=list("abcd"))
    frame = frame.with_columns(a=pl.when(pl.int_range(300) < 9).then(pl.col("a") + 7).otherwise(pl.col("a")))
    feedback = Feedback(frame, aim="find")
    for _ in range(6):
        row = feedback.ask()
        feedback.tell(row, row in (0, 1, 2))
    plain = ElectDetector(strategy="fixed").fit(frame)
    heard = ElectDetector(strategy="fixed").fit(frame, answers=feedback.answers)
    np.testing.assert_allclose(heard.chance_, feedback.chance, atol=0.05)
    assert (heard.labels_ == feedback.flagged).all()
    assert heard.selection_.strategy == "answers"
    said = {answer.row: answer.is_outlier for answer in feedback.answers}
    assert (heard.decision_scores_ == ElectDetector(strategy="fixed").fit(frame, answers=said).decision_scores_).all()
    new = frame[100:].with_columns(a=pl.col("a") + 7)
    shift = heard.decision_function(new) - plain.decision_function(new)
    assert np.abs(shift).min() > 0.01
    save_detector(heard, tmp_path / "d.elect-detector")
    assert (load_detector(tmp_path / "d.elect-detector").decision_function(new) == heard.decision_function(new)).all()


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({300: True}, "from 0 to 299"),
        ({"a": True}, "whole numbers"),
        ([(0, True)], "Feedback.answers"),
        ({0: 1}, "None"),
    ],
)
def test_answers_that_cannot_be_are_refused(answers: Any, message: str) -> None:
    X = np.random.default_rng(6).normal(size=(300, 3))
    with pytest.raises((InvalidInput, TypeError), match=message):
        ElectDetector(strategy="fixed").fit(X, answers=answers)
    with pytest.raises(InvalidInput, match="committee"):
        ElectDetector(strategy="fixed", scorer="model").fit(X, answers={0: True})


def test_answers_reach_a_detector_of_a_long_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elect.detect.election.MAX_ROWS", 150)
    monkeypatch.setattr("elect.detect.asked.MOST_OTHERS", 10)
    X = np.random.default_rng(7).normal(size=(400, 3))
    heard = ElectDetector(strategy="fixed").fit(
        X, answers=dict.fromkeys(range(0, 400, 40), False) | {399: True, 1: None}
    )
    assert heard.labels_[399] == 1
    assert heard.decision_scores_[399] == heard.decision_scores_.max()
    assert not heard.labels_[0:400:40].any()
