"""A user's mistake is one line and exit status 2; nothing half-written is left behind."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elect.cli import main
from toys import toy_database

FEW = ("--max-models", "3", "--n-jobs", "1", "-q")
GOOD = "a,b\n" + "\n".join(f"{i % 7},{(i * 37) % 11}" for i in range(40)) + "\n"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def refused(capsys: pytest.CaptureFixture[str], *args: Any) -> str:
    """Run a command that must fail: exit status 2, nothing on standard output, one line on standard error."""
    capsys.readouterr()
    status = main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert status == 2, out + err
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("elect: ")
    assert "Traceback" not in err
    return err


def missing(path: Path) -> None:
    pass


def write(content: str | bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content) and None


BAD_TABLES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "missing file": (missing, "does not exist"),
    "empty file": (write(b""), "is empty"),
    "directory": (lambda path: path.mkdir(), "is a directory"),
    "binary": (write(bytes(range(256)) * 40), "is a binary file, not text"),
    "header only": (write("a,b\n"), "no rows"),
    "one row": (write("a,b\n1,2\n"), "row"),
    "all constant": (write("a,b\n" + "1,2\n" * 30), "tells rows apart"),
    "duplicate column names": (write("a,a\n1,2\n3,4\n"), "more than one column named 'a'"),
    "ragged rows": (write("a,b\n1,2\n3,4,5\n6,7\n"), "line 3"),
    "broken parquet": (write(b"PAR1" + b"x" * 100), "Parquet"),
    "blank lines": (write("\n\n\n"), "is empty"),
}


@pytest.mark.parametrize("command", ["select", "detect"])
@pytest.mark.parametrize("kind", BAD_TABLES)
def test_bad_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, command: str) -> None:
    make, expected = BAD_TABLES[kind]
    path = tmp_path / "table.csv"
    make(path)
    before = files(tmp_path)
    outputs = ("-o", tmp_path / "out.csv", "--report", tmp_path / "r.html") if command == "detect" else ()
    message = refused(capsys, command, path, *FEW, *outputs)
    assert expected in message
    assert files(tmp_path) == before


@pytest.mark.parametrize("kind", ["missing file", "binary", "ragged rows"])
def test_bad_tables_through_a_real_process(tmp_path: Path, kind: str) -> None:
    make, _ = BAD_TABLES[kind]
    make(tmp_path / "table.csv")
    args = [sys.executable, "-m", "elect.cli", "detect", str(tmp_path / "table.csv"), "--json", "-q"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_an_all_missing_column_is_dropped_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f"{(i * 7) % 13 + 0.5}," for i in range(30)) + "\n")
    assert main(["detect", str(path), *FEW]) == 0
    assert "left out: b" in " ".join(capsys.readouterr().out.split())


def test_ten_thousand_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 10_000)).round(3)
    X[4, 5000] = 90.0
    names = ",".join(f"c{i}" for i in range(10_000))
    np.savetxt(path, X, delimiter=",", header=names, comments="", fmt="%.3f")
    assert main(["detect", str(path), *FEW, "--top", "2", "--report", str(tmp_path / "r.html")]) == 0
    assert "10,000 of 10,000 columns used" in " ".join(capsys.readouterr().out.split())


def test_other_encodings_are_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f"{['Zürich', 'Málaga', 'Łódź'][i % 3]},{(i * 7) % 13}" for i in range(40))
    for encoding in ("cp1250", "utf-16", "latin-1"):
        path.write_bytes(("café,x\n" + rows + "\n").encode(encoding, errors="replace"))
        assert main(["detect", str(path), *FEW]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), "command"),
        (("guess",), "guess"),
        (("select",), "FILE"),
        (("select", "{good}", "--budget", "soon"), "--budget must be a time"),
        (("select", "{good}", "--max-models", "0"), "max-models"),
        (
            ("select", "{good}", "--strategy", "guess"),
            "strategy must be one of auto, committee, fixed, elect",
        ),
        (("select", "{good}", "--seed", "-1"), "seed"),
        (("select", "{good}", "--n-jobs", "0"), "n_jobs"),
        (("select", "{good}", "--label", "c"), "Unknown column 'c'"),
        (("select", "{good}", "--label", "a"), "must hold two values"),
        (("select", "{good}", "--columns", "z"), "Unknown column 'z'"),
        (("select", "{good}", "--drop", "a,b"), "no column left"),
        (("select", "{good}", "--what"), "--what"),
        (("detect", "{good}", "--contamination", "0.9"), "--contamination must be auto"),
        (("detect", "{good}", "--contamination", "many"), "--contamination must be auto"),
        (("detect", "{good}", "-o", "{here}"), "directory"),
        (("detect", "{good}", "-o", "{here}/out.xyz"), ".csv or .tsv or .parquet"),
        (("detect", "{good}", "-o", "{here}/no/out.csv"), "no folder"),
        (("detect", "{good}", "--report", "{here}"), "directory"),
        (("detect", "{good}", "--save", "{here}"), "directory"),
        (("detect", "{good}", "--database", "{good}"), "cannot be loaded"),
        (("detect", "{good}", "--database", "{here}/no.elect"), "no such file"),
        (("detect", "{good}", "-o", "{good}"), "a file of its own"),
        (("detect", "{good}", "--report", "{here}/a.html", "--save", "{here}/a.html"), "a file of its own"),
        (("score", "{good}", "{good}"), "cannot be loaded"),
        (("score", "{here}/none", "{good}"), "no such file"),
        (("train", "{here}/none", "-o", "{here}/x.elect"), "does not exist"),
        (("train", "{here}", "{here}/none", "-o", "{here}/x.elect"), "does not exist"),
        (("train", "-o", "{here}/x.elect"), "DIR"),
        (("train", "{here}", "-o", "{here}"), "directory"),
        (("train", "{here}", "-o", "{here}/x.elect", "--metric", "luck"), "--metric must be one of"),
        (("corpus", "{here}/corpus", "--kinds", "keel,songs"), "must be some of keel, injected, images"),
        (("bench", "tame"), "No such command 'tame'"),
        (("bench", "wild", "--source", "imagined"), "must be one of published, computed"),
        (("bench", "controlled", "--source", "published"), "No such option"),
        (("bench", "answers", "--counts", "few"), "must be whole numbers"),
        (("bench", "answers", "--testbed", "union"), "must be one of wild, odd, errors"),
        (("bench", "wild", "--protocol", "lax"), "must be one of loo, strict"),
        (("models", "--family", "SVDD"), "--family must be one of"),
        (("info", "{good}"), "cannot be loaded"),
    ],
)
def test_bad_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], expected: str) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    before = files(tmp_path)
    if args == ():
        assert main([]) == 2
        assert "detect" in "".join(capsys.readouterr())
        return
    filled = [arg.format(good=tmp_path / "t.csv", here=tmp_path) for arg in args]
    quiet = () if args[0] in ("models", "info", "guess") or "--what" in args else ("-q",)
    assert expected in refused(capsys, *filled, *quiet)
    assert files(tmp_path) == before


def test_a_database_for_another_pool(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    toy_database().save(tmp_path / "toy.elect")
    args = ("select", tmp_path / "t.csv", "--database", tmp_path / "toy.elect", *FEW)
    assert "another pool" in refused(capsys, *args)
    assert main([*map(str, args), "--trust"]) == 0
    capsys.readouterr()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    assert "permission" in refused(capsys, "detect", tmp_path / "t.csv", *FEW, "-o", locked / "out.csv")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("option", ["-o", "--report", "--save"])
def test_a_full_disk(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str) -> None:
    (tmp_path / "t.csv").write_text(GOOD)
    if option == "--report":
        (tmp_path / "full.html").symlink_to("/dev/full")
    target = tmp_path / "full.html" if option == "--report" else "/dev/full"
    message = refused(capsys, "detect", tmp_path / "t.csv", *FEW, option, target)
    assert "No space left" in message
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("existing", [None, "what was there before"])
def test_a_disk_that_fills_up_while_writing_leaves_nothing_half_written(tmp_path: Path, existing: str | None) -> None:
    """The process may write files of at most 500 bytes: the first write fails in the middle, as on a full disk."""
    (tmp_path / "t.csv").write_text(GOOD)
    out = tmp_path / "out.csv"
    if existing is not None:
        out.write_text(existing)
    before = files(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "elect.cli", "detect", str(tmp_path / "t.csv"), *FEW, "-o", str(out)],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500)),
        # Compiled kernels are cached in files too, and must not meet the limit.
        env={**os.environ, "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", "")},
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1
    assert "could not be written" in done.stderr
    assert files(tmp_path) == before
    assert existing is None or out.read_text() == existing


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_standard_output_that_is_full() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "elect.cli", "models", "--json"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_hostile_names_do_not_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    rows = "\n".join(f"\x1b[31m{i % 3},{(i * 7) % 13},[bold]x[/bold]{i % 2}" for i in range(40))
    path.write_text("\x1b[2Ja,b,[link=file:///]c\n" + rows + "\n")
    assert main(["detect", str(path), *FEW]) == 0
    assert "\x1b" not in capsys.readouterr().out
