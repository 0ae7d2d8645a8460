"""What is done with each kind of column, and that it is done the same to a table, to its batches and after storage."""

import csv
import datetime as dt
import io
import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elect.errors import ElectError, InvalidInput
from elect.tables import (
    ColumnTreatment,
    NoUsableColumn,
    Table,
    TableError,
    TooFewRows,
    UnknownColumn,
    iter_batches,
    read_labels,
    read_table,
)

RNG = np.random.default_rng(0)
N = 200
SIZES = RNG.normal(size=N).tolist()  # a column that is always usable


def learn(values: Any, name: str = "c", **options: Any) -> ColumnTreatment:
    """The treatment of one column, next to one that is always usable."""
    sizes = SIZES[: len(values)]
    return ColumnTreatment.fit({name: values, "size": sizes}, **options)


def raw(values: Any, name: str = "c") -> tuple[ColumnTreatment, np.ndarray]:
    """The treatment of one column, and its features in their own units."""
    treatment, X = ColumnTreatment.fit_transform({name: values, "size": SIZES[: len(values)]}, scale=False)
    return treatment, X[:, treatment.columns_of(name)]


def about(treatment: ColumnTreatment, name: str = "c") -> Any:
    return next(summary for summary in treatment.summary() if summary.column == name)


# --- kinds of columns ---------------------------------------------------------------------------------------------


def test_a_numeric_table_is_simply_standardised() -> None:
    X = RNG.normal(3, 5, size=(100, 4))
    np.testing.assert_allclose(ColumnTreatment.fit_transform(X)[1], (X - X.mean(0)) / X.std(0), atol=1e-12)


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1,234", "2", "1,000,000.5"], [1234, 2, 1000000.5]),
        (["12%", "5.5 %", "-1%"], [0.12, 0.055, -0.01]),
        (["$5", "-$1,200", "($3)", "7 €"], [5, -1200, -3, 7]),
        (["1,5", "2,25", "1.000,75"], [1.5, 2.25, 1000.75]),
        (["1'234", "1 234", "\u22125"], [1234, 1234, -5]),
        ([" 1 ", "2e3", "+.5"], [1, 2000, 0.5]),
        (["USD 5", "EUR 6", "7.5"], [5, 6, 7.5]),
    ],
)
def test_numbers_stored_as_text(texts: list[str], numbers: list[float]) -> None:
    repeat = 12
    treatment, X = raw(texts * repeat)
    np.testing.assert_allclose(X[:, 0], numbers * repeat)
    assert about(treatment).kind == "number"


def test_an_ambiguous_comma_is_read_as_the_file_shows(tmp_path: Path) -> None:
    lines = "".join(f"1,{i}00;{i},5\n" for i in range(1, 10))
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + lines)
    X = ColumnTreatment.fit_transform(path, scale=False)[1]
    np.testing.assert_allclose(X[:, 0], [1 + i / 10 for i in range(1, 10)])
    assert raw([f"1,{i}00" for i in range(1, 10)])[1][0, 0] == 1100.0


@pytest.mark.parametrize(
    ("gone", "indicator"), [(0, False), (1, False), (2, False), (3, True), (100, True), (197, True)]
)
@pytest.mark.parametrize("hole", [None, float("nan"), float("inf"), 1e300])
def test_missing_numbers_get_the_median_and_an_indicator_above_one_percent(
    gone: int, indicator: bool, hole: float | None
) -> None:
    known = [float(i % 7) + 0.5 for i in range(N - gone)]
    treatment, X = raw([*known, *[hole] * gone])
    assert (X[N - gone :, 0] == np.median(known)).all()
    assert X.shape[1] == 1 + indicator
    if indicator:
        np.testing.assert_array_equal(X[:, 1], [0.0] * len(known) + [1.0] * gone)
    assert about(treatment).missing == gone / N
    assert ("missing" in about(treatment).done) == (gone > 0)
    if gone and hole in (float("inf"), 1e300):
        assert "infinite" in about(treatment).done


def test_a_constant_with_holes_keeps_only_where_the_holes_are() -> None:
    treatment, X = raw([5.0] * 150 + [None] * 50)
    assert [feature.part for feature in treatment.features if feature.source == "c"] == ["missing"]
    assert X.ravel().tolist() == [0.0] * 150 + [1.0] * 50
    assert str(about(treatment)) == "c: one 0/1 column says where it is missing (all other values are the same: 5)"


