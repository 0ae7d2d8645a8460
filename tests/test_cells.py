"""The signals of single cells: finite, the same in any company, and raised by the errors they are named after."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment, read_table
from elect.tables.cells import NAMES, PLACE, CellJudge, Cells, Signals, cells_of_array, cells_of_frame, say

ANY = st.floats(-1e9, 1e9, allow_subnormal=False) | st.integers(-3, 3).map(float)
WORDS = ("Rome", "Paris", "Oslo", "rome ", "Rme", "", "x-1", "x-22", None)


def signals(X: Any) -> Signals:
    cells = cells_of_array(np.asarray(X, dtype=np.float64))
    return CellJudge.fit(cells).judge(cells)


def cells_of(frame: pl.DataFrame) -> Cells:
    table = read_table(frame)
    return cells_of_frame(ColumnTreatment.fit_transform(table)[0], table.frame)


def mixed(seed: int, n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    size = rng.lognormal(3, 1, n).round(2)
    size[rng.random(n) < 0.1] = np.nan
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    return pl.DataFrame(
        {
            "size": pl.Series(size).fill_nan(None),
            "whole": rng.integers(0, 9, n),
            "city": rng.choice(["Rome", "Paris", "Oslo"], n),
            "code": [f"A-{k}" for k in rng.integers(0, 20, n)],
            "day": day.astype("datetime64[D]"),
            "member": rng.random(n) < 0.3,
        }
    )


def sound(found: Signals, shape: tuple[int, int]) -> None:
    assert found.shape == (*shape, len(NAMES))
    assert np.isfinite(found).all()
    assert (found >= 0).all()


@given(X=arrays(np.float64, st.tuples(st.integers(1, 40), st.integers(1, 5)), elements=ANY | st.just(np.nan)))
@settings(max_examples=80, deadline=None)
def test_signals_are_finite_and_never_negative(X: FloatArray) -> None:
    sound(signals(X), X.shape)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "X",
    [
        np.full((30, 2), 7.0),
        np.zeros((30, 2)),
        np.full((30, 3), np.nan),
        np.column_stack([np.full(30, np.nan), np.arange(30.0)]),
        np.array([[1.0]]),
        np.array([[1.0, np.nan], [2.0, 3.0]]),
        np.arange(50.0)[:, None],
        np.column_stack([np.arange(40.0), np.r_[np.full(39, 1.0), 1e300]]),
        np.column_stack([np.arange(40.0) * 1e-300, np.arange(40.0) * 1e290]),
        np.r_[np.zeros(39), 5.0][:, None],
    ],
    ids=[
        *("constant", "zeros", "all missing", "a missing column", "one cell", "two rows", "one column"),
        *("a huge value", "huge and tiny columns", "one value that is not zero"),
    ],
)
def test_degenerate_columns(X: FloatArray) -> None:
    sound(signals(X), X.shape)


def test_tables_without_words_or_without_numbers() -> None:
    frame = mixed(0)
    for columns in (["city"], ["city", "code"], ["size"], ["day"], ["city", "size"]):
        cells = cells_of(frame.select(columns))
        sound(CellJudge.fit(cells).judge(cells), (60, len(cells.names)))


@given(words=st.lists(st.sampled_from(WORDS), min_size=5, max_size=40), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_words_of_any_kind(words: list[str | None], seed: int) -> None:
    x = np.random.default_rng(seed).normal(size=len(words))
    cells = cells_of(pl.DataFrame({"x": x, "word": pl.Series(words, dtype=pl.String)}))
    sound(CellJudge.fit(cells).judge(cells), (len(words), len(cells.names)))


@given(seed=st.integers(0, 999))
@settings(max_examples=15, deadline=None)
def test_a_row_says_the_same_alone_and_in_company(seed: int) -> None:
    cells = cells_of(mixed(seed))
    judge = CellJudge.fit(cells)
    together = judge.judge(cells)
    rng = np.random.default_rng(seed)
    for row in rng.choice(60, 4, replace=False):
        assert np.allclose(judge.judge(cells.rows(np.array([row])))[0], together[row], rtol=1e-5, atol=1e-6)
    order = rng.permutation(60)
    assert np.allclose(judge.judge(cells.rows(order)), together[order], rtol=1e-5, atol=1e-6)


@given(seed=st.integers(0, 999))
@settings(max_examples=15, deadline=None)
def test_what_is_learned_does_not_depend_on_the_order_of_rows(seed: int) -> None:
    cells = cells_of(mixed(seed))
    order = np.random.default_rng(seed).permutation(60)
    there = cells.rows(order)
    one, other = CellJudge.fit(cells).judge(cells), CellJudge.fit(there).judge(there)
    assert np.allclose(other, one[order], rtol=1e-4, atol=1e-4)


def plain(seed: int, n: int = 200) -> FloatArray:
    """Three columns: the second follows the first and is larger; the third stands alone, in hundreds."""
    rng = np.random.default_rng(seed)
    first = rng.normal(50, 4, n).round(1)
    X = np.column_stack([first, first + rng.uniform(2, 6, n).round(1), rng.normal(300, 10, n).round(1)])
    X[5] = 50.0, 54.0, 300.0  # a slip is seen where the value was usual before
    return X


def moved_point(X: FloatArray) -> None:
    X[5, 0] *= 10


def turned(X: FloatArray) -> None:
    X[5, 0] *= -1


def placeholder(X: FloatArray) -> None:
    X[5, 0] = -999


def nothing(X: FloatArray) -> None:
    X[5, 0] = 0.0


def missing(X: FloatArray) -> None:
    X[5, 0] = np.nan


def exchanged(X: FloatArray) -> None:
    X[5, [0, 2]] = X[5, [2, 0]]


def reversed_pair(X: FloatArray) -> None:
    X[5, 1] = X[5, 0] - 3


def off_the_line(X: FloatArray) -> None:
    """Both values are usual by themselves."""
    X[5, 0], X[5, 1] = 44.0, 60.0


def more_decimals(X: FloatArray) -> None:
    X[5, 2] = 301.23456


PLANTED = [
    (moved_point, "shift", 0),
    (moved_point, "far", 0),
    (moved_point, "gap", 0),
    (moved_point, "alone", 0),
    (turned, "sign", 0),
    (placeholder, "sentinel", 0),
    (nothing, "sentinel", 0),
    (missing, "missing", 0),
    (exchanged, "swap", 0),
    (exchanged, "swap", 2),
    (reversed_pair, "order", 1),
    (off_the_line, "residual", 0),
    (off_the_line, "excess", 1),
    (more_decimals, "decimals", 2),
]


@given(seed=st.integers(0, 999))
@settings(max_examples=10, deadline=None)
@pytest.mark.parametrize(("plant", "name", "column"), PLANTED, ids=lambda part: getattr(part, "__name__", str(part)))
def test_an_error_raises_its_signal_above_all_others(plant: Any, name: str, column: int, seed: int) -> None:
    X = plain(seed)
    before = signals(X)[5, column, PLACE[name]]
    plant(X)
    found = signals(X)[:, column, PLACE[name]]
    assert found[5] > before
    assert found[5] > np.delete(found, 5).max()


@pytest.mark.parametrize("slip", ["Romee", "Rme", "rome", "Rmoe", "Rome "])
def test_a_misspelling_looks_like_the_word_it_was_meant_to_be(slip: str) -> None:
    city = ["Rome", "Paris", "Oslo"] * 40
    city[7] = slip
    cells = cells_of(pl.DataFrame({"city": city, "x": np.arange(120.0) % 11}))
    found = CellJudge.fit(cells).judge(cells)
    at = cells.names.index("city")
    if slip.strip() == "Rome":  # blanks around a word are no part of it
        assert (found[:, at, PLACE["near"]] == 0).all()
        return
    assert found[7, at, PLACE["near"]] > 0
    assert np.count_nonzero(found[:, at, PLACE["near"]]) == 1
    assert found[:, at, PLACE["rare"]].argmax() == 7


def test_a_new_word_is_judged_as_if_it_had_been_rare() -> None:
    known = read_table(pl.DataFrame({"city": ["Rome", "Paris"] * 60, "x": np.arange(120.0) % 11}))
    treatment = ColumnTreatment.fit_transform(known)[0]
    judge = CellJudge.fit(cells_of_frame(treatment, known.frame))
    new = cells_of_frame(treatment, pl.DataFrame({"city": ["Rome", "Parid", "Lima"], "x": [1.0, 2.0, 3.0]}))
    found = judge.judge(new)[:, new.names.index("city")]
    rare, near = found[:, PLACE["rare"]], found[:, PLACE["near"]]
    assert rare[0] < 1 < min(rare[1:])
    assert near[1] > 0
    assert near[0] == near[2] == 0


@pytest.mark.parametrize("day", ["1900-01-01", "1970-01-01", "9999-12-31"])
def test_dates_that_stand_for_none(day: str) -> None:
    days = (np.datetime64("2024-01-01") + np.arange(100) % 60).astype("datetime64[D]")
    days[9] = np.datetime64(day)
    cells = cells_of(pl.DataFrame({"day": days, "x": np.arange(100.0) % 7}))
    found = CellJudge.fit(cells).judge(cells)[:, cells.names.index("day"), PLACE["sentinel"]]
    assert found.argmax() == 9
    assert np.count_nonzero(found) == 1


def test_a_value_that_is_not_alone_out_there_is_not_said_to_be() -> None:
    rng = np.random.default_rng(0)
    for far, told in (([60.0], "next highest"), ([60.0, 48.0, 30.0], "nearly all others are at most")):
        X = rng.uniform(0.0, 5.0, size=(400, 3))
        X[: len(far), 1] = far
        cells = cells_of_array(X)
        judge = CellJudge.fit(cells)
        signals = judge.judge(cells)
        for row in range(len(far)):
            said = say(judge, cells, signals, row, 1)
            assert told in said, said


def _said_of(table: pl.DataFrame, row: int, column: str) -> str:
    cells = cells_of(table)
    judge = CellJudge.fit(cells)
    return say(judge, cells, judge.judge(cells), row, cells.names.index(column))


def test_of_nearly_all_is_said_only_what_holds_for_nearly_all() -> None:
    """A zero may stand for missing; that the widest gap of a short scale is next to the median says nothing."""
    years = np.r_[np.repeat(np.arange(1, 16), 8), np.repeat(np.arange(18, 40), 6), [0, 0]]
    table = pl.DataFrame({"years": years, "x": np.arange(len(years)) % 7})
    assert _said_of(table, len(years) - 1, "years") == "may stand for missing; median 18"
    far = np.r_[np.repeat(np.arange(30, 60), 8), [0]]
    table = pl.DataFrame({"far": far, "x": np.arange(len(far)) % 7})
    assert _said_of(table, len(far) - 1, "far") == "may stand for missing; next lowest 30"


def test_what_is_foretold_is_said_as_people_would() -> None:
    """With two digits of the difference, whole where the column is, and never a value beyond all others."""
    rng = np.random.default_rng(0)
    price = rng.uniform(20_000, 200_000, 400)
    rooms = np.round(price / 20_000)
    price = np.round(price + rng.normal(0, 500, 400))
    rooms[7], price[7] = 2.0, 181_234.0
    table = pl.DataFrame({"price": price, "rooms": rooms})
    assert _said_of(table, 7, "rooms") == "the other columns suggest about 9"
    assert re.fullmatch(r"the other columns suggest about \d{2}000", _said_of(table, 7, "price"))


def test_nothing_beyond_all_others_is_foretold() -> None:
    table = read_table(Path(__file__).parent.parent / "examples" / "payments.csv").without("checked", "payment", "when")
    cells = cells_of(table.frame)
    judge = CellJudge.fit(cells)
    signals = judge.judge(cells)
    said = []
    for place, column in enumerate(cells.number_at):
        seen = cells.numbers[:, place]
        for row in range(0, cells.n_rows, 3):
            words = say(judge, cells, signals, row, column)
            if words.startswith("the other columns suggest"):
                said.append(words)
                about = re.fullmatch(r"the other columns suggest about (\S+)", words)
                low, high = np.nanmin(seen), np.nanmax(seen)
                assert re.fullmatch(r".* a much (lower|higher) value", words) if about is None else True
                assert about is None or low <= float(about[1]) <= high
    assert {"about" in words for words in said} == {True, False}


def test_few_rows_are_counted() -> None:
    x = np.r_[np.random.default_rng(0).normal(0, 1, 300).round(2), 3.4, 3.45]
    table = pl.DataFrame({"x": x, "y": np.arange(302) % 5})
    assert _said_of(table, 301, "x").endswith("as high in only 1 row")


def test_of_two_values_the_rare_one_is_counted() -> None:
    table = pl.DataFrame({"x": np.arange(120.0) % 11, "active": np.r_[np.zeros(114), np.ones(6)]})
    assert _said_of(table, 119, "active") == "in 6 of 120 rows"
    assert _said_of(table, 0, "active") == "in 95% of rows"


def test_what_has_another_sign_is_no_multiple_of_the_median() -> None:
    profits = np.r_[np.random.default_rng(0).normal(0.2, 0.05, 300).round(3), -20.0]
    said = _said_of(pl.DataFrame({"profits": profits, "y": np.arange(301) % 5}), 300, "profits")
    assert "times" not in said
    assert said.startswith("next lowest")


def near_signals(words: list[str]) -> Signals:
    frame = pl.DataFrame({"word": words})
    treatment, _ = ColumnTreatment.fit_transform(read_table(frame))
    cells = cells_of_frame(treatment, frame)
    found: Signals = CellJudge.fit(cells).judge(cells)[:, 0, PLACE["near"]]
    return found


def test_a_misspelt_word_is_near_a_frequent_one_and_a_short_code_is_not() -> None:
    cities = near_signals(["Rome", "Paris", "London"] * 30 + ["Pariss"])
    codes = near_signals(["JAX", "LAX", "PHX", "PHL", "SAX"] * 30 + ["LEX"])
    assert cities[-1] > 1.0
    assert codes[-1] == 0.0
