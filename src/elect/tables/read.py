"""From a file or an object in memory to a ``Table``, whole or a batch at a time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elect.errors import InvalidInput
from elect.tables import files, pipes
from elect.tables.arrow import Notes
from elect.tables.data import from_data
from elect.tables.dialect import Dialect, detect_dialect
from elect.tables.reading import Reading
from elect.tables.room import check_room
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

    A string or path names a file, ``-`` standard input: CSV or TSV (comma, semicolon, tab or pipe; UTF-8, UTF-16,
    cp1252 or Latin-1; plain or compressed), Parquet, Arrow/Feather, or Excel (with the ``excel`` extra). Otherwise
    ``data`` is a pandas or polars frame, an Arrow table, a two-dimensional array, a dictionary of columns, or a list of
    dictionaries or rows.

    ``encoding``, ``delimiter``, ``header`` and ``decimal`` are for text files, ``sheet`` (a name, or a number from 1)
    for Excel; left out they are found, and ``Table.reading`` says what was found.

    >>> read_table([[1.0, 2.0], [3.0, 4.0]]).columns
    ('x0', 'x1')
    """
    if not isinstance(data, str | PathLike):
        return from_data(data)
    source = str(data)
    with pipes.as_file(Path(data)) as path:
        kind = files.file_format(path)
        check_room(path, kind, None)
        notes = Notes()
        if kind == "text":
            with files.opening(path):
                dialect = detect_dialect(path, encoding=encoding, delimiter=delimiter, header=header, decimal=decimal)
            return _text(files.read_text(path, dialect), source, dialect)
        if kind == "excel":
            frame, reading = files.read_excel(path, sheet, notes)
            return _typed(frame, source, reading, notes)
        return _typed(_WHOLE[kind](path, notes), source, Reading(_FORMATS[kind]), notes)


def iter_batches(
    path: str | PathLike[str],
    rows: int = 100_000,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[Table]:
    """The table in a file, ``rows`` rows at a time, for files larger than memory.

    Of a Parquet file no more than ``columns`` is read, where they are given and there; otherwise all columns come.

    Text, Parquet and Arrow files are streamed; other formats are read whole and cut. Row ids go on counting from
    batch to batch, so together the batches are exactly what ``read_table`` gives.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InvalidInput(f"rows must be a whole number of at least 1, got {rows!r}.")
    source, first, notes = str(path), 0, Notes()
    with pipes.as_file(Path(path), again=True) as file:
        kind = files.file_format(file)
        check_room(file, kind, rows)
        if kind == "text":
            with files.opening(file):
                dialect = detect_dialect(file, encoding=encoding, delimiter=delimiter, header=header, decimal=decimal)
            for frame in files.text_batches(file, dialect, rows):
                yield _text(frame, source, dialect, first)
                first += frame.height
            if first == 0:
                files.read_text(file, dialect)
        elif kind in _BATCHES:
            for frame in _BATCHES[kind](file, rows, notes, columns):
                yield _typed(frame, source, Reading(_FORMATS[kind]), notes, first)
                first += frame.height
            if first == 0:
                read_table(file)  # raises: a table without rows
        else:
            table = replace(read_table(file), source=source)
            for start in range(0, table.n_rows, rows):
                yield table.slice(start, rows)


_FORMATS = {"parquet": "Parquet", "arrow": "Arrow", "feather": "Feather"}
_WHOLE: dict[str, Callable[[Path, Notes], "pl.DataFrame"]] = {
    "parquet": files.read_parquet,
    "arrow": files.read_arrow,
    "feather": files.read_feather_v1,
}
_BATCHES: dict[str, Callable[[Path, int, Notes, Sequence[str] | None], Iterator["pl.DataFrame"]]] = {
    "parquet": files.parquet_batches,
    "arrow": files.arrow_batches,
}


def _text(frame: "pl.DataFrame", source: str, dialect: Dialect, first_row: int = 0) -> Table:
    return Table.of(
        frame,
        source,
        first_row=first_row,
        notes=dialect.notes,
        decimal=dialect.decimal,
        reading=Reading(
            "text",
            dialect.skip_lines + 1 if dialect.header else None,
            dialect.encoding,
            dialect.delimiter,
            dialect.decimal,
        ),
    )


def _typed(frame: "pl.DataFrame", source: str, reading: Reading, notes: Notes, first_row: int = 0) -> Table:
    """A table from a format that has types of its own."""
    row_ids = None
    if _PANDAS_INDEX in frame.columns and frame.width > 1:
        row_ids = frame[_PANDAS_INDEX]
        frame = frame.drop(_PANDAS_INDEX)
    frame.columns = list(column_names(frame.columns, source))
    told = (f"Read as {reading.format}, with the types stored in the file.", *notes)
    return Table.of(frame, source, row_ids=row_ids, first_row=first_row, notes=told, reading=reading)
