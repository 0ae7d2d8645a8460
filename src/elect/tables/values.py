"""What the cells of a column mean: numbers, dates, clock times, truth values or plain words.

Each function takes a column of any type and reads it cell by cell, never looking at a neighbour, so that a batch is
always read as the whole would be.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    import polars as pl

MISSING_WORDS = (
    *("", "NA", "N/A", "n/a", "na", "#N/A", "#NA", "<NA>", "NaN", "nan", "-nan", "NULL", "Null", "null", "None", "NaT"),
    *("?", "-", "--", "."),
)
TRUTH_WORDS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"), ("on", "off"))
INFINITE = 1e37  # further from 0 is a stand-in for "no value" (the largest 32-bit number, for one), not a measurement

_SPACERS = r"' \u{2019}\u{a0}\u{202f}"  # what else stands between thousands: apostrophes and blanks
_MINUS = ["-", "\u2212"]
_SYMBOL = r"(?:[$€£¥₹]|USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|SEK|NOK|DKK)"
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = r"(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2}(?:[.,]\d+)?))?\s*(?P<half>[AaPp])?\.?(?:[Mm]\.?)?"
_ZONE = r"(?P<zone>Z|UTC|GMT|[-+]\d{2}:?\d{2})?"
DATE_ORDERS = {
    "year-month-day": r"(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})",
    "day-month-year": r"(?P<d>\d{1,2})[-/.](?P<m>\d{1,2})[-/.](?P<y>\d{4}|\d{2})",
    "month-day-year": r"(?P<m>\d{1,2})[-/.](?P<d>\d{1,2})[-/.](?P<y>\d{4}|\d{2})",
    "day-name-year": r"(?:[A-Za-z]{3,9},? +)?(?P<d>\d{1,2})[- ](?P<m>[A-Za-z]{3,9})\.?[-, ]+(?P<y>\d{4}|\d{2})",
    "name-day-year": r"(?:[A-Za-z]{3,9},? +)?(?P<m>[A-Za-z]{3,9})\.? +(?P<d>\d{1,2})(?:st|nd|rd|th)?,? +(?P<y>\d{4})",
}


@dataclass(frozen=True, eq=False)
class Parsed:
    """One number for each cell, NaN where there is none. ``failed`` cells hold something that could not be read."""

    values: FloatArray
    failed: int = 0


def words(series: "pl.Series") -> "pl.Series":
    """The column as text without outer blanks; null where the value is missing.

    Equal values are equal text whatever type they were stored as.

    >>> import polars as pl
    >>> words(pl.Series([" a", "N/A", None])).to_list(), words(pl.Series([1.0, 2.5])).to_list()
    (['a', None, None], ['1', '2.5'])
    """
    import polars as pl

    dtype = series.dtype
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary, pl.Null) or type(dtype).__name__ == "Extension":
        return pl.Series([None], dtype=pl.String).new_from_index(0, len(series))
    if dtype.is_float() or dtype.is_decimal():
        numbers = series.cast(pl.Float64)
        whole = numbers.cast(pl.Int64, strict=False)
        is_whole = (whole.cast(pl.Float64) == numbers).fill_null(False)
        # An integer column with missing values is often stored as floats; 1.0 must meet the "1" of a text file.
        text = numbers.cast(pl.String).set(is_whole, None)
        text = text.zip_with(~is_whole, whole.cast(pl.String))
    else:
        text = (series.dt.total_microseconds() if dtype == pl.Duration else series).cast(pl.String)
    if dtype == pl.String or dtype in (pl.Categorical, pl.Enum):
        text = text.str.strip_chars()
    return text.set(text.is_in(MISSING_WORDS), None)


def _as_floats(series: "pl.Series") -> FloatArray:
    import polars as pl

    values: FloatArray = np.array(series.cast(pl.Float64, strict=False).to_numpy(), dtype=np.float64)
    return values


def _nothing(series: "pl.Series") -> Parsed:
    return Parsed(np.full(len(series), np.nan), len(series) - series.null_count())


def is_text(series: "pl.Series") -> bool:
    import polars as pl

    return series.dtype == pl.String or series.dtype in (pl.Categorical, pl.Enum)


def numbers(series: "pl.Series", decimal: str = ".") -> Parsed:
    """The column as numbers. Text may hold thousands marks, per cent (0.12 for 12%), currencies, (5) for -5.

    >>> import polars as pl
    >>> numbers(pl.Series(["1,234.5", "12%", "$5", "(3)", "many", None])).values
    array([ 1.2345e+03,  1.2000e-01,  5.0000e+00, -3.0000e+00,         nan,
                   nan])
    >>> numbers(pl.Series(["1.234,5", "0,5"]), decimal=",").values
    array([1.2345e+03, 5.0000e-01])
    """
    import polars as pl

    dtype = series.dtype
    if dtype.is_numeric() or dtype == pl.Boolean:
        return Parsed(_as_floats(series))
    if dtype == pl.Duration:
        return Parsed(_as_floats(series.dt.total_microseconds()) / 1e6)
    if not is_text(series):
        return _nothing(series)
    text = series.cast(pl.String)
    if decimal == ".":
        parsed = text.cast(pl.Float64, strict=False)
        left = parsed.is_null() & text.is_not_null()
        values = _as_floats(parsed)
    else:  # a point is then a thousands mark, which a plain cast would take for the decimal one
        left, values = text.is_not_null(), np.full(len(text), np.nan)
    if not left.any():
        return Parsed(values)
    rest = words(text.filter(left))
    written = _written_numbers(rest, decimal)
    values[left.to_numpy()] = written
    return Parsed(values, int(np.isnan(written).sum()) - rest.null_count())


def _written_numbers(text: "pl.Series", decimal: str) -> FloatArray:
    import polars as pl

    mark, thousands = (r"\.", rf"[,{_SPACERS}]") if decimal == "." else (",", rf"[.{_SPACERS}]")
    pattern = (
        rf"^(?P<open>\()?\s*(?P<s1>[-+\u{{2212}}])?\s*{_SYMBOL}?\s*(?P<s2>[-+\u{{2212}}])?\s*"
        rf"(?P<body>(?:\d{{1,3}}(?:{thousands}\d{{3}})+|\d+)(?:{mark}\d*)?|{mark}\d+|(?i:inf|infinity))"
        rf"(?P<exp>[eE][-+]?\d+)?\s*{_SYMBOL}?\s*(?P<cent>%)?\s*{_SYMBOL}?\)?$"
    )
    parts = text.str.extract_groups(pattern).struct.unnest()
    body = parts["body"].str.replace_all(thousands, "")
    if decimal == ",":
        body = body.str.replace(",", ".", literal=True)
    values = _as_floats((body + parts["exp"].fill_null("")).cast(pl.Float64, strict=False))
    minus = (parts["open"].is_not_null() | parts["s1"].is_in(_MINUS) | parts["s2"].is_in(_MINUS)).fill_null(False)
    values[minus.to_numpy()] *= -1.0
    values[parts["cent"].is_not_null().to_numpy()] /= 100.0
    return values


def truths(series: "pl.Series") -> Parsed:
    """The column as 1 (true, yes, on) and 0 (false, no, off).

    >>> import polars as pl
    >>> truths(pl.Series(["Yes", "no", "perhaps", ""])).values
    array([ 1.,  0., nan, nan])
    """
    import polars as pl

    if series.dtype == pl.Boolean:
        return Parsed(_as_floats(series))
    if series.dtype.is_numeric():
        values = _as_floats(series)
        odd = ~np.isnan(values) & (values != 0) & (values != 1)
        return Parsed(np.where(odd, np.nan, values), int(odd.sum()))
    text = words(series).str.to_lowercase()
    known = [word for pair in TRUTH_WORDS for word in pair] + ["1", "0"]
    meant = [1.0, 0.0] * (len(known) // 2)
    values = _as_floats(text.replace_strict(known, meant, default=None, return_dtype=pl.Float64))
    return Parsed(values, int(np.isnan(values).sum()) - text.null_count())


def dates(series: "pl.Series", order: str = "year-month-day") -> Parsed:
    """The column as seconds since 1970 (UTC where a zone is given, else as written).

    >>> import polars as pl
    >>> dates(pl.Series(["1970-01-02", "1970-01-01T01:00:00+01:00", "soon"])).values
    array([86400.,     0.,    nan])
    >>> dates(pl.Series(["2 Jan 1970 00:00:01"]), "day-name-year").values
    array([86401.])
    """
    import polars as pl

    if series.dtype in (pl.Date, pl.Datetime):
        return Parsed(_as_floats(series.cast(pl.Datetime("us")).dt.epoch("us")) / 1e6)
    if not is_text(series):
        return _nothing(series)
    text = words(series)
    parts = text.str.extract_groups(rf"^{DATE_ORDERS[order]}(?:[T ]+{_TIME}\s*{_ZONE})?$").struct.unnest()
    year, month = parts["y"], parts["m"]
    short = year.str.len_chars() == 2
    if short.any():
        century = pl.Series(["20"]).new_from_index(0, len(text)).zip_with(year < "70", pl.Series(["19"]))
        year = (century + year).zip_with(short.fill_null(False), year)
    if "name" in order:
        numbered = [str(position) for position in range(1, 13)]
        month = month.str.slice(0, 3).str.to_lowercase().replace_strict(_MONTHS, numbered, default=None)
    days = (year + "-" + month + "-" + parts["d"]).str.to_date("%Y-%m-%d", strict=False)
    seconds = _as_floats(days.dt.epoch("d")) * 86400.0
    if parts["h"].null_count() < len(text):
        clock = np.where(parts["h"].is_null().to_numpy(), 0.0, _clock(parts))
        seconds += clock - _offset(parts["zone"])
    return Parsed(seconds, int(np.isnan(seconds).sum()) - text.null_count())


def clocks(series: "pl.Series") -> Parsed:
    """The column as seconds since midnight.

    >>> import polars as pl
    >>> clocks(pl.Series(["00:01", "1:00 PM", "25:00"])).values
    array([   60., 46800.,    nan])
    """
    import polars as pl

    if series.dtype == pl.Time:
        return Parsed(_as_floats(series.cast(pl.Int64)) / 1e9)
    if not is_text(series):
        return _nothing(series)
    text = words(series)
    values = _clock(text.str.extract_groups(rf"^{_TIME}$").struct.unnest())
    return Parsed(values, int(np.isnan(values).sum()) - text.null_count())


def _clock(parts: "pl.DataFrame") -> FloatArray:
    """Seconds since midnight; NaN where the hour, minute or second is none."""
    hour, minute = _as_floats(parts["h"]), _as_floats(parts["min"])
    second = np.nan_to_num(_as_floats(parts["s"].str.replace(",", ".", literal=True)))
    half = parts["half"].str.to_lowercase()
    hour = np.where(half.is_not_null().to_numpy(), hour % 12, hour)
    hour += np.where((half == "p").fill_null(False).to_numpy(), 12.0, 0.0)
    valid = (hour < 24) & (minute < 60) & (second < 61)
    return np.where(valid, hour * 3600 + minute * 60 + second, np.nan)


def _offset(zone: "pl.Series") -> FloatArray:
    """Seconds to subtract for a zone such as +02:00."""
    parts = zone.str.extract_groups(r"^(?P<sign>[-+])(?P<h>\d{2}):?(?P<min>\d{2})$").struct.unnest()
    size = np.nan_to_num(_as_floats(parts["h"])) * 3600 + np.nan_to_num(_as_floats(parts["min"])) * 60
    return np.where((parts["sign"] == "-").fill_null(False).to_numpy(), -size, size)
