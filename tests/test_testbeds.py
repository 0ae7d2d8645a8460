"""The wild testbed, the published results, and the controlled testbed as a whole."""

import hashlib
import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from elect.bench.testbeds import (
    KINDS,
    MEASURE_NAMES,
    MOTHERSETS,
    choose_mothersets,
    controlled_tasks,
    data_home,
    load_controlled,
    load_more,
    load_task,
    load_wild,
    more_entries,
    published_labels,
    published_measures,
    published_performance,
    wild_entries,
)
from elect.bench.testbeds.published import PublishedMeasures
from elect.errors import ElectError, InvalidInput


@pytest.fixture
def small_home(tmp_path: Path) -> Path:
    """A data home with two tasks, one of them without a table, and published results for both."""
    (tmp_path / "wild").mkdir()
    (tmp_path / "reference").mkdir()
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "wild/a.npz", X=rng.normal(size=(50, 3)), y=np.repeat([0, 1], [45, 5]).astype(np.int8))
    digest = hashlib.sha256((tmp_path / "wild/a.npz").read_bytes()).hexdigest()
    tasks = [
        {"name": "a", "group": "ga", "n": 50, "d": 3, "outlier_percent": 10.0, "file": "wild/a.npz", "sha256": digest},
        {"name": "b", "group": "gb", "n": 9, "d": 2, "outlier_percent": 1.0, "file": None, "sha256": None},
    ]
    (tmp_path / "wild.json").write_text(json.dumps(tasks))
    # The order of the tasks here is not that of wild.json, on purpose.
    for file in ("ap.csv", "roc.csv", "prns.csv"):
        (tmp_path / "reference" / file).write_text('task,"m, 1",m2\nb,0.1,0.2\na,0.3,0.4\n')
    np.savez(
        tmp_path / "reference/measures.npz",
        tasks=["b", "a"],
        models=["m, 1", "m2"],
        **{name: np.array([[1.0, 2.0], [3.0, 4.0]], dtype=np.float32) for name in MEASURE_NAMES[1:]},
        mc_spearman=np.array([[1.0, 2.0], [np.nan, np.nan]], dtype=np.float32),
    )
    return tmp_path


