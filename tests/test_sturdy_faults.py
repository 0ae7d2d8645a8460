"""Faults of the machine: full disks, limits, signals, neighbours. A result or one line, and nothing half-written."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from elect.cli import main
from elect.support import atomic, memory
from elect.support.atomic import appearing, write_atomically
from elect.tables import iter_batches, read_table
from elect.tables.room import TooLarge

TABLE = "id,a,b\n" + "".join(f"r{i},{i % 7}.5,{i * 37 % 11}\n" for i in range(40))
FEW = ("--max-models", "3", "--n-jobs", "1", "-q")


def test_a_table_that_does_not_fit_is_said_so_before_it_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text(TABLE)
    monkeypatch.setattr(memory, "available", lambda: 3000)
    for read in (read_table, lambda path: next(iter_batches(path, 100))):
        with pytest.raises(TooLarge, match="about 41 rows and 3 columns"):
            read(path)
    assert main(["detect", str(path), *FEW, "-o", str(out)]) == 2
    assert "of memory are needed" in capsys.readouterr().err
    assert not out.exists()
    assert next(iter_batches(path, 5)).n_rows == 5  # so many fit
    monkeypatch.setattr(memory, "available", lambda: None)
    assert read_table(path).n_rows == 40


def test_what_is_free_is_known() -> None:
    found = memory.available()
    assert found is None or 0 <= found < 1 << 50


def test_a_limit_on_the_process_counts(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    script = "from elect.support.memory import available; print(available())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
    )
    assert int(done.stdout) < 1 << 30


def test_a_limit_on_files_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a full disk does, in the middle of a write."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    (tmp_path / "x").write_bytes(b"old")
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
        with pytest.raises(OSError):
            write_atomically(tmp_path / "x", b"n" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("fcntl")
    left = tmp_path / ".x.abc.part"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    (tmp_path / ".xy.abc.part").write_bytes(b"of another file")
    monkeypatch.setattr(atomic, "JUST_NOW", -1.0)
    with appearing(tmp_path / "x") as mine:
        mine.write(b"one")
        write_atomically(tmp_path / "x", b"other")  # while the first is still being written
    assert (tmp_path / "x").read_bytes() == b"one"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".xy.abc.part", "x"]


@pytest.fixture
def hangups_are_heard() -> Iterator[None]:
    """By commands that are started, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangups_are_heard")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_process_that_is_told_to_end_removes_what_it_was_writing(tmp_path: Path, name: str) -> None:
    script = (
        "import sys, time\n"
        "from elect import cli\n"
        "from elect.support.atomic import appearing\n"
        "def work(args):\n"
        "    with appearing(sys.argv[1]) as file:\n"
        "        file.write(b'half'); file.flush(); print('writing', flush=True); time.sleep(60)\n"
        "cli._run = work\n"
        "sys.exit(cli.main([]))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "x")], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(getattr(signal, name))
    assert process.wait(30) == 128 + getattr(signal, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("hangups_are_heard")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_process_that_did_not_hear_that_it_shall_end_is_told_again(name: str) -> None:
    """What a signal's handler raises is lost where a library in C asks whether there is an attribute."""
    script = (
        "import contextlib, sys, time\n"
        "from elect import cli\n"
        "cli.HEARD_WITHIN = 0.2\n"
        "def deaf(args):\n"
        "    print('working', flush=True)\n"
        "    for _ in range(2):\n"
        "        with contextlib.suppress(SystemExit): time.sleep(60)\n"
        "    time.sleep(60)\n"
        "cli._run = deaf\n"
        "sys.exit(cli.main([]))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    process.send_signal(getattr(signal, name))
    assert process.wait(30) == 128 + getattr(signal, name)
    process.stdout.close()


def test_processes_that_share_an_output_leave_a_whole_one(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from elect.support.atomic import write_atomically\n"
        "for _ in range(200): write_atomically(sys.argv[1], sys.argv[2].encode() * 50000)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "x"), letter], stderr=subprocess.PIPE)
        for letter in "ab"
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        with contextlib.suppress(FileNotFoundError):
            content = (tmp_path / "x").read_bytes()
            seen.add((len(content), len(set(content))))
        time.sleep(0.001)
    assert [writer.wait() for writer in writers] == [0, 0]
    assert seen <= {(50_000, 1)}
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    for writer in writers:
        assert writer.stderr is not None
        writer.stderr.close()
