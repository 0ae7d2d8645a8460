"""What to do with one column, and why, in words. Everything here is learned from the column alone."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables import values
from elect.tables.encoders import (
    CYCLES,
    BooleanEncoder,
    CategoryEncoder,
    Encoder,
    FrequencyEncoder,
    NumberEncoder,
    TextEncoder,
    TimeEncoder,
    text_sizes,
    usable,
)

if TYPE_CHECKING:
    import polars as pl

INFORMATIVE = 0.01  # a larger share of missing values gets a 0/1 column of its own
NEARLY_ALL = 0.99  # from this share of missing values on a column is dropped
READABLE = 0.9  # text is numbers (dates, ...) where this share of its values reads as such
MOST_LEVELS = 20  # categories with a 0/1 column each; more than that are encoded by how rare they are
RARE = 0.001  # a category in a smaller share of rows, or in one row, is rare
MOST_RARE = 0.2  # where rare categories fill more of the rows, 0/1 columns would hide most of the table
UNIQUE = 0.95  # a larger share of distinct words is a name for each row, not a category
FEWEST_FOR_ID = 10  # rows; in fewer, all values may differ by chance
MOST_COUNTS = 50_000  # categories whose count is kept
SAMPLE = 2000  # values that are looked at to guess what a text column holds

_ID_NAME = re.compile(r"(^|.*[_\W])(id|uuid|guid|rowid|rownum|row_number)$", re.IGNORECASE)
_CAMEL_ID = re.compile(r".*[a-z](Id|ID)$")


RESULT_COLUMNS = ("elect_score", "elect_chance", "elect_outlier", "elect_kind", "elect_reasons")
"""What elect writes beside the columns of a table. They tell nothing about its rows that a detector should learn."""

NUMBERS_ROWS = "whole numbers at even steps, each once: they number the rows"


@dataclass(frozen=True)
class Decision:
    """What a column is, how it is encoded (None: dropped), what was done and why, and its share of missing values."""

    kind: str
    encoder: Encoder | None
    done: str
    why: str
    missing: float


def decide(name: str, series: "pl.Series", decimal: str | None = None) -> Decision:
    """What to do with a column. ``decimal`` is the mark its file shows, for text that could be read both ways.

    >>> import polars as pl
    >>> decide("price", pl.Series(["$1,200", "$900", "n/a", "$1,000"])).done
    'used as a number; 1 missing value (25%) replaced by the median 1000, and a 0/1 column says where'
    >>> decide("order_id", pl.Series(range(5000, 5100))).done
    'dropped'
    """
    import polars as pl

    if name in RESULT_COLUMNS:
        return Decision("result", None, "dropped", "elect wrote it in an earlier run", 0.0)
    dtype = series.dtype
    if dtype == pl.Null or series.null_count() == len(series):
        return _all_missing()
    if dtype in (pl.Categorical, pl.Enum):
        return _category(values.words(series), "the column is declared as categories")
    if dtype == pl.String:
        return _decide_text(name, series, decimal)
    if dtype == pl.Boolean:
        return _boolean(series, "the column holds true and false")
    if dtype.is_numeric() or dtype == pl.Duration:
        whole = dtype.is_integer()
        if whole and _says_id(name):
            return _identifier(name, series)
        why = "durations, in seconds" if dtype == pl.Duration else "the column holds numbers"
        return _number(series, ".", why, whole)
    if dtype in (pl.Date, pl.Datetime):
        return _time(series, "year-month-day", "the column holds dates", clock=False)
    if dtype == pl.Time:
        return _time(series, "year-month-day", "the column holds clock times", clock=True)
    missing = series.null_count() / len(series)
    return Decision(
        "nested", None, "dropped", f"its cells hold {dtype}, and only plain values can be compared", missing
    )


def _decide_text(name: str, text: "pl.Series", hint: str | None) -> Decision:
    """Text, as in a CSV file, may be anything: numbers, truth values, dates and clock times are tried in this order."""
    import polars as pl

    plain = text.cast(pl.Float64, strict=False)
    if hint != "," and plain.null_count() == text.null_count() and not bool((plain.round() == plain).all()):
        return _number(text, ".", "the column holds numbers", whole=False)  # by far the most frequent case, and fast
    sample = values.words(_evenly(text)).drop_nulls()
    if sample.is_empty():
        sample = values.words(text).drop_nulls().head(SAMPLE)
        if sample.is_empty():
            return _all_missing()
    enough = READABLE * len(sample)
    digits = _share(sample, r"\d") >= 0.5
    numeric = digits and _share(sample, r"^\W*([A-Z]{3}\s*)?\W*\d") >= 0.5
    decimal = _decimal(sample, hint) if numeric else "."
    if numeric and len(sample) - values.numbers(sample, decimal).failed >= enough:
        whole = _share(sample, r"^[-+]?\d+$") == 1.0
        if whole and _share(sample, r"^0\d\d+$") > INFORMATIVE:
            return _category(values.words(text), "numbers that begin with 0 are codes, not quantities")
        if whole and _says_id(name):
            return _identifier(name, text)
        return _number(text, decimal, _number_words(sample, decimal), whole)
    distinct = set(sample.str.to_lowercase().unique())
    if any(distinct <= set(pair) for pair in values.TRUTH_WORDS) and values.truths(text).failed == 0:
        return _boolean(text, f"the column holds only {' and '.join(sorted(distinct))}")
    if digits and _share(sample, r"\d:\d\d") >= 0.5 and len(sample) - values.clocks(sample).failed >= enough:
        return _time(text, "year-month-day", "text that reads as clock times", clock=True)
    orders = [order for order, pattern in values.DATE_ORDERS.items() if digits and _share(sample, f"^{pattern}") >= 0.5]
    read = {order: len(sample) - values.dates(sample, order).failed for order in orders}
    if max(read.values(), default=0) >= enough:
        return _time(text, *_date_order(text, read, hint), clock=False)
    return _category(values.words(text), "the column holds words")


def _share(sample: "pl.Series", pattern: str) -> float:
    """The share of the texts that match a pattern."""
    matches = sample.str.contains(pattern).sum()
    return float(matches) / len(sample)


def _evenly(text: "pl.Series") -> "pl.Series":
    return text.gather_every(max(1, len(text) // SAMPLE))


def _says_id(name: str) -> bool:
    return bool(_ID_NAME.match(name) or _CAMEL_ID.match(name))


def _all_missing() -> Decision:
    return Decision("empty", None, "dropped", "every value is missing", 1.0)


def _nearly_all_missing(kind: str, missing: float) -> Decision:
    return Decision(kind, None, "dropped", f"nearly every value is missing ({wording.percent(missing)})", missing)


def _missing(gone: int, rows: int) -> str:
    return f"{wording.count(gone, 'missing value')} ({wording.percent(gone / rows)})"


def _filled(gone: int, rows: int, fill: str) -> tuple[bool, str]:
    """Whether missing values get a column of their own, and what was done with them in words."""
    if gone == 0:
        return False, ""
    indicator = gone > INFORMATIVE * rows
    also = ", and a 0/1 column says where" if indicator else ""
    return indicator, f"; {_missing(gone, rows)} replaced by {fill}{also}"


# --- numbers ------------------------------------------------------------------------------------------------------


def _decimal(sample: "pl.Series", hint: str | None) -> str:
    """The decimal mark under which more values read as numbers; the file's where both do as well."""
    commas, points = (bool(sample.str.contains(mark, literal=True).any()) for mark in ",.")
    if not commas and not (points and hint == ","):
        return "."
    failed = {mark: values.numbers(sample, mark).failed for mark in ".,"}
    if failed["."] == failed[","]:
        return hint or "."
    return min(failed, key=lambda mark: failed[mark])


