"""The ``.elect`` file: comes back as it went in, and nothing else comes in."""

import copy
import hashlib
import io
import json
import os
import pickle
import struct
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
from toys import toy_rank_predictor

POOL = ModelPool.grid("LOF", metric=["euclidean"], n_neighbors=[5, 10, 20]) + ModelPool.of(
    [ModelSpec.of("IForest", max_features=0.3), ModelSpec.of("no_such_package.mine:Detector", strict=True, label=None)]
)
LEARNED = toy_rank_predictor(POOL)
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
        "provenance": {"tasks": tasks, "seed": 7, "versions": {"numpy": "2.1"}, "shares": [0.1, -0.0, 1e-300]},
        "rank_predictor": LEARNED,
    }
    return {**valid, **changes}


@cache
def database():
    return MetaDatabase(**arguments())


@cache
def original():
    return store.dumps(database())


def unzip(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members, compression=zipfile.ZIP_STORED):
    """An archive of (name, data) pairs, well-formed as far as zip goes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=compression)
    return buffer.getvalue()


def sealed(members, **kwargs):
    """An archive of members whose manifest has the right checksums, as a careful forger would make it."""
    manifest = json.loads(members["manifest.json"])
    for name in set(members) - {"manifest.json"}:
        digest = hashlib.sha256(members[name]).hexdigest()
        manifest["members"][name] = {"bytes": len(members[name]), "sha256": digest}
    return zipped({**members, "manifest.json": json.dumps(manifest).encode()}.items(), **kwargs)


def with_member(name, change, **kwargs):
    members = unzip(original())
    members[name] = change(members[name])
    return sealed(members, **kwargs)


def with_manifest(change):
    def edit(data):
        manifest = json.loads(data)
        change(manifest)
        return json.dumps(manifest).encode()

    return with_member("manifest.json", edit)


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
    assert (one.rank_predictor is None) == (other.rank_predictor is None)
    if one.rank_predictor is not None and other.rank_predictor is not None:
        assert one.rank_predictor.ranker == other.rank_predictor.ranker
        assert one.rank_predictor.gate == other.rank_predictor.gate
        np.testing.assert_array_equal(one.rank_predictor.prior, other.rank_predictor.prior)
        np.testing.assert_array_equal(one.rank_predictor.outcomes, other.rank_predictor.outcomes)


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
    st.booleans(),
)
def test_any_database_comes_back_and_saves_to_the_same_bytes(provenance, calibration, patience, scale, values, learned):
    changed = MetaDatabase(
        **arguments(
            provenance=provenance,
            calibration=calibration,
            settings=SearchSettings(patience=patience, scale_gaps=scale),
            performance=PerformanceMatrix(np.reshape(values, (3, 5)), TASKS, POOL.ids),
            rank_predictor=LEARNED if learned else None,
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


def test_a_compressed_archive_with_the_same_members_is_the_same_database():
    assert_equal(store.loads(sealed(unzip(original()), compression=zipfile.ZIP_DEFLATED)), database())


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
    """It had four members; whoever has one is told what to do with it."""
    members = {name: data for name, data in unzip(original()).items() if name not in ("ranker.txt", "gate.txt")}
    manifest = {**json.loads(members["manifest.json"]), "version": 1}
    del manifest["rank_predictor"], manifest["members"]["ranker.txt"], manifest["members"]["gate.txt"]
    refused(zipped({**members, "manifest.json": json.dumps(manifest).encode()}.items()), "version 1 of the format")


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
        (lambda m: m.update(format="zip"), "format"),
        (lambda m: m.update(version=1), "version 1 of the format"),
        (lambda m: m.update(version=3), "version 3 of the format"),
        (lambda m: m.update(version=True), "version True"),
        (lambda m: m.update(version="9" * 10**4), "version '999"),
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
def test_a_manifest_that_does_not_fit_is_refused(change, match):
    refused(with_manifest(change), match)


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_for_single_precision_are_saved_without_a_warning():
    values = np.full((3, 5), 1e100)
    store.dumps(replace(database(), performance=PerformanceMatrix(values, TASKS, POOL.ids, "ap")))


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_a_manifest_that_is_no_plain_json_is_refused(text):
    refused(zipped({**unzip(original()), "manifest.json": text}.items()), "manifest")


@pytest.mark.parametrize("seed", ["NaN", "-Infinity", "1e999", '1, "seed": 7', "9" * 10_000])
def test_numbers_and_keys_that_json_leaves_open_are_refused(seed):
    members = unzip(original())
    changed = members["manifest.json"].replace(b'"seed": 7', f'"seed": {seed}'.encode())
    assert changed != members["manifest.json"]
    refused(zipped({**members, "manifest.json": changed}.items()), "plain JSON")


def test_members_must_be_those_and_match_their_checksums():
    members = unzip(original())
    names = list(members)
    refused(zipped([(name, members[name]) for name in names[:-1]]), "6 members")
    refused(zipped([*members.items(), ("more.txt", b"")]), "6 members")
    refused(zipped([*list(members.items())[:-1], (f"../{names[-1]}", members[names[-1]])]), "and no other")
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = zipped([*list(members.items())[:-1], ("measures.npy", b"")])
    refused(twice, "and no other")
    swapped = {**members, "performance.npy": members["measures.npy"], "measures.npy": members["performance.npy"]}
    refused(zipped(swapped.items()), "checksum")
    refused(sealed(swapped), "performance matrix")
    for name in ("predictor.txt", "ranker.txt", "gate.txt"):
        text = members[name].replace(b"leaf_value=", b"leaf_value=-", 1)
        refused(zipped({**members, name: text}.items()), "checksum")


def npy(header, data=b"", version=b"\x01\x00"):
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header + data


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5), }\n"


@pytest.mark.parametrize(
    ("member", "match"),
    [
        (b"", "npy"),
        (npy(HEADER.encode(), bytes(119)), "numbers they call for"),
        (npy(HEADER.encode(), bytes(121)), "numbers they call for"),
        (npy(HEADER.replace("3, 5", "3, 5, 1, 1").encode(), bytes(120)), "3 dimensions"),
        (npy(HEADER.replace("3, 5", "5, 3").encode(), bytes(120)), "performance matrix"),
        (npy(HEADER.replace("3, 5", "999999999999, 9999999999999").encode()), "numbers they call for"),
        (npy(HEADER.replace("3, 5", "0, 5").encode()), "performance matrix"),
        (npy(HEADER.replace("3, 5", "3 5").encode(), bytes(120)), "plain numbers"),
        (npy(HEADER.replace("<f8", "|O").encode(), bytes(120)), "little-endian floats"),
        (npy(HEADER.replace("<f8", ">f8").encode(), bytes(120)), "little-endian floats"),
        (npy(HEADER.replace("<f8", ">f4").encode(), bytes(60)), "little-endian floats"),
        (npy(HEADER.replace("<f8", "<f2").encode(), bytes(30)), "little-endian floats"),
        (npy(HEADER.replace("<f8", "<f4").encode(), bytes(120)), "numbers they call for"),
        (npy(HEADER.replace("<f8", "<f4").encode(), np.full(15, np.nan, np.float32).tobytes()), "finite"),
        (npy(HEADER.replace("False", "True").encode(), bytes(120)), "C order"),
        (npy(b"__import__('os').abort()", bytes(120)), "little-endian floats"),
        (npy(HEADER.encode() + b" " * 2000, bytes(120)), "short header"),
        (npy(HEADER.encode(), bytes(120), b"\x02\x00"), "version 1.0"),
        (npy(HEADER.encode(), np.full(15, np.nan).tobytes()), "finite"),
        (npy(HEADER.encode(), np.full(15, np.inf).tobytes()), "finite"),
        (npy(HEADER.encode(), np.full(15, 1e200).tobytes()), "finite"),
    ],
)
def test_an_array_that_is_not_as_expected_is_refused(member, match):
    refused(with_member("performance.npy", lambda _: member), match)


def test_an_array_as_numpy_saves_it_is_read():
    for kind in (np.float64, np.float32):
        buffer = io.BytesIO()
        np.save(buffer, np.arange(15, dtype=kind).reshape(3, 5))
        saved = buffer.getvalue()
        loaded = store.loads(with_member("performance.npy", lambda _, saved=saved: saved))
        np.testing.assert_array_equal(loaded.performance.values, np.arange(15.0).reshape(3, 5))


def test_bombs_are_refused_before_they_go_off(monkeypatch):
    bomb = bytes(10 * 2**20)
    members = unzip(original())
    long = {**members, "manifest.json": members["manifest.json"] + b" " * 9 * 2**20}
    refused(zipped(long.items()), "8388608")
    monkeypatch.setattr(store, "MAX_TOTAL", 2**20)
    refused(with_member("measures.npy", lambda _: bomb, compression=zipfile.ZIP_DEFLATED), "larger than the 1048576")
    refused(bytes(2**20 + 1), "larger than the 1048576")


def central(data, name, offset, value):
    """The archive with a field of the directory entry of a member overwritten."""
    at = data.rindex(name.encode()) - 46 + offset
    return data[:at] + value + data[at + len(value) :]


def test_lies_of_the_archive_are_refused():
    data = with_member("measures.npy", lambda old: old, compression=zipfile.ZIP_DEFLATED)
    size = len(unzip(original())["measures.npy"])
    for said in (0, size - 1, size + 1, 2**32 - 2):
        refused(central(data, "measures.npy", 24, struct.pack("<L", said)))
    for method in (12, 14, 93, 99):
        refused(central(data, "measures.npy", 10, struct.pack("<H", method)), "unusual")
    refused(central(data, "measures.npy", 8, b"\x01\x00"), "encrypted")
    refused(data + b"x", "end record|members")
    refused(data[:-2] + b"\x01\x00x", "end record|members")
    # An end record that promises a directory of a thousand entries, and a 64-bit locator to another directory.
    refused(data[:-14] + struct.pack("<HH", 1000, 1000) + data[-10:])
    refused(data[:-42] + b"PK\x06\x07" + data[-38:], "directory")
    refused(b"x" + data, "no .elect file")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in unzip(original()).items():
            info = zipfile.ZipInfo(name)
            info.comment = b"x" * 2000
            archive.writestr(info, member)
    refused(buffer.getvalue(), "directory")
