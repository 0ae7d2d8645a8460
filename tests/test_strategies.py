"""Every strategy keeps the same promises: an answer after any step, budgets kept, failures told, no labels seen."""

import inspect
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from elect import MetaDatabase, ModelPool, score_pool
from elect.core import PerformanceMatrix, SearchStep, Selection
from elect.core.sources import ReplayedScores
from elect.errors import InvalidInput
from elect.history import train
from elect.history.expectation import COMMITTEE_RANKS, SEARCH_RANKS
from elect.strategies import DEFAULT, STRATEGIES, Strategy, check_strategy, select
from elect.strategies.committee import UNELECTED, quick_models
from toys import SMALL_POOL, corpus, make_task, upto

EVALUATING = [name for name in STRATEGIES if name != "fixed"]
QUICK = quick_models(SMALL_POOL)
WHY = "RuntimeError: this model does not like this table"
N = len(SMALL_POOL)


@cache
def scores() -> Any:
    return score_pool(make_task(100).X, SMALL_POOL)


class Source:
    """Scores and nothing else. It counts what it was asked, and can fail and be slow."""

    def __init__(self, fails: tuple[str, ...] = (), seconds: float = 0.0) -> None:
        self.fails = fails
        self.seconds = seconds
        self.asked: list[str] = []

    def scores(self, model_id: str) -> Any:
        self.asked.append(model_id)
        time.sleep(self.seconds)
        if model_id in self.fails:
            raise RuntimeError("this model does not like this table")
        return scores()[model_id]


class Hearing(Source):
    """A source that says how likely each row is an outlier, too: here, what one model makes of it."""

    def __init__(self, fails: tuple[str, ...] = (), seconds: float = 0.0, leader: str = QUICK[3]) -> None:
        super().__init__(fails, seconds)
        self.leader = leader

    def chance(self) -> Any:
        # The first rows of one model are outliers for sure, the others are not.
        column = scores()[self.leader]
        return np.where(column >= np.sort(column)[-5], 0.9, 1e-6)


@pytest.fixture(scope="module")
def calibrated(small_database: MetaDatabase) -> MetaDatabase:
    """A history that has everything to say about the rank of a pick."""
    ranks = {SEARCH_RANKS: np.linspace(1.0, N, 30).tolist(), COMMITTEE_RANKS: np.linspace(1.0, N / 2, 30).tolist()}
    return replace(small_database, calibration={**(small_database.calibration or {}), **ranks})


@pytest.fixture(params=["small", "calibrated"])
def database(request: pytest.FixtureRequest, small_database: MetaDatabase, calibrated: MetaDatabase) -> MetaDatabase:
    return small_database if request.param == "small" else calibrated


