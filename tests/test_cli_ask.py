"""``elect detect --ask``: questions on the terminal, answers kept in a file."""

import csv
import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect.answers.kept import KeptAnswers
from elect.cli.question import Question
from elect.detect import Election, Options, open_table
from elect.detect.asked import likely_others
from elect.detect.election import sample_rows
from elect.errors import InvalidInput
from elect.history.shipped import shipped_database

fcntl = pytest.importorskip("fcntl", reason="there is no pseudo-terminal on this system")
termios = pytest.importorskip("termios")


def elect(*args: str, said: str = "") -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "elect.cli", *args]
    return subprocess.run(command, input=said, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(120, 3)), rng.normal(size=(4, 3)) + 6])
    path = tmp_path_factory.mktemp("ask") / "t.csv"
    rows = "\n".join(",".join(f"{v:.4f}" for v in row) for row in X)
    path.write_text("a,b,c\n" + rows + "\n")
    return path


def answers_of(path: Path) -> list[Any]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_answers_are_asked_kept_and_resumed(table: Path, tmp_path: Path) -> None:
    kept = tmp_path / "answers.csv"
    first = elect("detect", str(table), "--ask", "3", "--answers", str(kept), "--json", said="y\nmaybe\nn\n?\n")
    assert first.returncode == 0, first.stderr
    assert first.stderr.count("question") == 3
    assert "than" in first.stderr or "the lowest" in first.stderr
    assert "median" in first.stderr
    assert json.loads(first.stdout)["strategy"] == "answers"
    assert [line["answer"] for line in answers_of(kept)] == ["yes", "no", "unknown"]
    again = elect("detect", str(table), "--ask", "4", "--answers", str(kept), "--json", said="q\n")
    assert "3 answers read" in again.stderr
    assert "3 answers kept in" in again.stderr
    assert again.stderr.count("question") == 1
    assert json.loads(again.stdout)["model"] == json.loads(first.stdout)["model"]
    assert len(answers_of(kept)) == 3


def test_not_answering_leaves_the_pick(table: Path) -> None:
    plain = json.loads(elect("detect", str(table), "--json").stdout)
    asked = json.loads(elect("detect", str(table), "--ask", "5", "--json").stdout)
    assert asked["model"] == plain["model"]
    assert asked["strategy"] == plain["strategy"] == "committee"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("nonsense", "must be a CSV file"),
        ("position,answer\n0,perhaps\n", "must be"),
        ("position,answer\n9999,yes\n", "9999"),
    ],
)
def test_bad_answer_files_are_one_line(table: Path, tmp_path: Path, content: str, message: str) -> None:
    kept = tmp_path / "answers.csv"
    kept.write_text(content)
    done = elect("detect", str(table), "--ask", "2", "--answers", str(kept), "--quiet")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert kept.read_text() == content


