"""``elect bench errors`` and ``elect bench odd``: what is left out, what is counted, what is printed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import elect.bench.errors
import elect.bench.left_out
import elect.bench.odd
from elect.bench.errors import COMMITTEE, calibration_of, judge_tasks
from elect.bench.left_out import fold_scorers, scorer_without_kind, trained
from elect.bench.odd import judge_kind
from elect.bench.rows import LabelledRows, described
from elect.bench.testbeds import ErrorTask
from elect.bench.testbeds.errors import spoil
from elect.bench.testbeds.realtables import RealTable
from elect.cli import main
from elect.committee.scorer import RowScorer
from elect.core.metrics import average_precision
from elect.errors import InvalidInput
from elect.history.pieces import Pieces
from elect.history.row_training import RowTask
from elect.history.shipped import shipped_database
from elect.support.arrays import FloatArray
from elect.support.meter import Meter
from toys import SMALL_POOL, make_task

N_FEATURES = 140


def table(seed: int, n: int = 120) -> RealTable:
    rng = np.random.default_rng(seed)
    size = rng.normal(50, 5, n).round(1)
    city = rng.choice(["Rome", "Paris", "Oslo"], n)
    frame = pl.DataFrame({"size": size, "weight": (2 * size + rng.normal(0, 1, n)).round(1), "city": city})
    return RealTable(f"made/{seed}", f"made{seed}", frame)


def error_tasks(n: int = 3) -> list[ErrorTask]:
    made = [spoil(table(seed), "mixed-1") for seed in range(n)]
    return [task for task in made if task is not None]


def odd_tasks(n: int = 4) -> list[Any]:
    return [make_task(seed) for seed in range(n)]


def labelled() -> list[LabelledRows]:
    rows = [LabelledRows(task.name, task.group, "odd", task.X, task.y) for task in odd_tasks()]
    rows += [LabelledRows(f"wild {k}", f"w{k}", "wild", task.X, task.y) for k, task in enumerate(odd_tasks(3))]
    rows += [LabelledRows(task.name, task.group, "errors", task.table, task.y) for task in error_tasks()]
    clean = [table(seed) for seed in range(3)]
    return rows + [LabelledRows(f"{t.name}+clean", t.group, "clean", t.table, np.zeros(120)) for t in clean]


def row_task(name: str, group: str, kind: str, n: int = 20) -> RowTask:
    rng = np.random.default_rng(list(name.encode()))
    y = np.zeros(n, dtype=np.int8)
    y[:2] = 1
    return RowTask(name, group, kind, rng.normal(size=(n, N_FEATURES)).astype(np.float32), y)


class Said(RowScorer):
    """A scorer that says what stands in the first feature."""

    def __init__(self) -> None:
        pass

    def log_odds(self, features: FloatArray) -> FloatArray:
        return features[:, 0]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[RowTask]]:
    """What the scorers would have been trained on."""
    found: list[list[RowTask]] = []

    def train(tasks: list[RowTask], pieces: Pieces) -> RowScorer:
        found.append(list(tasks))
        return Said()

    monkeypatch.setattr(elect.bench.left_out, "trained", train)
    return found


def test_no_scorer_has_seen_a_source_it_judges(seen: list[list[RowTask]], tmp_path: Path) -> None:
    tasks = [row_task(f"t{k}", f"g{k % 7}", "odd" if k % 2 else "errors") for k in range(21)]
    scorers = fold_scorers(tasks, {"g1", "g2", "g6"}, 3, Pieces.at(tmp_path))
    assert set(scorers) == {"g1", "g2", "g6"}
    for group in scorers:
        assert any(group not in {task.group for task in history} for history in seen)
    for history in seen:
        left_out = {task.group for task in tasks} - {task.group for task in history}
        assert left_out & set(scorers)
        assert len(history) == sum(task.group not in left_out for task in tasks)


def test_a_kind_is_left_out_with_its_sources(seen: list[list[RowTask]], tmp_path: Path) -> None:
    tasks = [row_task("a", "g", "keel"), row_task("b", "g", "injected"), row_task("c", "h", "injected")]
    tasks += [row_task("d", "i", "odd"), row_task("e", "j", "errors"), row_task("f", "k", "clean")]
    for kind, left in (("keel", "cdef"), ("odd", "abcef"), ("errors", "abcd"), ("clean", "abcd")):
        scorer_without_kind(tasks, kind, Pieces.at(tmp_path))
        assert "".join(task.name for task in seen[-1]) == left


def test_a_scorer_is_trained_once_for_the_same_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shipped = shipped_database().row_scorer
    assert shipped is not None
    calls: list[int] = []
    monkeypatch.setattr(
        elect.bench.left_out, "train_row_scorer", lambda tasks, n_folds: calls.append(n_folds) or shipped
    )
    tasks, pieces = [row_task("a", "g", "odd"), row_task("b", "h", "errors")], Pieces.at(tmp_path)
    one, two = trained(tasks, pieces), trained(tasks, pieces)
    rows = np.random.default_rng(0).normal(size=(5, N_FEATURES))
    assert np.array_equal(one.log_odds(rows), two.log_odds(rows))
    assert calls == [2]
    other = tasks[0].features.copy()
    other[3, 3] += 1
    trained([RowTask("a", "g", "odd", other, tasks[0].y), tasks[1]], pieces)
    assert calls == [2, 2]


def test_methods_are_listed_the_best_first_with_the_best_in_hindsight() -> None:
    tasks, scorer = error_tasks(), shipped_database().row_scorer
    assert scorer is not None
    found = judge_tasks(tasks, dict.fromkeys((task.group for task in tasks), scorer), Meter())
    *methods, for_all, for_each = found
    assert all({"name", "mean_ap", "tasks", "standard_error"} <= set(row) for row in found)
    assert [row["mean_ap"] for row in methods] == sorted((row["mean_ap"] for row in methods), reverse=True)
    single = {row["name"]: row["mean_ap"] for row in methods if row["name"] != COMMITTEE}
    assert for_all["mean_ap"] == max(single.values()) == single[for_all["model"]]
    assert for_each["mean_ap"] >= for_all["mean_ap"]
    named = {row["name"]: row["named_first"] for row in methods}
    assert named[COMMITTEE] > 0.5
    assert named["PyOD KNN"] is None
    assert {row["tasks"] for row in found} == {len(tasks)}
    with pytest.raises(InvalidInput, match="at least one task"):
        judge_tasks([], {}, Meter())


def with_chances(kind: str, chance: list[float], y: list[int]) -> RowTask:
    features = np.zeros((len(y), N_FEATURES), dtype=np.float32)
    features[:, 0] = np.log(np.array(chance) / (1 - np.array(chance)))
    return RowTask(kind, "g", kind, features, np.array(y, dtype=np.int8))


def test_calibration_counts_what_came_true() -> None:
    tasks = [
        with_chances("errors", [0.95, 0.9, 0.85, 0.6, 0.1, 0.1, 0.1, 0.1], [1, 1, 0, 1, 0, 0, 0, 1]),
        with_chances("clean", [0.6, 0.1, 0.1, 0.1], [0, 0, 0, 0]),
        with_chances("odd", [0.99, 0.99], [0, 1]),
    ]
    found = calibration_of(tasks, {"g": Said()})
    assert found["rows_given_0.8_to_1"] == 3
    assert found["outliers_among_them"] == pytest.approx(2 / 3, abs=1e-3)
    assert found["flagged_rows"] == 4
    assert found["outliers_flagged"] == 0.75
    assert found["false_alarms_stated"] == pytest.approx(1 - (0.95 + 0.9 + 0.85 + 0.6) / 4, abs=1e-3)
    assert found["false_alarms_realised"] == 0.25
    assert (found["clean_tables"], found["clean_rows_flagged"]) == (1, 0.25)
    assert sum(row["rows"] for row in found["reliability"]) == 8
    assert calibration_of(tasks[2:], {"g": Said()}) == {}


def test_a_kind_is_judged_against_the_forest() -> None:
    tasks = [row_task(f"t{k}", f"g{k}", "keel", n=40) for k in range(4)]
    for task in tasks:
        task.features[:, 0] = task.y  # the committee is right everywhere
    found = judge_kind("keel", tasks, dict.fromkeys((task.group for task in tasks), Said()), Said())
    place = elect.bench.odd._FOREST
    forest = np.mean([average_precision(task.features[:, [place]].astype(float), task.y)[0] for task in tasks])
    assert (found["kind"], found["tasks"], found["groups"]) == ("keel", 4, 4)
    assert found["committee"] == found["kind_left_out"] == 1.0
    assert found["iforest"] == pytest.approx(forest, abs=1e-4)
    assert found["committee_gain"] == pytest.approx(1 - forest, abs=1e-4)
    assert "kind_left_out" not in judge_kind("keel", tasks, dict.fromkeys((t.group for t in tasks), Said()), None)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small history, described before."""
    rows = labelled()
    described(rows, tmp_path)
    for module in (elect.bench.errors, elect.bench.odd):
        monkeypatch.setattr(module, "labelled_rows", lambda home, corpora: rows)
    monkeypatch.setattr(elect.bench.errors, "load_errors", lambda limit=None: error_tasks()[:limit])
    monkeypatch.setattr(elect.bench.odd, "load_odd", odd_tasks)
    monkeypatch.setattr(elect.bench.odd, "default_pool", lambda: SMALL_POOL)
    return tmp_path


def test_both_commands_print_one_object_and_a_table(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--work", str(small), "--folds", "2", "--limit", "2", "-q"]
    assert main(["bench", "errors", *common, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["history"] == len(labelled())
    assert {"committee", "PyOD IForest", "PyOD KNN", "PyOD ECOD", "largest robust z-score"} <= {
        row["name"] for row in found["methods"]
    }
    assert {row["tasks"] for row in found["methods"]} == {2}
    assert found["calibration"]["clean_tables"] == 2

    assert main(["bench", "odd", *common, "--json", "--leave-kinds-out"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["methods"][-2]["model"] in SMALL_POOL.ids
    assert [row["kind"] for row in found["kinds"]] == ["odd", "wild", "errors"]
    assert all(row["tasks"] == 2 and 0 < row["kind_left_out"] <= 1 for row in found["kinds"])

    assert main(["bench", "odd", *common, "--no-pool"]) == 0
    shown = capsys.readouterr().out
    assert "committee gain" in shown
    assert "hindsight" not in shown
    assert main(["bench", "errors", *common]) == 0
    assert "false alarms stated" in capsys.readouterr().out


def test_folds_below_two_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "errors", "--folds", "1"]) == 2
    assert "--folds" in capsys.readouterr().err