def _number_words(sample: "pl.Series", decimal: str) -> str:
    odd = sample.filter(~sample.str.contains(r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$"))
    if odd.is_empty():
        return "the column holds numbers"
    mark = ", with decimal commas" if decimal == "," else ""
    readable = odd.filter(~np.isnan(values.numbers(odd, decimal).values))
    example = f" such as {readable[0]!r}" if len(readable) else ""
    return f"text{example} that reads as numbers{mark}"


def _number(series: "pl.Series", decimal: str, why: str, whole: bool) -> Decision:
    parsed = values.numbers(series, decimal)
    read = usable(parsed)
    rows, gone = len(read), int(np.isnan(read).sum())
    infinite = gone - int(np.isnan(parsed.values).sum())
    missing = gone / rows
    if gone == rows:
        return Decision("number", None, "dropped", "no value is a finite number", 1.0)
    if missing >= NEARLY_ALL:
        return _nearly_all_missing("number", missing)
    if whole and gone == 0 and rows >= FEWEST_FOR_ID and _counts_rows(read):
        return Decision("id", None, "dropped", NUMBERS_ROWS, 0.0)
    fill = float(np.median(read[~np.isnan(read)]))
    indicator, about = _filled(gone, rows, f"the median {wording.number(fill)}")
    if parsed.failed:
        about += f"; {wording.count(parsed.failed, 'value that is no number', 'values that are no numbers')} among them"
    if infinite:
        about += f"; {wording.count(infinite, 'infinite value')} among them"
    return Decision("number", NumberEncoder(fill, indicator, decimal), f"used as a number{about}", why, missing)


def _counts_rows(read: FloatArray) -> bool:
    steps = np.diff(np.sort(read))
    return bool(steps[0] > 0 and (steps == steps[0]).all())


def _identifier(name: str, series: "pl.Series") -> Decision:
    """Whole numbers in a column whose name says that they name something."""
    return _category(values.words(series), f"whole numbers under a name like {name!r} are names, not quantities")


# --- truth values and times ---------------------------------------------------------------------------------------


def _boolean(series: "pl.Series", why: str) -> Decision:
    read = values.truths(series).values
    rows, gone = len(read), int(np.isnan(read).sum())
    if gone >= NEARLY_ALL * rows:
        return _nearly_all_missing("boolean", gone / rows)
    fill = float(np.nanmean(read) > 0.5)
    indicator, about = _filled(gone, rows, f"the more frequent {'true' if fill else 'false'}")
    return Decision("boolean", BooleanEncoder(fill, indicator), f"used as 0 and 1{about}", why, gone / rows)


def _date_order(text: "pl.Series", read: dict[str, int], hint: str | None) -> tuple[str, str]:
    """The order of day, month and year, and how sure it is."""
    best = max(read, key=lambda order: read[order])
    day_first, month_first = "day-month-year", "month-day-year"
    if best not in (day_first, month_first):
        return best, f"text that reads as dates ({best.replace('name', 'month')})"
    failed = {order: values.dates(text, order).failed for order in (day_first, month_first)}
    if failed[day_first] != failed[month_first]:
        best = min(failed, key=lambda order: failed[order])
        return best, f"text that reads as dates ({best})"
    european = hint == "," or bool(text.str.contains(r"^\s*\d+\.").any())
    best = day_first if european else month_first
    return (
        best,
        f"text that reads as dates ({best}; no date tells which of day and month comes first, so that is a guess)",
    )


def _time(series: "pl.Series", order: str, why: str, *, clock: bool) -> Decision:
    """Seconds, and the cycles the column goes through at least twice: fewer turns are no cycle."""
    parsed = values.clocks(series) if clock else values.dates(series, order)
    read = parsed.values
    rows, gone = len(read), int(np.isnan(read).sum())
    if gone >= NEARLY_ALL * rows:
        return _nearly_all_missing("time", gone / rows)
    known = read[~np.isnan(read)]
    span = float(np.ptp(known))
    if clock:
        cycles: tuple[str, ...] = ("time of day",)
    else:
        cycles = tuple(cycle for cycle, (period, _) in CYCLES.items() if span >= 2 * period)
        if (known % 86400.0 == known[0] % 86400.0).all():
            cycles = tuple(cycle for cycle in cycles if cycle != "time of day")
    fill = float(np.median(known))
    indicator, about = _filled(gone, rows, "the median")
    if parsed.failed:
        about += f"; {wording.count(parsed.failed, 'value')} that could not be read among them"
    parts = "".join(f", {cycle}" for cycle in cycles)
    unit = "seconds since midnight" if clock else "seconds"
    encoder = TimeEncoder(fill, cycles, order, clock, indicator)
    return Decision("time", encoder, f"used as {unit}{parts}{about}", why, gone / rows)


# --- words --------------------------------------------------------------------------------------------------------


def _category(text: "pl.Series", why: str) -> Decision:
    rows, gone = len(text), text.null_count()
    missing = gone / rows
    if missing >= NEARLY_ALL:
        return _nearly_all_missing("category", missing)
    present = text.drop_nulls().alias("category")
    # By count, then by name: the order must not depend on the order of the rows.
    counted = present.value_counts(name="count").sort(["count", "category"], descending=[True, False])
    distinct = counted.height
    long = _is_prose(present.head(SAMPLE))
    if distinct > 0.5 * len(present) and long:
        return _text(text, missing)
    if distinct >= UNIQUE * len(present) and len(present) >= FEWEST_FOR_ID:
        share = (
            "every value is"
            if distinct == len(present)
            else f"{wording.percent(distinct / len(present))} of the values are"
        )
        return Decision("id", None, "dropped", f"{share} different from all others: they name the rows", missing)
    pairs: list[tuple[str | None, int]] = [(category, count) for category, count in counted.iter_rows()]
    about = ""
    if gone > INFORMATIVE * rows:
        pairs.append((None, gone))
        pairs.sort(key=lambda pair: -pair[1])
        about = f"; {_missing(gone, rows)} count as a category"
    elif gone:
        about = f"; {_missing(gone, rows)} replaced by the most frequent category"
    if len(pairs) == 1:
        return Decision("category", None, "dropped", f"the same value in every row: {pairs[0][0]!r}", missing)
    least = max(2, RARE * rows)
    frequent = [category for category, count in pairs if count >= least]
    rare_rows = sum(count for _, count in pairs if count < least)
    if frequent and len(frequent) <= MOST_LEVELS and rare_rows <= MOST_RARE * rows:
        return _levels(frequent, len(pairs) - len(frequent), missing, about, why)
    if len({count for _, count in pairs}) == 1:
        return Decision(
            "category", None, "dropped", f"{distinct} categories, all equally frequent: none stands out", missing
        )
    kept = [(category, count) for category, count in pairs if category is not None and count > 1][:MOST_COUNTS]
    common = gone if gone > INFORMATIVE * rows else pairs[0][1]
    done = f"replaced by how rare the category is ({distinct} categories){about}"
    return Decision("category", FrequencyEncoder(tuple(kept), rows, common), done, why, missing)


def _levels(frequent: list[str | None], rare: int, missing: float, about: str, why: str) -> Decision:
    own = None in frequent
    fallback = len(frequent) if rare and missing > INFORMATIVE else 0
    encoder = CategoryEncoder(tuple(frequent), rare > 0, frequent.index(None) if own else fallback)
    together = f", {wording.count(rare, 'rare category', 'rare categories')} together" if rare else ""
    done = f"one 0/1 column for each of {len(frequent)} categories{together}{about}"
    if len(encoder.outputs) == 1:
        done = f"one 0/1 column for two categories{together}{about}"
    return Decision("category", encoder, done, why, missing)


def _is_prose(sample: "pl.Series") -> bool:
    mean = sample.str.count_matches(r"\S+").mean()
    return isinstance(mean, float) and mean >= 4


def _text(text: "pl.Series", missing: float) -> Decision:
    gone = text.is_null().to_numpy()
    characters, count = text_sizes(text)
    fill = (float(np.median(characters[~gone])), float(np.median(count[~gone])))
    indicator, about = _filled(int(gone.sum()), len(gone), "the medians")
    done = f"replaced by the logarithms of its numbers of characters and words{about}"
    return Decision("text", TextEncoder(fill, indicator), done, "free text: several words, mostly different", missing)
