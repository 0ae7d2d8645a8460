"""The ``.elect`` file: comes back as it went in, and nothing else comes in."""

import copy
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elect
from elect.core import ModelPool, ModelSpec, PerformanceMatrix
from elect.errors import PoolMismatch, StoreError
from elect.history import store
from elect.history.database import MetaDatabase, plain_json
from elect.paper.predictor_training import PredictorParams, train_predictor
from elect.paper.settings import SearchSettings
from forging import sealed, unzip, with_manifest, with_member, zipped

POOL = ModelPool.grid("LOF", metric=["euclidean"], n_neighbors=[5, 10, 20]) + ModelPool.of(
    [ModelSpec.of("IForest", max_features=0.3), ModelSpec.of("no_such_package.mine:Detector", strict=True, label=None)]
)
TASKS, GROUPS = ("wild/wine", "wild/glass", "mine/zoë"), ("wine", "glass", "wine")


def arguments(**changes):
    """The arguments of a small valid database, some of them changed."""
    rng = np.random.default_rng(0)
    performance, measures = rng.random((3, len(POOL))), rng.normal(size=(3, len(POOL), 2))
    names = ("mc", "hits")
    params = PredictorParams(num_leaves=4, rounds=3, learning_rate=0.1, min_leaf_share=0.05)
    tasks = [
        {"name": name, "group": group, "n": 100, "d": 3, "outlier_share": 0.05, "sha256": "0" * 64}
        for name, group in zip(TASKS, GROUPS, strict=True)
    ]
    valid = {
        "pool": POOL,
        "performance": PerformanceMatrix(performance, TASKS, POOL.ids, "ap"),
        "groups": GROUPS,
        "measure_names": names,
        "measures": measures,
        "anchors": POOL.ids[1:3],
        "initial_models": POOL.ids[:2],
        "predictor": train_predictor(performance, measures, params=params, measure_names=names),
        "settings": SearchSettings(n_neighbor_tasks=2, patience=3, scale_gaps=True),
        "provenance": {"tasks": tasks, "seed": 7, "libraries": {"numpy": "2.1"}, "shares": [0.1, -0.0, 1e-300]},
    }
    return {**valid, **changes}


@cache
def database():
    return MetaDatabase(**arguments())


@cache
def original():
    return store.dumps(database())


def with_content(change):
    """The file with the content of its manifest changed in place, and every checksum right."""
    return with_manifest(original(), lambda manifest: change(manifest["content"]))


# What goes in comes out


def assert_equal(one, other):
    assert one.pool == other.pool
    assert one.pool.fingerprint == other.pool.fingerprint
    for name in ("tasks", "groups", "measure_names", "anchors", "initial_models", "predictor", "settings"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.performance.metric == other.performance.metric
    np.testing.assert_array_equal(one.performance.values, other.performance.values)
    np.testing.assert_array_equal(one.measures, other.measures)
    assert plain_json(one.provenance) == plain_json(other.provenance)
    assert one.calibration == other.calibration


def test_a_database_comes_back_from_its_file(tmp_path):
    path = tmp_path / "ours.elect"
    database().save(path)
    loaded = MetaDatabase.load(path)
    assert_equal(loaded, database())
    np.testing.assert_array_equal(
        loaded.predictor.gaps(loaded.measures[0]), database().predictor.gaps(loaded.measures[0])
    )
    assert not loaded.measures.flags.writeable
    assert not loaded.performance.values.flags.writeable
    assert list(tmp_path.iterdir()) == [path]


texts = st.text(st.characters(codec="utf-8"), max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60)
@given(
    st.dictionaries(texts.filter(lambda key: key != "tasks"), json_values, max_size=3),
    st.none() | st.dictionaries(texts, json_values, max_size=2),
    st.integers(1, 10**6),
    st.booleans(),
    st.lists(st.floats(-1e100, 1e100) | st.floats(-4, 4, width=32), min_size=15, max_size=15),
)
def test_any_database_comes_back_and_saves_to_the_same_bytes(provenance, calibration, patience, scale, values):
    changed = MetaDatabase(
        **arguments(
            provenance=provenance,
            calibration=calibration,
            settings=SearchSettings(patience=patience, scale_gaps=scale),
            performance=PerformanceMatrix(np.reshape(values, (3, 5)), TASKS, POOL.ids),
        )
    )
    data = store.dumps(changed)
    loaded = store.loads(data)
    assert_equal(loaded, changed)
    assert store.dumps(loaded) == data


def test_equal_databases_are_equal_bytes(tmp_path):
    told = arguments()["provenance"]
    MetaDatabase(**arguments()).save(tmp_path / "a.elect")
    MetaDatabase(**arguments(provenance=dict(reversed(told.items())))).save(tmp_path / "b.elect")
    assert (tmp_path / "a.elect").read_bytes() == (tmp_path / "b.elect").read_bytes() == original()
    with zipfile.ZipFile(tmp_path / "a.elect") as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}


