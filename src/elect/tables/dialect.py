"""How a text file is written: its encoding, delimiter, header and decimal mark."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO

from elect.tables.errors import RaggedRows, TooFewRows, UnreadableFile
from elect.tables.table import column_names

CHUNK = 1 << 20  # bytes read at a time; the first chunk is also what the delimiter is guessed from
SNIFFED_ROWS = 100

# The first wins a tie, so the comma comes last: it is also a decimal mark.
DELIMITERS = {"\t": "tabs", ";": "semicolons", "|": "pipes", ",": "commas"}

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the one of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NUMBER = re.compile(r"[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?%?")
_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?%?")
_COMMA = re.compile(r"[-+]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][-+]?\d+)?%?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+")


@dataclass(frozen=True)
class Dialect:
    """How one text file is written. ``skip_lines`` come before the header (blank lines, Excel's ``sep=;``)."""

    encoding: str
    delimiter: str
    columns: tuple[str, ...]
    header: bool
    skip_lines: int
    decimal: str | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Bytes:
    """What one pass over the whole file says about it."""

    encoding: str
    why: str
    sample: bytes
    whole: bool
    odd_quotes: bool


def detect_dialect(
    path: Path,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> Dialect:
    """The dialect of a text file; what is given is taken as given, the rest is read from the file."""
    found = _scan(path, encoding)
    text = _sample_text(path, found)
    skip, delimiter, text = _without_preamble(text, delimiter)
    delimiter = delimiter or guess_delimiter(text)
    rows = _rows(text, delimiter)
    if not rows:
        raise UnreadableFile(f"{path} is empty; a table needs a header and at least one row.")
    guessed = header is None
    if header is None:
        header = not all(_NUMBER.fullmatch(cell.strip()) for cell in rows[0])
    names = rows[0] if header else [f"x{position}" for position in range(len(rows[0]))]
    columns = column_names(names, str(path))
    if header and len(rows) == 1 and found.whole:
        raise TooFewRows(f"{path} has a header but no rows; add at least one row below the header.")
    decimal = decimal or _decimal(rows[1:] if header else rows, delimiter)
    dialect = Dialect(found.encoding, delimiter, columns, header, skip, decimal, ())
    if found.odd_quotes:
        _check_quotes(path, dialect)
    return Dialect(found.encoding, delimiter, columns, header, skip, decimal, _notes(dialect, found.why, guessed))


def _notes(dialect: Dialect, why: str, guessed_header: bool) -> tuple[str, ...]:
    between = DELIMITERS.get(dialect.delimiter, repr(dialect.delimiter))
    commas = ", decimal commas" if dialect.decimal == "," else ""
    notes = [f"Read as text with {between} between values{commas}, {why}."]
    if not dialect.header:
        why_not = "The first line holds only numbers, so it is a row" if guessed_header else "There is no header"
        notes.append(f"{why_not}; the columns were named x0, x1, ...")
    return tuple(notes)


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, decompressed where its name ends in .gz, .bz2, .zst, ..."""
    stream: IO[bytes] = import_module("pyarrow").input_stream(str(path), compression="detect")
    return stream


def _scan(path: Path, encoding: str | None) -> _Bytes:
    """Read the file once: the first byte that is not UTF-8 may be anywhere, and so may an unclosed quote."""
    quotes, utf8, cp1252 = 0, True, True
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as stream:
        sample = stream.read(CHUNK)
        chunk, size = sample, len(sample)
        marked = next((name for bom, name in _BOMS if sample.startswith(bom)), None) or _wide(sample)
        if marked is None and b"\0" in sample:
            raise UnreadableFile(
                f"{path} is a binary file, not text; give a CSV, TSV, Parquet, Arrow/Feather or Excel file."
            )
        while chunk:
            quotes += chunk.count(b'"')
            cp1252 = cp1252 and not any(byte in chunk for byte in b"\x81\x8d\x8f\x90\x9d")
            if utf8 and not (chunk.isascii() and not decoder.getstate()[0]):
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    utf8 = False
            chunk = stream.read(CHUNK)
            size += len(chunk)
    utf8 = utf8 and not decoder.getstate()[0]
    if encoding is not None:
        name, why = encoding, f"encoding {encoding} as asked for"
    elif marked is not None:
        name, why = marked, f"encoding {marked}"
    elif utf8:
        name, why = "utf-8", "encoding utf-8"
    else:
        name = "cp1252" if cp1252 else "latin-1"
        why = f"encoding {name} (the file is not UTF-8, so accented letters are a guess)"
    return _Bytes(name, why, sample, size == len(sample), quotes % 2 == 1)


def _wide(sample: bytes) -> str | None:
    """UTF-16 without a mark: of mostly Latin text every second byte is zero."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    half = max(1, len(sample) // 2)
    if odd > 0.7 * half and even < 0.05 * half:
        return "utf-16-le"
    if even > 0.7 * half and odd < 0.05 * half:
        return "utf-16-be"
    return None


def _sample_text(path: Path, found: _Bytes) -> str:
    try:
        decoder = codecs.getincrementaldecoder(found.encoding)()
        text = decoder.decode(found.sample, final=found.whole)
    except (LookupError, UnicodeError) as error:
        raise UnreadableFile(
            f"{path} cannot be read with encoding {found.encoding!r} ({error}); name its encoding, or save it as UTF-8."
        ) from None
    if not text.strip("\ufeff \t\r\n"):
        raise UnreadableFile(f"{path} is empty; a table needs a header and at least one row.")
    head = text[:10_000]
    if sum(ord(char) < 32 and char not in "\t\n\r\f" for char in head) > 0.05 * len(head):
        raise UnreadableFile(
            f"{path} is a binary file, not text; give a CSV, TSV, Parquet, Arrow/Feather or Excel file."
        )
    if not found.whole:
        text = text[: text.rfind("\n") + 1] or text  # the last line may be cut
    return text.removeprefix("\ufeff")


def _without_preamble(text: str, delimiter: str | None) -> tuple[int, str | None, str]:
    """How many lines come before the header (blank ones, Excel's ``sep=;``), the delimiter they name, and the rest."""
    skip = 0
    all_lines = re.split("\r\n|\r|\n", text)  # not str.splitlines, which also splits at characters no CSV reader does
    for line in all_lines:
        named = re.fullmatch(r"sep=(.)", line, flags=re.IGNORECASE)
        if line.strip() and not named:
            break
        if named and delimiter is None:
            delimiter = named[1]
        skip += 1
    return skip, delimiter, "\n".join(all_lines[skip:])


def guess_delimiter(text: str) -> str:
    """The delimiter that cuts most lines into as many values as the first line.

    >>> guess_delimiter("a;b\\n1,5;2,25\\n")
    ';'
    >>> guess_delimiter("only\\none\\ncolumn\\n")
    ','
    """
    best, best_share = ",", 0.0
    for delimiter in DELIMITERS:
        rows = _rows(text, delimiter)
        if not rows or len(rows[0]) == 1:
            continue
        share = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
        if share > best_share:
            best, best_share = delimiter, share
    return best


def _rows(text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    # A value may be longer than the csv module takes: what was read so far is enough for a guess.
    with suppress(csv.Error):
        rows.extend(islice((row for row in reader if row), SNIFFED_ROWS + 1))
    return rows


def _decimal(rows: list[list[str]], delimiter: str) -> str | None:
    """The decimal mark that the sampled cells show."""
    points = commas = unsure = 0
    for value in (cell.strip() for row in rows for cell in row):
        if _THOUSANDS.fullmatch(value):
            unsure += "," in value
        elif _POINT.fullmatch(value):
            points += 1
        elif _COMMA.fullmatch(value):
            commas += 1
    if points or commas:
        return "," if commas > points else "."
    # "1,234" alone is one thousand or one and a bit; whoever separates values by semicolons does it because
    # the comma is taken, as the decimal mark.
    return "," if delimiter == ";" and unsure else None


def lines(path: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Every row as the csv module reads it, with its line number in the file. Slow: for explaining errors only."""
    with open_bytes(path) as stream, io.TextIOWrapper(stream, encoding=dialect.encoding, newline="") as text:
        for _ in range(dialect.skip_lines):
            text.readline()
        reader = csv.reader(text, delimiter=dialect.delimiter, strict=True)
        for row in reader:
            yield reader.line_num + dialect.skip_lines, row


def _check_quotes(path: Path, dialect: Dialect) -> None:
    """An odd number of quotes may be an inch sign, or a quote that swallows the rest of the file."""
    last = 0
    try:
        for line, _ in lines(path, dialect):
            last = line
    except csv.Error as error:
        if "end of data" in str(error) or "field limit" in str(error):
            raise RaggedRows(
                f'{path}: a quote (") opened on line {last + 1} is never closed; close it, or double it if it is '
                "part of the value."
            ) from None
