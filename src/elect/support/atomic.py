"""Files that appear whole or not at all."""

import contextlib
import glob
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

JUST_NOW = 1.0
"""Seconds in which a file that was made is not yet taken for a leftover."""


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file through a temporary one beside it, so that a crash at any moment leaves the old one or the new one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "a", b"whole")
    ...     (Path(folder) / "a").read_bytes(), len(os.listdir(folder))
    (b'whole', 1)
    """
    with appearing(path) as file:
        file.write(content)


@contextlib.contextmanager
def appearing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write into, which appears under its name when all was written, and not at all otherwise."""
    path = Path(os.path.realpath(path))  # a link stays a link: what it leads to is written
    _sweep(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
            _locked(descriptor)
            yield file
            file.flush()
            os.fsync(file.fileno())
        # mkstemp makes files private; a result is as readable as any other file of its user.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
        _flush_folder(path.parent)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _sweep(path: Path) -> None:
    """Remove what killed processes left of this file; whoever is still writing holds a lock."""
    with contextlib.suppress(OSError):
        for left in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
            with contextlib.suppress(OSError), left.open("rb") as file:
                # A new one is left alone for a while: its writer may be about to lock it.
                if time.time() - left.stat().st_mtime > JUST_NOW and _locked(file.fileno()):
                    left.unlink()


def _locked(descriptor: int) -> bool:
    """Lock a file until it is closed; False where another holds it, or where the system has no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _flush_folder(folder: Path) -> None:
    """Put the new name of a file on disk, where the system can: not every one opens folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
