"""The benchmark of the strategies: no task is judged by its kin, and the numbers are what they are called."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elect.bench import ideas, union
from elect.bench.union import ELECT, FIXED, UnionPicks, judge, kind_of, nested_picks
from elect.bench.union_page import union_section
from elect.errors import InvalidInput
from elect.history import learned
from elect.history.records import MetaRecords, Recipe, work_folder
from elect.history.train import make_records
from elect.support.boosting import Growth
from toys import SMALL_POOL, make_task

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
    monkeypatch.setattr(learned, "N_FOLDS", 3)
    for module, name in ((learned, "RANKER"), (learned, "GATE"), (ideas, "RANKER")):
        monkeypatch.setattr(module, name, growth)


# What a fold learns from


def test_no_fold_learns_from_the_groups_it_is_judged_on(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, pieces = scored
    by_signals = {}
    inside: dict[str, list[frozenset[str]]] = {"ranker": [], "fold": [], "database": []}
    judged: list[str] = []
    signals_of_task, train_ranks = union.task_signals, union.train_rank_predictor
    fold_of, learn_without, pick = union.Fold.of, union.learn_without, union.single_models

    def task_signals(pieces: Any, record: Any, *rest: Any) -> Any:
        found = signals_of_task(pieces, record, *rest)
        by_signals[id(found)] = record
        return found

    def rows_of(signals: Any, performance: Any) -> frozenset[str]:
        """The groups of these signals, once the performances beside them are those of the same tasks."""
        known = [by_signals[id(one)] for one in signals]
        np.testing.assert_array_equal(performance, MetaRecords(records.recipe, tuple(known)).performance.values)
        return frozenset(record.group for record in known)

    def train_rank_predictor(signals: Any, performance: Any, groups: Any, *rest: Any) -> Any:
        inside["ranker"].append(rows_of(signals, performance))
        assert [by_signals[id(one)].group for one in signals] == list(groups)
        return train_ranks(signals, performance, groups, *rest)

    def fold(signals: Any, performance: Any, *rest: Any) -> Any:
        inside["fold"].append(rows_of(signals, performance))
        return fold_of(signals, performance, *rest)

    def database(*args: Any, **options: Any) -> Any:
        found = learn_without(*args, **options)
        inside["database"].append(frozenset(found.groups))
        return found

    def single_models(known: Any, signals: Any, chosen: Any) -> Any:
        group = by_signals[id(signals)].group
        judged.append(by_signals[id(signals)].name)
        for place in inside.values():
            assert group not in place[-1]
        return pick(known, signals, chosen)

    monkeypatch.setattr(union, "task_signals", task_signals)
    monkeypatch.setattr(union, "train_rank_predictor", train_rank_predictor)
    monkeypatch.setattr(union.Fold, "of", fold)
    monkeypatch.setattr(union, "learn_without", database)
    monkeypatch.setattr(union, "single_models", single_models)
    nested_picks(TASKS, records, pieces)
    assert sorted(judged) == sorted(task.name for task in TASKS)
    assert inside["ranker"] == inside["fold"] == inside["database"]
    assert len(inside["ranker"]) == 4
    # Every group is left out once, and only once.
    left_out = [set(GROUPS) - set(groups) for groups in inside["ranker"]]
    assert sorted(group for groups in left_out for group in groups) == sorted(set(GROUPS))


def models_picked(scored: Any, monkeypatch: pytest.MonkeyPatch, records: MetaRecords) -> UnionPicks:
    """The picks themselves: instead of its rank, the model."""
    with monkeypatch.context() as patch:
        patch.setattr(union, "model_rank", lambda performance, model: float(model))
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
    methods = [name for name in one.ranks if not name.startswith("mean of")]  # those are no models of the pool
    for name in methods:
        np.testing.assert_array_equal(one.ranks[name][own], other.ranks[name][own], err_msg=name)
    np.testing.assert_array_equal(one.intervals[own], other.intervals[own])
    np.testing.assert_array_equal(one.from_history[own], other.from_history[own])
    # The same change does matter where the group is part of the history.
    assert any((one.ranks[name][~own] != other.ranks[name][~own]).any() for name in methods)


def test_every_method_has_an_answer_on_every_task_whatever_the_number_of_threads(scored: Any) -> None:
    records, pieces = scored
    one, other = (nested_picks(TASKS, records, pieces, n_jobs=jobs) for jobs in (1, 2))
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
    found = judge(hand_made())
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
    coverage = judge(hand_made())["coverage"]
    # Learned ranks 1 and 5 lie inside, 3 outside; the task without an interval does not count.
    assert coverage["wild"] == {"covered": 0.667, "mean_width": 2.0, "from_history": 0.667}
    assert coverage["keel"] == {"covered": 0.0, "mean_width": 10.0, "from_history": 0.5}
    assert coverage["simulated"] == {"covered": 1.0, "mean_width": 49.5, "from_history": 0.0}
    assert coverage["all"]["covered"] == round(4 / 6, 3)


@pytest.mark.filterwarnings("error")
def test_a_history_of_one_kind_is_judged_too() -> None:
    found = hand_made()
    same = replace(found, kinds=("simulated",) * 7)
    judged = judge(same)
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
