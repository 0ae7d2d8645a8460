"""From a file or an object in memory to a ``Table``, whole or a batch at a time."""

from collections.abc import Callable, Iterator
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elect.errors import InvalidInput
from elect.tables import files
from elect.tables.data import from_data
from elect.tables.dialect import detect_dialect
from elect.tables.table import Table, column_names

if TYPE_CHECKING:
    import polars as pl

_PANDAS_INDEX = "__index_level_0__"  # how pandas stores a nameless index in Parquet and Feather


def read_table(
    data: Any,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    sheet: str | int | None = None,
) -> Table:
    """The table in a file or in memory, with the user's rows in the user's order.

    A string or path names a file: CSV or TSV (comma, semicolon, tab or pipe; UTF-8, UTF-16, cp1252 or Latin-1; plain or
    compressed), Parquet, Arrow/Feather, or Excel (with the ``excel`` extra). Otherwise ``data`` is a pandas or polars
    frame, an Arrow table, a two-dimensional array, a dictionary of columns, or a list of dictionaries or rows.

    ``encoding``, ``delimiter``, ``header`` and ``decimal`` are for text files, ``sheet`` (a name, or a number from 1)
    for Excel; left out they are found, and ``Table.notes`` says what was found.

    >>> read_table([[1.0, 2.0], [3.0, 4.0]]).columns
    ('x0', 'x1')
    """
    if not isinstance(data, str | PathLike):
        return from_data(data)
    path = Path(data)
    kind = files.file_format(path)
    if kind == "text":
        with files.opening(path):
            dialect = detect_dialect(path, encoding=encoding, delimiter=delimiter, header=header, decimal=decimal)
        frame = files.read_text(path, dialect)
        return Table.of(frame, str(path), notes=dialect.notes, decimal=dialect.decimal)
    if kind == "excel":
        return _typed(files.read_excel(path, sheet), path, kind)
    return _typed(_WHOLE[kind](path), path, kind)


def iter_batches(
    path: str | PathLike[str],
    rows: int = 100_000,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> Iterator[Table]:
    """The table in a file, ``rows`` rows at a time, for files larger than memory.

    Text, Parquet and Arrow files are streamed; other formats are read whole and cut. Row ids go on counting from
    batch to batch, so together the batches are exactly what ``read_table`` gives.
    """
    if rows < 1:
        raise InvalidInput(f"rows must be at least 1, got {rows}.")
    path = Path(path)
    kind = files.file_format(path)
    first = 0
    if kind == "text":
        with files.opening(path):
            dialect = detect_dialect(path, encoding=encoding, delimiter=delimiter, header=header, decimal=decimal)
        for frame in files.text_batches(path, dialect, rows):
            yield Table.of(frame, str(path), first_row=first, notes=dialect.notes, decimal=dialect.decimal)
            first += frame.height
        if first == 0:
            files.read_text(path, dialect)
    elif kind in _BATCHES:
        for frame in _BATCHES[kind](path, rows):
            yield _typed(frame, path, kind, first)
            first += frame.height
        if first == 0:
            read_table(path)  # raises: a table without rows
    else:
        table = read_table(path)
        for start in range(0, table.n_rows, rows):
            yield table.slice(start, rows)


_WHOLE: dict[str, Callable[[Path], "pl.DataFrame"]] = {
    "parquet": files.read_parquet,
    "arrow": files.read_arrow,
    "feather": files.read_feather_v1,
}
_BATCHES: dict[str, Callable[[Path, int], Iterator["pl.DataFrame"]]] = {
    "parquet": files.parquet_batches,
    "arrow": files.arrow_batches,
}


def _typed(frame: "pl.DataFrame", path: Path, kind: str, first_row: int = 0) -> Table:
    """A table from a format that has types of its own."""
    row_ids = None
    if _PANDAS_INDEX in frame.columns and frame.width > 1:
        row_ids = frame[_PANDAS_INDEX]
        frame = frame.drop(_PANDAS_INDEX)
    frame.columns = list(column_names(frame.columns, str(path)))
    notes = (f"Read as {kind.capitalize()}, with the types stored in the file.",)
    return Table.of(frame, str(path), row_ids=row_ids, first_row=first_row, notes=notes)