@pytest.fixture(params=STRATEGIES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(name: str) -> Strategy:
    return STRATEGIES[name]


def timeless(steps: Iterator[SearchStep] | list[SearchStep]) -> list[SearchStep]:
    return [replace(step, seconds=0.0) for step in steps]


def assert_valid(selection: Selection, database: MetaDatabase) -> None:
    ids = database.pool.ids
    assert selection.model_id in ids
    shown = [selection.model_id, *(c.model_id for c in selection.runners_up)]
    assert len(set(shown)) == len(shown) == 4
    assert set(selection.evaluated) <= set(ids)
    assert not {model_id for model_id, _ in selection.failures} & set(selection.evaluated)
    assert {neighbor.task for neighbor in selection.neighbors} <= set(database.tasks)
    for candidate in (selection.pick, *selection.runners_up):
        assert len(candidate.on_neighbors) == len(selection.neighbors)
        assert np.isfinite([candidate.mean, candidate.spread, *candidate.on_neighbors]).all()
    if selection.expected_rank is not None:
        rank = selection.expected_rank
        assert 1.0 <= rank.low <= rank.expected <= rank.high <= len(ids)
    assert selection.stopped_because
    assert selection.why
    assert str(selection.explain())
    assert selection._repr_html_()


# Steps


def test_steps_are_counted_and_the_last_says_why_it_is_the_last(run: Strategy, database: MetaDatabase) -> None:
    steps = list(run(database, Source()))
    assert [step.index for step in steps] == list(range(len(steps)))
    assert (steps[0].phase, steps[0].evaluated) == ("prior", None)
    assert all(a.seconds <= b.seconds for a, b in pairwise(steps))
    assert all(step.stopped_because is None for step in steps[:-1])
    assert steps[-1].stopped_because


def test_every_step_is_an_answer(run: Strategy, name: str, database: MetaDatabase) -> None:
    whole = list(run(database, Source()))
    for count in range(1, len(whole) + 1):
        source = Source()
        selection = Selection.from_steps(upto(run(database, source), count), database.pool, strategy=name)
        assert_valid(selection, database)
        assert selection.pick == whole[count - 1].pick
        assert set(selection.evaluated) == set(source.asked)
        stopped = whole[-1].stopped_because if count == len(whole) else "the caller stopped"
        assert selection.stopped_because == stopped


def test_nothing_is_scored_before_it_is_asked_for(run: Strategy, database: MetaDatabase) -> None:
    source = Source()
    steps = run(database, source)
    assert next(steps).evaluated is None
    assert source.asked == []


@pytest.mark.parametrize("source", [Source(), Hearing()])
def test_the_quick_models_are_scored_one_by_one(source: Source, database: MetaDatabase) -> None:
    source.asked.clear()
    steps = list(STRATEGIES["committee"](database, source))
    assert [step.evaluated for step in steps] == [None, *QUICK]
    assert source.asked == list(QUICK)
    assert {SMALL_POOL[model_id].detector for model_id in QUICK}.isdisjoint({"OCSVM", "ABOD", "COF"})
    assert {step.phase for step in steps[1:]} == {"pool"}
    assert all(step.neighbors == () for step in steps[:-1])
    assert steps[-1].stopped_because == "all quick models were scored"
    assert len(steps[-1].neighbors) == min(database.settings.n_neighbor_tasks, len(database.tasks))


def test_equal_arguments_give_equal_steps(run: Strategy, database: MetaDatabase) -> None:
    assert timeless(run(database, Source(), seed=3)) == timeless(run(database, Source(), seed=3))


def test_a_selection_is_made_of_the_steps(name: str, run: Strategy, database: MetaDatabase) -> None:
    found = select(database, Source(), strategy=name)
    last = list(run(database, Source()))[-1]
    assert (found.pick, found.neighbors, found.runners_up) == (last.pick, last.neighbors, last.runners_up)
    assert (found.expected_rank, found.reason) == (last.expected_rank, last.reason)
    assert (found.strategy, found.metric) == (name, database.settings.metric)


def test_committee_is_what_is_taken_unless_told_otherwise(database: MetaDatabase) -> None:
    assert DEFAULT == "committee"
    assert select(database, Source()).strategy == "committee"


@pytest.mark.parametrize("name", EVALUATING, indirect=True)
def test_an_interrupt_passes_through_and_what_came_before_is_an_answer(run: Strategy, database: MetaDatabase) -> None:
    class Interrupting(Source):
        def scores(self, model_id: str) -> Any:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return super().scores(model_id)

    steps: list[SearchStep] = []
    with pytest.raises(KeyboardInterrupt):
        steps.extend(run(database, Interrupting()))
    assert_valid(Selection.from_steps(steps, database.pool, stopped_because="interrupted"), database)


# Budgets


@pytest.mark.parametrize("name", EVALUATING, indirect=True)
@pytest.mark.parametrize("budget", [0, 1, 3, len(QUICK) - 1])
def test_a_budget_of_models_is_kept(run: Strategy, name: str, budget: int, database: MetaDatabase) -> None:
    source = Source()
    steps = list(run(database, source, max_models=budget))
    selection = Selection.from_steps(steps, database.pool, strategy=name)
    assert_valid(selection, database)
    assert len(set(source.asked)) == budget
    assert selection.stopped_because == f"the budget of {budget} models is spent"
    if name == "committee":
        assert selection.pick == steps[0].pick
        assert selection.why == UNELECTED
        assert selection.expected_rank is None
        assert selection.neighbors == ()


def test_a_budget_of_all_quick_models_is_no_limit(database: MetaDatabase) -> None:
    plain = timeless(STRATEGIES["committee"](database, Source()))
    for budget in (len(QUICK), N, 10**6):
        assert timeless(STRATEGIES["committee"](database, Source(), max_models=budget)) == plain


@pytest.mark.parametrize("name", EVALUATING, indirect=True)
@pytest.mark.parametrize(("seconds", "most"), [(0.0, 0), (0.05, len(QUICK) - 1)])
def test_a_budget_of_time_is_kept(
    run: Strategy, name: str, seconds: float, most: int, calibrated: MetaDatabase
) -> None:
    source = Source(seconds=0.02)
    steps = list(run(calibrated, source, max_seconds=seconds))
    selection = Selection.from_steps(steps, calibrated.pool, strategy=name)
    assert_valid(selection, calibrated)
    assert min(most, 1) <= len(source.asked) <= most
    assert selection.stopped_because == f"the budget of {seconds:g} s is spent"
    assert selection.seconds >= seconds
    if name == "committee":
        assert selection.pick == steps[0].pick
        assert selection.why == UNELECTED


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_models": -1}, "max_models must be a number of at least 0"),
        ({"max_seconds": -1.0}, "max_seconds must be a number of at least 0"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number of at least 0"),
    ],
)
def test_budgets_that_mean_nothing_are_refused(
    run: Strategy, options: dict[str, Any], message: str, small_database: MetaDatabase
) -> None:
    with pytest.raises(InvalidInput, match=message):
        list(run(small_database, Source(), **options))


