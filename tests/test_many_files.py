"""A table in many files: the same to the last bit however it is cut, on any worker, and after any interruption."""

import contextlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect import ElectDetector, ElectError
from elect.cli import main, many
from elect.detect import opened, scored_parts
from elect.detect.opened import _Drawn, drawn_positions
from elect.detect.run_folder import RunFolder
from elect.detect.scored_parts import DETECTOR, STATE, Told, best, together
from elect.support import cluster
from elect.tables import read_table

N = 2_400
RESULTS = ["elect_score", "elect_chance", "elect_outlier", "elect_kind", "elect_reasons"]


def rows(n: int = N) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(rng.normal(size=(n, 3)).round(5), schema=list("abc"))
    city = np.array(["Rome", "Oslo", "Bonn"])[rng.integers(0, 3, n)].astype(object)
    city[n // 3] = "Rone"
    frame = frame.with_columns(city=pl.Series(city.tolist()), key=pl.Series([f"K{i:05d}" for i in range(n)]))
    return frame.with_columns(a=pl.when(pl.int_range(n) == 2 * n // 3).then(70.0).otherwise(pl.col("a")))


def cut(folder: Path, parts: int, suffix: str = "parquet") -> Path:
    folder.mkdir()
    frame, edges = rows(), np.linspace(0, N, parts + 1).astype(int)
    for number, (start, stop) in enumerate(pairwise(edges)):
        piece, path = frame[int(start) : int(stop)], folder / f"part-{number:02d}.{suffix}"
        piece.write_parquet(path, row_group_size=100) if suffix == "parquet" else piece.write_csv(path)
    return folder


def scored(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])


def run(capsys: pytest.CaptureFixture[str], *words: object, status: int = 0) -> Any:
    ended = main([*map(str, words), "--json", "-q"] if status == 0 else list(map(str, words)))
    told = capsys.readouterr()
    assert ended == status, told.err
    return json.loads(told.out) if status == 0 else told.err


@pytest.fixture
def long_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of more than 600 rows are learned from in part, and read 250 rows at a time."""
    monkeypatch.setattr(opened, "LEARNED_ROWS", 600)
    monkeypatch.setattr(opened, "ROWS_AT_ONCE", 250)


@pytest.mark.usefixtures("long_from")
def test_however_the_rows_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    single = cut(tmp_path / "p1", 1) / "part-00.parquet"
    one = run(capsys, "detect", single, "-o", tmp_path / "one.parquet")
    plain = pl.read_parquet(tmp_path / "one.parquet")
    told = []
    for parts in (1, 7, 64):
        folder = tmp_path / f"p{parts}" if parts == 1 else cut(tmp_path / f"p{parts}", parts)
        found = run(capsys, "detect", folder, "-o", tmp_path / f"o{parts}")
        table = scored(tmp_path / f"o{parts}")
        assert table.columns == plain.columns
        assert table.drop("elect_kind", "elect_reasons").equals(plain.drop("elect_kind", "elect_reasons"))
        flagged = pl.col("elect_outlier") == 1
        assert table.filter(flagged).equals(plain.filter(flagged))
        assert table.filter(~flagged)["elect_kind"].null_count() == N - found["n_outliers"]
        assert found["n_outliers"] == one["n_outliers"] > 0
        assert found["n_files"] == found["files_scored"] == parts
        for row in found["top"]:
            here = pl.read_parquet(row["file"])
            assert here["key"][row["row"]] == row["id"] == f"K{row['position']:05d}"
        told.append([{**row, "file": None, "row": None} for row in found["top"]])
        assert [row["position"] for row in found["top"]] == [row["position"] for row in one["top"]]
        assert found["false_alarms"] == pytest.approx(one["false_alarms"], abs=1e-9)
    assert told[0] == told[1] == told[2]
    assert 2 * N // 3 in [row["position"] for row in told[0]]


@pytest.mark.usefixtures("long_from")
def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = cut(tmp_path / "in", 6, "csv"), tmp_path / "out"
    first = run(capsys, "detect", folder / "*.csv", "-o", out, "--id", "key")
    whole = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.glob("*.csv")}
    assert len(whole) == 6
    # Killed between two files: one was never begun, one is half written, one is written but not told of.
    (out / "part-01.csv").unlink()
    (out / ".part-02.csv.abc.part").write_bytes(b"half")
    (out / "part-02.csv").unlink()
    (out / STATE / "part-03.csv.json").unlink()
    again = run(capsys, "detect", folder / "*.csv", "-o", out, "--id", "key")
    assert again["files_scored"] == 3
    for name, (content, moment) in whole.items():
        assert (out / name).read_bytes() == content
        was_done = name not in ("part-01.csv", "part-02.csv", "part-03.csv")
        assert ((out / name).stat().st_mtime_ns == moment) == was_done
    assert {**first, "seconds": 0, "seconds_expected": 0, "files_scored": 0} == {
        **again,
        "seconds": 0,
        "seconds_expected": 0,
        "files_scored": 0,
    }
    assert not list(out.glob(".*.part"))
    assert run(capsys, "detect", folder / "*.csv", "-o", out, "--id", "key")["files_scored"] == 0
    assert json.loads((out / STATE / "summary.json").read_text())["n_outliers"] == first["n_outliers"]


@pytest.mark.usefixtures("long_from")
def test_the_estimate_counts_what_is_done_with_a_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading and writing too: where writing 250 rows takes a twentieth of a second, 2,400 rows take half a second."""
    usual = scored_parts.writer

    @contextlib.contextmanager
    def slow(file: Any, suffix: str) -> Iterator[Any]:
        with usual(file, suffix) as write:
            yield lambda frame: (time.sleep(0.05), write(frame))

    monkeypatch.setattr(scored_parts, "writer", slow)
    out = tmp_path / "out"
    found = run(capsys, "detect", cut(tmp_path / "in", 6), "-o", out)
    assert found["seconds_expected"] > 2_400 / 250 * 0.05
    assert found["files_scored"] == 6
    assert sorted(path.name for path in out.iterdir()) == [
        STATE,
        *(f"part-{number:02d}.parquet" for number in range(6)),
    ]


@pytest.mark.usefixtures("long_from")
def test_new_rows_in_many_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, saved = cut(tmp_path / "in", 3), tmp_path / "it.elect-detector"
    learned = run(capsys, "detect", folder, "-o", tmp_path / "a", "--save", saved, "--scores-only")
    assert scored(tmp_path / "a").columns == ["key", *RESULTS]
    single = tmp_path / "whole.parquet"
    rows().write_parquet(single)
    one = run(capsys, "score", saved, single, "-o", tmp_path / "one.parquet", "--scores-only")
    many = run(capsys, "score", saved, folder, "-o", tmp_path / "b", "--scores-only")
    flagged = pl.col("elect_outlier") == 1
    plain, found = pl.read_parquet(tmp_path / "one.parquet"), scored(tmp_path / "b")
    assert found.select("key", *RESULTS[:3]).equals(plain.select("key", *RESULTS[:3]))
    assert found.filter(flagged).equals(plain.filter(flagged))
    assert many["n_outliers"] == one["n_outliers"]
    assert many["drift"] == one["drift"]
    assert learned["columns"]
    err = run(capsys, "score", saved, folder, "-o", tmp_path / "b", status=2)
    assert "another run" in err


def test_files_that_are_empty_damaged_or_written_otherwise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cut(tmp_path / "in", 3, "csv")
    (folder / "part-01a.csv").write_text("a,b,c,city,key\n")
    turned = pl.read_csv(folder / "part-02.csv").select("key", "city", "c", "b", "a")
    turned.write_csv(folder / "part-02.csv")
    (folder / "notes.md").write_text("no table")
    (folder / "_more.csv").write_text("x\n1\n")
    found = run(capsys, "detect", folder, "-o", tmp_path / "out")
    assert (found["n_files"], found["n_rows"]) == (3, N)
    assert pl.read_csv(tmp_path / "out" / "part-02.csv").columns[:5] == turned.columns
    (folder / "part-03.parquet").write_bytes(b"PAR1 and no more")
    err = run(capsys, "detect", folder, "-o", tmp_path / "other", "-q", status=2)
    assert "part-03.parquet is not a readable Parquet file" in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "other").exists()  # where the mended file would be another run's
    (tmp_path / "mine").mkdir()
    model = tmp_path / "out" / STATE / DETECTOR
    run(capsys, "score", model, folder, "-o", tmp_path / "mine", "-q", status=2)
    assert list((tmp_path / "mine").iterdir()) == []
    (folder / "part-03.parquet").unlink()
    assert run(capsys, "score", model, folder, "-o", tmp_path / "mine")["n_files"] == 3


def test_no_more_workers_are_started_than_are_of_use(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def start(n: int) -> contextlib.nullcontext[None]:
        started.append(n)
        return contextlib.nullcontext()

    monkeypatch.setattr(cluster, "local_workers", start)
    monkeypatch.setattr(many, "n_cores", lambda: 2)
    for files, wanted in ((3, 1_000_000), (100, 1_000_000), (100, 5)):
        folder = RunFolder(Path("x"), "run", {str(number): "name" for number in range(files)})
        asked = many.Asked(Path("in"), Path("x"), 10, False, wanted, None, 1, False, True)
        with many._running(asked, folder):
            pass
    assert started == [3, 8, 5]


def test_mistakes_are_said_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = cut(tmp_path / "in", 2)
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "part-00.parquet").write_bytes(b"mine")
    (tmp_path / "empty").mkdir()
    for words, said in (
        ([folder], "--output must name a folder"),
        ([folder, "-o", tmp_path / "file"], "is a file"),
        ([folder, "-o", folder], "read from"),
        ([folder, "-o", tmp_path / "full"], "of no run that is known"),
        ([tmp_path / "empty", "-o", tmp_path / "x"], "has no table in it"),
        ([tmp_path / "none*.parquet", "-o", tmp_path / "x"], "has no table in it"),
        ([folder, "-o", tmp_path / "x", "--report", "r.html"], "--report is for a single file"),
        ([folder, "-o", tmp_path / "x", "--workers", "1", "--cluster", "a:1"], "give one of them"),
        ([folder, "-o", tmp_path / "x", "--cluster", "nonsense"], "tcp://host:8786"),
    ):
        err = run(capsys, "detect", *words, status=2)
        assert said in err
        assert "Traceback" not in err
        assert len([line for line in err.splitlines() if said in line]) == 1
    assert (tmp_path / "full" / "part-00.parquet").read_bytes() == b"mine"
    rows().drop("b").write_parquet(folder / "part-02.parquet")
    assert "lacks column 'b'" in run(capsys, "detect", folder, "-o", tmp_path / "y", status=2)


def test_the_rows_to_learn_from_depend_on_their_number_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "LEARNED_ROWS", 40)
    frame = read_table({"x": np.arange(500.0)})
    for size in (500, 33):
        monkeypatch.setattr(opened, "ROWS_AT_ONCE", size)
        drawn = _Drawn(frame.slice(0, size), 9)
        for start in range(size, 500, size):
            drawn.add(frame.slice(start, size))
        np.testing.assert_array_equal(drawn.positions, drawn_positions(500, 9))