def test_words_among_numbers_count_as_missing_and_are_said() -> None:
    treatment, X = raw([f"{i}.5" for i in range(190)] + ["broken"] * 10)
    assert (X[190:, 1] == 1.0).all()
    assert "10 values that are no numbers" in about(treatment).done


def test_half_words_half_numbers_are_categories() -> None:
    assert about(learn((["red"] * 5 + ["7"] * 5) * 20)).kind == "category"


@pytest.mark.parametrize(
    "values", [[True, False, False, None], ["yes", "No", "no", ""], ["T", "F", "f", "n/a"], ["on", "off", "OFF", None]]
)
def test_booleans(values: list[Any]) -> None:
    treatment, X = raw(values * 30)
    assert about(treatment).kind == "boolean"
    np.testing.assert_array_equal(X, [[1, 0], [0, 0], [0, 0], [0, 1]] * 30)


def test_categories_get_a_column_each_and_any_two_are_equally_far_apart() -> None:
    values = ["a"] * 100 + ["b"] * 60 + ["c"] * 40
    treatment, X = ColumnTreatment.fit_transform({"c": values, "size": SIZES})
    block = X[:, treatment.columns_of("c")]
    assert [feature.name for feature in treatment.features[:3]] == ["c = a", "c = b", "c = c"]
    assert block.var(axis=0).sum() == pytest.approx(1.0)
    a, b, c = block[0], block[100], block[160]
    assert np.linalg.norm(a - b) == pytest.approx(np.linalg.norm(b - c))


def test_two_categories_share_a_column() -> None:
    _, X = raw(["m"] * 150 + ["w"] * 50)
    assert X.ravel().tolist() == [0.0] * 150 + [1.0] * 50


def test_rare_and_unseen_categories_go_together() -> None:
    treatment, X = raw(["a"] * 100 + ["b"] * 97 + ["x", "y", "z"])
    np.testing.assert_array_equal(X[-3:], [[0, 0, 1]] * 3)
    later = treatment.transform({"c": ["never seen", "a"], "size": [0.0, 0.0]})
    np.testing.assert_array_equal(later[:, :3], [[0, 0, 1], [1, 0, 0]])
    assert "3 rare categories" in about(treatment).done


def test_an_unseen_category_is_as_unusual_as_the_rarest_known_one() -> None:
    treatment, _ = raw(["a"] * 100 + ["b"] * 60 + ["c"] * 40)
    later = {"c": ["new", "c"], "size": [0.0, 0.0]}
    X = treatment.transform(later)
    np.testing.assert_array_equal(X[0], X[1])
    assert treatment.surprises(treatment.unread(later), 2) == ("c: 1 of 2 values are categories never seen before",)


def test_an_unseen_category_is_not_taken_for_a_missing_one() -> None:
    treatment, _ = raw([None] * 120 + ["a"] * 50 + ["b"] * 30)
    X = treatment.transform({"c": ["new", "b", None], "size": [0.0] * 3})
    np.testing.assert_array_equal(X[0], X[1])
    assert not np.array_equal(X[0], X[2])


