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
class TaskRecord:
    """What is known of a task before its table is read. ``file`` is None where the table is not available.

    >>> TaskRecord("odds/speech", "speech", 3686, 400, 1.6549, None, None).available
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


def wild_records(home: Path | None = None) -> tuple[TaskRecord, ...]:
    """The 39 tasks of the wild testbed, in the order of the published results."""
    return read_records("wild.json", home)


def more_records(home: Path | None = None) -> tuple[TaskRecord, ...]:
    """The six tasks of image features: breadth for the history, no part of the paper's testbeds."""
    return read_records("more.json", home)


def load_wild(home: Path | None = None) -> tuple[LabeledTask, ...]:
    """The available tasks of the wild testbed (38 of 39), each checked against its digest."""
    return load_records(wild_records(home), home)


def load_more(home: Path | None = None) -> tuple[LabeledTask, ...]:
    """The six tasks of image features, each checked against its digest."""
    return load_records(more_records(home), home)


def load_records(records: Iterable[TaskRecord], home: Path | None = None) -> tuple[LabeledTask, ...]:
    """The tasks of those records whose table is available, in the order given."""
    return tuple(load_task(record, home) for record in records if record.available)


def load_task(record: TaskRecord, home: Path | None = None) -> LabeledTask:
    """One task with its table and its truth; an error if the file is not the one the record describes."""
    if record.file is None:
        raise ElectError(f"The table of task {record.name!r} is not available: only its published results are.")
    path = data_file(record.file, home)
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest != record.sha256:
        raise ElectError(
            f"{path} is not the table of task {record.name!r}: its sha256 must be {record.sha256}, got {digest}. "
            "The file is damaged or another version; fetch it again."
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        task = LabeledTask(record.name, record.group, stored["X"], stored["y"])
    if (task.n_rows, task.n_columns) != (record.n, record.d):
        raise InvalidInput(
            f"The table of task {record.name!r} must be {record.n} x {record.d} as its record says, "
            f"got {task.n_rows} x {task.n_columns}: correct the record."
        )
    return task


def read_records(file: str, home: Path | None) -> tuple[TaskRecord, ...]:
    path = data_file(file, home or data_home())
    try:
        records = tuple(
            TaskRecord(
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
    names = [record.name for record in records]
    if len(set(names)) != len(names):
        raise InvalidInput(f"{path} must name each task once; some name is there twice.")
    return records