def test_top_lists_of_short_parts_are_put_together() -> None:
    from elect.detect.detection import TopRow

    parts = [Told(1, 0, 0, (TopRow(p, str(p), float(p % 3), False, ()),), {}) for p in range(5)]
    assert [row.position for row in together(parts, 4).top] == [2, 1, 4, 0]
    assert best((), 3) == ()
    assert Told.from_plain(json.loads(json.dumps(parts[1].to_plain()))) == parts[1]


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_partitions_of_a_frame(kind: str) -> None:
    table = rows(900)
    detector = pickle.loads(pickle.dumps(ElectDetector(strategy="fixed").fit(table)))
    frame = table.to_pandas().set_index("key", drop=False) if kind == "pandas" else table
    whole = detector.score_partition(frame)
    assert list(whole.columns) == [*table.columns, *RESULTS]
    assert type(whole) is type(frame)
    np.testing.assert_array_equal(whole["elect_score"], detector.decision_function(frame))
    assert 0 < whole["elect_outlier"].sum() < 100
    assert set(np.flatnonzero(whole["elect_outlier"])) == {
        place for place, kind in enumerate(whole["elect_kind"]) if kind is not None
    }
    for parts in (7, 64):
        edges = np.linspace(0, 900, parts + 1).astype(int)
        cuts = [detector.score_partition(frame[a:b]) for a, b in pairwise(edges.tolist())]
        if kind == "pandas":
            pandas = pytest.importorskip("pandas")
            pandas.testing.assert_frame_equal(pandas.concat(cuts), whole)
            assert (cuts[0].dtypes == detector.score_partition(frame[:0]).dtypes).all()
        else:
            assert pl.concat([*cuts, detector.score_partition(frame[:0])]).equals(whole)
    assert list(detector.score_partition(whole).columns) == list(whole.columns)
    with pytest.raises(ElectError, match="a pandas or polars frame, got list"):
        detector.score_partition([[1.0]])


