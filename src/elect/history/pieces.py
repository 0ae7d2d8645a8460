"""Finished pieces of work in a folder, each written whole or not at all, its name a digest of what it was made from.

A run that was killed finds them and goes on; a larger history finds those of the tasks it already had.
"""

import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.support.atomic import write_atomically

# Raised whenever the engine or the measures give other numbers than before.
ENGINE_VERSION = 3


def digest(*parts: Any) -> str:
    """A name for what a piece was made from.

    >>> digest("a", 1) == digest("a", 1), digest("a", 1) == digest("a", 2)
    (True, False)
    """
    text = json.dumps([str(part) for part in parts], separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def task_digest(task: LabeledTask) -> str:
    """A digest of a task's rows and labels; its name plays no part."""
    state = hashlib.sha256()
    # The layout is part of a table: sums over a column round differently (see elect.pool.standardize).
    order = "F" if task.X.flags.f_contiguous and not task.X.flags.c_contiguous else "C"
    state.update(f"{task.X.shape}{order}".encode())
    state.update(np.ascontiguousarray(task.X).tobytes())
    state.update(np.ascontiguousarray(task.y).tobytes())
    return state.hexdigest()


@dataclass(frozen=True)
class Pieces:
    """A folder of finished pieces."""

    folder: Path

    @classmethod
    def at(cls, folder: str | Path) -> "Pieces":
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InvalidInput(f"The work folder {path} cannot be made ({error.strerror}): name another one.") from None
        return cls(path)

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / f"{kind}-{key}.npz"

    def get(self, kind: str, key: str) -> dict[str, Any] | None:
        """A piece, or None if it is not there or cannot be read."""
        try:
            with np.load(self._path(kind, key), allow_pickle=False) as file:
                return {name: file[name] for name in file.files}
        except (OSError, ValueError, KeyError, EOFError, SyntaxError):
            return None
        except Exception as error:
            # zipfile and zlib raise kinds of their own for a damaged file; it is made again.
            if type(error).__module__ in ("zipfile", "zlib"):
                return None
            raise

    def has(self, kind: str, key: str) -> bool:
        return self._path(kind, key).exists()

    def put(self, kind: str, key: str, arrays: Mapping[str, Any]) -> None:
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        write_atomically(self._path(kind, key), buffer.getvalue())
