"""``elect bench odd``: how well rows of rare classes are ranked, by the committee and by what else one would run.

Whatever the committee learned comes from other sources. Beside the testbed, every other kind of task is judged against
an isolation forest: with the kind in the history, and with the whole kind and its sources left out of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.errors import COMMITTEE, FOLDS, rounded
from elect.bench.left_out import fold_scorers, scorer_without_kind
from elect.bench.rivals import RIVALS
from elect.bench.rows import described, labelled_rows
from elect.bench.testbeds.odd import load_odd
from elect.bench.wrongvalues import Judged, summarize
from elect.committee.features import feature_names
from elect.committee.scorer import RowScorer
from elect.committee.voices import FAMILIES
from elect.core import LabeledTask
from elect.core.metrics import average_precision
from elect.errors import InvalidInput
from elect.history.pieces import Pieces
from elect.history.records import Recipe, work_folder
from elect.history.row_training import CLEAN, RowTask
from elect.history.train import make_records
from elect.pool import default_pool
from elect.support.arrays import FloatArray
from elect.support.meter import Meter, meter

ODD = "odd"
ONE_FOR_ALL = "best model of the paper's pool in hindsight, one for all tasks"
ONE_EACH = "best model of the paper's pool in hindsight, one for each task"
_FOREST = feature_names(FAMILIES).index("rank IForest")


def run_odd(
    corpora: Sequence[Path] = (),
    *,
    n_folds: int = FOLDS,
    limit: int | None = None,
    pool: bool = True,
    leave_kinds_out: bool = False,
    work_dir: str | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Every method on the testbed ``odd``. With ``limit`` on so many tasks of each kind; the history stays whole."""
    tasks = load_odd()[:limit]
    with work_folder(work_dir) as pieces, meter(progress) as bar:
        bar.stage("describing rows", 1)
        history = described(labelled_rows(None, corpora), pieces.folder)
        kinds = _by_kind(history, limit)
        judged = [task for of_kind in kinds.values() for task in of_kind]
        bar.stage("training without each fold", n_folds)
        scorers = fold_scorers(history, {task.group for task in judged}, n_folds, pieces, bar.advance)
        methods = judge_tasks(tasks, kinds[ODD], scorers, pieces if pool else None, bar)
        left_out: dict[str, RowScorer] = {}
        if leave_kinds_out:
            bar.stage("training without each kind", len(kinds))
            for kind in kinds:
                left_out[kind] = scorer_without_kind(history, kind, pieces)
                bar.advance()
    return {
        "testbed": ODD,
        "protocol": f"{n_folds} folds of sources over all kinds of tasks",
        "history": len(history),
        "methods": methods,
        "kinds": [judge_kind(kind, of_kind, scorers, left_out.get(kind)) for kind, of_kind in kinds.items()],
    }


def _by_kind(history: Sequence[RowTask], limit: int | None) -> dict[str, list[RowTask]]:
    names = dict.fromkeys(task.kind for task in history if task.kind != CLEAN)
    return {name: [task for task in history if task.kind == name][:limit] for name in names}


def judge_tasks(
    tasks: Sequence[LabeledTask],
    rows: Sequence[RowTask],
    scorers: Mapping[str, RowScorer],
    pieces: Pieces | None,
    bar: Meter,
) -> list[dict[str, Any]]:
    """Committee and rivals on every task, the best first; with a folder for pieces also the models of the pool."""
    import polars as pl

    if not tasks or [task.name for task in tasks] != [task.name for task in rows]:
        raise InvalidInput("The testbed must have at least one task, and each must be described.")
    judged: dict[str, list[Judged]] = {COMMITTEE: [_judged(row, _said(row, scorers[row.group])) for row in rows]}
    bar.stage("judging", len(tasks))
    for task, row in zip(tasks, rows, strict=True):
        table = pl.DataFrame(np.asarray(task.X))
        for name, rival in RIVALS.items():
            judged.setdefault(name, []).append(_judged(row, rival(table)))
        bar.advance()
    found = [asdict(summarize(name, of_one)) for name, of_one in judged.items()]
    found.sort(key=lambda row: -float(row["mean_ap"]))
    if pieces is not None:
        records = make_records(tasks, Recipe(default_pool()), pieces, bar)
        performance = np.array([record.performance for record in records.tasks])
        best = int(performance.mean(axis=0).argmax())
        model = {"model": records.recipe.pool.ids[best]}
        found.append(asdict(summarize(ONE_FOR_ALL, _of(rows, performance[:, best]))) | model)
        found.append(asdict(summarize(ONE_EACH, _of(rows, performance.max(axis=1)))))
    return [{key: rounded(value) for key, value in row.items() if key != "named_first"} for row in found]


def judge_kind(
    kind: str, tasks: Sequence[RowTask], scorers: Mapping[str, RowScorer], without_kind: RowScorer | None
) -> dict[str, Any]:
    """The committee on one kind of tasks against the isolation forest that it listens to (200 trees)."""
    forest = [_judged(task, task.features[:, _FOREST].astype(np.float64)) for task in tasks]
    found = {"kind": kind, "iforest": summarize("", forest).mean_ap}
    ways = {"committee": [_judged(task, _said(task, scorers[task.group])) for task in tasks]}
    if without_kind is not None:
        ways["kind_left_out"] = [_judged(task, _said(task, without_kind)) for task in tasks]
    for way, judged in ways.items():
        gain = [Judged(one.task, one.group, one.ap - other.ap) for one, other in zip(judged, forest, strict=True)]
        over = summarize("", gain)
        found |= {way: summarize("", judged).mean_ap, f"{way}_gain": over.mean_ap}
        found |= {f"{way}_gain_error": over.standard_error}
    return {key: rounded(value) for key, value in found.items()} | {
        "tasks": len(tasks),
        "groups": len({task.group for task in tasks}),
    }


def _said(task: RowTask, scorer: RowScorer) -> FloatArray:
    return scorer.log_odds(task.features.astype(np.float64))


def _judged(task: RowTask, scores: FloatArray) -> Judged:
    return Judged(task.name, task.group, float(average_precision(scores[:, None], task.y)[0]))


def _of(tasks: Sequence[RowTask], performance: FloatArray) -> list[Judged]:
    return [Judged(task.name, task.group, float(ap)) for task, ap in zip(tasks, performance, strict=True)]