def test_the_recipe_for_dask() -> None:
    dd = pytest.importorskip("dask.dataframe")
    table = rows(300).to_pandas()
    detector = ElectDetector(strategy="fixed").fit(table)
    lazy = dd.from_pandas(table, npartitions=4)
    scored = lazy.map_partitions(detector.score_partition, meta=detector.score_partition(lazy.head(0)))
    found = scored.compute(scheduler="sync")
    whole = detector.score_partition(table)
    assert list(found.columns) == list(whole.columns)
    np.testing.assert_array_equal(found["elect_score"], whole["elect_score"])


def test_the_recipe_for_spark() -> None:
    """What ``mapInPandas`` does with a function: an iterator of frames in, one of frames out."""
    pandas = pytest.importorskip("pandas")
    detector, table = ElectDetector(strategy="fixed").fit(rows(300)), rows(300).to_pandas()

    def score(frames: Any) -> Any:
        for frame in frames:
            yield detector.score_partition(frame)

    found = pandas.concat(score(iter([table[:100], table[100:100], table[100:]])))
    pandas.testing.assert_frame_equal(found, detector.score_partition(table))


CHILD = """
import sys
from elect.detect import opened, scored_parts
opened.LEARNED_ROWS, opened.ROWS_AT_ONCE = 600, 250
from elect.cli import main
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
"""


