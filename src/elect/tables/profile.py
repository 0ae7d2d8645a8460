"""How the values of each column are spread, in few numbers, and how far a later table is from that.

A number column is cut at its quantiles, a column of words into its most frequent words: later tables are counted in the
same places, a batch at a time. Columns of dates are left out: that days go on is no news.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from elect.errors import InvalidInput
from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables.cells._base import Cells

LEAST_CHANGE = 0.1
"""A column moved where the share of its values in some place changed by at least so much, ..."""

CHANCE = 0.001
"""... and where a table of equal columns would show such a change in some column with at most this chance."""

_QUANTILES = np.linspace(0.0, 1.0, 21)
_MOST_WORDS = 30
_LONGEST_WORD = 200


@dataclass(frozen=True)
class ColumnProfile:
    """Counts of values in places: of numbers up to each of ``marks`` and beyond the last, of words that are each of
    ``marks`` and of all others."""

    column: str
    kind: Literal["numbers", "words"]
    marks: tuple[float, ...] | tuple[str, ...]
    counts: tuple[int, ...]
    missing: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "marks", tuple(self.marks))
        object.__setattr__(self, "counts", tuple(self.counts))
        kind = {"numbers": float, "words": str}.get(self.kind)
        rising = self.kind != "numbers" or bool((np.diff(np.array(self.marks)) > 0).all())
        counted = all(type(count) is int and 0 <= count <= 10**12 for count in (*self.counts, self.missing))
        if (
            kind is None
            or not isinstance(self.column, str)
            or not all(type(mark) is kind for mark in self.marks)
            or not (rising and counted and len(self.counts) == len(self.marks) + 1)
        ):
            raise InvalidInput("A stored profile of a column is damaged: make the detector again.")

    @property
    def present(self) -> int:
        return sum(self.counts)

    @property
    def shares(self) -> FloatArray:
        """Of the values that are there: of numbers the share up to each mark, of words the share of each and of the
        others."""
        counts = np.cumsum(self.counts)[:-1] if self.kind == "numbers" else np.array(self.counts)
        found: FloatArray = counts / max(self.present, 1)
        return found

    def plus(self, other: "ColumnProfile") -> "ColumnProfile":
        counts = tuple(a + b for a, b in zip(self.counts, other.counts, strict=True))
        return ColumnProfile(self.column, self.kind, self.marks, counts, self.missing + other.missing)


@dataclass(frozen=True)
class Moved:
    """A column whose values, or how many of them are missing, changed: by how much, and where, in words."""

    column: str
    what: Literal["values", "missing"]
    change: float
    said: str

    def __str__(self) -> str:
        return f"{self.column}: {self.said}"


@dataclass(frozen=True)
class TableProfile:
    """The profiles of the columns of a table.

    >>> from elect.tables.cells import cells_of_array
    >>> before = TableProfile.fit(cells_of_array(np.arange(1000.0)[:, None]))
    >>> after = before.count(cells_of_array(np.arange(500.0, 1500.0)[:, None]))
    >>> print(*before.moved(after))
    x0: 50% of the values were up to 499.5, now 0%
    """

    columns: tuple[ColumnProfile, ...]

    @classmethod
    def fit(cls, cells: Cells) -> "TableProfile":
        """The profile of a table, cut at places that suit it."""
        found = [
            _with_counts(cells.names[place], "numbers", _marks(values), values)
            for place, values, is_time in zip(cells.number_at, cells.numbers.T, cells.is_time, strict=True)
            if not is_time
        ]
        for place, words in zip(cells.word_at, cells.words, strict=True):
            common = words.drop_nulls().value_counts(sort=True)
            marks = [word for word in common[words.name].head(_MOST_WORDS).to_list() if len(word) <= _LONGEST_WORD]
            found.append(_with_counts(cells.names[place], "words", tuple(sorted(marks)), words))
        return cls(tuple(found))

    def count(self, cells: Cells) -> "TableProfile":
        """Other rows counted in the same places."""
        values: dict[str, Any] = {
            cells.names[place]: x for place, x in zip(cells.number_at, cells.numbers.T, strict=True)
        }
        values |= {cells.names[place]: words for place, words in zip(cells.word_at, cells.words, strict=True)}
        return TableProfile(tuple(_with_counts(c.column, c.kind, c.marks, values[c.column]) for c in self.columns))

    def plus(self, other: "TableProfile") -> "TableProfile":
        """Two tables as one, both counted in the same places."""
        return TableProfile(tuple(a.plus(b) for a, b in zip(self.columns, other.columns, strict=True)))

    def moved(self, later: "TableProfile") -> tuple[Moved, ...]:
        """The columns that changed, most changed first."""
        compared = sum(len(column.counts) + 1 for column in self.columns)
        found = [
            moved
            for before, after in zip(self.columns, later.columns, strict=True)
            for moved in (_values_moved(before, after, compared), _missing_moved(before, after, compared))
            if moved is not None
        ]
        return tuple(sorted(found, key=lambda moved: -moved.change))

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(column.column for column in self.columns)

    def to_plain(self) -> list[dict[str, Any]]:
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_plain(cls, plain: Any) -> "TableProfile":
        """A stored profile; everything in it is checked."""
        try:
            return cls(tuple(ColumnProfile(**_checked(column)) for column in plain))
        except TypeError:
            raise InvalidInput("A stored profile of a table is damaged: make the detector again.") from None


def _checked(plain: Any) -> Mapping[str, Any]:
    if not isinstance(plain, dict):
        raise InvalidInput("A stored profile of a table is damaged: make the detector again.")
    return plain


def _marks(values: FloatArray) -> tuple[float, ...]:
    """Quantiles, and a place for what is below all of them."""
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return ()
    cuts = np.unique(np.quantile(known, _QUANTILES))
    return tuple(np.concatenate([[np.nextafter(cuts[0], -np.inf)], cuts]).tolist())


def _with_counts(column: str, kind: Any, marks: Sequence[Any], values: Any) -> ColumnProfile:
    if kind == "numbers":
        known = values[~np.isnan(values)]
        places = np.searchsorted(np.array(marks, dtype=np.float64), known, side="left")
        missing = len(values) - len(known)
    else:
        place = {word: at for at, word in enumerate(marks)}
        common = values.drop_nulls().value_counts()
        at = [place.get(word, len(marks)) for word in common[values.name].to_list()]
        places = np.repeat(np.array(at, dtype=np.intp), common["count"].to_numpy())
        missing = values.null_count()
    counts = np.bincount(places, minlength=len(marks) + 1)
    return ColumnProfile(column, kind, tuple(marks), tuple(counts.tolist()), int(missing))


def _least(before: int, after: int, compared: int) -> float:
    """The change to speak of between shares of so many values: the inequality of Dvoretzky, Kiefer and Wolfowitz, which
    holds for single shares too (Hoeffding), for as many comparisons as there are."""
    by_chance = np.sqrt(np.log(2 * compared / CHANCE) / 2 * (1 / before + 1 / after))
    return max(LEAST_CHANGE, float(by_chance))


def _values_moved(before: ColumnProfile, after: ColumnProfile, compared: int) -> Moved | None:
    if not (before.marks and before.present and after.present):
        return None
    old, new = before.shares, after.shares
    at = int(np.abs(new - old).argmax())
    change = float(abs(new[at] - old[at]))
    if change < _least(before.present, after.present, compared):
        return None
    was, now = wording.percent(old[at]), wording.percent(new[at])
    if before.kind == "words":
        if at < len(before.marks):
            said = f"{was} of the values were {wording.short(str(before.marks[at]))}, now {now}"
        else:
            common = wording.count(len(before.marks), "most frequent one")
            said = f"{was} of the values were other than the {common}, now {now}"
    elif at == 0:
        said = f"{now} of the values are below all that were seen ({wording.number(float(before.marks[1]))} and more)"
    elif at == len(before.marks) - 1:
        said = f"{wording.percent(1 - new[at])} of the values are above all that were seen (up to {_shown(before, at)})"
    else:
        said = f"{was} of the values were up to {_shown(before, at)}, now {now}"
    return Moved(before.column, "values", change, said)


def _shown(profile: ColumnProfile, at: int) -> str:
    return wording.number(float(profile.marks[at]))


def _missing_moved(before: ColumnProfile, after: ColumnProfile, compared: int) -> Moved | None:
    rows = before.present + before.missing, after.present + after.missing
    if not all(rows):
        return None
    was, now = before.missing / rows[0], after.missing / rows[1]
    if abs(now - was) < _least(*rows, compared):
        return None
    said = f"{wording.percent(was)} of the values were missing, now {wording.percent(now)}"
    return Moved(before.column, "missing", abs(now - was), said)