def test_dates_of_a_file_with_decimal_commas_have_the_day_first(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("when;x\n" + "".join(f"0{i % 5 + 1}/02/2024;{i},5\n" for i in range(20)))
    treatment = ColumnTreatment.fit(path)
    assert "day-month-year" in about(treatment, "when").why


@pytest.mark.parametrize(("gone", "level"), [(2, [1.0, 0.0, 0.0]), (50, [0.0, 0.0, 1.0])])
def test_missing_categories(gone: int, level: list[float]) -> None:
    kept = N - gone
    values = ["a"] * (kept // 2) + ["b"] * (kept - kept // 2 - 30) + ["c"] * 30 + [None] * gone
    if gone == 50:
        values = ["a"] * 90 + ["b"] * 60 + [None] * 50
    _, X = raw(values)
    assert X[-1].tolist() == level


def test_many_categories_become_how_rare_they_are() -> None:
    values = [f"shop {i}" for i in range(30) for _ in range(i % 5 + 2)][:N]
    treatment, X = raw(values)
    assert X.shape[1] == 1
    count = {value: values.count(value) for value in values}
    np.testing.assert_allclose(X[:, 0], [np.log(len(values) / count[value]) for value in values])
    assert treatment.transform({"c": ["new"], "size": [0.0]})[0, 0] == pytest.approx(np.log(len(values)))


def test_declared_categories_stay_categories() -> None:
    column = pl.Series(["1", "2", "3", "3"] * 50, dtype=pl.Categorical)
    assert about(learn(column)).kind == "category"
    assert about(learn(column.cast(pl.String))).kind == "number"


def test_codes_with_leading_zeros_are_categories() -> None:
    assert about(learn(["00501", "02134", "90210", "00501"] * 50)).kind == "category"
    assert about(learn(["01", "02", "11"] * 60)).kind == "number"


@pytest.mark.parametrize("typed", [True, False])
def test_dates_have_seconds_and_the_cycles_they_go_through(typed: bool) -> None:
    start = dt.datetime(2020, 1, 1)
    values: list[Any] = [start + dt.timedelta(hours=37 * i * i) for i in range(N)]
    treatment, X = raw(values if typed else [value.isoformat() for value in values])
    parts = [feature.part for feature in treatment.features if feature.source == "c"]
    assert parts == ["value", *["time of day"] * 2, *["day of week"] * 2, *["time of year"] * 2]
    np.testing.assert_allclose(X[:, 0], [value.replace(tzinfo=dt.UTC).timestamp() for value in values])
    angle = [2 * np.pi * value.hour / 24 for value in values]
    np.testing.assert_allclose(X[:, 1:3], np.column_stack([np.sin(angle), np.cos(angle)]), atol=1e-6)
    monday = [i for i, value in enumerate(values) if value.weekday() == 0]
    assert np.ptp(X[monday, 3:5], axis=0).max() < 1e-6


def test_short_spans_have_no_cycles() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i % 9) for i in range(N)]
    assert [feature.part for feature in learn(days).features] == ["value", "value"]
    weeks = [dt.date(2024, 1, 1) + dt.timedelta(days=i % 20) for i in range(N)]
    assert [f.part for f in learn(weeks).features] == ["value", "day of week", "day of week", "value"]


@pytest.mark.parametrize(
    ("texts", "first", "sure"),
    [
        (["31/12/2024", "01/02/2024"], "2024-12-31", True),
        (["12/31/2024", "01/02/2024"], "2024-12-31", True),
        (["01/02/2024", "03/04/2024"], "2024-01-02", False),
        (["01.02.2024", "03.04.2024"], "2024-02-01", False),
        (["2024/02/01 10:00", "2024/02/03 11:30"], "2024-02-01T10:00", True),
        (["1 Feb 2024", "3 March 2024"], "2024-02-01", True),
        (["Feb 1, 2024", "March 3, 2024"], "2024-02-01", True),
        (["02/01/24 1:30 PM", "12/25/23 9:00 AM"], "2024-02-01T13:30", True),
        (["2024-02-01T10:00:00+02:00", "2024-02-01T10:00:00Z"], "2024-02-01T08:00", True),
    ],
)
def test_dates_stored_as_text(texts: list[str], first: str, sure: bool) -> None:
    treatment, X = raw(texts * 60)
    assert about(treatment).kind == "time"
    assert X[0, 0] == np.datetime64(first, "s").astype(float)
    assert ("guess" in about(treatment).why) is not sure


def test_clock_times_are_a_circle() -> None:
    treatment, X = raw(["23:59", "00:01", "12:00"] * 60)
    assert about(treatment).kind == "time"
    assert X[:3, 0].tolist() == [86340.0, 60.0, 43200.0]
    assert np.linalg.norm(X[0, 1:] - X[1, 1:]) < 0.01 < np.linalg.norm(X[0, 1:] - X[2, 1:])
    np.testing.assert_array_equal(X, raw([dt.time(23, 59), dt.time(0, 1), dt.time(12)] * 60)[1])


def test_durations_are_seconds() -> None:
    assert raw([dt.timedelta(minutes=i % 7) for i in range(N)])[1][1, 0] == 60.0


def test_free_text_becomes_its_size() -> None:
    values = [f"customer {i} called about order {i * 7} again" for i in range(N - 1)] + ["x " * 500]
    treatment, X = raw(values)
    assert about(treatment).kind == "text"
    np.testing.assert_allclose(X[-1], np.log1p([len(values[-1].strip()), 500]))


# --- dropped columns ----------------------------------------------------------------------------------------------