def workers_of(pid: int) -> list[int]:
    """The processes below one that run dask workers."""
    found = []
    children = [child for own in Path(f"/proc/{pid}/task").glob("*/children") for child in own.read_text().split()]
    for child in children:
        words = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"spawn_main" in words:
            found.append(int(child))
    return found


@pytest.mark.usefixtures("long_from")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_killed_workers_and_a_killed_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Real processes: a worker is killed in the middle, then the whole run; started again it ends as a quiet one."""
    pytest.importorskip("distributed", reason="needs elect[cluster]")
    folder, script = cut(tmp_path / "in", 48), tmp_path / "child.py"
    script.write_text(CHILD)
    quiet = run(capsys, "detect", folder, "-o", tmp_path / "quiet")
    out = tmp_path / "out"
    command = [sys.executable, str(script), "detect", str(folder), "-q", "--json", "-o", str(out), "--workers", "2"]

    def wait_for(count: int, process: "subprocess.Popen[bytes]") -> None:
        deadline = time.monotonic() + 120
        while len(list((out / STATE).glob("part-*.json"))) < count:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True) as process:
        wait_for(2, process)
        workers = workers_of(process.pid)
        os.kill(workers[0], signal.SIGKILL)
        wait_for(4, process)
        os.killpg(process.pid, signal.SIGKILL)
    was_done = {
        p.name: p.stat().st_mtime_ns for p in out.glob("*.parquet") if (out / STATE / f"{p.name}.json").exists()
    }
    ended = subprocess.run(command, check=True, capture_output=True)
    found = json.loads(ended.stdout)
    assert 0 < len(was_done) < 48
    assert found["files_scored"] == 48 - len(was_done)
    assert all((out / name).stat().st_mtime_ns == moment for name, moment in was_done.items())
    assert sorted(p.name for p in out.glob("*.parquet")) == [f"part-{i:02d}.parquet" for i in range(48)]
    for path in sorted(out.glob("*.parquet")):
        assert path.read_bytes() == (tmp_path / "quiet" / path.name).read_bytes()
    assert found["top"] == quiet["top"]
    assert (found["n_rows"], found["n_outliers"]) == (quiet["n_rows"], quiet["n_outliers"])
    assert not list(out.glob(".*.part"))
