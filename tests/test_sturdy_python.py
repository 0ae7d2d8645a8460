"""Python's callers get the errors of elect, or a result."""

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.io import savemat

from elect import ElectDetector, ElectError, Task, score_pool
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.history import read_corpus, train
from elect.history.pieces import Pieces
from elect.history.records import Recipe, check_corpus, read_record, score_task
from elect.support import cluster
from elect.tables import read_table
from toys import toy_database

X = np.random.default_rng(0).normal(size=(40, 3))


def structured() -> np.ndarray:
    found = np.zeros(40, dtype=[("a", float), ("b", float)])
    found["a"], found["b"] = X[:, 0], X[:, 1]
    return found


USABLE: dict[str, Callable[[], Any]] = {
    "structured array": structured,
    "dictionary": lambda: {"a": X[:, 0], "b": X[:, 1]},
    "integer names": lambda: pd.DataFrame(X),
    "mixed names": lambda: pd.DataFrame(X, columns=[0, "b", 2.5]),
    "sparse frame": lambda: pd.DataFrame(X.round()).astype(pd.SparseDtype(float, 0.0)),
    "lazy frame": lambda: pl.DataFrame(X, schema=["a", "b", "c"]).lazy(),
    "sparse matrix": lambda: sparse.csr_array(X),
    "masked array, nothing masked": lambda: np.ma.masked_array(X, mask=False),
}


@pytest.mark.parametrize("kind", USABLE)
def test_tables_of_every_kind_are_scored(kind: str) -> None:
    data = USABLE[kind]()
    detector = ElectDetector(max_models=3, scorer="model", database=toy_database()).fit(data)
    assert np.isfinite(detector.decision_function(data)).all()
    assert len(detector.decision_scores_) == 40


def test_a_lazy_frame_whose_query_fails() -> None:
    broken = pl.DataFrame(X, schema=["a", "b", "c"]).lazy().select("nosuch")
    with pytest.raises(ElectError, match=r"could not be collected \(ColumnNotFoundError: .*nosuch"):
        read_table(broken)


@pytest.mark.parametrize(
    ("options", "data", "expected"),
    [
        ({"random_state": "3"}, X, "random_state must be"),
        ({"random_state": -1}, X, "random_state must be"),
        ({"random_state": 1.5}, X, "random_state must be"),
        ({"max_models": "3"}, X, "max_models must be a number"),
        ({"max_seconds": [1]}, X, "max_seconds must be a number"),
        ({"contamination": None}, X, "contamination must be"),
        ({"contamination": np.array([0.1, 0.2])}, X, "contamination must be"),
        ({"strategy": 3}, X, "strategy must be"),
        ({}, np.where(X > 2, np.nan, X), "give a pandas or polars frame"),
        ({}, np.ma.masked_array(X, mask=X > 1), "give a pandas or polars frame"),
        ({}, X.astype(complex), "[Cc]omplex"),
        ({}, np.array([["a", "b"], ["c", "d"]]), "string"),
        ({}, [datetime.date(2024, 1, 1)] * 4, "."),
        ({}, None, "."),
        ({}, "no such file", "."),
    ],
)
def test_mistakes_have_one_kind_of_error(options: dict[str, Any], data: Any, expected: str) -> None:
    detector = ElectDetector(**{"max_models": 3, "scorer": "model", "database": toy_database(), **options})
    with pytest.raises(ElectError, match=expected):
        detector.fit(data)


def test_a_share_may_be_a_number_of_numpy() -> None:
    for share in (np.float32(0.1), np.float64(0.1)):
        detector = ElectDetector(share, max_models=3, scorer="model", database=toy_database()).fit(X)
        assert detector.labels_.sum() == 4


def test_a_mask_stays_in_a_table() -> None:
    for kind in (float, int):
        values = np.ma.masked_array(np.arange(6).reshape(3, 2).astype(kind), mask=[[0, 1], [0, 0], [1, 0]])
        frame = read_table(values).frame
        assert [np.isnan(value) for value in frame["x1"]] == [True, False, False]
        assert [np.isnan(value) for value in frame["x0"]] == [False, False, True]
    records = np.ma.masked_array(np.array([(1.0,), (2.0,)], dtype=[("a", float)]), mask=[(True,), (False,)])
    assert np.isnan(read_table(records).frame["a"].to_list()).tolist() == [True, False]


