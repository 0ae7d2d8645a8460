"""Results written to files: whole or not at all, and never over something that is not a file."""

import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from elect.errors import InvalidInput
from elect.support.atomic import appearing
from elect.support.formulas import BEGINS, guarded

if TYPE_CHECKING:
    import polars as pl

FORMATS = (".csv", ".tsv", ".parquet")


def check_output(path: str | os.PathLike[str], option: str, suffixes: tuple[str, ...] = ()) -> None:
    """Say before the work begins that its result could not be written."""
    target = Path(path)
    try:
        target.resolve().exists()
    except (OSError, RuntimeError, ValueError):  # a link that leads back to itself, a name too long or with a zero
        raise InvalidInput(f"{option}: {str(path)!r} leads to no file that could be written; name another.") from None
    if target.is_dir():
        raise InvalidInput(f"{option} must name a file, and {str(path)!r} is a directory: add a file name.")
    if suffixes and target.suffix.lower() not in suffixes and not _is_device(target):
        raise InvalidInput(f"{option} must name a file that ends in {' or '.join(suffixes)}, got {str(path)!r}.")
    folder = target.parent
    if not folder.is_dir():
        raise InvalidInput(f"{option}: there is no folder {str(folder)!r} to write {target.name!r} in; make it first.")
    if not os.access(target if _is_device(target) else folder, os.W_OK):
        raise InvalidInput(f"{option}: no permission to write in {str(folder)!r}; choose another folder.")


def check_distinct(inputs: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Refuse to write over what is read, and to write two things to one file."""
    seen, piped = {path.resolve() for path in inputs}, Path("-") in inputs
    for path in outputs:
        if (path.resolve() in seen or (piped and _is_standard_input(path))) and not _is_device(path):
            raise InvalidInput(f"{str(path)!r} is read or written already: every output must be a file of its own.")
        seen.add(path.resolve())


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file whole or not at all; a device or a pipe is written to, not replaced."""
    with open_whole(path) as file:
        file.write(content)


@contextmanager
def open_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write into: it appears when all is written, or not at all. A device or a pipe is written to."""
    target = Path(path)
    try:
        with target.open("wb", buffering=0) if _is_device(target) else appearing(target) as file:
            yield file
    except OSError as error:
        raise InvalidInput(
            f"{str(path)!r} could not be written: {error.strerror or error}. Nothing was left there."
        ) from None


def table_bytes(frame: "pl.DataFrame", suffix: str) -> bytes:
    """A frame as CSV, TSV or Parquet, by the ending of the file's name."""
    buffer = io.BytesIO()
    if suffix == ".parquet":
        frame.write_parquet(buffer)
    else:
        safe_text(frame).write_csv(buffer, separator="\t" if suffix == ".tsv" else ",")
    return buffer.getvalue()


def safe_text(frame: "pl.DataFrame") -> "pl.DataFrame":
    """The frame as a text file can hold it: no cell and no name that a spreadsheet would run, no nested values."""
    import polars as pl

    columns, names = [_guarded(_flat(column)) for column in frame], list[str]()
    for name in map(guarded, frame.columns):
        while name in names:
            name = f"'{name}"
        names.append(name)
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def _flat(column: "pl.Series") -> "pl.Series":
    """A column of a kind that CSV knows; the text of a value where it is none."""
    import polars as pl

    if column.dtype in (pl.Categorical, pl.Enum):
        return column.cast(pl.String)
    if column.dtype == pl.Duration:
        return column.dt.to_string("iso")
    if column.dtype == pl.Binary:
        return pl.Series(column.name, [None if v is None else _readable(v) for v in column], dtype=pl.String)
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Null):
        return pl.Series(column.name, [None if v is None else str(v) for v in column.to_list()], dtype=pl.String)
    return column


def _readable(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _guarded(column: "pl.Series") -> "pl.Series":
    """Ids, cells and reasons quote what stands in the table; a formula among them would be run by a spreadsheet."""
    import polars as pl

    if column.dtype != pl.String:
        return column
    risky = column.str.contains(BEGINS).fill_null(False)
    if not risky.any():
        return column
    texts = pl.Series([guarded(text) for text in column.filter(risky)], dtype=pl.String)
    return column.scatter(risky.arg_true(), texts)


def _is_standard_input(path: Path) -> bool:
    """Whether it is a file that standard input comes from."""
    try:
        return os.path.samestat(os.fstat(sys.stdin.fileno()), path.stat())
    except (OSError, ValueError, AttributeError):
        return False


def _is_device(path: Path) -> bool:
    """Whether something is there that must not be replaced by a file: a device, a pipe."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
