"""Files that appear whole or not at all."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


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
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with os.fdopen(descriptor, "wb") as file:
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


def _flush_folder(folder: Path) -> None:
    """Put the new name of a file on disk, where the system can: not every one opens folders."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
