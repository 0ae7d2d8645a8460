"""The wild testbed: the 39 tasks of the paper, and six more of another kind.

The tasks are data (``wild.json``, ``more.json`` under the data home), addressed by name. One of the 39 has published
results but no table that can be had, so that 38 can be loaded.
"""

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elect.bench.testbeds.home import data_file, data_home
from elect.core import LabeledTask
from elect.errors import ElectError, InvalidInput


@dataclass(frozen=True)
class TaskEntry:
    """What is known of a task before its table is read. ``file`` is None where the table is not available.

    >>> TaskEntry("odds/speech", "speech", 3686, 400, 1.6549, None, None).available
    False
    """

    name: str
    group: str
    n: int
    d: int
    outlier_percent: float
    file: str | None
    sha256: str | None

    @property
    def available(self) -> bool:
        return self.file is not None


def wild_entries(home: Path | None = None) -> tuple[TaskEntry, ...]:
    """The 39 tasks of the wild testbed, in the order of the published results."""
    return read_entries("wild.json", home)


def more_entries(home: Path | None = None) -> tuple[TaskEntry, ...]:
    """The six tasks of image features: breadth for the history, no part of the paper's testbeds."""
    return read_entries("more.json", home)


def load_wild(home: Path | None = None) -> tuple[LabeledTask, ...]:
    """The available tasks of the wild testbed (38 of 39), each checked against its digest."""
    return load_entries(wild_entries(home), home)


def load_more(home: Path | None = None) -> tuple[LabeledTask, ...]:
    """The six tasks of image features, each checked against its digest."""
    return load_entries(more_entries(home), home)


def load_entries(entries: Iterable[TaskEntry], home: Path | None = None) -> tuple[LabeledTask, ...]:
    """The tasks of those entries whose table is available, in the order given."""
    return tuple(load_task(entry, home) for entry in entries if entry.available)


def load_task(entry: TaskEntry, home: Path | None = None) -> LabeledTask:
    """One task with its table and its truth; an error if the file is not the one the entry describes."""
    if entry.file is None:
        raise ElectError(f"The table of task {entry.name!r} is not available: only its published results are.")
    path = data_file(entry.file, home)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != entry.sha256:
        raise ElectError(
            f"{path} is not the table of task {entry.name!r}: its sha256 must be {entry.sha256}, got {digest}. "
            "The file is damaged or another version; fetch it again."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        task = LabeledTask(entry.name, entry.group, stored["X"], stored["y"])
    if (task.n_rows, task.n_columns) != (entry.n, entry.d):
        raise InvalidInput(
            f"The table of task {entry.name!r} must be {entry.n} x {entry.d} as its entry says, "
            f"got {task.n_rows} x {task.n_columns}: correct the entry."
        )
    return task


def read_entries(file: str, home: Path | None) -> tuple[TaskEntry, ...]:
    path = data_file(file, home or data_home())
    try:
        entries = tuple(
            TaskEntry(
                name=str(entry["name"]),
                group=str(entry["group"]),
                n=int(entry["n"]),
                d=int(entry["d"]),
                outlier_percent=float(entry["outlier_percent"]),
                file=entry.get("file"),
                sha256=entry.get("sha256"),
            )
            for entry in json.loads(path.read_text(encoding="utf-8"))
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"{path} must be a JSON list of tasks with name, group, n, d, outlier_percent, file and sha256; "
            f"reading it failed: {error!r}. Fetch the file again."
        ) from error
    names = [entry.name for entry in entries]
    if len(set(names)) != len(names):
        raise InvalidInput(f"{path} must name each task once; some name is there twice.")
    return entries
