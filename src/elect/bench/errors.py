"""``elect bench errors``: how well rows with wrong values are found, by the committee and by what else one would run.

Whatever the committee learned comes from other sources than the table it judges.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.left_out import fold_scorers
from elect.bench.rivals import RIVALS, cell_z_scores
from elect.bench.rows import described, labelled_rows
from elect.bench.testbeds.errors import ErrorTask, load_errors
from elect.bench.wrongvalues import Judged, judge, summarize
from elect.committee.committee import Committee
from elect.committee.scorer import RowScorer, chance_of
from elect.committee.voices import voice_pool
from elect.errors import InvalidInput
from elect.history.records import work_folder
from elect.history.row_training import CLEAN, ERRORS, RowTask
from elect.pool import PoolScorer
from elect.support.arrays import FloatArray, IntArray
from elect.support.meter import Meter, meter
from elect.tables import ColumnTreatment, read_table
from elect.tables.cells import cells_of_frame

COMMITTEE = "committee"
ONE_FOR_ALL = "best of these models in hindsight, one for all tables"
ONE_EACH = "best of these models in hindsight, one for each table"
_Z = "largest robust z-score"
FOLDS = 5
SURE, EVEN = 0.8, 0.5


def run_errors(
    corpora: Sequence[Path] = (),
    *,
    n_folds: int = FOLDS,
    limit: int | None = None,
    work_dir: str | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Every method on the testbed of wrong values. With ``limit`` on so many tasks; the history stays whole."""
    tasks = load_errors(limit=limit)
    with work_folder(work_dir) as pieces, meter(progress) as bar:
        bar.stage("describing rows", 1)
        history = described(labelled_rows(None, corpora), pieces.folder)
        judged = {task.group for task in tasks}
        bar.stage("training without each fold", n_folds)
        scorers = fold_scorers(history, judged, n_folds, pieces, bar.advance)
        found = judge_tasks(tasks, scorers, bar)
    return {
        "testbed": "errors",
        "protocol": f"{n_folds} folds of sources over all kinds of tasks",
        "history": len(history),
        "methods": found,
        "calibration": calibration_of([task for task in history if task.group in judged], scorers),
    }


def judge_tasks(tasks: Sequence[ErrorTask], scorers: Mapping[str, RowScorer], bar: Meter) -> list[dict[str, Any]]:
    """Committee, rivals and single models on every task, the best first."""
    if not tasks:
        raise InvalidInput("The testbed must have at least one task, got none.")
    bar.stage("judging", len(tasks))
    judged: dict[str, list[Judged]] = {}
    for task in tasks:
        named = _named_by_z(task)
        said, voices = _committee(task, scorers[task.group])
        judged.setdefault(COMMITTEE, []).append(said)
        for name, rival in RIVALS.items():
            judged.setdefault(name, []).append(judge(task, rival(task.table), named if name == _Z else None))
        for name, scores in voices.items():
            judged.setdefault(name, []).append(judge(task, scores))
        bar.advance()
    return _listed(judged)


def _listed(judged: dict[str, list[Judged]]) -> list[dict[str, Any]]:
    single = [name for name in judged if name != COMMITTEE]
    found = [summarize(name, of_one) for name, of_one in judged.items()]
    best = max((one for one in found if one.name in single), key=lambda one: one.mean_ap)
    each = [max(of_all, key=lambda one: one.ap) for of_all in zip(*(judged[name] for name in single), strict=True)]
    rows = [asdict(one) for one in sorted(found, key=lambda one: -one.mean_ap)]
    rows += [{**asdict(best), "name": ONE_FOR_ALL, "model": best.name}, asdict(summarize(ONE_EACH, each))]
    return [{key: rounded(value) for key, value in row.items()} for row in rows]


def rounded(value: Any) -> Any:
    """Four decimals; nothing where there is no number."""
    if not isinstance(value, float):
        return value
    return round(value, 4) if np.isfinite(value) else None


def _committee(task: ErrorTask, scorer: RowScorer) -> tuple[Judged, dict[str, FloatArray]]:
    """The committee's ranking with the cells it names, and the scores of each model that it listens to."""
    table = read_table(task.table)
    treatment, rows = ColumnTreatment.fit_transform(table)
    cells = cells_of_frame(treatment, table.frame)
    committee, learned = Committee.fit(scorer, PoolScorer(rows, standardize=False), cells)
    scores = committee.log_odds(learned.scores, learned.cells)
    first: IntArray = np.argsort(-scores, kind="stable")[: int(task.y.sum())]
    blame = committee.blame(learned.scores[first], committee.judge.judge(cells.rows(first)))
    named: list[str | None] = [None] * len(scores)
    for row, place in zip(first.tolist(), blame.argmax(axis=1).tolist(), strict=True):
        named[row] = cells.names[place]
    voices = {model: learned.scores[:, place] for place, model in enumerate(voice_pool().ids)}
    return judge(task, scores, named), voices


def _named_by_z(task: ErrorTask) -> list[str | None]:
    """The column of the largest robust z-score in each row."""
    return [task.table.columns[place] for place in cell_z_scores(task.table).argmax(axis=1).tolist()]


def calibration_of(tasks: Sequence[RowTask], scorers: Mapping[str, RowScorer]) -> dict[str, Any]:
    """Whether chances come true on left-out tables: with errors, and left clean."""
    of_kind: dict[str, list[tuple[FloatArray, Any]]] = {ERRORS: [], CLEAN: []}
    for task in tasks:
        if task.kind in of_kind:
            chance = chance_of(scorers[task.group].log_odds(task.features.astype(np.float64)))
            of_kind[task.kind].append((chance, task.y))
    if not of_kind[ERRORS]:
        return {}
    chance, y = (np.concatenate(part) for part in zip(*of_kind[ERRORS], strict=True))
    sure, flagged = chance >= SURE, chance > EVEN
    flagged_in = [float((own > EVEN).mean()) for own, _ in of_kind[CLEAN]]
    clean = np.concatenate([own for own, _ in of_kind[CLEAN]]) if of_kind[CLEAN] else np.empty(0)
    found = {
        "rows_given_0.8_to_1": int(sure.sum()),
        "outliers_among_them": _share(y[sure]),
        "flagged_rows": int(flagged.sum()),
        "outliers_flagged": _share(flagged[y == 1]),
        "false_alarms_stated": _share(1.0 - chance[flagged]),
        "false_alarms_realised": _share(1.0 - y[flagged]),
        "clean_tables": len(flagged_in),
        "clean_rows_flagged": _share(clean > EVEN),
        "clean_rows_flagged_mean_of_tables": _share(np.array(flagged_in)),
        "clean_tables_above_0.5_percent": _share(np.array(flagged_in) > 0.005),
        "reliability": [
            {"from": tenth / 10, "rows": int(at.sum()), "chance": _share(chance[at]), "outliers": _share(y[at])}
            for tenth in range(10)
            if (at := np.minimum((10 * chance).astype(int), 9) == tenth).any()
        ],
    }
    return {key: rounded(value) for key, value in found.items()}


def _share(values: Any) -> float | None:
    return round(float(np.mean(values)), 4) if len(values) else None
