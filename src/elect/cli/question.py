"""A row that a person is asked about, in words: every value, where it stands in its column, and what is usual there."""

from typing import TYPE_CHECKING, Any

import numpy as np

from elect.detect.asked import asked_positions
from elect.detect.explaining import describe
from elect.support import wording
from elect.tables.encoders import NumberEncoder, TimeEncoder
from elect.tables.values import words

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from elect.detect.asked import Others
    from elect.detect.election import Election
    from elect.support.arrays import FloatArray
    from elect.tables.features import ColumnStep

MOST_COLUMNS = 60
"""Of a wider table the columns in which the row stands out most are shown."""


class Question:
    """The rows of a session as they are shown. The first ``drawn`` are a fair sample of the table; the others take part
    for being odd, and do not count in shares."""

    def __init__(self, election: "Election", others: "Others | None") -> None:
        treatment = election.treatment
        assert treatment is not None  # a file is a table
        self.drawn, self.positions = len(election.positions), asked_positions(election, others)
        self.cells = election.cells
        self.names = treatment.row_ids(election.opened.sample)[election.drawn]
        self.of_all = others is None
        self._Z = np.asarray(election.scorer.work.Z)
        if others is not None:
            assert others.table is not None
            self.cells = self.cells.vstack(others.table.frame)
            self.names = self.names.append(treatment.row_ids(others.table))
            self._Z = np.concatenate([self._Z, others.rows])
        self._steps: dict[str, ColumnStep] = {step.column: step for step in treatment.steps}
        self._read: dict[str, tuple[pl.Series, FloatArray | None]] = {}
        self._usual: dict[str, str] = {}
        self._sources = [feature.source for feature in treatment.features]

    def name(self, row: int) -> str:
        return wording.cell(self.names[row], longest=40)

    def text(self, row: int, title: str, chance: Any) -> str:
        lines = [f"\n{title}: row {self.name(row)}, chance {wording.percent(float(chance[row]))}"]
        shown = self._by_unusual(row)
        width = min(max(len(wording.clean(column)) for column in shown), 30)
        for column in shown[:MOST_COLUMNS]:
            value, described = wording.cell(self.cells[column][row], longest=40), ""
            if column in self._steps:
                value, described = describe(self._steps[column], self.cells, row)
                value = wording.short(value, 40)
            stands = standing(*self._values(column), row, self.drawn)
            facts = ", ".join(filter(None, (stands, self._usual_in(column, described))))
            lines.append(f"  {wording.short(column, 30):{width}}  {value:<20}  {facts}".rstrip())
        if len(shown) > MOST_COLUMNS:
            lines.append(f"  and {wording.count(len(shown) - MOST_COLUMNS, 'column')} that stand out less")
        return "\n".join(lines)

    def _values(self, column: str) -> "tuple[pl.Series, FloatArray | None]":
        """A column as text, null where it is missing; and its numbers or times, NaN where there is none. Read once."""
        if column not in self._read:
            cells, encoder = self.cells[column], self._steps[column].encoder if column in self._steps else None
            numbers = encoder.read(cells) if isinstance(encoder, NumberEncoder | TimeEncoder) else None
            self._read[column] = (words(cells), numbers)
        return self._read[column]

    def _usual_in(self, column: str, described: str) -> str:
        """What is usual in a column, beside what describes it."""
        kind = self._steps[column].encoder.kind if column in self._steps else None
        if kind in ("time", "text"):
            return described
        if column not in self._usual:
            text, numbers = self._values(column)
            drawn = text[: self.drawn]
            self._usual[column] = most_frequent(drawn) if numbers is None else middle(numbers[: self.drawn])
        return ", ".join(filter(None, (described if kind == "number" else "", self._usual[column])))

    def _by_unusual(self, row: int) -> list[str]:
        """All columns, those in which the row is farthest from the middle first, those without a part last."""
        far = np.abs(self._Z[row] - np.median(self._Z, axis=0))
        used = [self._sources[i] for i in np.argsort(-far, kind="stable")]
        return list(dict.fromkeys([*used, *self.cells.columns]))


def standing(text: "pl.Series", numbers: "FloatArray | None", row: int, drawn: int | None = None) -> str:
    """Where a value stands in its column, given as text, null where it is missing, and as numbers where it holds
    numbers or times, NaN where there is none. Shares are those of the first ``drawn`` rows.

    >>> import polars as pl
    >>> text, numbers = pl.Series(["1", "2", "3", "90", None]), np.array([1.0, 2.0, 3.0, 90.0, np.nan])
    >>> [standing(text, numbers, row) for row in (0, 2, 3, 4)]
    ['the lowest', 'higher than 50% of rows', 'the highest', 'as in no other row']
    >>> standing(pl.Series(["0", "0", "5"]), np.array([0.0, 0.0, 5.0]), 0)
    'the lowest, as in 67% of rows'
    >>> standing(pl.Series(["a", "b", "b"]), None, 1)
    'as in 67% of rows'
    >>> standing(pl.Series(["1", "2", "3", "8", "9"]), np.array([1.0, 2.0, 3.0, 8.0, 9.0]), 3, drawn=3)
    'higher than nearly all rows'
    """
    if numbers is None or np.isnan(numbers[row]):
        missing = text.is_null().to_numpy()
        return _alike(missing if missing[row] else (text == text[row]).fill_null(False).to_numpy(), drawn)
    value = numbers[row]
    if not (numbers < value).any() and not (numbers > value).any():
        return "as in all rows"
    if not (numbers > value).any() or not (numbers < value).any():
        end = "the highest" if not (numbers > value).any() else "the lowest"
        same = numbers == value
        return f"{end}, {_alike(same, drawn)}" if same.sum() > 1 else end
    known = numbers[:drawn][~np.isnan(numbers[:drawn])]
    below, above = float((known < value).mean()), float((known > value).mean())
    word, share = ("higher", below) if below >= above else ("lower", above)
    return f"{word} than {wording.percent(share)} of rows" if share < 1 else f"{word} than nearly all rows"


def _alike(same: "NDArray[np.bool_]", drawn: int | None) -> str:
    """How many rows hold the same value, the row itself among them."""
    if same.sum() <= 1:
        return "as in no other row"
    share = float(same[:drawn].mean())
    # Rows that were chosen for being odd are hardly all that there are.
    return f"as in {wording.percent(share)} of rows" if share else f"as in {same.sum()} rows or more"


def middle(numbers: "FloatArray") -> str:
    """Between which of its values nine in ten rows of a column lie; NaN where there is none.

    >>> middle(np.arange(101.0)), middle(np.array([7.0, 7.0, np.nan]))
    ('mostly 5 to 95', 'mostly 7')
    """
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return ""
    low, high = (wording.number(value) for value in np.quantile(known, (0.05, 0.95), method="nearest"))
    return f"mostly {low} to {high}" if low != high else f"mostly {low}"


def most_frequent(text: "pl.Series") -> str:
    """The value that most rows of a column hold, the first of equals; nothing where no value stands twice.

    >>> import polars as pl
    >>> [most_frequent(pl.Series(values)) for values in (["a", "b", "b"], ["b", "a", "a", "b", "c"], ["a", None, None])]
    ['mostly b', 'most often a, 40%', '']
    """
    known = text.drop_nulls()
    if known.n_unique() == len(known):
        return ""
    value = known.mode().sort()[0]
    share = float((known == value).sum()) / len(text)
    shown = wording.cell(value, longest=40)
    return f"mostly {shown}" if share > 0.5 else f"most often {shown}, {wording.percent(share)}"