@pytest.mark.parametrize(
    ("value", "kind"),
    [(0.5, "<f4"), (-0.0, "<f4"), (2.0**-140, "<f4"), (0.1, "<f8"), (1e100, "<f8"), (5e-324, "<f8"), (-1e39, "<f8")],
)
def test_single_precision_is_used_only_where_nothing_is_lost(value, kind):
    values = np.full((3, 5), 0.25)
    values[1, 2] = value
    data = store.dumps(replace(database(), performance=PerformanceMatrix(values, TASKS, POOL.ids, "ap")))
    member = unzip(data)["performance.npy"]
    assert kind.encode() in member[:128]
    assert len(member) == 128 + 15 * int(kind[2])
    loaded = store.loads(data).performance.values
    assert loaded.dtype == np.float64
    assert loaded.tobytes() == values.tobytes()


def test_copies_and_pickles_are_equal_and_read_only():
    for twin in (copy.deepcopy(database()), pickle.loads(pickle.dumps(database()))):
        assert_equal(twin, database())
        assert not twin.measures.flags.writeable


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "ours.elect"
    database().save(path)

    def fail(*_):
        raise OSError(28, "No space left on device")

    for call in ("replace", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, fail)
            with pytest.raises(StoreError, match="No space left"):
                replace(database(), settings=SearchSettings()).save(path)
        assert path.read_bytes() == original()
        assert list(tmp_path.iterdir()) == [path]


def test_paths_that_cannot_be_used(tmp_path):
    (tmp_path / "folder").mkdir()
    for call in (MetaDatabase.load, database().save):
        for path in (tmp_path / "none" / "x.elect", tmp_path / "folder"):
            with pytest.raises(StoreError, match=r"Cannot (read|write)") as caught:
                call(path)
            assert "\n" not in str(caught.value)


def test_what_cannot_be_stored_is_refused_before_a_file_is_made(tmp_path):
    pool = ModelPool.of([*POOL.specs[:-1], ModelSpec.of("kNN", p=float("inf"))])
    performance = PerformanceMatrix(np.zeros((3, 5)), TASKS, pool.ids)
    with pytest.raises(StoreError, match="finite"):
        MetaDatabase(**arguments(pool=pool, performance=performance)).save(tmp_path / "x.elect")
    assert not list(tmp_path.iterdir())


def test_a_file_of_the_first_version_is_told_from_a_damaged_one():
    """It had four members, and its content beside them; whoever has one is told what to do with it."""
    members = unzip(original())
    manifest = json.loads(members["manifest.json"])
    manifest = {**manifest["content"], "format": manifest["format"], "version": 1, "members": manifest["members"]}
    refused(zipped({**members, "manifest.json": json.dumps(manifest).encode()}.items()), "version 1 of the format")


def test_the_second_version_had_its_content_beside_the_members():
    def flatten(manifest):
        manifest.update(manifest.pop("content"), version=2)
        del manifest["checksum"]

    assert_equal(store.loads(with_manifest(original(), flatten)), database())
    refused(with_manifest(original(), lambda manifest: (flatten(manifest), manifest.update(more=1))), "keys")


# The pool


def test_another_pool_is_refused_and_the_same_one_is_kept():
    twin = ModelPool.of(POOL.specs)
    assert store.loads(original(), twin).pool is twin
    for other in (ModelPool.of(POOL.specs[::-1]), ModelPool.of(POOL.specs[1:])):
        with pytest.raises(PoolMismatch, match="another pool"):
            store.loads(original(), other)


def test_loading_imports_neither_detectors_nor_lightgbm(tmp_path):
    database().save(tmp_path / "x.elect")
    (tmp_path / "no_such_package").mkdir()
    (tmp_path / "no_such_package" / "__init__.py").write_text("raise SystemExit('imported')")
    code = (
        "import sys\nfrom elect.history.database import MetaDatabase\n"
        "pool = MetaDatabase.load('x.elect').pool\n"
        "assert pool.specs[-1].is_custom and pool.specs[-1]['strict'] is True\n"
        "sys.exit('lightgbm' in sys.modules)\n"
    )
    source = str(Path(elect.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([source, str(tmp_path)])}
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=False).returncode == 0


