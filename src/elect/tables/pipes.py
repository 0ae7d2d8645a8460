"""Tables from pipes: ``-`` for standard input, ``/dev/stdin``, ``<(...)``, named pipes.

A pipe can be read once, a table is read more than once: what comes out of it is copied to a temporary file.
"""

import atexit
import os
import select
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elect.support import wording
from elect.tables.errors import TableError, UnreadableFile

LARGEST = 32 << 30
"""The copy of a pipe may have so many bytes."""

SPARE = 1 << 30
"""Bytes that stay free where it is copied to."""

PATIENCE = 20.0
"""Seconds to wait for someone to begin to write to a pipe."""

_CHUNK = 1 << 20
_ENDINGS = ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\x28\xb5\x2f\xfd", ".zst"))

_copies: dict[str, Path] = {}


@contextmanager
def as_file(path: Path, *, again: bool = False) -> Iterator[Path]:
    """The path of a file, or of a copy of what comes out of a pipe.

    With ``again`` the copy stays for as long as the process, for whoever reads the same pipe again.
    """
    name = os.fspath(path)
    if not _is_pipe(path):
        with _readable(path) as file:
            yield file
        return
    copy = _copies.get(name) if again else None
    copy = _copied(path) if copy is None else copy
    if again:
        _copies[name] = copy
    shown = "standard input" if name == "-" else name
    try:
        yield copy
    except TableError as error:  # the user knows nothing of the copy
        raise type(error)(str(error).replace(str(copy), shown)) from None
    finally:
        if not again:
            shutil.rmtree(copy.parent, ignore_errors=True)


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """The path, or a link to it where its name is no text: not every library takes such names."""
    name = os.fspath(path)
    if name.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in name):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="elect-") as folder:
        link = Path(folder) / ("table" + (path.suffix if path.suffix.isascii() else ""))
        link.symlink_to(path.absolute())
        try:
            yield link
        except TableError as error:
            raise type(error)(str(error).replace(str(link), wording.clean(name))) from None


def _is_pipe(path: Path) -> bool:
    if os.fspath(path) == "-":
        return True
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and not path.samefile(os.devnull)):
        raise UnreadableFile(f"{path} is a device, not a file; give a table.")  # it may have no end
    return stat.S_ISFIFO(mode)


def _copied(path: Path) -> Path:
    name = os.fspath(path)
    folder = Path(tempfile.mkdtemp(prefix="elect-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / (path.name if name not in ("-", "/dev/stdin") else "stdin")
    try:
        # Without waiting: to open a pipe to which nobody writes would never end.
        source = _standard_input() if name == "-" else os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            head = _copy(source, target, name)
        finally:
            if name != "-":
                os.close(source)
    except (OSError, TableError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, TableError):
            raise
        raise UnreadableFile(f"{name} cannot be read: {error.strerror or error}.") from None
    ending = next((ending for magic, ending in _ENDINGS if head.startswith(magic)), "")
    return target.rename(target.with_name(target.name + ending)) if not target.suffix else target


def _standard_input() -> int:
    try:
        if sys.stdin is None or sys.stdin.isatty():
            raise UnreadableFile("There is no table on standard input: pipe one in, or name a file.")
        return sys.stdin.fileno()
    except (OSError, ValueError):
        raise UnreadableFile("Standard input is closed: pipe a table in, or name a file.") from None


def _copy(source: int, target: Path, name: str) -> bytes:
    """Copy all that comes; the first bytes."""
    head, size = b"", 0
    with target.open("wb") as file:
        while True:
            ready = select.select([source], [], [], None if size else PATIENCE)[0]
            if not ready:
                raise UnreadableFile(f"{name} is a pipe to which nobody writes; start what writes to it first.")
            try:
                chunk = os.read(source, _CHUNK)
            except BlockingIOError:
                continue
            if not chunk:
                return head
            head, size = head or chunk[:8], size + len(chunk)
            if size > LARGEST:
                raise UnreadableFile(f"{name} has more than {wording.count(LARGEST >> 30)} GB; give a file.")
            if size >> 26 > size - len(chunk) >> 26 and shutil.disk_usage(target.parent).free < SPARE:
                raise UnreadableFile(f"{name} has more than there is room for in {target.parent.parent}; give a file.")
            file.write(chunk)
