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
from elect.history.learning import learn_without
from elect.history.records import MetaRecords, Recipe, stored_scores, work_folder
from elect.history.train import make_records
from elect.paper.folds import group_folds
from elect.strategies import STRATEGIES, select
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
    """Four folds."""
    monkeypatch.setattr(union, "N_FOLDS", 4)


# What a fold learns from


def test_no_fold_learns_from_the_groups_it_is_judged_on(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, pieces = scored
    learned_from: list[frozenset[str]] = []

    def learn(*args: Any, **options: Any) -> Any:
        found = learn_without(*args, **options)
        learned_from.append(frozenset(found.groups))
        return found

    def elected(database: Any, source: Any, *, strategy: str) -> Any:
        assert frozenset(database.groups) == learned_from[-1]
        return select(database, source, strategy=strategy)

    monkeypatch.setattr(union, "learn_without", learn)
    monkeypatch.setattr(union, "select", elected)
    nested_picks(TASKS, records, pieces)
    assert len(learned_from) == 4
    # Every group is left out once, and only once.
    left_out = [set(GROUPS) - set(groups) for groups in learned_from]
    assert sorted(group for groups in left_out for group in groups) == sorted(set(GROUPS))


def test_the_strategies_are_those_that_ship(scored: Any) -> None:
    """What is judged is what a user gets from the same scores with the same history."""
    records, pieces = scored
    found = nested_picks(TASKS, records, pieces)
    assert list(found.ranks) == [*STRATEGIES, *union.SIMPLE]
    fold = group_folds(GROUPS, 4)
    left_out = [task.name for task, place in zip(TASKS, fold, strict=True) if place == fold[0]]
    database = learn_without(left_out, records, pieces, pairs_per_task=union.PAIRS_PER_TASK)
    scores = stored_scores(pieces, records.tasks[0], records.recipe)
    for name in STRATEGIES:
        pick = select(database, ReplayedScores(scores), strategy=name).model_id
        expected = model_rank(records.performance.values[0], SMALL_POOL.index(pick))
        assert found.ranks[name][0] == expected


def models_picked(scored: Any, monkeypatch: pytest.MonkeyPatch, records: MetaRecords) -> UnionPicks:
    """The picks themselves: instead of its rank, the model."""
    with monkeypatch.context() as patch:
        patch.setattr(judging, "model_rank", lambda performance, model: float(model))
        return nested_picks(TASKS, records, scored[1])


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
    for name in one.ranks:
        np.testing.assert_array_equal(one.ranks[name][own], other.ranks[name][own], err_msg=name)
    # The same change does matter where the group is part of the history.
    assert any((one.ranks[name][~own] != other.ranks[name][~own]).any() for name in one.ranks)


def test_every_method_has_an_answer_on_every_task_whatever_the_number_of_threads(scored: Any) -> None:
    records, pieces = scored
    one, other = (nested_picks(TASKS, records, pieces, n_jobs=jobs) for jobs in (1, 2))
    assert {ELECT, FIXED, "committee", "fixed"} <= set(one.ranks)
    assert list(one.ranks) == list(one.values) == list(other.ranks)
    for name in one.ranks:
        assert ((one.ranks[name] >= 1) & (one.ranks[name] <= len(SMALL_POOL) + 1)).all(), name
        assert ((one.values[name] > 0) & (one.values[name] <= 1)).all(), name
        np.testing.assert_array_equal(one.ranks[name], other.ranks[name])
        np.testing.assert_array_equal(one.values[name], other.values[name])
    assert one.kinds == tuple(KINDS[task.name.split("/")[0]] for task in TASKS)
    assert one.groups == GROUPS


# What the numbers are


def hand_made() -> UnionPicks:
    """Seven tasks of which the first two are siblings; a KEEL task is akin to a wild one."""
    kinds = ("wild", "wild", "wild", "keel", "keel", "simulated", "simulated")
    groups = ("a", "a", "b", "b", "c", "d", "e")
    ranks = {
        ELECT: np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
        FIXED: np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
        "committee": np.array([1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]),
    }
    values = {name: 1.0 - found / 100 for name, found in ranks.items()}
    return UnionPicks(kinds, groups, ranks, values)


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
    assert list(rows) == [ELECT, FIXED, "committee"]
    wild = rows["committee"]["wild"]
    assert (wild["mean_rank"], wild["median_rank"], wild["mean_ap"]) == (3.0, 3.0, 0.97)
    # The siblings are one voice: (2 + 5) / 2.
    assert wild["mean_rank_groups"] == 3.5
    assert rows["committee"]["union"]["mean_rank"] == 5.0
    assert rows["committee"]["union"]["mean_rank_groups"] == round((2 + 6 + 9) / 3, 1)
    assert rows["committee"]["test"]["mean_rank"] == 4.0
    assert rows["committee"]["development"]["mean_rank"] == 9.0
    assert rows[ELECT]["all"]["mean_rank"] == 40.0
    assert rows[ELECT]["all"]["mean_ap"] == 0.6
    # A method does not differ from itself; five groups that all differ the same way have p = 2 / 2**5.
    assert rows[ELECT]["all"]["p_value"] == rows[FIXED]["all"]["p_value"] == 1.0
    assert rows["committee"]["all"]["p_value"] == rows["committee"]["all"]["p_value_fixed"] == 0.0625
    assert rows["committee"]["development"]["p_value"] == 1.0


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