# What must not load


def refused(data, match="x.elect"):
    with pytest.raises(StoreError, match=match) as caught:
        store.loads(data, source="x.elect")
    message = str(caught.value)
    assert message.startswith("x.elect cannot be loaded.")
    assert "\n" not in message
    assert len(message) < 500


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: m.pop("anchors"), "keys"),
        (lambda m: m.update(more=1), "keys"),
        (lambda m: m.update(anchors="LOF"), "list"),
        (lambda m: m.update(anchors=[3]), "text"),
        (lambda m: m.update(anchors=["x" * 10**6]), "at most 1000"),
        (lambda m: m.update(anchors=["LOF(n_neighbors=4)"]), "Unknown model"),
        (lambda m: m["initial_models"].append("x\ny\x1b[2J"), "Unknown model"),
        (lambda m: m["pool"]["specs"].pop(), "fingerprint"),
        (lambda m: m["pool"].update(specs=[]), "at least one model"),
        (lambda m: m["pool"]["specs"][0].update(detector=5), "text"),
        (lambda m: m["pool"]["specs"][0]["params"].update(n_neighbors=[5]), "Parameters"),
        (lambda m: m["pool"]["specs"][0]["params"].update(n_neighbors="\ud800"), "fingerprint"),
        (lambda m: m["pool"].update(fingerprint="0" * 64), "fingerprint"),
        (lambda m: m["tasks"].pop(), "3 tasks|2 tasks"),
        (lambda m: m["tasks"][0].update(name="mine/zo\u00eb"), "twice"),
        (lambda m: m["tasks"][0].update(group=None), "text"),
        (lambda m: m.update(metric="roc"), "metric"),
        (lambda m: m.update(measure_names=["mc"]), "features"),
        (lambda m: m["settings"].update(patience=-1), "patience"),
        (lambda m: m["settings"].update(more=1), "keys"),
        (lambda m: m.update(provenance=None), "provenance"),
        (lambda m: m.update(calibration=[]), "calibration"),
        (lambda m: m["provenance"]["tasks"].pop(), "provenance"),
    ],
)
def test_a_content_that_does_not_fit_is_refused(change, match):
    refused(with_content(change), match)


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_for_single_precision_are_saved_without_a_warning():
    values = np.full((3, 5), 1e100)
    store.dumps(replace(database(), performance=PerformanceMatrix(values, TASKS, POOL.ids, "ap")))


def test_members_must_be_those_and_no_other():
    members = unzip(original())
    for name in set(members) - {"manifest.json"}:
        fewer = {other: data for other, data in members.items() if other != name}
        manifest = json.loads(fewer["manifest.json"])
        del manifest["members"][name]
        refused(sealed({**fewer, "manifest.json": json.dumps(manifest).encode()}), "and no other")
    refused(sealed({**members, "more.txt": b""}), "and no other")
    refused(sealed({**members, "detector.pickle": b""}), "and no other")
    swapped = {**members, "performance.npy": members["measures.npy"], "measures.npy": members["performance.npy"]}
    refused(sealed(swapped), "performance matrix")


def saved(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("array", "match"),
    [
        (np.zeros((5, 3)), "performance matrix"),
        (np.zeros((0, 5)), "performance matrix"),
        (np.zeros((3, 5, 1, 1)), "performance matrix"),
        (np.zeros((3, 5), dtype=np.int32), "floats"),
        (np.zeros((3, 5), dtype=np.uint32), "floats"),
        (np.full((3, 5), np.nan, dtype=np.float32), "finite"),
        (np.full((3, 5), np.nan), "finite"),
        (np.full((3, 5), np.inf), "finite"),
        (np.full((3, 5), 1e200), "finite"),
    ],
)
def test_an_array_that_is_not_as_expected_is_refused(array, match):
    refused(with_member(original(), "performance.npy", lambda _: saved(array)), match)


def test_an_array_as_numpy_saves_it_is_read():
    for kind in (np.float64, np.float32):
        array = saved(np.arange(15, dtype=kind).reshape(3, 5))
        loaded = store.loads(with_member(original(), "performance.npy", lambda _, array=array: array))
        np.testing.assert_array_equal(loaded.performance.values, np.arange(15.0).reshape(3, 5))
