"""The errors that people and programs make when a value is entered: one function a kind.

A function is given a column, a row and random numbers, and says which value would stand there, or None where nothing
wrong comes of it; ``suits`` says which columns can have the kind at all. A value is always changed. It keeps the type
of its column and the number of decimals the column is written with, because a slip of the hand does so; a shifted point
may leave a decimal among whole numbers. Only ``integers`` and ``permutation`` are drawn, which give the same numbers
with every version of numpy.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from math import isclose
from typing import Any

import numpy as np
import polars as pl

Value = int | float | str | date | None
Wrong = Callable[["Column", int, np.random.Generator], Value]

MAX_DECIMALS = 6
"""More decimals than these were computed, not written."""

FEW_LEVELS = 5
"""The value of another row, or another unit, says nothing in a column of so few values: it may as well be true."""

ONE_SIGN = 0.95
"""A flipped sign is an error where this share of the column has one sign."""

SAME = 1e-3
"""Numbers as close as that are the same, written more or less exactly."""

FREQUENT = 3
"""A word that is there as often has a right spelling."""

SENTINELS = (-999, 9999, 999, 99, -1, 0, -99, 99999, -9999)
WORDS_FOR_NOTHING = ("?", "N/A", "unknown", "-", "none", "xxx", "TBD", "999")
DEFAULT_DATES = ((1900, 1, 1), (1970, 1, 1), (2099, 12, 31), (1899, 12, 30), (1, 1, 1))
FACTORS = (1000.0, 0.001, 2.54, 1 / 2.54, 0.4536, 1 / 0.4536, 0.3048, 1 / 0.3048, 1.609, 1 / 1.609, 60.0, 1 / 60)
SHIFTS = (10.0, 100.0, 0.1, 0.01, 10.0, 1000.0)
YEARS = (-100, 100, -10, 10, 1, -1)


@dataclass(frozen=True, eq=False)
class Column:
    """A column and what its errors depend on, computed once."""

    series: pl.Series

    @property
    def name(self) -> str:
        return self.series.name

    @cached_property
    def values(self) -> list[Any]:
        return self.series.to_list()

    @cached_property
    def counts(self) -> Counter[Any]:
        return Counter(value for value in self.values if value is not None)

    @cached_property
    def is_number(self) -> bool:
        return self.series.dtype.is_numeric()

    @cached_property
    def is_whole(self) -> bool:
        return self.series.dtype.is_integer()

    @cached_property
    def is_text(self) -> bool:
        return self.series.dtype == pl.String

    @cached_property
    def is_date(self) -> bool:
        return self.series.dtype.is_temporal()

    @cached_property
    def decimals(self) -> int | None:
        """How many decimals its numbers are written with; None where they were computed."""
        numbers = np.array([float(value) for value in self.counts])
        for decimals in range(MAX_DECIMALS + 1):
            if np.allclose(numbers, numbers.round(decimals), rtol=1e-9, atol=1e-12):
                return decimals
        return None

    @cached_property
    def share_negative(self) -> float:
        signed = [value for value in self.values if value]
        return float(np.mean([value < 0 for value in signed])) if signed else 0.0

    @cached_property
    def share_with_digits(self) -> float:
        there = sum(self.counts.values())
        return sum(n for word, n in self.counts.items() if any(c.isdigit() for c in word)) / max(there, 1)

    def as_written(self, number: float) -> float | int:
        """The number with the decimals and the type of the column."""
        if self.is_whole:
            return round(number)
        return float(f"{number:.12g}") if self.decimals is None else round(number, self.decimals)


def _draw(rng: np.random.Generator, among: Any) -> Any:
    return among[int(rng.integers(len(among)))]


def shifted(column: Column, row: int, rng: np.random.Generator) -> Value:
    """The decimal point in another place."""
    value = column.values[row]
    factor, keeps_decimals = _draw(rng, SHIFTS), bool(rng.integers(2))
    wrong = float(f"{value * factor:.12g}")
    return wrong if keeps_decimals and column.decimals is not None and factor < 1 else column.as_written(wrong)


def flipped(column: Column, row: int, rng: np.random.Generator) -> Value:
    """The sign lost or added, in a column that has one sign."""
    value = column.values[row]
    return None if (value < 0) != (column.share_negative > 0.5) else -value


def sentinel(column: Column, row: int, rng: np.random.Generator) -> Value:
    """A stand-in for a missing value, that the column does not have: -999, 0 where zeros are not, a default date."""
    if column.is_text:
        return str(_draw(rng, WORDS_FOR_NOTHING))
    if column.is_date:
        default = datetime(*_draw(rng, DEFAULT_DATES))
        return default if column.series.dtype == pl.Datetime else default.date()
    number = int(_draw(rng, SENTINELS))
    # 99 is a fair value between 12 and 250, and 0 between -5 and 5; neither stands for nothing there.
    inside = min(column.counts) <= number <= max(column.counts)
    return None if inside else number if column.is_whole else float(number)


def misspelt(column: Column, row: int, rng: np.random.Generator) -> Value:
    """A frequent word in other letters: case, two letters transposed, one dropped or doubled, a blank behind."""
    word = column.values[row]
    if column.counts[word] < FREQUENT or not any(c.isalpha() for c in word):
        return None
    ways = ("case", "blank") if len(word) < 3 else ("transposed", "dropped", "doubled", "replaced", "case", "blank")
    way = _draw(rng, ways)
    if way == "case":
        return str(_draw(rng, (word.lower(), word.upper(), word.capitalize(), word.swapcase())))
    if way == "blank":
        return str(_draw(rng, (word + " ", " " + word)))
    at = int(rng.integers(len(word) - 1))
    if way == "transposed":
        return str(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
    if way == "dropped":
        return str(word[:at] + word[at + 1 :])
    if way == "doubled":
        return str(word[:at] + word[at] + word[at:])
    return str(word[:at] + chr(ord("a") + int(rng.integers(26))) + word[at + 1 :])


def digit(column: Column, row: int, rng: np.random.Generator) -> Value:
    """A digit too many or too few, before the decimal point or in an identifier."""
    value = column.values[row]
    if column.is_text:
        at = _draw(rng, [i for i, c in enumerate(value) if c.isdigit()] or [0])
        return str(value[:at] + value[at + 1 :] if rng.integers(2) else f"{value[:at]}{rng.integers(10)}{value[at:]}")
    whole = str(int(abs(value)))
    rest = abs(value) - int(abs(value))
    if rng.integers(2) and len(whole) > 1:
        at = int(rng.integers(len(whole)))
        whole = whole[:at] + whole[at + 1 :]
    else:
        at = int(rng.integers(len(whole) + 1))
        whole = whole[:at] + str(rng.integers(10)) + whole[at:]
    wrong = column.as_written(int(whole) + rest)
    return -wrong if value < 0 else wrong


def unit(column: Column, row: int, rng: np.random.Generator) -> Value:
    """The value in another unit: grams, inches, pounds, minutes, degrees Fahrenheit."""
    value = column.values[row]
    way = int(rng.integers(len(FACTORS) + 2))
    if way < len(FACTORS):
        return column.as_written(value * FACTORS[way])
    return column.as_written(value * 1.8 + 32 if way == len(FACTORS) else (value - 32) / 1.8)


def misdated(column: Column, row: int, rng: np.random.Generator) -> Value:
    """Another year, or day and month swapped."""
    value = column.values[row]
    try:
        if rng.integers(3) == 0:
            swapped: date = value.replace(month=value.day, day=value.month)
            return swapped
        moved: date = value.replace(year=value.year + int(_draw(rng, YEARS)))
        return moved
    except ValueError:  # no such day
        return None


def of_another_row(column: Column, row: int, rng: np.random.Generator) -> Value:
    """What stands in another row of the column."""
    other: Value = _draw(rng, column.values)
    return other


WRONG: dict[str, Wrong] = {
    "decimal": shifted,
    "sign": flipped,
    "sentinel": sentinel,
    "misspelling": misspelt,
    "digit": digit,
    "unit": unit,
    "date": misdated,
    "another row": of_another_row,
}
"""Kinds of wrong cells. A ``swap`` is of two cells, and made where the tasks are."""


def suits(kind: str, column: Column) -> bool:
    """Whether a column can have errors of this kind."""
    match kind:
        case "decimal":
            return column.is_number
        case "sign":
            return column.is_number and not 1 - ONE_SIGN < column.share_negative < ONE_SIGN
        case "sentinel":
            return column.is_number or column.is_text or column.is_date
        case "misspelling":
            return column.is_text and max(column.counts.values()) >= FREQUENT
        case "digit":
            return column.is_number or (column.is_text and column.share_with_digits >= ONE_SIGN)
        case "unit":
            return column.is_number and len(column.counts) > FEW_LEVELS
        case "date":
            return column.is_date
        case _:
            return len(column.counts) > FEW_LEVELS


def wrong_value(kind: str, column: Column, row: int, rng: np.random.Generator) -> Value:
    """What an error of this kind would leave in the cell; None where it would leave nothing wrong."""
    value = column.values[row]
    if value is None:
        return None
    wrong = WRONG[kind](column, row, rng)
    if wrong is None or wrong == value:
        return None
    if isinstance(wrong, int | float) and isclose(wrong, value, rel_tol=SAME):
        return None
    # Misspelt into another word of the column, it would be a value of another row.
    return None if kind == "misspelling" and wrong in column.counts else wrong
