"""From a table to a clean numeric matrix: what is done with each column is learned once, then applied to any table.

The rules, each named in ``elect.tables.decide``:

- **Numbers** stay numbers; text such as ``1,234``, ``12%`` or ``$5`` is read as the number it shows. Missing values,
  infinities and what cannot be read get the median; where they are more than 1% of the rows, a 0/1 column says where.
- **Booleans** become 0 and 1; true/false, yes/no, y/n, t/f and on/off are booleans.
- **Dates and times** become seconds, plus sine and cosine of the time of day, the day of the week and the time of the
  year where the table spans at least two days, weeks or years of it.
- **Categories**, up to 20 of them, get a 0/1 column each (two share one); those in under 0.1% of the rows or in one row
  only share a column for rare ones, which is also where a category never seen before goes. With more than 20
  categories, or where rare ones fill over 20% of the rows, a category is replaced by how rare it is:
  log(rows / count).
- **Free text** becomes the logarithms of its numbers of characters and words.
- **Dropped**: constant columns, columns that repeat another one, columns that name or number the rows, columns with 99%
  or more missing, and columns of lists or other nested values.

Every input column weighs the same: its features are centred and scaled so that together they have variance 1, shared
equally among the parts of the column (the value, whether it is missing, each cycle). A purely numeric table without
missing values is therefore simply standardised.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput
from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables.encoders import encoder_to_plain
from elect.tables.errors import NoUsableColumn, TableError, TooFewRows, UnknownColumn, unknown_column
from elect.tables.features import ColumnStep, ColumnSummary, Feature, step_from_plain
from elect.tables.labels import Labels, read_labels
from elect.tables.learn import learn
from elect.tables.naming import named_rows, naming_column
from elect.tables.read import read_table
from elect.tables.table import Table
from elect.tables.values import words

if TYPE_CHECKING:
    import polars as pl

FORMAT = "elect-column-treatment"
VERSION = 1


@dataclass(frozen=True)
class ColumnTreatment:
    """What was learned about the columns of a table; applies to any later table with these columns.

    >>> treatment, X = ColumnTreatment.fit_transform([{"size": 1.0, "red": "yes"}, {"size": 3.0, "red": "no"}])
    >>> X
    array([[-1.,  1.],
           [ 1., -1.]])
    >>> print(*treatment.summary(), sep="\\n")
    size: used as a number (the column holds numbers)
    red: used as 0 and 1 (the column holds only no and yes)
    >>> ColumnTreatment.from_json(treatment.to_json()) == treatment
    True
    >>> treatment.transform([{"size": 2.0}, {"size": 5.0}])
    Traceback (most recent call last):
    elect.tables.errors.UnknownColumn: The list lacks column 'red', which the treatment was learned with; ...
    """

    steps: tuple[ColumnStep, ...]
    summaries: tuple[ColumnSummary, ...]
    label: str | None = None
    id: str | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def fit(cls, data: Any, **options: Any) -> "ColumnTreatment":
        """Learn what to do with each column. Options as in ``fit_transform``."""
        return cls.fit_transform(data, **options)[0]

    @classmethod
    def fit_transform(
        cls,
        data: Any,
        *,
        label: str | None = None,
        id: str | None = None,
        drop: Iterable[str] = (),
        columns: Iterable[str] | None = None,
        scale: bool = True,
    ) -> "tuple[ColumnTreatment, FloatArray]":
        """Learn what to do with each column, and the matrix of this table.

        ``label`` and ``id`` are kept out of the features; so is what ``drop`` names and, where ``columns`` is given,
        what it does not. With ``scale=False`` features keep the units of the table (and columns do not weigh the same).
        """
        table = read_table(data)
        used = _chosen(table, label, id, drop, columns)
        if table.n_rows < 2:
            raise TooFewRows(f"{table.source} has one row; at least 2 are needed to learn what is usual.")
        learned = learn(table, used, scale)
        if not learned.steps:
            reasons = "; ".join(f"{summary.column!r}: {summary.why}" for summary in learned.summaries[:3])
            raise NoUsableColumn(
                f"{table.source} has no column that tells rows apart ({reasons}); at least one must vary."
            )
        others = [name for name in table.columns if name not in used]
        summaries = learned.summaries + [_unused(name, label, id) for name in others]
        position = {name: place for place, name in enumerate(table.columns)}
        summaries.sort(key=lambda summary: position[summary.column])
        treatment = cls(tuple(learned.steps), tuple(summaries), label, id, table.notes)
        return treatment, np.hstack(learned.blocks)

    def transform(self, data: Any) -> FloatArray:
        """The matrix of a table: as many rows, and one column for each of ``features``; always finite."""
        table = read_table(data)
        self._require_columns(table)
        matrix = np.empty((table.n_rows, len(self.features)))
        first = 0
        for step in self.steps:
            last = first + len(step.features)
            matrix[:, first:last] = step.apply(table.frame[step.column])
            first = last
        return matrix

    @cached_property
    def features(self) -> tuple[Feature, ...]:
        """The columns of the matrix, in order."""
        return tuple(feature for step in self.steps for feature in step.features)

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The input columns that were used, in order."""
        return tuple(step.column for step in self.steps)

    def columns_of(self, source: str) -> NDArray[np.intp]:
        """The positions in the matrix of the features of one input column."""
        if source not in self.sources:
            raise unknown_column(source, "columns_of", self.sources)
        return np.flatnonzero([feature.source == source for feature in self.features])

    def summary(self) -> tuple[ColumnSummary, ...]:
        """What was done with each input column, in the order of the table."""
        name = None if self.id is not None else self.named_by
        return tuple(replace(s, done="shown as the name of the row") if s.column == name else s for s in self.summaries)

    @cached_property
    def named_by(self) -> str | None:
        """The column that names the rows: the id, or one that was recognised, a title rather than a number."""
        if self.id is not None:
            return self.id
        return naming_column(self.summaries)

    def row_ids(self, data: Any) -> "pl.Series":
        """What names each row: the column that does, else the table's own row ids (the index of a pandas frame, which
        comes first where it holds more than numbers)."""
        return named_rows(read_table(data), self.named_by, chosen=self.id is not None)

    def labels(self, data: Any) -> Labels | None:
        """Which rows are known outliers; None where there is no label column, or this table lacks it."""
        table = read_table(data)
        return read_labels(table.frame[self.label]) if self.label in table.columns else None

    def unread(self, data: Any) -> dict[str, int]:
        """How many cells of each column cannot be read, or are categories never seen."""
        table = read_table(data)
        self._require_columns(table)
        return {step.column: step.encoder.unread(table.frame[step.column]) for step in self.steps}

    def refuse_unreadable(self, data: Any) -> None:
        """Say that nothing in a table could be read: its rows would all look the same, and usual."""
        table = read_table(data)
        self._require_columns(table)
        found = 0
        for step in self.steps:
            column = table.frame[step.column]
            unread = 0 if step.encoder.kind == "category" else step.encoder.unread(column)
            if unread + words(column).null_count() < table.n_rows:
                return
            found += unread
        if found:
            raise TableError(
                f"{table.source}: no value of {wording.quoted(self.sources)} could be read as what was learned; is the "
                "decimal mark, the form of dates or the order of columns another one? Write it as the table it was "
                "learned from."
            )

    def surprises(self, unread: Mapping[str, int], n_rows: int) -> tuple[str, ...]:
        """What a later table of so many rows held that this one did not, in words."""
        return tuple(
            f"{step.column}: {wording.count(unread[step.column])} of {wording.count(n_rows, 'value')} "
            + ("are categories never seen before" if step.encoder.kind == "category" else "could not be read")
            for step in self.steps
            if unread[step.column]
        )

    def to_json(self) -> str:
        """The treatment as JSON text; ``from_json`` gives it back exactly."""
        plain = {
            "format": FORMAT,
            "version": VERSION,
            "label": self.label,
            "id": self.id,
            "notes": self.notes,
            "summaries": [asdict(summary) for summary in self.summaries],
            "steps": [
                {
                    "column": step.column,
                    "encoder": encoder_to_plain(step.encoder),
                    "kept": step.kept,
                    "features": [asdict(feature) for feature in step.features],
                }
                for step in self.steps
            ],
        }
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> "ColumnTreatment":
        """A stored treatment. Nothing in it is executed, and everything is checked before use."""
        try:
            plain = json.loads(text)
            if plain["format"] != FORMAT or plain["version"] != VERSION:
                raise InvalidInput(
                    f"This is not a column treatment of version {VERSION}; learn it again with this version of elect."
                )
            steps = tuple(step_from_plain(step) for step in plain["steps"])
            summaries = tuple(ColumnSummary(**{**s, "features": tuple(s["features"])}) for s in plain["summaries"])
            return cls(steps, summaries, plain["label"], plain["id"], tuple(plain["notes"]))
        except InvalidInput:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(
                f"A stored column treatment is damaged ({type(error).__name__}: {error}); learn the treatment again."
            ) from None

    def _require_columns(self, table: Table) -> None:
        present = set(table.columns)
        lacking = [name for name in self.sources if name not in present]
        if lacking:
            raise UnknownColumn(
                f"{table.source} lacks column {wording.quoted(lacking)}, which the treatment was learned with; "
                f"it has {wording.quoted(table.columns)}. Give a table with the same columns."
            )


def _chosen(
    table: Table, label: str | None, id: str | None, drop: Iterable[str], columns: Iterable[str] | None
) -> set[str]:
    """The columns that may become features, once every name was found to exist."""
    given = {"drop": list(drop), "columns": list(columns) if columns is not None else []}
    given |= {option: [name] for option, name in (("label", label), ("id", id)) if name is not None}
    present = set(table.columns)
    for option, names in given.items():
        for name in names:
            if name not in present:
                raise unknown_column(name, option, table.columns, table.notes)
    used = present if columns is None else set(given["columns"])
    used -= {*given["drop"], *given.get("label", ()), *given.get("id", ())}
    if not used:
        out = ", ".join(f"{option} {wording.quoted(names)}" for option, names in given.items() if names)
        raise TableError(f"{table.source} has no column left for the features ({out}); leave at least one in.")
    return used


def _unused(name: str, label: str | None, id: str | None) -> ColumnSummary:
    if name in (label, id):
        role = "label" if name == label else "id"
        return ColumnSummary(name, role, role, "kept out of the features", f"it is the {role}", 0.0)
    return ColumnSummary(name, "dropped", "unused", "dropped", "as asked", 0.0)