class TestDataHome:
    def test_unset(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ELECT_DATA_HOME", raising=False)
        with pytest.raises(ElectError, match=r"ELECT_DATA_HOME is not set.*wild\.json and wild/"):
            data_home()

    def test_not_a_folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("ELECT_DATA_HOME", str(tmp_path / "nowhere"))
        with pytest.raises(ElectError, match=r"nowhere.*is not a folder"):
            data_home()

    def test_folder_without_tasks(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("ELECT_DATA_HOME", str(tmp_path))
        with pytest.raises(ElectError, match=r"holds no wild\.json"):
            data_home()

    def test_found(self, monkeypatch: pytest.MonkeyPatch, small_home: Path) -> None:
        monkeypatch.setenv("ELECT_DATA_HOME", str(small_home))
        assert data_home() == small_home
        assert [task.name for task in load_wild()] == ["a"]

    def test_missing_file_is_named(self, small_home: Path) -> None:
        (small_home / "wild/a.npz").unlink()
        with pytest.raises(ElectError, match=r"a\.npz is missing"):
            load_wild(small_home)


class TestRecords:
    def test_only_available_tasks_are_loaded(self, small_home: Path) -> None:
        entries = wild_entries(small_home)
        assert [entry.available for entry in entries] == [True, False]
        (task,) = load_wild(small_home)
        assert (task.name, task.group, task.X.shape, task.y.sum()) == ("a", "ga", (50, 3), 5)
        with pytest.raises(ElectError, match="'b' is not available"):
            load_task(entries[1], small_home)

    def test_entries_are_frozen(self, small_home: Path) -> None:
        with pytest.raises(FrozenInstanceError):
            wild_entries(small_home)[0].name = "c"  # type: ignore[misc]

    def test_a_changed_table_is_refused(self, small_home: Path) -> None:
        content = bytearray((small_home / "wild/a.npz").read_bytes())
        content[200] ^= 1
        (small_home / "wild/a.npz").write_bytes(content)
        with pytest.raises(ElectError, match=r"sha256 must be .* got .*fetch it again"):
            load_wild(small_home)

    def test_an_entry_of_another_shape_is_refused(self, small_home: Path) -> None:
        tasks = json.loads((small_home / "wild.json").read_text())
        tasks[0]["d"] = 4
        (small_home / "wild.json").write_text(json.dumps(tasks))
        with pytest.raises(InvalidInput, match="must be 50 x 4"):
            load_wild(small_home)

    @pytest.mark.parametrize("text", ["{", "[1]", '[{"name": "a"}]', '{"a": 1}'])
    def test_a_broken_list_is_refused(self, small_home: Path, text: str) -> None:
        (small_home / "wild.json").write_text(text)
        with pytest.raises(InvalidInput, match="must be a JSON list of tasks"):
            wild_entries(small_home)

    def test_a_name_twice_is_refused(self, small_home: Path) -> None:
        tasks = json.loads((small_home / "wild.json").read_text())
        (small_home / "wild.json").write_text(json.dumps([tasks[0], tasks[0]]))
        with pytest.raises(InvalidInput, match="name each task once"):
            wild_entries(small_home)


class TestPublished:
    def test_rows_follow_the_tasks_and_columns_the_ids(self, small_home: Path) -> None:
        P = published_performance("roc", home=small_home)
        assert P.tasks == ("a", "b")
        assert P.model_ids == ("m, 1", "m2")
        assert P.metric == "roc"
        np.testing.assert_array_equal(P.values, [[0.3, 0.4], [0.1, 0.2]])
        assert published_performance("ap", ["x", "y"], small_home).model_ids == ("x", "y")

    def test_what_does_not_fit_is_refused(self, small_home: Path) -> None:
        with pytest.raises(InvalidInput, match="each of the 2 published models"):
            published_performance("ap", ["x"], small_home)
        with pytest.raises(InvalidInput, match="one of ap, roc, prn"):
            published_performance("f1", home=small_home)
        with pytest.raises(InvalidInput, match="got nonsense"):
            published_measures(["nonsense"], home=small_home)
        (small_home / "reference/roc.csv").write_text('task,m2,"m, 1"\nb,0.1,0.2\na,0.3,0.4\n')
        with pytest.raises(InvalidInput, match=r"columns of ap\.csv"):
            published_performance("roc", home=small_home)
        (small_home / "reference/ap.csv").write_text('task,"m, 1",m2\na,0.3,0.4\n')
        with pytest.raises(InvalidInput, match="lacks b"):
            published_performance("ap", home=small_home)

    def test_measures_keep_their_gaps_until_filled(self, small_home: Path) -> None:
        measures = published_measures(home=small_home)
        assert measures.names == ("mc_spearman", "select", "hits")
        assert measures.missing == (("a", "mc_spearman"),)
        np.testing.assert_array_equal(measures.values[0, :, 1], [3.0, 4.0])
        filled = measures.filled()
        np.testing.assert_array_equal(filled[0, :, 0], [1.0, 2.0])
        np.testing.assert_array_equal(filled[1], measures.values[1])

    def test_filling_inside_a_fold_sees_only_the_fold(self) -> None:
        rng = np.random.default_rng(0)
        values = rng.normal(size=(4, 3, 2))
        values[0, :, 1] = np.nan
        changed = values.copy()
        changed[3] += 100
        tasks, models, names = tuple("abcd"), tuple("xyz"), ("mc", "hits")
        fold = ["a", "b", "c"]
        before = PublishedMeasures(values, tasks, models, names).filled(fold)
        after = PublishedMeasures(changed, tasks, models, names).filled(fold)
        np.testing.assert_array_equal(before[:3], after[:3])
        np.testing.assert_allclose(before[0, :, 1], values[1:3, :, 1].mean(axis=0))
        with pytest.raises(InvalidInput, match="has hits"):
            PublishedMeasures(values, tasks, models, names).filled(["a"])
        with pytest.raises(InvalidInput, match="Unknown tasks e"):
            PublishedMeasures(values, tasks, models, names).filled(["e"])


class TestRealData:
    def test_wild(self, data_home: Path) -> None:
        entries = wild_entries(data_home)
        assert len(entries) == 39
        assert [entry.name for entry in entries if not entry.available] == ["odds/speech"]
        tasks = {task.name: task for task in load_wild(data_home)}
        assert len(tasks) == 38
        for entry in entries:
            if entry.available:
                share = 100 * tasks[entry.name].y.mean()
                assert share == pytest.approx(entry.outlier_percent, abs=1e-3)

    def test_more(self, data_home: Path) -> None:
        assert len(more_entries(data_home)) == 6
        tasks = load_more(data_home)
        assert {task.n_columns for task in tasks} == {512}
        assert {task.X.dtype for task in tasks} == {np.dtype(np.float64)}

    @pytest.mark.parametrize("metric", ["ap", "roc", "prn"])
    def test_published_performance(self, data_home: Path, metric: str) -> None:
        P = published_performance(metric, home=data_home)
        assert P.values.shape == (39, 297)
        assert P.tasks == tuple(entry.name for entry in wild_entries(data_home))
        assert P.model_ids[0] == "('LODA', (5, 10))"
        assert P.values.min() >= 0
        assert P.values.max() <= 1

    def test_published_measures(self, data_home: Path) -> None:
        measures = published_measures(MEASURE_NAMES, home=data_home)
        assert measures.values.shape == (39, 297, 5)
        assert measures.model_ids == published_labels(data_home)
        missing = {name: sum(m == name for _, m in measures.missing) for name in MEASURE_NAMES}
        assert missing == {"mc_spearman": 4, "mc_kendall": 4, "select": 5, "hits": 8, "udr": 3}
        assert np.isfinite(measures.filled()).all()


class TestControlled:
    def test_mothersets_are_what_the_seed_draws(self, data_home: Path) -> None:
        entries = wild_entries(data_home)
        assert choose_mothersets(entries, seed=0) == MOTHERSETS
        assert choose_mothersets(entries, seed=1) != MOTHERSETS
        groups = {entry.name: entry.group for entry in entries}
        assert len({groups[name] for name in MOTHERSETS}) == len(MOTHERSETS) == 10

    def test_too_few_groups_are_refused(self, small_home: Path) -> None:
        with pytest.raises(InvalidInput, match="only 0 groups"):
            choose_mothersets(wild_entries(small_home))

    def test_an_unknown_motherset_is_refused(self, small_home: Path) -> None:
        with pytest.raises(InvalidInput, match="nobody"):
            load_controlled(small_home, mothersets=["nobody"])

    def test_a_motherset_gives_three_tasks_with_the_same_normal_points(self, small_home: Path) -> None:
        tasks = load_controlled(small_home, mothersets=["a"])
        assert [task.name for task in tasks] == [f"a+{kind}" for kind in KINDS]
        assert {task.group for task in tasks} == {"ga"}
        normals = [np.sort(task.X[task.y == 0], axis=0) for task in tasks]
        outliers = [np.sort(task.X[task.y == 1], axis=0) for task in tasks]
        assert all(len(found) == 10 for found in outliers)
        for other in (1, 2):
            np.testing.assert_array_equal(normals[0], normals[other])
            assert not np.array_equal(outliers[0], outliers[other])
        assert not np.array_equal(np.sort(tasks[0].y), tasks[0].y), "rows must be shuffled"

    def test_the_outliers_of_the_motherset_do_not_matter(self, small_home: Path) -> None:
        (task,) = load_wild(small_home)
        X = task.X.copy()
        X[task.y == 1] = 1e6
        moved = type(task)(task.name, task.group, X, task.y)
        for before, after in zip(controlled_tasks(task), controlled_tasks(moved), strict=True):
            np.testing.assert_array_equal(before.X, after.X)

    def test_bit_identical_on_repeat_and_different_with_the_seed(self, small_home: Path) -> None:
        (task,) = load_wild(small_home)
        for first, second, other in zip(*(controlled_tasks(task, seed) for seed in (0, 0, 1)), strict=True):
            assert first.X.tobytes() == second.X.tobytes()
            assert first.y.tobytes() == second.y.tobytes()
            assert first.X.tobytes() != other.X.tobytes()
