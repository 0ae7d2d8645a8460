"""One representation for every table, whatever it was read from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from elect.support import wording
from elect.tables.errors import DuplicateColumns, TableError, TooFewRows, unknown_column
from elect.tables.reading import Reading

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Table:
    """The user's rows and columns, in the user's order, with the user's names.

    ``row_ids`` names each row: the index of a pandas frame, otherwise the row's position counted from 0.
    Cells of a text file stay text here (``"007"`` keeps its zeros); ``ColumnTreatment`` decides what they mean, once,
    so that a batch can never be understood differently from the whole file. ``decimal`` is the decimal mark that a text
    file shows ("." or ","), None where it shows neither. ``reading`` says how a file was read, ``notes`` say it in
    sentences, of which the first says no more than ``reading``.

    >>> from elect.tables import read_table
    >>> table = read_table([{"city": "Rome", "visits": 3}, {"city": "Oslo"}])
    >>> table.columns, table.n_rows, table.row_ids.to_list()
    (('city', 'visits'), 2, [0, 1])
    """

    frame: "pl.DataFrame"
    row_ids: "pl.Series"
    source: str
    notes: tuple[str, ...] = ()
    decimal: str | None = None
    reading: Reading | None = None

    @classmethod
    def of(
        cls,
        frame: "pl.DataFrame",
        source: str,
        *,
        row_ids: "pl.Series | None" = None,
        first_row: int = 0,
        notes: Sequence[str] = (),
        decimal: str | None = None,
        reading: Reading | None = None,
    ) -> "Table":
        """A table with rows named by ``row_ids``, or by their position from ``first_row`` on."""
        import polars as pl

        if frame.width == 0:
            raise TableError(f"{source} has no columns; a table needs at least one column with values in it.")
        if frame.height == 0:
            raise TooFewRows(f"{source} has columns but no rows; add at least one row below the header.")
        if row_ids is None:
            row_ids = pl.int_range(first_row, first_row + frame.height, eager=True)
        return cls(frame, row_ids.alias("row"), source, tuple(notes), decimal, reading)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.frame.columns)

    @property
    def n_rows(self) -> int:
        return self.frame.height

    @property
    def n_columns(self) -> int:
        return self.frame.width

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to say beyond ``reading``: what was left out, or read otherwise than one might expect."""
        return self.notes if self.reading is None else self.notes[1:]

    def only(self, *names: str) -> "Table":
        """These columns alone."""
        self._require(names, "only")
        return replace(self, frame=self.frame.select(names))

    def without(self, *names: str) -> "Table":
        """All other columns.

        >>> from elect.tables import read_table
        >>> read_table({"a": [1], "b": [2], "c": [3]}).without("b").columns
        ('a', 'c')
        """
        self._require(names, "without")
        return replace(self, frame=self.frame.drop(names))

    def _require(self, names: Sequence[str], where: str) -> None:
        for name in names:
            if name not in self.frame.columns:
                raise unknown_column(name, where, self.columns, self.notes)

    def slice(self, start: int, rows: int) -> "Table":
        """Some consecutive rows, still with their ids."""
        return replace(self, frame=self.frame.slice(start, rows), row_ids=self.row_ids.slice(start, rows))


def column_names(names: Sequence[object], source: str) -> tuple[str, ...]:
    """Names as given, without outer blanks; a nameless column is named by its position, counted from 1.

    >>> column_names(["", " amount ", 3], "a.csv")
    ('unnamed_1', 'amount', '3')
    """
    named = tuple(str(name).strip() or f"unnamed_{position}" for position, name in enumerate(names, start=1))
    if len(set(named)) != len(named):
        seen: set[str] = set()
        twice = list(dict.fromkeys(name for name in named if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
        raise DuplicateColumns(
            f"{source} has more than one column named {wording.quoted(twice)}; every column must have its own name. "
            "Rename or remove the others."
        )
    return named