@pytest.mark.parametrize("unknown", ["guess", "", "auto", None, 3, ["elect"]])
def test_unknown_strategies_are_refused(unknown: Any, small_database: MetaDatabase) -> None:
    with pytest.raises(InvalidInput, match="strategy must be one of committee, fixed, elect"):
        check_strategy(unknown)
    with pytest.raises(InvalidInput, match="strategy must be one of"):
        select(small_database, Source(), strategy=unknown)


def test_fixed_scores_nothing_and_has_the_best_mean_rank(database: MetaDatabase) -> None:
    source = Source(SMALL_POOL.ids)
    selection = select(database, source, strategy="fixed")
    mean = database.performance.ranks().mean(axis=0)
    assert selection.model_id == database.pool.ids[int(np.argmin(mean))]
    assert (selection.evaluated, selection.failures) == ((), ())
    assert "whole history" in selection.why


@pytest.mark.parametrize("leader", [QUICK[0], QUICK[-1]])
def test_similar_tasks_do_not_hang_on_how_far_models_lie_apart(leader: str, small_database: MetaDatabase) -> None:
    """Expected performances lie closer together than true ones: only how models stand to each other can be compared."""
    known = small_database.performance
    narrow = np.where(np.arange(len(known.tasks)) % 2 == 0, 0.25, 1.0)[:, None] * known.values
    other = replace(small_database, performance=PerformanceMatrix(narrow, known.tasks, known.model_ids, known.metric))
    one, two = (select(database, Hearing(leader=leader)) for database in (small_database, other))
    assert one.neighbors == two.neighbors
    assert len(one.neighbors) > 1


# Failures


@pytest.mark.parametrize("name", EVALUATING, indirect=True)
def test_a_failing_model_is_recorded_and_never_picked(name: str, database: MetaDatabase) -> None:
    favourite = select(database, Source(), strategy=name, max_models=N)
    for bad in (favourite.model_id, favourite.runners_up[0].model_id):
        selection = select(database, Source((bad,)), strategy=name, max_models=N)
        assert_valid(selection, database)
        if name == "committee" and bad in QUICK:
            assert len(selection.evaluated) == len(QUICK) - 1
        # An anchor is tried again as an initial model; and the search may end without having asked at all.
        assert dict(selection.failures) in ([{bad: WHY}, {}] if name == "elect" else [{bad: WHY}])
        if selection.failures:
            assert selection.model_id != bad