class Terminal:
    """``elect`` in a real pseudo-terminal, driven as a person would."""

    def __init__(self, *args: str) -> None:
        self.master, slave = os.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "elect.cli", *args],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # The terminal of the process itself: Ctrl-C becomes its signal.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.seen = ""

    def until(self, text: str, seconds: float = 240.0) -> str:
        """What is shown up to a text, which is then taken as read."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.master], [], [], max(end - time.monotonic(), 0))
            try:
                more = os.read(self.master, 65536) if ready else b""
            except OSError:  # the other side is closed
                more = b""
            assert more, f"{text!r} was not shown, but: {self.seen}"
            self.seen += more.decode(errors="replace")
        shown, _, self.seen = self.seen.partition(text)
        return shown

    def press(self, key: str) -> None:
        os.write(self.master, key.encode())

    def end(self) -> str:
        shown = self.seen
        while True:
            try:
                more = os.read(self.master, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more.decode(errors="replace")
        assert self.process.wait(timeout=60) == 0, shown
        os.close(self.master)
        return shown


def test_the_dialogue_on_a_terminal(tmp_path: Path, table: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text(table.read_text())
    kept = tmp_path / "mine.answers.csv"
    first = Terminal("detect", str(mine), "--ask", "9", "--aim", "find", "-q")
    shown = first.until("q enough: ")
    assert "question 1 of 9" in shown
    for column in ("a ", "b ", "c "):
        assert f"\n  {column}" in shown  # the whole row
    assert not kept.exists()
    first.press("u")
    assert "no answer to take back" in first.until("q enough: ")
    first.press("y")
    assert "question 2 of 9" in first.until("q enough: ")
    assert [line["answer"] for line in answers_of(kept)] == ["yes"]  # kept at once
    first.press("x")  # no key: asked again
    first.until("q enough: ")
    first.press("?")
    first.until("question 3 of 9")
    first.until("q enough: ")
    assert [line["answer"] for line in answers_of(kept)] == ["yes", "unknown"]
    first.press("u")
    assert "taken back" in first.until("question 2 of 9")
    first.until("q enough: ")
    assert [line["answer"] for line in answers_of(kept)] == ["yes"]
    first.press("n")
    first.until("q enough: ")
    first.press("\x03")  # Ctrl-C
    shown = first.end()
    assert "stopped; going on with the answers so far" in shown
    assert "2 answers kept in" in shown
    assert "flagged" in shown  # it went on to the result
    assert [line["answer"] for line in answers_of(kept)] == ["yes", "no"]

    again = Terminal("detect", str(mine), "--ask", "9", "-q")
    shown = again.until("q enough: ")
    assert "2 answers read" in shown
    assert "question 3 of 9" in shown
    again.press("q")
    assert "flagged" in again.end()
    assert [line["answer"] for line in answers_of(kept)] == ["yes", "no"]


def test_answers_without_a_digest_follow_the_names_of_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.answers.csv"
    path.write_text("position,row,answer\n0,ann,yes\n2,=bob,no\n")
    names = pl.Series(["cleo", "=bob", "dan", "ann"])
    assert KeptAnswers(path, names).read() == ((3, True), (1, False))


@pytest.mark.parametrize("row", ["zoe", "twin", "5"])
def test_an_answer_whose_row_has_no_name_of_its_own_is_refused(tmp_path: Path, row: str) -> None:
    path = tmp_path / "t.answers.csv"
    path.write_text(f"position,row,answer\n5,{row},yes\n")
    with pytest.raises(InvalidInput, match="belongs to another one"):
        KeptAnswers(path, pl.Series(["twin", "twin", "5", "ann"])).read()


def test_of_a_long_table_the_likeliest_rows_are_asked_about_wherever_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The models are scored on a sample; the oddest rows of the table are mostly not in it."""
    monkeypatch.setattr("elect.detect.election.MAX_ROWS", 200)
    monkeypatch.setattr("elect.detect.asked.MOST_OTHERS", 20)
    rng = np.random.default_rng(1)
    values = rng.normal(size=(1200, 3))
    odd = np.setdiff1d(np.arange(40, 1200, 97), sample_rows(1200, 0, 200))[:6]
    values[odd] += 9.0
    election = Election(open_table(pl.DataFrame(values, schema=["a", "b", "c"])), shipped_database(), Options())
    for _ in election.steps():
        pass
    others = likely_others(election, also=[5, 5000])
    assert others is not None
    assert {5, *odd.tolist()} <= set(others.positions.tolist())
    assert not set(others.positions.tolist()) & set(election.positions.tolist())
    question = Question(election, others)
    session = election.feedback(election.selection(), "find", others)
    assert session.n_rows == len(question.positions) == len(question.names) == 200 + len(others.positions)
    asked = []
    for _ in range(3):
        row = session.ask()
        asked.append(int(question.positions[row]))
        shown = question.text(row, "question", session.chance)
        assert f"row {asked[-1]}," in shown
        assert "than nearly all rows" in shown or "the highest" in shown
        session.tell(row, len(asked) != 2)
    assert set(asked) <= set(odd.tolist())
    assert not question.of_all
    detection = election.detect(session.selection, session, others)
    assert detection.labels[asked].tolist() == [1, 0, 1]
    assert detection.scores[asked[0]] == detection.scores.max()
    assert session.selection.strategy == "answers"


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (["1", "2", "", "3", "NA", "4", "5"], "missing"),  # as a file holds them: read as text
        ([1.0, 2.0, None, 3.0, None, 4.0, 5.0], "missing"),
        (["1", "2", "many", "3", "3", "4", "5"], "many"),
    ],
)
def test_a_question_shows_what_is_missing_or_no_number(cells: list[Any], shown: str) -> None:
    column = pl.Series(cells * 20, strict=False)
    frame = pl.DataFrame({"a": column, "b": np.arange(140) % 9})
    election = Election(open_table(frame), shipped_database(), Options(strategy="fixed"))
    said = Question(election, None).text(2, "question", np.zeros(140))
    line = next(line for line in said.splitlines() if line.startswith("  a"))
    assert shown in line
    assert "than" not in line
    share = "29%" if shown == "missing" else "14%"
    assert f"as in {share} of rows" in line
