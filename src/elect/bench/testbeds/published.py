"""The published results on the wild testbed: how well 297 models did on 39 tasks, and their internal measures."""

import csv
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from elect.bench.testbeds.home import data_file
from elect.bench.testbeds.wild import wild_entries
from elect.core import PerformanceMatrix
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only

_FILES = {"ap": "reference/ap.csv", "roc": "reference/roc.csv", "prn": "reference/prns.csv"}
_MEASURES = "reference/measures.npz"

MEASURE_NAMES = ("mc_spearman", "mc_kendall", "select", "hits", "udr")
"""Every measure that was published."""


def published_labels(home: Path | None = None) -> tuple[str, ...]:
    """The models as the published files call them, such as ``('LODA', (5, 10))``, in column order."""
    with data_file(_FILES["ap"], home).open(newline="", encoding="utf-8") as file:
        return tuple(next(csv.reader(file))[1:])


def published_performance(
    metric: str = "ap", model_ids: Sequence[str] | None = None, home: Path | None = None
) -> PerformanceMatrix:
    """The published performance, 39 tasks x 297 models, tasks in the order of ``wild.json``.

    ``metric`` is ``"ap"`` (average precision), ``"roc"`` (area under the ROC curve) or ``"prn"`` (precision@n).
    ``model_ids`` names the columns, in the order of ``published_labels``; without it they keep the published labels.
    """
    if metric not in _FILES:
        raise InvalidInput(f"The metric must be one of {', '.join(_FILES)}, got {metric!r}.")
    path = data_file(_FILES[metric], home)
    with path.open(newline="", encoding="utf-8") as file:
        header, *lines = csv.reader(file)
    labels = header[1:]
    if tuple(labels) != published_labels(home):
        raise InvalidInput(f"{path} must have the columns of ap.csv, in the same order. Fetch the files again.")
    try:
        rows = {line[0]: [float(value) for value in line[1:]] for line in lines if line}
    except ValueError as error:
        raise InvalidInput(
            f"{path} must hold numbers after the first column: {error}. Fetch the file again."
        ) from error
    tasks = tuple(entry.name for entry in wild_entries(home))
    _check_tasks(path, rows, tasks)
    if any(len(rows[task]) != len(labels) for task in tasks):
        raise InvalidInput(f"{path} must hold {len(labels)} numbers a line; some line has more or fewer.")
    return PerformanceMatrix(np.array([rows[task] for task in tasks]), tasks, _named(model_ids, labels), metric)


@dataclass(frozen=True, eq=False)
class PublishedMeasures:
    """Internal measures, tasks x models x measures. Where a task lacks a measure, all its models have NaN for it.

    >>> import numpy as np
    >>> values = np.array([[[0.2], [0.4]], [[0.6], [0.8]], [[np.nan], [np.nan]]])
    >>> measures = PublishedMeasures(values, ("a", "b", "c"), ("m1", "m2"), ("mc",))
    >>> measures.missing
    (('c', 'mc'),)
    >>> measures.filled()[2]
    array([[0.4], [0.6]])
    >>> measures.filled(sources=["a"])[2]
    array([[0.2], [0.4]])
    """

    values: FloatArray
    tasks: tuple[str, ...]
    model_ids: tuple[str, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        values = read_only(self.values)
        expected = (len(self.tasks), len(self.model_ids), len(self.names))
        if values.shape != expected:
            raise InvalidInput(f"Measures must be tasks x models x measures, {expected}, got shape {values.shape}.")
        object.__setattr__(self, "values", values)

    @property
    def missing(self) -> tuple[tuple[str, str], ...]:
        """Which task lacks which measure: pairs (task, measure), the ones that ``filled`` fills."""
        gaps = np.isnan(self.values).any(axis=1)
        return tuple((self.tasks[i], self.names[j]) for i, j in np.argwhere(gaps))

    def filled(self, sources: Collection[str] | None = None) -> FloatArray:
        """The measures without gaps.

        The rule: what a model lacks on a task becomes the mean of that measure of that model over the tasks that have
        it. ``sources`` names the tasks that may be averaged (all if None): inside a fold, give the fold's training
        tasks, so that nothing of the task left out reaches the others.
        """
        unknown = set(sources or ()) - set(self.tasks)
        if unknown:
            raise InvalidInput(f"Unknown tasks {', '.join(sorted(unknown))}: the measures are of {self.tasks[0]}, ...")
        rows = [i for i, task in enumerate(self.tasks) if sources is None or task in sources]
        given = ~np.isnan(self.values[rows])
        counts = given.sum(axis=0)
        if (counts == 0).any():
            lacking = [name for name, none in zip(self.names, (counts == 0).any(axis=0), strict=True) if none]
            raise InvalidInput(
                f"No task among the {len(rows)} sources has {', '.join(lacking)}, so that the gaps cannot be filled: "
                "give more sources."
            )
        means = np.where(given, self.values[rows], 0.0).sum(axis=0) / counts
        return np.where(np.isnan(self.values), means, self.values)


def published_measures(
    names: Sequence[str] = ("mc_spearman", "select", "hits"),
    model_ids: Sequence[str] | None = None,
    home: Path | None = None,
) -> PublishedMeasures:
    """The published internal measures, gaps and all, tasks in the order of ``wild.json``.

    The default are the three the paper uses: MC, SELECT and HITS. ``model_ids`` is as for ``published_performance``.
    """
    unknown = [name for name in names if name not in MEASURE_NAMES]
    if unknown:
        raise InvalidInput(f"The published measures are {', '.join(MEASURE_NAMES)}, got {', '.join(unknown)}.")
    path = data_file(_MEASURES, home)
    with np.load(path, allow_pickle=False) as stored:
        labels = [str(label) for label in stored["models"]]
        stored_tasks = [str(task) for task in stored["tasks"]]
        values = np.stack([stored[name].astype(np.float64) for name in names], axis=2)
    if tuple(labels) != published_labels(home):
        raise InvalidInput(f"{path} must hold the models of ap.csv, in the same order. Fetch the files again.")
    tasks = tuple(entry.name for entry in wild_entries(home))
    _check_tasks(path, stored_tasks, tasks)
    order = [stored_tasks.index(task) for task in tasks]
    return PublishedMeasures(values[order], tasks, _named(model_ids, labels), tuple(names))


def _named(model_ids: Sequence[str] | None, labels: Sequence[str]) -> tuple[str, ...]:
    if model_ids is None:
        return tuple(labels)
    if len(model_ids) != len(labels):
        raise InvalidInput(
            f"model_ids must name each of the {len(labels)} published models in column order, got {len(model_ids)}."
        )
    return tuple(model_ids)


def _check_tasks(path: Path, held: Iterable[str], tasks: tuple[str, ...]) -> None:
    absent = sorted(set(tasks) - set(held))
    if absent:
        raise InvalidInput(f"{path} must hold every task of wild.json; it lacks {', '.join(absent)}. Fetch it again.")
