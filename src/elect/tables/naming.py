"""Which column names the rows, where a table has one: a title rather than a number."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from elect.tables.decide import NUMBERS_ROWS, decide
from elect.tables.features import ColumnSummary
from elect.tables.table import Table

if TYPE_CHECKING:
    import polars as pl


def naming_column(summaries: Iterable[ColumnSummary]) -> str | None:
    """Of the columns that name or number the rows, the one that tells a person most."""
    found = [s for s in summaries if s.kind == "id" and s.role == "dropped"]
    found.sort(key=lambda summary: (summary.why == NUMBERS_ROWS, summary.missing > 0))
    return found[0].column if found else None


def recognised(table: Table, used: Collection[str]) -> str | None:
    """The same before anything else is learned of a table, from those of its columns that are used.

    >>> import polars as pl
    >>> table = Table.of(pl.DataFrame({"code": [f"P{i}" for i in range(20)], "size": [1.5, 2.5] * 10}), "sizes")
    >>> recognised(table, ["code", "size"]), recognised(table, ["size"])
    ('code', None)
    """
    found = []
    for name in table.columns:
        if name in used:
            decision = decide(name, table.frame[name], table.decimal)
            if decision.encoder is None:
                found.append(ColumnSummary(name, "dropped", decision.kind, "", decision.why, decision.missing))
    return naming_column(found)


def named_rows(table: Table, name: str | None, *, chosen: bool) -> "pl.Series":
    """What names each row: the column ``name``, else the table's own row ids. The index of a pandas frame that holds
    more than numbers goes before a column that nobody has chosen."""
    own = table.row_ids
    if name is None or name not in table.columns or (not chosen and not own.dtype.is_integer()):
        return own
    return table.frame[name]