@pytest.mark.parametrize("kind", [Source, Hearing])
@pytest.mark.parametrize("bad", [QUICK[0], QUICK[5], QUICK[-1]])
def test_a_failure_at_any_place_is_one_of_the_steps(kind: type[Source], bad: str, database: MetaDatabase) -> None:
    steps = list(STRATEGIES["committee"](database, kind((bad,))))
    assert [step.evaluated for step in steps if step.failure] == [bad]
    assert len(steps) == len(QUICK) + 1
    assert bad not in {steps[-1].pick.model_id, *(c.model_id for c in steps[-1].runners_up)}


@pytest.mark.parametrize("kind", [Source, Hearing])
def test_scores_that_are_no_numbers_are_a_failure_of_that_model_alone(
    kind: type[Source], database: MetaDatabase
) -> None:
    bad = QUICK[2]

    class Broken(kind):  # type: ignore[misc,valid-type]
        def scores(self, model_id: str) -> Any:
            found = super().scores(model_id)
            return np.full(len(found), np.nan) if model_id == bad else found

    selection = select(database, Broken())
    assert [model_id for model_id, _ in selection.failures] == [bad]
    assert selection.model_id != bad
    assert len(selection.evaluated) == len(QUICK) - 1


@pytest.mark.parametrize("kind", [Source, Hearing])
def test_one_model_that_works_is_picked(kind: type[Source], database: MetaDatabase) -> None:
    for only in (QUICK[0], QUICK[-1]):
        fails = tuple(model_id for model_id in SMALL_POOL.ids if model_id != only)
        selection = select(database, kind(fails))
        assert selection.model_id == only
        assert selection.evaluated == (only,)
        assert len(selection.failures) == len(QUICK) - 1


@pytest.mark.parametrize("name", EVALUATING, indirect=True)
def test_all_models_failing_leaves_the_best_of_the_history(run: Strategy, name: str, database: MetaDatabase) -> None:
    steps = list(run(database, Source(SMALL_POOL.ids)))
    selection = Selection.from_steps(steps, database.pool, strategy=name)
    assert_valid(selection, database)
    assert selection.evaluated == ()
    assert selection.failures
    assert selection.neighbors == ()
    assert selection.pick.mean == pytest.approx(database.performance.column(selection.model_id).mean())
    if name == "committee":
        assert selection.pick == steps[0].pick
        assert len(selection.failures) == len(QUICK)
        assert selection.stopped_because == "no model could be scored"


# What a pick depends on


def test_no_strategy_can_ask_for_labels(run: Strategy, database: MetaDatabase) -> None:
    """All that a strategy is given of the table is a source; all it asks of that are scores, model by model."""
    names: set[str] = set()

    class Watched(Source):
        def __getattribute__(self, attribute: str) -> Any:
            names.add(attribute)
            return super().__getattribute__(attribute)

    given = inspect.signature(run).parameters
    assert list(given) == ["database", "source", "max_models", "max_seconds", "seed"]
    source = Watched()
    names.clear()
    list(run(database, source))
    asked = {name for name in names if not name.startswith("__")} - {"asked", "seconds", "fails"}
    assert asked <= {"scores", "measures", "chance"}  # whether it has one of the last two, which this one has not


def test_expected_ranks_are_ranks(name: str, calibrated: MetaDatabase) -> None:
    found = select(calibrated, Hearing(), strategy=name).expected_rank
    if name == "fixed":
        assert found is None
        return
    assert found is not None
    assert 1.0 <= found.low <= found.expected <= found.high <= N
    assert found.level == 0.9


def test_a_pool_of_two_models(name: str) -> None:
    pool = ModelPool.of(SMALL_POOL.specs[:1] + SMALL_POOL.specs[-1:])
    database = train(corpus(2), pool, tune=False)
    selection = select(database, ReplayedScores(score_pool(make_task(7).X, pool)), strategy=name)
    assert selection.model_id in pool
    assert len(selection.runners_up) == 1


def test_tables_of_two_rows_and_of_equal_scores(name: str, database: MetaDatabase) -> None:
    for column in (np.array([1.0, 2.0]), np.zeros(2), np.zeros(50), np.arange(50.0)):

        class Same:
            def scores(self, model_id: str, column: Any = column) -> Any:
                return column

        selection = select(database, Same(), strategy=name)
        assert_valid(selection, database)