DROPPED = {
    "constant": ([3.0] * N, "same value in every row: 3"),
    "constant integer": ([3] * N, "same value in every row: 3"),
    "constant text": (["a"] * N, "same value in every row: 'a'"),
    "constant date": ([dt.date(2024, 1, 1)] * N, "same value"),
    "constant true": ([True] * N, "same value in every row: true"),
    "all missing": ([None] * N, "every value is missing"),
    "missing words": (["NA", "", "?", "null"] * 50, "every value is missing"),
    "all infinite": ([float("inf")] * N, "no value is a finite number"),
    "nearly all missing": ([1.0] + [None] * (N - 1), "nearly every value is missing (99.5%)"),
    "nearly all missing text": (["a"] + [None] * (N - 1), "nearly every value is missing (99.5%)"),
    "row numbers": (list(range(N)), "number the rows"),
    "row numbers as text": ([str(i) for i in range(1, N + 1)], "number the rows"),
    "shuffled tens": ((np.arange(N) * 10)[::-1].tolist(), "number the rows"),
    "uuids": ([str(uuid.UUID(int=i)) for i in range(N)], "every value is different"),
    "names": ([f"Person{i % 195}" for i in range(N)], "98% of the values are different"),
    "equally frequent": ([f"k{i % 50}" for i in range(N)], "equally frequent"),
    "lists": ([[i, i] for i in range(N)], "only plain values"),
    "records": ([{"a": i} for i in range(N)], "only plain values"),
}


@pytest.mark.parametrize("case", DROPPED)
def test_columns_that_tell_nothing_are_dropped_and_it_is_said_why(case: str) -> None:
    values, why = DROPPED[case]
    treatment = learn(values)
    assert about(treatment).role == "dropped"
    assert why in about(treatment).why
    assert treatment.sources == ("size",)


@pytest.mark.parametrize("name", ["id", "order_id", "customerId", "Row ID", "UUID"])
def test_numbers_named_id_are_names(name: str) -> None:
    unique = (RNG.permutation(100_000)[:N]).tolist()
    assert about(learn(unique, name), name).role == "dropped"
    assert about(learn([i % 5 for i in range(N)], name), name).kind == "category"


@pytest.mark.parametrize("name", ["paid", "humid", "grid", "amount", "ID count"])
def test_unique_numbers_with_other_names_stay_numbers(name: str) -> None:
    assert about(learn((RNG.permutation(100_000)[:N]).tolist(), name), name).kind == "number"


def test_differences_too_small_to_square_are_none() -> None:
    assert "same value" in about(learn([0.0, 1e-200] * 100)).why


def test_a_later_value_may_be_any_distance_away() -> None:
    treatment = ColumnTreatment.fit({"c": [0.0, 1e-100] * 20})
    X = treatment.transform({"c": [1e30, -1e30, 5e-101]})
    np.testing.assert_allclose(X[:, 0], [1e12, -1e12, 0.0], atol=1e-9)


def test_even_steps_that_are_not_whole_numbers_are_kept() -> None:
    assert about(learn([i / 10 for i in range(N)])).role == "feature"


def test_repeated_columns_are_dropped_whatever_their_type() -> None:
    table = {"a": SIZES, "b": SIZES, "text": [str(x) for x in SIZES], "c": [x + 1 for x in SIZES]}
    treatment = ColumnTreatment.fit(table)
    assert treatment.sources == ("a", "c")
    assert about(treatment, "text").why == "it says the same as column 'a' in every row"


# --- options ------------------------------------------------------------------------------------------------------

CARDS = {
    "card": [f"card{i}" for i in range(N)],
    "amount": SIZES,
    "hour": [float(i % 24) for i in range(N)],
    "fraud": ["yes" if i % 50 == 0 else "no" for i in range(N)],
}


def test_label_and_id_are_kept_out_and_found_again() -> None:
    treatment = ColumnTreatment.fit(CARDS, label="fraud", id="card")
    assert treatment.sources == ("amount", "hour")
    assert [(s.column, s.role) for s in treatment.summary()] == [
        ("card", "id"),
        ("amount", "feature"),
        ("hour", "feature"),
        ("fraud", "label"),
    ]
    assert treatment.row_ids(CARDS).to_list() == CARDS["card"]
    labels = treatment.labels(CARDS)
    assert labels is not None
    assert np.flatnonzero(labels.y).tolist() == [0, 50, 100, 150]
    unlabelled = {"amount": [1.0], "hour": [2.0]}
    assert treatment.labels(unlabelled) is None
    assert treatment.row_ids(unlabelled).to_list() == [0]
    assert treatment.transform(unlabelled).shape == (1, 2)


