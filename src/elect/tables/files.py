"""One reader for each file format. Each gives polars frames, whole or a batch at a time."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elect.support import wording
from elect.tables import foreign
from elect.tables.arrow import Notes, frame_of
from elect.tables.dialect import Dialect, lines
from elect.tables.errors import MissingExtra, RaggedRows, TableError, UnreadableFile
from elect.tables.reading import Reading
from elect.tables.table import column_names

if TYPE_CHECKING:
    import polars as pl

BLOCK = 4 << 20  # bytes of text parsed at a time; a row must fit in one, and several are held when streaming
PAGE = 64 << 10  # bytes of a Parquet column fetched at a time; by default all that was read so far is held to the end

_MAGIC = (
    (b"PAR1", "parquet"),
    (b"ARROW1", "arrow"),
    (b"FEA1", "feather"),
    (b"PK\x03\x04", "excel"),
    (b"\xd0\xcf\x11\xe0", "excel"),
)
_SUFFIX = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".json": "other",
    ".jsonl": "other",
    ".ndjson": "other",
    ".xml": "other",
    ".html": "other",
    ".pdf": "other",
    ".zip": "other",
    ".pkl": "other",
    ".pickle": "other",
}
SUFFIXES = (".csv", ".tsv", ".txt", *(suffix for suffix, kind in _SUFFIX.items() if kind != "other"))
"""How the names of tables end."""

_READS = "give a CSV, TSV, Parquet, Arrow/Feather or Excel file"


def file_format(path: Path) -> str:
    """What a file is: by its first bytes, then by its name. Anything else is taken for text."""
    try:
        if path.is_dir():
            raise UnreadableFile(f"{path} is a directory, not a file; {_READS}.")
        if not path.exists():
            raise UnreadableFile(f"{path} does not exist; check the name and the folder.")
        with path.open("rb") as stream:
            head = stream.read(8)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be opened: {error.strerror or error}; check its permissions.") from None
    if not head:
        raise UnreadableFile(f"{path} is empty; a table needs a header and at least one row.")
    suffix = path.suffix.lower()
    by_name = _SUFFIX.get(suffix, "text")
    if by_name == "other":
        raise UnreadableFile(f"{path}: elect does not read {suffix} files; {_READS}.")
    return next((kind for magic, kind in _MAGIC if head.startswith(magic)), by_name)


@contextmanager
def opening(path: Path, what: str = "text") -> Iterator[None]:
    """Turns what a library says about a broken file into one line for the user."""
    try:
        yield
    except (TableError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # a panic of a reader is no Exception
        reason = str(error).splitlines()[0].rstrip(".")[:200] if str(error).strip() else type(error).__name__
        raise UnreadableFile(
            f"{path} is not a readable {what} file ({reason}); it may be damaged or cut short: write it again."
        ) from None


# --- text ---------------------------------------------------------------------------------------------------------


def read_text(path: Path, dialect: Dialect) -> "pl.DataFrame":
    """The whole file, every cell as text."""
    with opening(path), _explaining(path, dialect):
        return _frame(path, import_module("pyarrow.csv").read_csv(str(path), **_csv_options(dialect)), dialect.columns)


def text_batches(path: Path, dialect: Dialect, rows: int) -> Iterator["pl.DataFrame"]:
    """The file a batch at a time; memory holds one batch and a few blocks of text."""
    with opening(path), _explaining(path, dialect):
        reader = import_module("pyarrow.csv").open_csv(str(path), **_csv_options(dialect))
        yield from _regroup((_frame(path, batch, dialect.columns) for batch in reader), rows)


def _csv_options(dialect: Dialect) -> dict[str, Any]:
    arrow, arrow_csv = import_module("pyarrow"), import_module("pyarrow.csv")
    places = [str(position) for position in range(len(dialect.columns))]
    return {
        "read_options": arrow_csv.ReadOptions(
            column_names=places,
            skip_rows=dialect.skip_lines,
            skip_rows_after_names=int(dialect.header),
            encoding="utf8" if dialect.encoding in ("utf-8", "utf-8-sig") else dialect.encoding,
            block_size=BLOCK,
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.delimiter,
            newlines_in_values=True,
            # In a table of one column an empty line is a row with a missing value.
            ignore_empty_lines=len(places) > 1,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types={place: arrow.string() for place in places}, strings_can_be_null=False
        ),
    }


@contextmanager
def _explaining(path: Path, dialect: Dialect) -> Iterator[None]:
    """Finds the line that a parse error is about: the parser counts rows, the user counts lines."""
    try:
        yield
    except import_module("pyarrow").ArrowInvalid as error:
        width = len(dialect.columns)
        try:
            for line, row in lines(path, dialect):
                if len(row) != width and (row or width == 1):
                    raise RaggedRows(
                        f"{path}: line {line} has {wording.count(len(row), 'value')}, but the table has {width} "
                        f"columns; every line must have as many. Mend it (a delimiter or a quote inside a value?)."
                    ) from None
        except (csv.Error, UnicodeError):
            pass  # the parser's own words are then the best there are
        if "straddling" in str(error):
            raise RaggedRows(
                f"{path} has a row of more than {BLOCK >> 20} MB; look for a quote that is not closed."
            ) from None
        raise error


# --- binary formats -----------------------------------------------------------------------------------------------


def read_parquet(path: Path, notes: Notes) -> "pl.DataFrame":
    with opening(path, "Parquet"):
        return _frame(path, import_module("pyarrow.parquet").ParquetFile(str(path)).read(), notes=notes)


def parquet_batches(
    path: Path, rows: int, notes: Notes, columns: Sequence[str] | None = None
) -> Iterator["pl.DataFrame"]:
    with opening(path, "Parquet"):
        file = import_module("pyarrow.parquet").ParquetFile(str(path), pre_buffer=False, buffer_size=PAGE)
        stored = file.schema_arrow.names
        # The names of people may differ from the stored ones (blanks): then all columns are read.
        some = list(columns) if columns is not None and set(columns) <= set(stored) else None
        batches = file.iter_batches(batch_size=rows, columns=some)
        yield from _regroup((_frame(path, batch, notes=notes) for batch in batches), rows)


def read_arrow(path: Path, notes: Notes) -> "pl.DataFrame":
    foreign.check(path, "arrow")
    with opening(path, "Arrow"):
        return _frame(path, _ipc(import_module("pyarrow").memory_map(str(path))).read_all(), notes=notes)


def arrow_batches(
    path: Path, rows: int, notes: Notes, columns: Sequence[str] | None = None
) -> Iterator["pl.DataFrame"]:
    foreign.check(path, "arrow")
    with opening(path, "Arrow"):
        # Pages of a mapped file would count as memory of this process for as long as it is read.
        file = _ipc(import_module("pyarrow").OSFile(str(path)))
        count = getattr(file, "num_record_batches", None)
        batches = iter(file) if count is None else (file.get_batch(position) for position in range(count))
        yield from _regroup((_frame(path, batch, notes=notes) for batch in batches), rows)


def _ipc(source: Any) -> Any:
    arrow = import_module("pyarrow")
    try:
        return arrow.ipc.open_file(source)
    except arrow.ArrowInvalid:
        source.seek(0)
        return arrow.ipc.open_stream(source)


def read_feather_v1(path: Path, notes: Notes) -> "pl.DataFrame":
    with foreign.converted(path, "feather") as (clean, _), opening(path, "Feather"):
        return _frame(path, _loaded(clean), notes=notes)


def read_excel(path: Path, sheet: str | int | None, notes: Notes) -> "tuple[pl.DataFrame, Reading]":
    """One sheet of a workbook: the first, or the one named or numbered (from 1). Its first filled row is the
    header, or the one below a title."""
    import polars as pl

    if find_spec("fastexcel") is None:
        raise MissingExtra(
            f"{path} is an Excel workbook, which needs the package fastexcel; run pip install 'elect[excel]', "
            "or save the sheet as CSV."
        )
    with foreign.converted(path, "excel", sheet=sheet) as (clean, told), opening(path, "Excel"):
        frame = _frame(path, _loaded(clean), column_names(told["names"], str(path)), notes)
    if told["header_row"] > 1:
        title = ", below a title that was not read" if told["titles"] else ""
        notes.say(f"The table begins in row {told['header_row']} of the sheet, with its header{title}.")
    if told["sheets"] > 1 and sheet is None:
        notes.say(f"The workbook has {told['sheets']} sheets, of which the first was read, {told['sheet']!r}.")
    # A workbook stores every number as a float; whole ones are integers again, as they would be in a Parquet file.
    whole = [c for c in frame if c.dtype.is_float() and bool(((c.round() == c) & (c.abs() < 2**53)).all())]
    reading = Reading("Excel", told["header_row"], sheet=told["sheet"])
    return frame.with_columns([column.cast(pl.Int64) for column in whole]), reading


def _loaded(path: Path) -> Any:
    """A clean file of our own, read into memory: it is gone soon."""
    arrow = import_module("pyarrow")
    with arrow.OSFile(str(path)) as source:
        return arrow.ipc.open_file(source).read_all()


# --- frames -------------------------------------------------------------------------------------------------------


def _frame(path: Path, data: Any, columns: tuple[str, ...] | None = None, notes: Notes | None = None) -> "pl.DataFrame":
    frame: pl.DataFrame = frame_of(data, str(path), columns, notes)
    return frame


def _regroup(frames: Iterable["pl.DataFrame"], rows: int) -> Iterator["pl.DataFrame"]:
    """The same rows in frames of exactly ``rows`` rows, the last one apart."""
    import polars as pl

    held: list[pl.DataFrame] = []
    count = 0
    for frame in frames:
        held.append(frame)
        count += frame.height
        while count >= rows:
            whole = pl.concat(held) if len(held) > 1 else held[0]
            yield whole.head(rows)
            held, count = [whole.slice(rows)], count - rows
    if count:
        yield pl.concat(held) if len(held) > 1 else held[0]
