"""New rows that come from another world are told; ordinary scatter is not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect import ElectDetector, ElectError, load_detector, save_detector
from elect.cli import main
from elect.detect.drift import drift_of
from elect.tables import ColumnTreatment, read_table
from elect.tables.cells import cells_of_array, cells_of_frame
from elect.tables.profile import TableProfile

GOLDEN = Path(__file__).parent / "golden"
SIZES = (60, 400, 3000)


def payments(n: int, seed: int, *, country: tuple[str, ...] = ("DE", "FR", "IT"), factor: float = 1.0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "when": [f"2024-{1 + seed % 12:02d}-{1 + i % 28:02d}" for i in range(n)],
            "amount": (rng.lognormal(3, 0.5, n) * factor).round(2),
            "items": rng.poisson(1.5, n),
            "country": rng.choice(country, n),
            "weight": rng.normal(5, 1, n).round(1),
        }
    )


def profiles(before: pl.DataFrame, *after: pl.DataFrame) -> list[TableProfile]:
    treatment = ColumnTreatment.fit(before)
    first = TableProfile.fit(cells_of_frame(treatment, before))
    return [first, *(first.count(cells_of_frame(treatment, later)) for later in after)]


def test_ordinary_scatter_is_no_drift() -> None:
    alarms = 0
    for seed in range(40):
        for n in SIZES:
            before, after = profiles(payments(n, seed), payments(SIZES[seed % 3], seed + 1000))
            alarms += bool(before.moved(after))
    assert alarms <= 1  # 120 pairs of tables, one in a thousand at most


@pytest.mark.parametrize(
    ("column", "change", "said"),
    [
        ("amount", pl.col("amount") * 100, "above all that were seen"),
        ("amount", -pl.col("amount"), "below all that were seen"),
        ("items", pl.lit(0, dtype=pl.Int64), "of the values were up to 0, now 100%"),
        ("country", pl.lit("NO"), "other than the 3 most frequent ones, now 100%"),
        ("country", pl.lit("DE"), "of the values were DE, now 100%"),
        ("weight", pl.lit(None, dtype=pl.Float64), "0% of the values were missing, now 100%"),
    ],
)
def test_a_column_that_moved_is_named(column: str, change: pl.Expr, said: str) -> None:
    before, after = profiles(payments(500, 0), payments(300, 1).with_columns(change.alias(column)))
    moved = before.moved(after)
    assert {found.column for found in moved} == {column}
    assert said in str(moved[0])


def test_days_that_go_on_are_no_drift() -> None:
    before, after = profiles(payments(500, 0), payments(300, 7))
    assert "when" not in before.names
    assert before.moved(after) == ()


def test_batches_count_as_the_whole() -> None:
    later = payments(301, 3, factor=2.0)
    before, whole = profiles(payments(500, 0), later)
    _, *parts = profiles(payments(500, 0), later[:100], later[100:101], later[101:])
    assert parts[0].plus(parts[1]).plus(parts[2]) == whole
    assert TableProfile.from_plain(json.loads(json.dumps(before.to_plain()))) == before


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "other"},
        {"kind": []},
        {"marks": ["a"]},
        {"marks": 3},
        {"marks": [2.0, 1.0]},
        {"marks": [float("nan"), 1.0]},
        {"counts": [1]},
        {"counts": [-1, 2, 3]},
        {"counts": [10**400, 2, 3]},
        {"missing": "many"},
        {"more": 1},
    ],
)
def test_a_damaged_profile_is_refused(damage: dict[str, Any]) -> None:
    fine = {"column": "a", "kind": "numbers", "marks": [1.0, 2.0], "counts": [1, 2, 3], "missing": 0}
    assert TableProfile.from_plain([fine]).names == ("a",)
    for plain in ([{**fine, **damage}], [None], 3):
        with pytest.raises(ElectError):
            TableProfile.from_plain(plain)


def test_more_rows_flagged_than_expected_is_told_once_it_is_no_chance() -> None:
    fitted = np.array([1.0] * 10 + [-1.0] * 990)
    few, many = np.array([1.0] * 2 + [-1.0] * 50), np.array([1.0] * 20 + [-1.0] * 300)
    assert not drift_of(None, None, fitted, few, 0.0)
    found = drift_of(None, None, fitted, many, 0.0)
    assert found
    assert "6.2% of the rows flagged, 1% when it was made: more than chance" in str(found)
    assert "no column moved" in found.advice[0]


def test_python_tells_what_the_command_line_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    payments(400, 0).write_csv(tmp_path / "a.csv")
    later = payments(200, 1, country=("DE", "NO"), factor=3.0)
    later.write_csv(tmp_path / "b.csv")
    saved = str(tmp_path / "d.elect-detector")
    assert main(["detect", str(tmp_path / "a.csv"), "--max-models", "3", "--save", saved, "-q", "--json"]) == 0
    capsys.readouterr()
    assert main(["score", saved, str(tmp_path / "a.csv"), "-q", "--json", "--fail-above", "50%"]) == 0
    same = json.loads(capsys.readouterr().out)
    assert (same["drift"]["changed"], same["failed"], same["fail_above"]) == (False, False, 0.5)
    assert main(["score", saved, str(tmp_path / "b.csv"), "-q", "--json", "--fail-above", "0"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["failed"]
    assert {moved["column"] for moved in told["drift"]["columns"]} == {"amount", "country"}
    assert main(["score", saved, str(tmp_path / "b.csv"), "-q"]) == 0
    assert "2 of 4 columns moved" in capsys.readouterr().out
    detector = ElectDetector(max_models=3).fit(read_table(tmp_path / "a.csv"))
    save_detector(detector, tmp_path / "python.elect-detector")
    for known in (detector, load_detector(tmp_path / "python.elect-detector"), load_detector(saved)):
        found = known.drift(read_table(tmp_path / "b.csv"))
        assert found.columns is not None
        assert [moved.said for moved in found.columns] == [moved["said"] for moved in told["drift"]["columns"]]


@pytest.mark.parametrize("share", ["150%", "-1%", "much", "1", "1%%"])
def test_a_share_that_is_none_is_one_line(share: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "d", "t.csv", "--fail-above", share]) == 2
    assert "--fail-above must be a share such as 1%" in capsys.readouterr().err


def test_a_detector_saved_before_says_that_columns_cannot_be_compared() -> None:
    detector = load_detector(GOLDEN / "detector-1.elect-detector")
    assert detector._spread() is None
    told = str(drift_of(None, None, detector.decision_scores_, detector.decision_scores_, detector.threshold_))
    assert "saved by an earlier version" in told


def test_an_array_has_a_profile_too() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    before = TableProfile.fit(cells_of_array(X))
    assert before.moved(before.count(cells_of_array(X))) == ()
    assert [moved.column for moved in before.moved(before.count(cells_of_array(X + np.array([5.0, 0.0]))))] == ["x0"]