def test_the_label_changes_nothing_but_its_own_absence() -> None:
    with_label = ColumnTreatment.fit_transform(CARDS, label="fraud")[1]
    without = ColumnTreatment.fit_transform({k: v for k, v in CARDS.items() if k != "fraud"})[1]
    np.testing.assert_array_equal(with_label, without)


def test_drop_and_columns() -> None:
    assert ColumnTreatment.fit(CARDS, drop=["hour"]).sources == ("amount", "fraud")
    assert ColumnTreatment.fit(CARDS, columns=["hour", "amount"]).sources == ("amount", "hour")
    assert about(ColumnTreatment.fit(CARDS, columns=["hour"]), "amount").why == "as asked"


@pytest.mark.parametrize(
    ("values", "y", "known", "words"),
    [
        ([0, 1, 0, None], [0, 1, 0, 0], [True, True, True, False], "'1' is the outlier"),
        (["0.0", "1.0", "0.0"], [0, 1, 0], [True] * 3, "'1.0'"),
        (["ok", "Fraud", "ok"], [0, 1, 0], [True] * 3, "'Fraud' is the outlier"),
        ([1, -1, 1], [0, 1, 0], [True] * 3, "'-1' is taken for the outlier, being rarer"),
        (["b", "a", "b"], [0, 1, 0], [True] * 3, "being rarer"),
        ([True, False, True], [1, 0, 1], [True] * 3, "'true' is the outlier"),
    ],
)
def test_labels(values: list[Any], y: list[int], known: list[bool], words: str) -> None:
    labels = read_labels(pl.Series("label", values))
    assert labels.y.tolist() == y
    assert labels.known.tolist() == known
    assert words in labels.meaning


@pytest.mark.parametrize("values", [[1, 2, 3], [0, 0], [None, None]])
def test_labels_that_are_none(values: list[Any]) -> None:
    with pytest.raises(TableError, match="must hold two values"):
        read_labels(pl.Series("label", values))


# --- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "options", "error", "words"),
    [
        ({"a": [1.0]}, {}, TooFewRows, "one row; at least 2"),
        ({"a": [1.0] * 5, "b": ["x"] * 5}, {}, NoUsableColumn, "'a': the same value in every row: 1"),
        ({"a": [None] * 5}, {}, NoUsableColumn, "'a': every value is missing"),
        ({"y": [0, 1]}, {"label": "y"}, TableError, "no column left for the features (label 'y')"),
        ({"y": [0, 1], "z": [1, 2]}, {"drop": ["y", "z"]}, TableError, "no column left"),
        ({"y": [0, 1]}, {"columns": []}, TableError, "no column left"),
        (CARDS, {"label": "frod"}, UnknownColumn, "'frod' in label: it must be one of the table's 4 columns"),
        (CARDS, {"label": "frod"}, UnknownColumn, "Did you mean 'fraud'?"),
        (CARDS, {"id": "x"}, UnknownColumn, "'x' in id"),
        (CARDS, {"drop": ["amount", "x"]}, UnknownColumn, "'x' in drop"),
        (CARDS, {"columns": ["x"]}, UnknownColumn, "'x' in columns"),
    ],
)
def test_a_table_that_cannot_be_learned_from(
    data: Any, options: dict[str, Any], error: type[ElectError], words: str
) -> None:
    with pytest.raises(ElectError) as raised:
        ColumnTreatment.fit(data, **options)
    assert type(raised.value) is error
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_later_table_must_have_the_columns() -> None:
    treatment = ColumnTreatment.fit(CARDS)
    with pytest.raises(UnknownColumn, match="lacks column 'hour', 'fraud', which the treatment was learned with"):
        treatment.transform({"amount": [1.0]})


def test_ten_thousand_columns_work() -> None:
    X = RNG.normal(size=(20, 10_000))
    treatment, Z = ColumnTreatment.fit_transform(X)
    assert Z.shape == X.shape
    np.testing.assert_array_equal(treatment.transform(X), Z)


# --- properties ---------------------------------------------------------------------------------------------------

