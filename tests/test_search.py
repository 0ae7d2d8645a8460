"""The anytime search: valid after any step, equal for equal seeds, honest about what failed."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from elect import PoolScorer
from elect.core import PerformanceMatrix, Selection
from elect.core.sources import ReplayedMeasures, ReplayedScores
from elect.errors import ElectError, InvalidInput
from elect.history.database import MetaDatabase
from elect.paper.predictor_training import train_predictor
from elect.paper.search import search
from elect.paper.settings import SearchSettings
from toys import SMALL_POOL, Telling, make_task, toy_database, toy_measures, upto

DATABASE = toy_database()
EVEN = DATABASE.performance.values[0]
ODD = DATABASE.performance.values[1]


@pytest.mark.parametrize("acquisition", ["ei", "mean+variance", "greedy", "random", "ei-per-second"])
@pytest.mark.parametrize("init", ["coverage", "random"])
def test_finds_the_kind_of_task_and_its_best_model(acquisition: str, init: str) -> None:
    for hidden, best, kind in ((EVEN, 0, "even"), (ODD, 7, "odd")):
        steps = list(search(DATABASE, Telling(hidden), acquisition=acquisition, init=init, seed=1))
        selection = Selection.from_steps(steps, DATABASE.pool)
        assert selection.model_id == DATABASE.pool.ids[best]
        assert all(neighbor.task.startswith(kind) for neighbor in selection.neighbors)
        assert selection.stopped_because


def test_equal_seeds_give_equal_steps() -> None:
    def run(seed: int) -> list[Any]:
        steps = search(DATABASE, Telling(EVEN), acquisition="random", init="random", seed=seed)
        return [(s.evaluated, s.neighbors, s.pick) for s in steps]

    assert run(3) == run(3)
    assert [step[0] for step in run(3)] != [step[0] for step in run(4)]


def test_every_step_is_an_answer() -> None:
    whole = list(search(DATABASE, Telling(ODD)))
    for count in range(1, len(whole) + 1):
        source = Telling(ODD)
        steps = upto(search(DATABASE, source), count)
        selection = Selection.from_steps(steps, DATABASE.pool)
        assert selection.model_id in DATABASE.pool
        assert selection.pick == whole[count - 1].pick
        assert len(selection.evaluated) == len(source.asked)
        expected = whole[-1].stopped_because if count == len(whole) else "the caller stopped"
        assert selection.stopped_because == expected


def test_steps_are_frozen_and_counted() -> None:
    steps = list(search(DATABASE, Telling(EVEN)))
    assert [step.index for step in steps] == list(range(len(steps)))
    assert steps[0].phase == "prior"
    assert steps[0].evaluated is None
    assert [s.phase for s in steps[1:3]] == ["initial", "initial"]
    assert all(s.acquisition_value is not None for s in steps if s.phase == "adaptive" and s.evaluated)
    assert all(a.seconds <= b.seconds for a, b in pairwise(steps))
    with pytest.raises(FrozenInstanceError):
        steps[0].pick = steps[1].pick  # type: ignore[misc]


def test_the_pick_comes_from_all_models_with_its_performance_on_the_neighbours() -> None:
    steps = upto(search(DATABASE, Telling(EVEN), init="coverage"), 3)
    last = steps[-1]
    rows = [DATABASE.tasks.index(neighbor.task) for neighbor in last.neighbors]
    on = DATABASE.performance.values[rows]
    assert last.pick.model_id == DATABASE.pool.ids[int(on.mean(axis=0).argmax())]
    column = on[:, DATABASE.pool.index(last.pick.model_id)]
    assert last.pick.on_neighbors == pytest.approx(tuple(column))
    assert last.pick.mean == pytest.approx(column.mean())
    assert last.pick.spread == pytest.approx(column.std())
    assert [c.mean for c in last.runners_up] == sorted((c.mean for c in last.runners_up), reverse=True)
    assert last.mean_similarity == pytest.approx(np.mean([n.similarity for n in last.neighbors]))


def test_no_budget_gives_the_best_of_the_history_for_free() -> None:
    for budget in ({"max_models": 0}, {"max_seconds": 0.0}):
        source = Telling(EVEN)
        selection = Selection.from_steps(search(DATABASE, source, **budget), DATABASE.pool)  # type: ignore[arg-type]
        assert source.asked == []
        assert selection.evaluated == ()
        means = DATABASE.performance.values.mean(axis=0)
        assert selection.model_id == DATABASE.pool.ids[int(means.argmax())]
        assert "budget" in selection.stopped_because


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_the_budget_of_models_is_kept(count: int) -> None:
    source = Telling(EVEN)
    selection = Selection.from_steps(search(DATABASE, source, max_models=count), DATABASE.pool)
    assert len(source.asked) == count
    assert selection.stopped_because == f"the budget of {count} models is spent"


def test_patience_stops_once_the_neighbours_stay() -> None:
    steps = list(search(DATABASE, Telling(EVEN), patience=2))
    assert steps[-1].stopped_because == "the neighbours stayed the same for 2 steps"
    last = [{n.task for n in step.neighbors} for step in steps[-3:]]
    assert last[0] == last[1] == last[2]


def test_without_patience_every_model_is_evaluated_once() -> None:
    source = Telling(EVEN)
    steps = list(search(DATABASE, source, patience=100))
    assert sorted(source.asked) == sorted(DATABASE.pool.ids)
    assert steps[-1].stopped_because == "every model was tried"


def test_a_failing_model_is_recorded_and_left_out() -> None:
    bad = DATABASE.pool.ids[3]
    source = Telling(EVEN, fails=(bad,))
    selection = Selection.from_steps(search(DATABASE, source, patience=100), DATABASE.pool)
    assert selection.failures == ((bad, "RuntimeError: this model does not like this table"),)
    assert bad not in selection.evaluated
    assert len(selection.evaluated) == 7
    assert source.asked.count(bad) == 1
    assert selection.model_id == DATABASE.pool.ids[0]


def test_a_failing_initial_model_does_not_end_the_search() -> None:
    selection = Selection.from_steps(
        search(DATABASE, Telling(ODD, fails=DATABASE.initial_models), patience=100), DATABASE.pool
    )
    assert len(selection.failures) == 2
    # On odd tasks the last model is the best, but it failed.
    assert selection.model_id == DATABASE.pool.ids[6]


def test_all_models_failing_leaves_the_prior() -> None:
    selection = Selection.from_steps(search(DATABASE, Telling(EVEN, fails=DATABASE.pool.ids)), DATABASE.pool)
    assert selection.evaluated == ()
    assert len(selection.failures) == 8
    assert selection.neighbors == ()


def test_an_interrupt_passes_through_and_what_came_before_is_an_answer() -> None:
    class Interrupting(Telling):
        def measures(self, model_id: str) -> Any:
            if len(self.asked) == 3:
                raise KeyboardInterrupt
            return super().measures(model_id)

    steps: list[Any] = []
    with pytest.raises(KeyboardInterrupt):
        steps.extend(search(DATABASE, Interrupting(EVEN)))
    assert Selection.from_steps(steps, DATABASE.pool, stopped_because="interrupted").stopped_because == "interrupted"
    assert len(steps) == 4


def _database(performance: Any) -> MetaDatabase:
    names = tuple(f"t{i}" for i in range(len(performance)))
    measures = toy_measures(performance)
    return replace(
        DATABASE,
        performance=PerformanceMatrix(performance, names, DATABASE.pool.ids),
        groups=names,
        measures=measures,
        predictor=train_predictor(performance, measures),
        settings=SearchSettings(n_neighbor_tasks=5, patience=3),
    )


@pytest.mark.parametrize(
    "performance",
    [EVEN[None, :], np.full((4, 8), 0.5), np.tile(EVEN, (4, 1)), np.zeros((1, 8))],
    ids=["one task", "all equal", "sigma 0", "one task, all zero"],
)
@pytest.mark.parametrize("acquisition", ["ei", "mean+variance", "greedy", "random"])
def test_degenerate_databases_still_answer(performance: Any, acquisition: str) -> None:
    selection = Selection.from_steps(
        search(_database(performance), Telling(EVEN), acquisition=acquisition), DATABASE.pool
    )
    assert selection.model_id in DATABASE.pool
    assert all(np.isfinite(n.similarity) for n in selection.neighbors)


def test_cost_aware_search_prefers_cheap_models() -> None:
    source = Telling(EVEN)
    steps = list(search(DATABASE, source, acquisition="ei-per-second", patience=100))
    first = next(step.evaluated for step in steps if step.phase == "adaptive")
    assert DATABASE.pool.index(str(first)) <= 2
    with pytest.raises(InvalidInput, match="predicts costs"):
        search(DATABASE, ReplayedMeasures(DATABASE.pool.ids, toy_measures(EVEN)), acquisition="ei-per-second")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"acquisition": "ucb"}, "acquisition must be one of"),
        ({"init": "best"}, "init must be one of"),
        ({"max_models": -1}, "max_models must be a number of at least 0"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number of at least 0"),
        ({"patience": -2}, "patience must be a number of at least 0"),
    ],
)
def test_bad_options_are_refused_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ElectError, match=message):
        search(DATABASE, Telling(EVEN), **options)


def test_no_steps_are_no_selection() -> None:
    with pytest.raises(InvalidInput, match="at least one step"):
        Selection.from_steps([], DATABASE.pool)


def test_a_table_and_its_replayed_scores_give_the_same_search(small_database: MetaDatabase) -> None:
    from elect import score_pool

    X = make_task(100).X
    live = list(search(small_database, PoolScorer(X, SMALL_POOL)))
    replayed = list(search(small_database, ReplayedScores(score_pool(X, SMALL_POOL))))
    assert [(s.evaluated, s.neighbors, s.pick) for s in live] == [(s.evaluated, s.neighbors, s.pick) for s in replayed]
    anchors = [s.evaluated for s in live if s.phase == "anchor"]
    assert tuple(anchors) == small_database.anchors


def test_failing_anchors_are_left_out(small_database: MetaDatabase) -> None:
    scorer = PoolScorer(make_task(100).X, SMALL_POOL)

    class Failing:
        def __init__(self, fails: tuple[str, ...]) -> None:
            self.fails = fails

        def scores(self, model_id: str) -> Any:
            if model_id in self.fails:
                raise MemoryError("no room")
            return scorer.scores(model_id)

    one = Selection.from_steps(search(small_database, Failing(small_database.anchors[:1])), small_database.pool)
    assert one.failures[0] == (small_database.anchors[0], "MemoryError: no room")
    if len(small_database.anchors) > 1:
        assert one.neighbors
    none = Selection.from_steps(search(small_database, Failing(small_database.anchors)), small_database.pool)
    assert none.stopped_because.startswith("no anchor could be scored")


@pytest.mark.parametrize("first", ["", "import elect.paper;", "import elect.detector;"])
def test_the_function_is_what_the_package_exports(first: str) -> None:
    code = (
        f"{first}from elect import ElectDetector, MetaDatabase, search\n"
        "try: search(None, None, acquisition='guess')\n"
        "except ValueError as error: print(error)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "acquisition must be one of" in said.stdout
