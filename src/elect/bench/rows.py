"""The rows of every labelled task there is, described as the committee describes them: what the row scorer learns from
and is judged on."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elect.bench.testbeds.errors import load_errors
from elect.bench.testbeds.odd import load_odd
from elect.bench.testbeds.planted import planted_tasks
from elect.bench.testbeds.wild import load_more, load_wild
from elect.committee.features import feature_names
from elect.committee.voices import FAMILIES, voice_pool
from elect.history.corpus import read_corpus
from elect.history.row_training import CLEAN, ERRORS, PLANTED, RowTask, describe_array, describe_table
from elect.support.arrays import IntArray
from elect.support.atomic import write_atomically

MOST_ROWS = 5_000
"""Of a longer task, a seeded sample of so many rows is described."""

INJECTED = ("global", "local", "clustered")
_SOURCES = {**dict.fromkeys(("optdigits", "mnist"), "images"), **dict.fromkeys(("bible", "icd10", "cwe"), "texts")}


class LabelledRows(NamedTuple):
    """A labelled table, and the kind of task it is."""

    name: str
    group: str
    kind: str
    data: Any
    y: Any


def labelled_rows(home: Path | None = None, corpora: Iterable[Path] = ()) -> Iterator[LabelledRows]:
    """Every task: wild, odd and image features from the data home, corpora that were built, planted values, entry
    errors."""
    arrays = {"wild": load_wild(home), "odd": load_odd(home), "images": load_more(home), PLANTED: planted_tasks()}
    for kind, tasks in arrays.items():
        for task in tasks:
            yield LabelledRows(task.name, task.group, kind, task.X, task.y)
    for path in corpora:
        for task in read_corpus(path):
            yield LabelledRows(task.name, task.group, corpus_kind(task.name), task.X, task.y)
    for clean in (False, True):
        for table in load_errors(clean=clean):
            yield LabelledRows(table.name, table.group, CLEAN if clean else ERRORS, table.table, table.y)


def corpus_kind(name: str) -> str:
    """The kind of a task of a built corpus, by its name.

    >>> corpus_kind("keel/iris+pair-5%-scattered"), corpus_kind("keel/iris+global"), corpus_kind("simulated/meters")
    ('keel', 'injected', 'simulated')
    """
    source, _, rest = name.partition("/")
    if source == "keel":
        return "injected" if rest.rpartition("+")[2] in INJECTED and "+" in rest else "keel"
    return _SOURCES.get(source, source)


def described(rows: Iterable[LabelledRows], work: Path, say: Callable[[str], None] = lambda _: None) -> list[RowTask]:
    """The tasks with their rows described; what was described before is read from the work folder."""
    work.mkdir(parents=True, exist_ok=True)
    found = []
    for done, task in enumerate(rows, start=1):
        y = np.asarray(task.y, dtype=np.int8)
        path = work / f"{_key(task.name)}.npz"
        if not path.exists():
            data = task.data
            if isinstance(data, np.ndarray) and len(data) > MOST_ROWS:
                kept = drawn_rows(len(data))
                data, y = data[kept], y[kept]
            features = describe_array(data) if isinstance(data, np.ndarray) else describe_table(data)
            _keep(path, features, y)
            if done % 50 == 0:
                say(f"{done} tasks described")
        with np.load(path) as kept:
            found.append(RowTask(task.name, task.group, task.kind, kept["features"], kept["y"]))
    return found


def drawn_rows(n: int) -> IntArray:
    """The rows of a task of n rows that are described."""
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))


def _key(name: str) -> str:
    """Of a task, described by the features of today."""
    told = repr((name, feature_names(FAMILIES), voice_pool().ids))
    return hashlib.blake2b(told.encode(), digest_size=12).hexdigest()


def _keep(path: Path, features: Any, y: Any) -> None:
    import io

    buffer = io.BytesIO()
    np.savez(buffer, features=features, y=y)
    write_atomically(path, buffer.getvalue())


def without(tasks: Sequence[RowTask], groups: Iterable[str]) -> list[RowTask]:
    """The tasks of other sources."""
    left_out = set(groups)
    return [task for task in tasks if task.group not in left_out]