MIXED = pl.DataFrame(
    {
        "amount": [round(float(x), 3) if i % 20 else None for i, x in enumerate(RNG.lognormal(3, 1, N))],
        "count": RNG.integers(0, 9, N),
        "city": RNG.choice(["Rome", "Oslo", "Lima"], N).tolist(),
        "shop": [f"shop {i}" for i in RNG.integers(0, 40, N) ** 2 // 30],
        "open": RNG.choice([True, False], N),
        "when": [dt.datetime(2022, 1, 1) + dt.timedelta(hours=int(h)) for h in RNG.integers(0, 30_000, N)],
    }
)


def test_the_same_table_gives_the_same_matrix_whatever_it_is_stored_in(tmp_path: Path) -> None:
    MIXED.write_csv(tmp_path / "a.csv")
    MIXED.write_csv(tmp_path / "a.tsv", separator="\t")
    MIXED.write_parquet(tmp_path / "a.parquet")
    MIXED.write_ipc(tmp_path / "a.feather")
    treatment, X = ColumnTreatment.fit_transform(MIXED)
    others = [*sorted(tmp_path.iterdir()), MIXED.to_pandas(), MIXED.to_arrow(), MIXED.to_dicts()]
    assert len(others) == 7
    for other in others:
        np.testing.assert_array_equal(ColumnTreatment.fit_transform(other)[1], X)
        np.testing.assert_array_equal(treatment.transform(other), X)


def test_every_feature_knows_its_column_and_every_column_weighs_one() -> None:
    treatment, X = ColumnTreatment.fit_transform(MIXED)
    assert treatment.sources == tuple(MIXED.columns)
    assert X.shape == (N, len(treatment.features))
    for summary in treatment.summary():
        places = treatment.columns_of(summary.column)
        assert summary.features == tuple(treatment.features[place].name for place in places)
        assert X[:, places].var(axis=0).sum() == pytest.approx(1.0)
        assert np.abs(X[:, places].mean(axis=0)).max() < 1e-9
    with pytest.raises(UnknownColumn):
        treatment.columns_of("nothing")


def test_row_order_does_not_matter() -> None:
    order = RNG.permutation(N)
    _, X = ColumnTreatment.fit_transform(MIXED)
    treatment, shuffled = ColumnTreatment.fit_transform(MIXED[order])
    assert [f.name for f in treatment.features] == [f.name for f in ColumnTreatment.fit(MIXED).features]
    np.testing.assert_allclose(shuffled, X[order], atol=1e-9)


columns = st.sampled_from(
    [
        st.floats(allow_nan=True, allow_infinity=True),
        st.floats(-1e3, 1e3) | st.none(),
        st.integers(-(10**20), 10**20),
        st.integers(0, 3) | st.none(),
        st.booleans() | st.none(),
        st.sampled_from(["a", "b", "NA", "", "yes", "no", "007", "1,5", "12%", "2024-01-02", "10:30", "x y z w v"]),
        st.text(max_size=6) | st.none(),
        st.dates() | st.none(),
        st.datetimes(),
        st.times(),
        st.timedeltas(dt.timedelta(-999), dt.timedelta(999)),
        st.floats() | st.text(max_size=3) | st.booleans() | st.none() | st.dates(),
        st.lists(st.integers(0, 2), max_size=2),
        st.just(None),
    ]
)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Columns of any kind, next to one that is always usable."""
    rows = draw(st.integers(2, 25))
    kinds = draw(st.lists(columns, min_size=1, max_size=5))
    table = {f"c{j}": draw(st.lists(kind, min_size=rows, max_size=rows)) for j, kind in enumerate(kinds)}
    return {**table, "sure": [i**0.5 for i in range(rows)]}


@settings(max_examples=150, deadline=None)
@given(tables(), tables(), st.booleans())
def test_any_table_gives_a_finite_matrix_and_survives_storage(
    table: dict[str, list[Any]], later: dict[str, list[Any]], scale: bool
) -> None:
    treatment, X = ColumnTreatment.fit_transform(table, scale=scale)
    assert X.shape == (len(table["sure"]), len(treatment.features))
    assert X.dtype == np.float64
    assert np.isfinite(X).all()
    assert [summary.column for summary in treatment.summary()] == list(table)
    np.testing.assert_array_equal(treatment.transform(table), X)
    again = ColumnTreatment.from_json(treatment.to_json())
    assert again == treatment
    np.testing.assert_array_equal(again.transform(table), X)
    # A later table may hold anything in these columns, of any type.
    rows = len(later["sure"])
    other = {name: later.get(name, later["sure"]) for name in table}
    Z = again.transform(other)
    assert Z.shape == (rows, X.shape[1])
    assert np.isfinite(Z).all()
    one_by_one = [treatment.transform(read_table(other).slice(row, 1)) for row in range(rows)]
    np.testing.assert_array_equal(np.vstack(one_by_one), Z)
    assert all(isinstance(surprise, str) for surprise in treatment.surprises(treatment.unread(other), 3))


def _printable(text: str) -> str:
    """Without the control characters that make a file binary, and as the text file will hold it."""
    kept = "".join(char for char in text if ord(char) >= 32 or char == "\n")
    return kept.encode("utf-8", "replace").decode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.integers(1, 30))
def test_batches_of_a_file_give_the_rows_of_the_whole(tmp_path: Path, table: dict[str, list[Any]], rows: int) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow(["" if value is None else _printable(str(value)) for value in row])
    path = tmp_path / "a.csv"
    path.write_bytes(text.getvalue().encode())
    options: dict[str, Any] = {"delimiter": ",", "encoding": "utf-8", "header": True}
    treatment, X = ColumnTreatment.fit_transform(read_table(path, **options))
    assert len(X) == len(table["sure"])
    parts = [treatment.transform(batch) for batch in iter_batches(path, rows, **options)]
    np.testing.assert_array_equal(np.vstack(parts), X)


# --- storage ------------------------------------------------------------------------------------------------------


def test_json_is_plain_and_whole() -> None:
    treatment = ColumnTreatment.fit(MIXED, id="shop")
    plain = json.loads(treatment.to_json())
    assert plain["version"] == 1
    assert ColumnTreatment.from_json(json.dumps(plain)) == treatment


def _damage(change: Any) -> str:
    plain = json.loads(ColumnTreatment.fit(MIXED).to_json())
    change(plain)
    return json.dumps(plain)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        '{"format": "other"}',
        _damage(lambda p: p.update(version=2)),
        _damage(lambda p: p.pop("steps")),
        _damage(lambda p: p["steps"][0].update(kept=[7, 1])),
        _damage(lambda p: p["steps"][0].update(kept=[-1, 0])),
        _damage(lambda p: p["steps"][0].update(kept=[0])),
        _damage(lambda p: p["steps"][0]["features"][0].update(scale=float("nan"))),
        _damage(lambda p: p["steps"][0]["features"][0].update(source="elsewhere")),
        _damage(lambda p: p["steps"][0]["encoder"].update(kind="pickle")),
        _damage(lambda p: p["steps"][0]["encoder"].update(fill=float("inf"))),
        _damage(lambda p: p["steps"][0]["encoder"].update(fill="1")),
        _damage(lambda p: p["steps"][0]["encoder"].update(decimal=";")),
        _damage(lambda p: p["steps"][0]["encoder"].update(extra=1)),
        _damage(lambda p: p["steps"][2]["encoder"].update(categories=["a", "a", "b"])),
        _damage(lambda p: p["steps"][2]["encoder"].update(missing=9)),
        _damage(lambda p: p["steps"][3]["encoder"].update(counts=[["a", 0]])),
        _damage(lambda p: p["steps"][3]["encoder"].update(rows=0)),
        _damage(lambda p: p["steps"][5]["encoder"].update(order="pdq")),
        _damage(lambda p: p["steps"][5]["encoder"].update(cycles=["moon"])),
        _damage(lambda p: p["steps"][5]["encoder"].update(clock="no")),
    ],
)
def test_damaged_storage_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        ColumnTreatment.from_json(text)


def test_everything_is_frozen() -> None:
    treatment = ColumnTreatment.fit(MIXED)
    for record in (treatment, treatment.features[0], treatment.summary()[0], treatment.steps[0].encoder):
        with pytest.raises(AttributeError):
            record.label = "other"  # type: ignore[misc, union-attr]


def test_pandas_is_accepted_but_never_imported() -> None:
    import subprocess
    import sys

    code = (
        "import sys, elect.tables as t; assert not {'polars', 'pyarrow', 'pandas'} & set(sys.modules);"
        "t.ColumnTreatment.fit([[1.5, 2.5], [3.5, 7.5]]); assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert isinstance(read_table(pd.DataFrame({"a": [1]})), Table)
