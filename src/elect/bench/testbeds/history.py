"""The wider history: labelled tasks of several kinds, cut or made from what anyone can install.

``elect[corpus]`` brings what most kinds need; the texts need ``elect[texts]``, whose model and library are gigabytes.

Breadth of kinds helps a pick more than the number of tasks: a history answers well where it holds something similar.
``elect corpus FOLDER`` writes these tasks; ``elect train`` reads them with any others.
"""

import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from elect.bench.testbeds.controlled import MAX_COLUMNS, MIN_INLIERS, controlled_tasks
from elect.bench.testbeds.images import image_tasks
from elect.bench.testbeds.keel import keel_tasks
from elect.bench.testbeds.simulated import simulated_tasks
from elect.bench.testbeds.texts import text_tasks
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.support.atomic import write_atomically

MANIFEST = "corpus.json"


def injected_tasks(seed: int = 0) -> tuple[LabeledTask, ...]:
    """Global, local and clustered outliers injected into normal rows of KEEL: one motherset a source."""
    mothers: dict[str, LabeledTask] = {}
    for task in keel_tasks(seed):
        fits = task.n_columns <= MAX_COLUMNS and int((task.y == 0).sum()) >= MIN_INLIERS
        if fits and ("+largest" in task.name or "+" not in task.name):
            mothers.setdefault(task.group, task)
    return tuple(made for task in mothers.values() for made in controlled_tasks(task, seed))


BUILDERS: dict[str, Callable[[int], tuple[LabeledTask, ...]]] = {
    "keel": keel_tasks,
    "injected": injected_tasks,
    "images": image_tasks,
    "texts": text_tasks,
    "simulated": simulated_tasks,
}
"""The kinds of tasks there are, by name."""

USUAL_KINDS = tuple(kind for kind in BUILDERS if kind != "texts")


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds asked for, each once."""
    unknown = [kind for kind in kinds if kind not in BUILDERS]
    if unknown or not kinds:
        raise InvalidInput(f"The kinds of tasks must be some of {', '.join(BUILDERS)}, got {', '.join(unknown)!r}.")
    return tuple(dict.fromkeys(kinds))


def history_tasks(kinds: Sequence[str] = USUAL_KINDS, seed: int = 0) -> tuple[LabeledTask, ...]:
    """The tasks of these kinds, one kind after the other."""
    return tuple(task for kind in check_kinds(kinds) for task in BUILDERS[kind](seed))


def write_corpus(tasks: Iterable[LabeledTask], folder: Path) -> Path:
    """Write tasks into a folder, an ``.npz`` each and a manifest of them; the manifest's path.

    The manifest comes last: a run that was killed leaves none, or the one of before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    entries = []
    for task in tasks:
        buffer = io.BytesIO()
        np.savez_compressed(buffer, X=task.X, y=task.y)
        file = re.sub(r"[^A-Za-z0-9._+-]+", "_", task.name) + ".npz"
        write_atomically(folder / file, buffer.getvalue())
        entries.append(
            {
                "name": task.name,
                "group": task.group,
                "n": task.n_rows,
                "d": task.n_columns,
                "outlier_percent": round(100 * float(task.y.mean()), 4),
                "file": file,
            }
        )
    if not entries:
        raise InvalidInput("A corpus must hold at least one task, got none.")
    manifest = folder / MANIFEST
    write_atomically(manifest, (json.dumps(entries, indent=1) + "\n").encode())
    return manifest