def test_a_mask_stays_where_arrays_are_taken_as_they_are() -> None:
    masked = np.ma.masked_array(X, mask=X > 1)
    y = np.zeros(40)
    y[:2] = 1
    task = LabeledTask("t", "t", masked, y)
    assert np.isnan(task.X).sum() == (X > 1).sum()
    for call in (lambda: score_pool(masked, toy_database().pool), lambda: train([task], toy_database().pool)):
        with pytest.raises(InvalidInput, match="finite, got nan"):
            call()
    with pytest.raises(InvalidInput, match="0 \\(normal\\) and 1"):
        LabeledTask("t", "t", X, np.ma.masked_array(y, mask=y == 1))
    assert (Task("t", "t", np.ma.masked_array(X)).X == X).all()


# --- corpora ------------------------------------------------------------------------------------------------------

TABLE = "a,b,label\n" + "".join(f"{i % 7}.5,{i * 37 % 11},{int(i == 3)}\n" for i in range(30))


def test_groups_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "groups.csv").write_bytes("file,group\nt.csv,Zürich\n".encode("cp1252"))
    assert read_corpus(tmp_path)[0].group == "Zürich"


def test_a_manifest_that_is_nested_deeply(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    path.write_text("[" * 100_000 + "]" * 100_000)
    with pytest.raises(InvalidInput, match="JSON list"):
        read_corpus(path)


def test_a_damaged_matlab_file_cannot_take_the_process_with_it(tmp_path: Path) -> None:
    y = np.zeros(40)
    y[0] = 1
    path = tmp_path / "t.mat"
    savemat(path, {"X": X, "y": y})
    assert (read_corpus(tmp_path)[0].X == X).all()
    whole = path.read_bytes()
    place = whole.index(b"\x09\x00\x00\x00" + (X.size * 8).to_bytes(4, "little"))
    # A type that there is not: scipy looks it up in a table that is shorter.
    path.write_bytes(whole[: place + 1] + b"\x20" + whole[place + 2 :])
    with pytest.raises(InvalidInput, match="not a readable MATLAB file"):
        read_corpus(tmp_path)
    path.write_bytes(whole[:124] + b"\x00\x02IM" + whole[128:])
    with pytest.raises(InvalidInput, match=r"MATLAB 7\.3"):
        read_corpus(tmp_path)
    savemat(path, {"X": np.array([["a", "b"]], dtype=object), "y": y})
    with pytest.raises(InvalidInput, match="arrays of numbers"):
        read_corpus(tmp_path)


@pytest.mark.parametrize("file", ["nosuch.csv", "x" * 5000, "a\0b", "t.csv/x", "\ud800"])
def test_a_manifest_that_names_no_file(tmp_path: Path, file: str) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps([{"name": "t", "group": "t", "file": file}]))
    with pytest.raises(InvalidInput, match="does not exist"):
        read_corpus(path)


def test_dates_in_arff(tmp_path: Path) -> None:
    rows = "".join(f'"2024-01-{i % 28 + 1:02d}",{i % 7}.5,{int(i == 3)}\n' for i in range(30))
    head = '@relation r\n@attribute when date "yyyy-MM-dd"\n@attribute a numeric\n@attribute label {0,1}\n@data\n'
    (tmp_path / "t.arff").write_text(head + rows)
    task = read_corpus(tmp_path)[0]
    assert task.X.shape[0] == 30
    assert task.X.shape[1] >= 2


@pytest.mark.parametrize("group", ["", "a\x1b[0m", "x" * 2000])
def test_a_bad_group_is_said_before_anything_is_scored(group: str) -> None:
    y = np.zeros(40)
    y[0] = 1
    with pytest.raises(InvalidInput, match="printable text"):
        check_corpus([LabeledTask("t", group, X, y)])


def test_pieces_of_another_shape_are_made_again(tmp_path: Path) -> None:
    recipe = Recipe(toy_database().pool)
    y = np.zeros(40)
    y[0] = 1
    task = LabeledTask("t", "t", X, y)
    pieces = Pieces.at(tmp_path)
    right = score_task(task, recipe)
    for scores in (right["scores"][:5], right["scores"].astype("U8"), np.zeros(())):
        pieces.put("scores", recipe.score_key(task), {**right, "scores": scores})
        assert read_record(pieces, task, recipe).performance.shape == (len(recipe.pool),)


def test_a_cluster_that_is_none(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed")
    y = np.zeros(40)
    y[0] = 1
    with pytest.raises(cluster.ClusterError, match="tcp://host:8786"):
        train([LabeledTask("t", "t", X, y)], toy_database().pool, cluster="nonsense")
    assert "Traceback" not in capfd.readouterr().err


def test_a_cluster_without_workers_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(cluster, "WORKERS_WITHIN", 0.5)
    y = np.zeros(40)
    y[0] = 1
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=None) as idle,
        distributed.Client(idle, set_as_default=False) as client,
        pytest.raises(cluster.ClusterError, match="no worker"),
    ):
        train([LabeledTask("t", "t", X, y)], toy_database().pool, cluster=client)
