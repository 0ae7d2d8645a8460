"""How one input column becomes numbers. An encoder is learned once, then only applied; it is plain data.

Every encoder gives finite numbers for any column, of whatever type: what it cannot read counts as missing, and missing
values get the fill that was learned.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray
from elect.tables import values
from elect.tables.values import INFINITE, Parsed

if TYPE_CHECKING:
    import polars as pl

DAY = 86400.0
# Name, length of the period in seconds, and whether only whole days count (a weekday does not change at noon).
CYCLES = {
    "time of day": (DAY, False),
    "day of week": (7 * DAY, True),
    "time of year": (365.2425 * DAY, True),
}


class Output(NamedTuple):
    """One number an encoder gives for each row: the part of the column it belongs to, and what to add to its name."""

    part: str
    suffix: str


class Encoder(Protocol):
    """What a learned column can do. ``unread`` counts the cells that hold something the encoder was not taught."""

    kind: ClassVar[str]

    @property
    def outputs(self) -> tuple[Output, ...]: ...

    def encode(self, series: "pl.Series") -> FloatArray: ...

    def unread(self, series: "pl.Series") -> int: ...


def _require(valid: bool, what: str) -> None:
    if not valid:
        raise InvalidInput(f"A stored column treatment is damaged: {what}; learn the treatment again.")


def _is_finite(*numbers: object) -> bool:
    return all(isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x) for x in numbers)


def usable(parsed: Parsed) -> FloatArray:
    """The values, with NaN also for infinities."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(parsed.values) < INFINITE, parsed.values, np.nan)


_MISSING = Output("missing", " is missing")


def _with_indicator(gone: Any, indicator: bool, *columns: FloatArray) -> FloatArray:
    return np.column_stack([*columns, gone.astype(np.float64)] if indicator else columns)


@dataclass(frozen=True)
class NumberEncoder:
    """The number itself; ``fill`` (the median) where it is missing; with ``indicator``, 1 where it is missing."""

    kind: ClassVar[str] = "number"
    fill: float
    indicator: bool = False
    decimal: str = "."

    def __post_init__(self) -> None:
        _require(_is_finite(self.fill) and self.decimal in (".", ","), "a number's fill or decimal mark")

    @property
    def outputs(self) -> tuple[Output, ...]:
        return (Output("value", ""), _MISSING) if self.indicator else (Output("value", ""),)

    def read(self, series: "pl.Series") -> FloatArray:
        """The numbers (rows,), NaN where there is none."""
        return usable(values.numbers(series, self.decimal))

    def encode(self, series: "pl.Series") -> FloatArray:
        read = self.read(series)
        gone = np.isnan(read)
        return _with_indicator(gone, self.indicator, np.where(gone, self.fill, read))

    def unread(self, series: "pl.Series") -> int:
        parsed = values.numbers(series, self.decimal)
        infinite = int(np.isnan(usable(parsed)).sum()) - int(np.isnan(parsed.values).sum())
        return parsed.failed + infinite


@dataclass(frozen=True)
class BooleanEncoder:
    """1 for true, 0 for false, ``fill`` (the more frequent) where it is missing."""

    kind: ClassVar[str] = "boolean"
    fill: float
    indicator: bool = False

    def __post_init__(self) -> None:
        _require(_is_finite(self.fill), "a boolean's fill")

    @property
    def outputs(self) -> tuple[Output, ...]:
        return (Output("value", ""), _MISSING) if self.indicator else (Output("value", ""),)

    def encode(self, series: "pl.Series") -> FloatArray:
        read = values.truths(series).values
        gone = np.isnan(read)
        return _with_indicator(gone, self.indicator, np.where(gone, self.fill, read))

    def unread(self, series: "pl.Series") -> int:
        return values.truths(series).failed


@dataclass(frozen=True)
class TimeEncoder:
    """Seconds (since 1970; since midnight for clock times), and sine and cosine of each cycle the column goes round."""

    kind: ClassVar[str] = "time"
    fill: float
    cycles: tuple[str, ...] = ()
    order: str = "year-month-day"
    clock: bool = False
    indicator: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "cycles", tuple(self.cycles))
        _require(_is_finite(self.fill), "a time's fill")
        _require(set(self.cycles) <= set(CYCLES) and self.order in values.DATE_ORDERS, "a time's cycles or order")

    @property
    def outputs(self) -> tuple[Output, ...]:
        waves = [Output(cycle, f": {cycle} ({wave})") for cycle in self.cycles for wave in ("sine", "cosine")]
        return (Output("value", ""), *waves, *([_MISSING] if self.indicator else []))

    def _parsed(self, series: "pl.Series") -> Parsed:
        return values.clocks(series) if self.clock else values.dates(series, self.order)

    def read(self, series: "pl.Series") -> FloatArray:
        """The seconds (rows,), NaN where there is no time."""
        return self._parsed(series).values

    def encode(self, series: "pl.Series") -> FloatArray:
        read = self.read(series)
        gone = np.isnan(read)
        seconds = np.where(gone, self.fill, read)
        columns = [seconds]
        for cycle in self.cycles:
            period, whole_days = CYCLES[cycle]
            angle = 2 * np.pi * (np.floor(seconds / DAY) * DAY if whole_days else seconds) / period
            columns += [np.sin(angle), np.cos(angle)]
        return _with_indicator(gone, self.indicator, *columns)

    def unread(self, series: "pl.Series") -> int:
        return self._parsed(series).failed


