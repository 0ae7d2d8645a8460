"""The benchmark of the strategies: no task is judged by its kin, and the numbers are what they are called."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elect.bench import judging, union
from elect.bench.statistics import model_rank
from elect.bench.union import FIXED, UnionPicks, compared, kind_of, nested_picks
from elect.core.sources import ReplayedScores
from elect.errors import InvalidInput
from elect.history import rank_training
from elect.history.learning import learn_without
from elect.history.records import MetaRecords, Recipe, stored_scores, work_folder
from elect.history.train import make_records
from elect.paper.folds import group_folds
from elect.strategies import STRATEGIES, select
from elect.support.boosting import Growth
from results_page import ideas
from results_page.ideas import every_idea
from results_page.union_page import union_section
from toys import SMALL_POOL, make_task

ELECT = "elect"
KINDS = {"odds": "wild", "dami": "wild", "keel": "keel", "simulated": "simulated"}
# The first groups have two tasks each, of two kinds; then come single tasks.
TASKS = tuple(
    replace(make_task(t, n=40), name=f"{list(KINDS)[t % 4]}/{t}", group=f"g{t // 2 if t < 8 else t}") for t in range(20)
)
GROUPS = tuple(task.group for task in TASKS)


@pytest.fixture(scope="module")
def scored() -> Iterator[Any]:
    with work_folder(None) as pieces:
        yield make_records(TASKS, Recipe(SMALL_POOL, trials=1), pieces), pieces


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four folds, and trees that a small pool suffices for."""
    growth = Growth(4, 8, 0.2, min_leaf_rows=10, column_share=0.5)
    monkeypatch.setattr(union, "N_FOLDS", 4)
    monkeypatch.setattr(rank_training, "N_FOLDS", 3)
    for module, name in ((rank_training, "RANKER"), (rank_training, "GATE"), (ideas, "RANKER")):
        monkeypatch.setattr(module, name, growth)


# What a fold learns from


