"""``elect detect --ask``: questions on the terminal, answers kept in a file."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest


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
    first = elect("detect", str(table), "--ask", "3", "--answers", str(kept), "--json", said="y\nmaybe\nn\nd\n")
    assert first.returncode == 0, first.stderr
    assert first.stderr.count("question") == 3
    assert "typical rows:" in first.stderr
    assert json.loads(first.stdout)["strategy"] == "answers"
    assert [line["answer"] for line in answers_of(kept)] == ["yes", "no", "unknown"]
    again = elect("detect", str(table), "--ask", "4", "--answers", str(kept), "--json", said="q\n")
    assert "3 answers read" in again.stderr
    assert again.stderr.count("question") == 1
    assert json.loads(again.stdout)["model"] == json.loads(first.stdout)["model"]
    assert len(answers_of(kept)) == 3


def test_not_answering_leaves_the_pick(table: Path) -> None:
    plain = json.loads(elect("detect", str(table), "--json").stdout)
    asked = json.loads(elect("detect", str(table), "--ask", "5", "--json").stdout)
    assert asked["model"] == plain["model"]
    assert asked["strategy"] == plain["strategy"] == "learned"


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