@dataclass(frozen=True)
class CategoryEncoder:
    """One 0/1 column for each level; two levels share one column.

    ``categories`` are the frequent ones, most frequent first; with ``rare`` one more level holds all others, seen or
    not. Without it an unseen category counts as the least frequent one: the most unusual that was known.
    ``missing`` is the level of a missing value: its own (None in ``categories``), or the most frequent one.
    """

    kind: ClassVar[str] = "category"
    categories: tuple[str | None, ...]
    rare: bool
    missing: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(self.categories))
        known = all(c is None or isinstance(c, str) for c in self.categories)
        _require(known and len(set(self.categories)) == len(self.categories) > 0, "its categories")
        _require(isinstance(self.missing, int) and 0 <= self.missing < len(self._levels), "the level of missing values")

    @property
    def _levels(self) -> list[str]:
        names = ["(missing)" if category is None else category for category in self.categories]
        return [*names, "(rare)"] if self.rare else names

    @property
    def outputs(self) -> tuple[Output, ...]:
        levels = self._levels
        return tuple(Output("category", f" = {level}") for level in (levels[1:] if len(levels) == 2 else levels))

    def _codes(self, series: "pl.Series", unseen: int) -> Any:
        import polars as pl

        text = values.words(series)
        known = {category: code for code, category in enumerate(self.categories) if category is not None}
        codes = text.replace_strict(list(known), list(known.values()), default=unseen, return_dtype=pl.Int64)
        return codes.set(text.is_null(), self.missing).to_numpy()

    def encode(self, series: "pl.Series") -> FloatArray:
        size = len(self._levels)
        codes = self._codes(series, size - 1)
        kept = np.arange(1, 2) if size == 2 else np.arange(size)
        encoded: FloatArray = (codes[:, None] == kept).astype(np.float64)
        return encoded

    def unread(self, series: "pl.Series") -> int:
        return 0 if self.rare else int((self._codes(series, -1) == -1).sum())


@dataclass(frozen=True)
class FrequencyEncoder:
    """How rare the category is: the logarithm of rows / count. A category not counted counts as seen once.

    ``missing`` is the count given to missing values.
    """

    kind: ClassVar[str] = "frequency"
    counts: tuple[tuple[str, int], ...]
    rows: int
    missing: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", tuple((category, count) for category, count in self.counts))
        valid = all(isinstance(c, str) and isinstance(n, int) and n >= 1 for c, n in self.counts)
        _require(valid and isinstance(self.rows, int) and isinstance(self.missing, int), "its counts")
        _require(self.rows >= 1 and self.missing >= 1 and len(dict(self.counts)) == len(self.counts), "its counts")

    @property
    def outputs(self) -> tuple[Output, ...]:
        return (Output("value", ": rarity"),)

    def _counts(self, series: "pl.Series", unseen: int) -> Any:
        import polars as pl

        text = values.words(series)
        known = dict(self.counts)
        counts = text.replace_strict(list(known), list(known.values()), default=unseen, return_dtype=pl.Int64)
        return counts.set(text.is_null(), self.missing).to_numpy()

    def encode(self, series: "pl.Series") -> FloatArray:
        rarity: FloatArray = np.log(self.rows / self._counts(series, 1).astype(np.float64))
        return rarity[:, None]

    def unread(self, series: "pl.Series") -> int:
        return 0  # a category that was not counted is simply rare


@dataclass(frozen=True)
class TextEncoder:
    """Free text: the logarithms of its number of characters and of words; ``fill`` where it is missing."""

    kind: ClassVar[str] = "text"
    fill: tuple[float, float]
    indicator: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "fill", tuple(self.fill))
        _require(len(self.fill) == 2 and _is_finite(*self.fill), "a text's fill")

    @property
    def outputs(self) -> tuple[Output, ...]:
        sizes = (Output("value", ": characters"), Output("words", ": words"))
        return (*sizes, _MISSING) if self.indicator else sizes

    def encode(self, series: "pl.Series") -> FloatArray:
        text = values.words(series)
        gone = text.is_null().to_numpy()
        sizes = zip(self.fill, text_sizes(text), strict=True)
        return _with_indicator(gone, self.indicator, *(np.where(gone, fill, size) for fill, size in sizes))

    def unread(self, series: "pl.Series") -> int:
        return 0


def text_sizes(text: "pl.Series") -> tuple[FloatArray, FloatArray]:
    """log(1 + characters) and log(1 + words) of each text; 0 where it is null.

    >>> import polars as pl
    >>> np.expm1(text_sizes(pl.Series(["late again"]))).round(6).tolist()
    [[10.0], [2.0]]
    """
    characters = text.str.len_chars().fill_null(0).to_numpy()
    count = text.str.count_matches(r"\S+").fill_null(0).to_numpy()
    return np.log1p(characters.astype(np.float64)), np.log1p(count.astype(np.float64))


_ENCODERS: dict[str, Any] = {
    encoder.kind: encoder
    for encoder in (NumberEncoder, BooleanEncoder, TimeEncoder, CategoryEncoder, FrequencyEncoder, TextEncoder)
}


def encoder_to_plain(encoder: Any) -> dict[str, Any]:
    """An encoder as a dictionary of plain values.

    >>> encoder_to_plain(NumberEncoder(fill=2.0))
    {'kind': 'number', 'fill': 2.0, 'indicator': False, 'decimal': '.'}
    """
    return {"kind": encoder.kind, **asdict(encoder)}


def encoder_from_plain(plain: Mapping[str, Any]) -> Encoder:
    """The encoder that a dictionary of plain values describes; everything in it is checked."""
    fields = dict(plain)
    kind = fields.pop("kind", None)
    _require(kind in _ENCODERS, f"unknown kind {kind!r}")
    try:
        for flag in ("indicator", "rare", "clock"):
            _require(isinstance(fields.get(flag, False), bool), flag)
        encoder: Encoder = _ENCODERS[kind](**fields)
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(
            f"A stored column treatment is damaged: {kind} ({error}); learn the treatment again."
        ) from None
    return encoder