def test_no_fold_learns_from_the_groups_it_is_judged_on(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, pieces = scored
    learned_from: list[frozenset[str]] = []
    judged: list[str] = []

    def learn(*args: Any, **options: Any) -> Any:
        found = learn_without(*args, **options)
        learned_from.append(frozenset(found.groups))
        return found

    def idea(database: Any, history: Any, pieces: Any) -> Any:
        assert frozenset(history.groups) == frozenset(database.groups) == learned_from[-1]
        assert history.performance.tasks == database.tasks
        chooser = every_idea(database, history, pieces)

        def choices(record: Any, scores: Any) -> Any:
            assert record.group not in learned_from[-1]
            judged.append(record.name)
            return chooser(record, scores)

        return choices

    def elected(database: Any, source: Any, *, strategy: str) -> Any:
        assert frozenset(database.groups) == learned_from[-1]
        return select(database, source, strategy=strategy)

    monkeypatch.setattr(union, "learn_without", learn)
    monkeypatch.setattr(union, "select", elected)
    nested_picks(TASKS, records, pieces, idea=idea)
    assert sorted(judged) == sorted(task.name for task in TASKS)
    assert len(learned_from) == 4
    # Every group is left out once, and only once.
    left_out = [set(GROUPS) - set(groups) for groups in learned_from]
    assert sorted(group for groups in left_out for group in groups) == sorted(set(GROUPS))


def test_the_strategies_are_those_that_ship(scored: Any) -> None:
    """What is judged is what a user gets from the same scores with the same history."""
    records, pieces = scored
    with_ideas = nested_picks(TASKS, records, pieces, idea=every_idea)
    alone = nested_picks(TASKS, records, pieces)
    assert list(alone.ranks) == [*STRATEGIES, *union.SIMPLE]
    assert set(alone.ranks) < set(with_ideas.ranks)
    fold = group_folds(GROUPS, 4)
    left_out = [task.name for task, place in zip(TASKS, fold, strict=True) if place == fold[0]]
    database = learn_without(left_out, records, pieces, pairs_per_task=union.PAIRS_PER_TASK)
    scores = stored_scores(pieces, records.tasks[0], records.recipe)
    for name in STRATEGIES:
        pick = select(database, ReplayedScores(scores), strategy=name).model_id
        expected = model_rank(records.performance.values[0], SMALL_POOL.index(pick))
        assert alone.ranks[name][0] == with_ideas.ranks[name][0] == expected


def models_picked(scored: Any, monkeypatch: pytest.MonkeyPatch, records: MetaRecords) -> UnionPicks:
    """The picks themselves: instead of its rank, the model."""
    with monkeypatch.context() as patch:
        patch.setattr(judging, "model_rank", lambda performance, model: float(model))
        return nested_picks(TASKS, records, scored[1], idea=every_idea)


def test_the_truth_about_a_group_changes_no_pick_on_it(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, _ = scored
    changed = replace(
        records,
        tasks=tuple(
            replace(record, performance=record.performance[::-1].copy()) if record.group == "g1" else record
            for record in records.tasks
        ),
    )
    one, other = (models_picked(scored, monkeypatch, known) for known in (records, changed))
    own = np.array(GROUPS) == "g1"
    methods = [name for name in one.ranks if not name.startswith("mean of")]  # those are no models of the pool
    for name in methods:
        np.testing.assert_array_equal(one.ranks[name][own], other.ranks[name][own], err_msg=name)
    np.testing.assert_array_equal(one.intervals[own], other.intervals[own])
    np.testing.assert_array_equal(one.from_history[own], other.from_history[own])
    # The same change does matter where the group is part of the history.
    assert any((one.ranks[name][~own] != other.ranks[name][~own]).any() for name in methods)


def test_every_method_has_an_answer_on_every_task_whatever_the_number_of_threads(scored: Any) -> None:
    records, pieces = scored
    one, other = (nested_picks(TASKS, records, pieces, n_jobs=jobs, idea=every_idea) for jobs in (1, 2))
    assert {ELECT, FIXED, "learned", "consensus"} <= set(one.ranks)
    assert list(one.ranks) == list(one.values) == list(other.ranks)
    for name in one.ranks:
        assert ((one.ranks[name] >= 1) & (one.ranks[name] <= len(SMALL_POOL) + 1)).all(), name
        assert ((one.values[name] > 0) & (one.values[name] <= 1)).all(), name
        np.testing.assert_array_equal(one.ranks[name], other.ranks[name])
        np.testing.assert_array_equal(one.values[name], other.values[name])
    np.testing.assert_array_equal(one.intervals, other.intervals)
    assert one.kinds == tuple(KINDS[task.name.split("/")[0]] for task in TASKS)
    assert one.groups == GROUPS


def test_too_few_groups_are_refused(scored: Any) -> None:
    records, pieces = scored
    few = MetaRecords(records.recipe, records.tasks[:10])
    with pytest.raises(InvalidInput, match="more groups"):
        nested_picks(TASKS[:10], few, pieces)


# What the numbers are


def hand_made() -> UnionPicks:
    """Seven tasks of which the first two are siblings; a KEEL task is akin to a wild one."""
    kinds = ("wild", "wild", "wild", "keel", "keel", "simulated", "simulated")
    groups = ("a", "a", "b", "b", "c", "d", "e")
    ranks = {
        ELECT: np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
        FIXED: np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
        "learned": np.array([1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]),
    }
    values = {name: 1.0 - found / 100 for name, found in ranks.items()}
    intervals = np.array([[1, 2], [1, 2], [4, 8], [np.nan] * 2, [10, 20], [1, 100], [13, 13]], dtype=float)
    return UnionPicks(kinds, groups, ranks, values, intervals, np.array([1, 0, 1, 0, 1, 0, 0]))


def test_judged_numbers() -> None:
    found = compared(hand_made())
    assert found["protocol"] == "strict"
    assert found["n_tasks"] == {
        "wild": 3,
        "keel": 2,
        "simulated": 2,
        "union": 5,
        "test": 4,
        "development": 1,
        "all": 7,
    }
    assert found["n_groups"] == {
        "wild": 2,
        "keel": 2,
        "simulated": 2,
        "union": 3,
        "test": 2,
        "development": 1,
        "all": 5,
    }
    rows = {row["name"]: row for row in found["methods"]}
    assert list(rows) == [ELECT, FIXED, "learned"]
    wild = rows["learned"]["wild"]
    assert (wild["mean_rank"], wild["median_rank"], wild["mean_ap"]) == (3.0, 3.0, 0.97)
    # The siblings are one voice: (2 + 5) / 2.
    assert wild["mean_rank_groups"] == 3.5
    assert rows["learned"]["union"]["mean_rank"] == 5.0
    assert rows["learned"]["union"]["mean_rank_groups"] == round((2 + 6 + 9) / 3, 1)
    assert rows["learned"]["test"]["mean_rank"] == 4.0
    assert rows["learned"]["development"]["mean_rank"] == 9.0
    assert rows[ELECT]["all"]["mean_rank"] == 40.0
    assert rows[ELECT]["all"]["mean_ap"] == 0.6
    # A method does not differ from itself; five groups that all differ the same way have p = 2 / 2**5.
    assert rows[ELECT]["all"]["p_value"] == rows[FIXED]["all"]["p_value"] == 1.0
    assert rows["learned"]["all"]["p_value"] == rows["learned"]["all"]["p_value_fixed"] == 0.0625
    assert rows["learned"]["development"]["p_value"] == 1.0


def test_coverage_counts_the_tasks_with_an_interval() -> None:
    coverage = compared(hand_made())["coverage"]
    # Learned ranks 1 and 5 lie inside, 3 outside; the task without an interval does not count.
    assert coverage["wild"] == {"covered": 0.667, "mean_width": 2.0, "from_history": 0.667}
    assert coverage["keel"] == {"covered": 0.0, "mean_width": 10.0, "from_history": 0.5}
    assert coverage["simulated"] == {"covered": 1.0, "mean_width": 49.5, "from_history": 0.0}
    assert coverage["all"]["covered"] == round(4 / 6, 3)


@pytest.mark.filterwarnings("error")
def test_a_history_of_one_kind_is_judged_too() -> None:
    found = hand_made()
    same = replace(found, kinds=("simulated",) * 7)
    judged = compared(same)
    assert set(judged["n_tasks"]) == {"simulated", "all"}
    assert judged["methods"][0]["all"] == judged["methods"][0]["simulated"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("odds/wine", "wild"),
        ("dami/Glass", "wild"),
        ("keel/yeast1", "keel"),
        ("keel/iris+largest-5%-scattered", "keel"),
        ("keel/iris+largest-5%-scattered+local", "injected"),
        ("keel/iris+global", "injected"),
        ("simulated/x", "simulated"),
        ("mnist/3", "images"),
        ("optdigits/0", "images"),
        ("resnet18/cifar", "image features"),
        ("agnews/0", "texts"),
    ],
)
def test_kinds_are_told_by_names(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_the_page_of_results_says_what_the_stored_run_found() -> None:
    """Regenerate with ``make results``, or write the section anew from benchmarks/results/union.json."""
    root = Path(__file__).parents[1]
    stored = json.loads((root / "benchmarks" / "results" / "union.json").read_text(encoding="utf-8"))
    section = "\n\n".join(union_section(stored))
    assert section in (root / "docs" / "results.md").read_text(encoding="utf-8")
    for row in stored["methods"]:
        assert section.count(row["name"]) >= 2  # a row of ranks and one of precision
