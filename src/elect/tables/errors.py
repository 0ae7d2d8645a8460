"""What can be wrong with a table, as the user sees it: what, what was expected, what to do."""

from collections.abc import Sequence
from difflib import get_close_matches

from elect.errors import InvalidInput, MissingExtra
from elect.support import wording


class TableError(InvalidInput):
    """A table that cannot be used as given."""


class UnreadableFile(TableError):
    """A file that is missing, empty, a directory, binary, corrupt or of a format elect does not read."""


class RaggedRows(TableError):
    """A line with more or fewer values than the table has columns."""


class DuplicateColumns(TableError):
    """Two columns of the same name: a name would not say which is meant."""


class UnknownColumn(TableError):
    """A column that the table does not have."""


class TooFewRows(TableError):
    """A table with no rows, or with too few to learn from."""


class NoUsableColumn(TableError):
    """A table in which no column tells one row from another."""


def unknown_column(name: str, option: str, columns: Sequence[str], notes: Sequence[str] = ()) -> UnknownColumn:
    """The error for a column that was asked for by an option and is not there, or of which a note says that it was
    left out.

    >>> print(unknown_column("amuont", "label", ["amount", "when"]))
    Unknown column 'amuont' in label: it must be one of the table's 2 columns ('amount', 'when'). Did you mean 'amount'?
    """
    for note in notes:
        if note.startswith(f"Column {name!r} is left out"):
            return UnknownColumn(f"{note} Name another in {option}.")
    near = get_close_matches(name, columns, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownColumn(
        f"Unknown column {name!r} in {option}: it must be one of the table's {wording.count(len(columns), 'column')} "
        f"({wording.quoted(columns)}).{hint}"
    )


__all__ = [
    "DuplicateColumns",
    "MissingExtra",
    "NoUsableColumn",
    "RaggedRows",
    "TableError",
    "TooFewRows",
    "UnknownColumn",
]
__all__ += ["UnreadableFile", "unknown_column"]
