"""From labelled tasks to records: the scores, performance, rank correlations and measures of every model."""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np

from elect.committee.curves import OutlierCurves, task_counts
from elect.core import LabeledTask, ModelPool, PerformanceMatrix, ScoreMatrix
from elect.core.metrics import Metric, metric_name, performance
from elect.errors import InvalidInput
from elect.history.database import LONGEST_NAME
from elect.history.pieces import ENGINE_VERSION, Pieces, digest, task_digest
from elect.measures import PAPER_MEASURES, measure_table, rank
from elect.paper.anchors import rank_correlations
from elect.pool import score_pool
from elect.support import wording
from elect.support.arrays import FloatArray, read_only


def single_precision(values: FloatArray) -> FloatArray:
    """Rounded to what float32 can hold: a database is half as large, and no rank hangs on the eighth digit."""
    return values.astype(np.float32).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Recipe:
    """Everything that decides the numbers of a record."""

    pool: ModelPool
    metric: Metric = "ap"
    measure_names: tuple[str, ...] = PAPER_MEASURES
    seed: int = 0
    trials: int = 5

    def score_key(self, task: LabeledTask) -> str:
        return digest(ENGINE_VERSION, task_digest(task), self.pool.fingerprint, self.seed, self.trials)


@dataclass(frozen=True, eq=False)
class TaskRecord:
    """What training keeps of one task besides its scores."""

    name: str
    group: str
    sha256: str
    n: int
    d: int
    outlier_share: float
    key: str
    performance: FloatArray  # (models,)
    correlations: FloatArray  # (models, models)
    curve_counts: FloatArray  # (2, qualities, places): see elect.committee.curves

    def provenance(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "group": self.group,
            "n": self.n,
            "d": self.d,
            "outlier_share": self.outlier_share,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, eq=False)
class MetaRecords:
    """The records of a history, over one pool."""

    recipe: Recipe
    tasks: tuple[TaskRecord, ...]

    @property
    def performance(self) -> PerformanceMatrix:
        values = single_precision(np.array([task.performance for task in self.tasks]))
        names = tuple(task.name for task in self.tasks)
        return PerformanceMatrix(values, names, self.recipe.pool.ids, metric_name(self.recipe.metric))

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(task.group for task in self.tasks)

    @property
    def curves(self) -> OutlierCurves:
        """The score-to-probability calibration of these tasks."""
        return OutlierCurves.of([t.curve_counts for t in self.tasks], [t.outlier_share for t in self.tasks])

    def without(self, held_out: Collection[str]) -> "MetaRecords":
        """The records of the other tasks."""
        inside = tuple(task for task in self.tasks if task.name not in held_out)
        if not inside:
            raise InvalidInput("A history must hold tasks besides those that are left out; there are none.")
        return MetaRecords(self.recipe, inside)

    @property
    def correlations(self) -> FloatArray:
        return np.array([task.correlations for task in self.tasks])


def check_corpus(tasks: Sequence[LabeledTask]) -> None:
    """A corpus that can be trained on, or an error that names the task at fault."""
    if not tasks:
        raise InvalidInput("A corpus must hold at least one labelled task, got none.")
    seen: set[str] = set()
    for task in tasks:
        for name in (task.name, task.group):
            if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME:
                raise InvalidInput(
                    f"Names of tasks and groups must be printable text of 1 to {LONGEST_NAME} characters, got "
                    f"{wording.short(repr(name))} for task {wording.short(repr(task.name))}."
                )
        if task.name in seen:
            raise InvalidInput(f"Each task of a corpus must have a name of its own; {task.name!r} is there twice.")
        seen.add(task.name)
        if task.y.min() == task.y.max():
            raise InvalidInput(
                f"Task {task.name!r} must have both outliers and normal rows, got only "
                f"{'outliers' if task.y[0] else 'normal rows'}: leave it out of the corpus."
            )


def score_task(task: LabeledTask, recipe: Recipe, n_jobs: int = 1) -> dict[str, Any]:
    """Score one task: what runs on a worker, wherever that is."""
    scores = score_pool(task.X, recipe.pool, seed=recipe.seed, trials=recipe.trials, n_jobs=n_jobs)
    return {"scores": np.asarray(scores.values), "correlations": rank_correlations(scores.values)}


def score_into(pieces: Pieces, task: LabeledTask, recipe: Recipe, n_jobs: int = 1) -> str:
    """Score one task and keep the piece, unless it is there already; its key."""
    key = recipe.score_key(task)
    if not pieces.has("scores", key):
        pieces.put("scores", key, score_task(task, recipe, n_jobs))
    return key


def read_record(pieces: Pieces, task: LabeledTask, recipe: Recipe) -> TaskRecord:
    """The record of a scored task; one whose piece is damaged is scored again."""
    key = recipe.score_key(task)
    piece = pieces.get("scores", key)
    if not _fits(piece, task, recipe):
        piece = score_task(task, recipe)
        pieces.put("scores", key, piece)
    scores = ScoreMatrix(piece["scores"], recipe.pool.ids)
    counts = task_counts(rank(scores.values), task.y, performance(scores, task.y, "ap"))
    return TaskRecord(
        name=task.name,
        group=task.group,
        sha256=task_digest(task),
        n=task.n_rows,
        d=task.n_columns,
        outlier_share=float(task.y.mean()),
        key=key,
        performance=read_only(performance(scores, task.y, recipe.metric)),
        correlations=read_only(piece["correlations"]),
        curve_counts=read_only(counts),
    )


def _fits(piece: dict[str, Any] | None, task: LabeledTask, recipe: Recipe) -> TypeGuard[dict[str, Any]]:
    """Whether a piece is what scoring this task gives: the folder is the user's, and anything may lie there."""
    n = len(recipe.pool)
    shapes = {"scores": (task.n_rows, n), "correlations": (n, n)}
    return (
        piece is not None
        and {name: array.shape for name, array in piece.items()} == shapes
        and all(array.dtype.kind == "f" for array in piece.values())
    )


def stored_scores(pieces: Pieces, record: TaskRecord, recipe: Recipe) -> ScoreMatrix:
    """The scores of a task that was scored before."""
    stored = pieces.get("scores", record.key)
    if stored is None:
        raise InvalidInput(f"The scores of task {record.name!r} vanished from {pieces.folder}: start again.")
    return ScoreMatrix(stored["scores"], recipe.pool.ids)


def measure_task(pieces: Pieces, record: TaskRecord, recipe: Recipe, anchors: tuple[str, ...]) -> FloatArray:
    """The measures of every model on one task against the anchors (models x measures); kept as a piece."""
    key = digest(record.key, recipe.measure_names, *anchors)
    piece, n = pieces.get("measures", key), len(recipe.pool)
    if piece is None or "measures" not in piece or piece["measures"].shape != (n, len(recipe.measure_names)):
        scores = stored_scores(pieces, record, recipe)
        piece = {"measures": measure_table(scores, anchors, recipe.measure_names)}
        pieces.put("measures", key, piece)
    measures: FloatArray = piece["measures"]
    return measures


@contextmanager
def work_folder(folder: str | Path | None) -> Iterator[Pieces]:
    """The folder pieces are kept in; without one, a temporary folder that goes with the run."""
    if folder is not None:
        yield Pieces.at(folder)
        return
    with tempfile.TemporaryDirectory(prefix="elect-") as name:
        yield Pieces.at(name)
