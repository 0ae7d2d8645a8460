"""The lines that a report gives for Python really give its scores again."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect import MetaDatabase
from elect.cli import main
from test_report import Reader

RNG = np.random.default_rng(8)
N = 150


def write_table(path: Path) -> None:
    """Every kind of column; decimal commas that can be read both ways; names that need quoting; two odd rows."""
    size = RNG.normal(50, 5, size=N).round(3)
    size[[3, 70]] = 400.5, -300.25
    rows = {
        "it's": [f"K{i:03d}" for i in range(N)],
        "size": [f"{x:.3f}".replace(".", ",") for x in size],
        "big": [f"{x}.{y:03d}" for x, y in RNG.integers(1, 900, size=(N, 2))],
        "colour": RNG.choice(["red", "blue", "green"], size=N).tolist(),
        'note "a"': [str(x) for x in RNG.integers(0, 5, size=N)],
        "odd": ["yes" if i in (3, 70) else "no" for i in range(N)],
        "weight": RNG.gamma(2.0, size=N).round(3).astype(str).tolist(),
    }
    pl.DataFrame(rows).write_csv(path, separator=";")


OURS = ["--database", "ours.elect", "--trust"]
CASES: dict[str, list[str]] = {
    "plain": OURS,
    "id and label": [*OURS, "--id", "weight", "--label", "odd"],
    "drop": [*OURS, "--drop", 'note "a"', "--drop", "colour,weight", "--label", "odd"],
    "columns": [*OURS, "--columns", "weight,size,odd", "--label", "odd"],
    "seed": ["--seed", "7", "--strategy", "fixed"],  # the shipped history: its best fixed model is a random forest
    "share": [*OURS, "--contamination", "5%", "--strategy", "committee"],
    "budget": [*OURS, "--max-models", "4", "--budget", "10m"],
    "saved": [*OURS, "--save", "kept.elect-detector", "--strategy", "fixed"],
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_the_lines_give_the_scores_of_the_report(
    options: list[str], small_database: MetaDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / "a table.csv")
    small_database.save("ours.elect")
    run = ["detect", "a table.csv", "-q", "-o", "s.csv", "--report", "r.html"]
    assert main([*run, *options]) == 0
    said: dict[str, Any] = {}
    lines = python_of(Path("r.html"))
    exec(lines, said)
    written = pl.read_csv("s.csv")
    np.testing.assert_allclose(said["scores"], written["elect_score"].to_numpy(), rtol=1e-9)
    found = said["detector"]
    assert found.labels_.tolist() == written["elect_outlier"].to_list()
    assert all(len(line) <= 120 for line in lines.splitlines())


def python_of(report: Path) -> str:
    """The text of the one <code> of a report."""

    class Code(Reader):
        def handle_data(self, data: str) -> None:
            if "code" in self.open:
                self.text.append(data)

    return "".join(Code(report.read_text(encoding="utf-8")).text)
