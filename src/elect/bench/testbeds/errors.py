"""The testbed of wrong values: real tables, and in about 2 % of the rows an error of entry.

Every table comes several times: with all kinds of errors mixed, twice; with one kind alone, twice; and left clean. One
cell of a wrong row is wrong, in some rows two or three. The truth is known by row and by cell. What stands in a table
follows from its name and the name of the variant, whatever other tables there are.

The tables have odd values of their own (real data does), which count as right here: no ranking can be perfect.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from elect.bench.testbeds.cutting import task_stream
from elect.bench.testbeds.entryerrors import WRONG, Column, Value, suits, wrong_value
from elect.bench.testbeds.realtables import RealTable, real_tables
from elect.errors import InvalidInput
from elect.support.arrays import read_only

SHARE, MIN_WRONG_ROWS = 0.02, 3

WEIGHTS = {
    "decimal": 20,
    "sentinel": 18,
    "misspelling": 15,
    "digit": 13,
    "swap": 12,
    "sign": 10,
    "date": 10,
    "unit": 8,
    "another row": 5,
}
"""How often a kind is drawn in a mixed variant, where the table has columns for it."""

ALONE = tuple(kind for kind in WEIGHTS if kind != "another row")
"""Kinds that come alone too. A value of another row is a fair value: alone, it leaves little to find."""

SEVERAL = 6
"""One wrong row in so many has two or three wrong cells."""

TRIES = 12
"""So many draws before a row is left as it is."""

VARIANTS = ("mixed-1", "mixed-2", "alone-1", "alone-2")


class WrongCell(NamedTuple):
    """Where an error stands, and of which kind it is."""

    row: int
    column: str
    kind: str


@dataclass(frozen=True, eq=False)
class ErrorTask:
    """A table with errors. ``y`` is 1 for a row with a wrong cell; ``cells`` are the wrong ones, by row."""

    name: str
    group: str
    table: pl.DataFrame
    y: NDArray[np.int8]
    cells: tuple[WrongCell, ...]

    def __post_init__(self) -> None:
        y = read_only(np.asarray(self.y), dtype=np.int8)
        wrong = sorted({cell.row for cell in self.cells})
        if y.shape != (self.table.height,) or np.flatnonzero(y).tolist() != wrong:
            raise InvalidInput(f"y of task {self.name!r} must be 1 in the rows of its wrong cells and 0 elsewhere.")
        object.__setattr__(self, "y", y)


def load_errors(*, clean: bool = False, limit: int | None = None) -> list[ErrorTask]:
    """The tasks with errors, or the tables left clean. With a limit, no table comes twice before each came once.

    Names are as in ``pydataset/car/Salaries+mixed-1`` and ``vega/cars+decimal``.
    """
    tasks = [task for task in _all_tasks() if (not task.cells) == clean]
    return tasks[:limit]


@cache
def _all_tasks() -> tuple[ErrorTask, ...]:
    places = [(real, _places(real.table)) for real in real_tables()]
    spoiled = (spoil(real, variant, where) for variant in VARIANTS for real, where in places)
    return (
        *(task for task in spoiled if task is not None),
        *(ErrorTask(f"{r.name}+clean", r.group, r.table, np.zeros(r.table.height, np.int8), ()) for r, _ in places),
    )


Places = dict[str, list[tuple[Column, ...]]]
"""For each kind the columns that can have it; for a swap, pairs of columns."""


def _places(table: pl.DataFrame) -> Places:
    columns = [Column(series) for series in table]
    places: Places = {kind: [(column,) for column in columns if suits(kind, column)] for kind in WRONG}
    places["swap"] = [pair for at in range(len(columns)) for pair in _next_of_type(columns, at)]
    return {kind: found for kind, found in places.items() if found}


def _next_of_type(columns: list[Column], at: int) -> list[tuple[Column, ...]]:
    """The column with the next one of its type: what is swapped stands side by side."""
    one = columns[at]
    for two in columns[at + 1 :]:
        if two.series.dtype == one.series.dtype != pl.Boolean:
            return [(one, two)]
    return []


def spoil(real: RealTable, variant: str, places: Places | None = None) -> ErrorTask | None:
    """The table with the errors of a variant; None where too few of its cells can be wrong in that way."""
    places = _places(real.table) if places is None else places
    rng = task_stream(0, f"{real.name}+{variant}")
    kinds = list(places) if variant.startswith("mixed") else _alone(real.name, places, int(variant[-1]) - 1)
    weights = {kind: WEIGHTS[kind] for kind in WEIGHTS if kind in kinds}
    wanted = max(MIN_WRONG_ROWS, round(SHARE * real.table.height))
    changed: dict[tuple[int, str], tuple[Value, str]] = {}
    rows = 0
    for row in rng.permutation(real.table.height).tolist():
        if rows == wanted or not weights:
            break
        cells = _wrong_cells(places, row, weights, rng)
        changed |= {(row, column): (value, kind) for column, value, kind in cells}
        rows += bool(cells)
    if rows < MIN_WRONG_ROWS:
        return None
    wrong = tuple(sorted(WrongCell(row, column, kind) for (row, column), (_, kind) in changed.items()))
    y = np.zeros(real.table.height, dtype=np.int8)
    y[[cell.row for cell in wrong]] = 1
    table = _with(real.table, {place: value for place, (value, _) in changed.items()})
    name = variant if variant.startswith("mixed") else kinds[0]
    return ErrorTask(f"{real.name}+{name}", real.group, table, y, wrong)


def _alone(name: str, places: Places, which: int) -> list[str]:
    """The kind that comes alone in a variant; none where the table has no more kinds."""
    order = task_stream(0, f"{name}+alone").permutation(len(ALONE))
    return [ALONE[k] for k in order if ALONE[k] in places][which : which + 1]


Changed = tuple[str, Value, str]


def _wrong_cells(places: Places, row: int, weights: dict[str, int], rng: np.random.Generator) -> tuple[Changed, ...]:
    """One error in the row, or two or three; none where those drawn leave nothing wrong."""
    several = int(rng.integers(2, 4)) if rng.integers(SEVERAL) == 0 else 1
    changed: dict[str, Changed] = {}
    errors = 0
    for _ in range(TRIES):
        kind = _weighted(weights, rng)
        columns = places[kind][int(rng.integers(len(places[kind])))]
        cells = _swapped(*columns, row=row) if kind == "swap" else _wrong_cell(columns[0], row, kind, rng)
        if cells and not any(column in changed for column, _, _ in cells):
            changed |= {cell[0]: cell for cell in cells}
            errors += 1
        if errors == several:
            break
    return tuple(changed.values())


def _weighted(weights: dict[str, int], rng: np.random.Generator) -> str:
    kinds = [kind for kind, weight in weights.items() for _ in range(weight)]
    return kinds[int(rng.integers(len(kinds)))]


def _wrong_cell(column: Column, row: int, kind: str, rng: np.random.Generator) -> tuple[Changed, ...]:
    value = wrong_value(kind, column, row, rng)
    return () if value is None else ((column.name, value, kind),)


def _swapped(one: Column, two: Column, *, row: int) -> tuple[Changed, ...]:
    a, b = one.values[row], two.values[row]
    return () if a is None or b is None or a == b else ((one.name, b, "swap"), (two.name, a, "swap"))


def _with(table: pl.DataFrame, changes: dict[tuple[int, str], Value]) -> pl.DataFrame:
    """The table with some cells changed. A decimal among whole numbers makes a column of decimals."""
    by_column: dict[str, dict[int, Value]] = {}
    for (row, column), value in changes.items():
        by_column.setdefault(column, {})[row] = value
    replaced = []
    for column, new in by_column.items():
        series = table[column]
        values = series.to_list()
        for row, value in new.items():
            values[row] = value
        floats = series.dtype.is_integer() and any(isinstance(value, float) for value in new.values())
        replaced.append(pl.Series(column, values, dtype=pl.Float64 if floats else series.dtype))
    return table.with_columns(replaced)
