"""The cost of a selection on the wild tasks: models fitted, seconds, the search's own overhead, and its growth.

    ELECT_DATA_HOME=... python benchmarks/online.py [--json] [--tasks odds/wine ...]

Each task is left out with its group: a database of the others selects for it. Performance and measures are replayed
from a work folder of scores (--work), made first where it is empty.
"""

import argparse
import json
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from elect import ElectError, MetaDatabase, PoolScorer, default_pool
from elect.bench.testbeds import load_wild
from elect.core import LabeledTask, PerformanceMatrix, Selection
from elect.core.sources import ReplayedMeasures
from elect.history.learning import learn_without, predictor_params
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords, Recipe, work_folder
from elect.history.train import database_of, make_records
from elect.measures import PAPER_MEASURES
from elect.paper.coverage import coverage_initial_models
from elect.paper.predictor_training import PredictorParams, train_predictor
from elect.paper.search import search
from elect.paper.settings import INITIAL_SIZE, MAX_MODELS

PAPER_SECONDS = 47.10
STRATEGIES = ("ei", "ei-per-second")


class Timed:
    """A PoolScorer that counts the CPU seconds spent in fitting."""

    def __init__(self, X: Any) -> None:
        self.scorer = PoolScorer(X)
        self.cpu = 0.0

    def scores(self, model_id: str) -> Any:
        started = time.process_time()
        try:
            return self.scorer.scores(model_id)
        finally:
            self.cpu += time.process_time() - started

    def predicted_seconds(self, model_id: str) -> float:
        return self.scorer.predicted_seconds(model_id)


def iforest_seconds(X: Any) -> float:
    """CPU seconds of one PyOD IForest(n_estimators=100) on the standardised table."""
    from pyod.models.iforest import IForest

    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    started = time.process_time()
    IForest(n_estimators=100, random_state=0).fit(Z)
    return time.process_time() - started


def database_without(group: str, database: MetaDatabase, records: MetaRecords, pieces: Pieces) -> MetaDatabase:
    """What the others teach, with the settings that were chosen for all."""
    fold = learn_without(
        [record.name for record in records.tasks if record.group == group],
        records,
        pieces,
        anchors=database.anchors,
        params=predictor_params(database),
        pairs_per_task=5_000,
    )
    initial = coverage_initial_models(fold.performance, len(database.initial_models))
    return replace(fold, settings=database.settings, initial_models=initial)


def on_task(fold: MetaDatabase, task: LabeledTask, ranks: Any, acquisition: str) -> dict[str, Any]:
    started = time.process_time()
    source = Timed(task.X)
    prepared = time.process_time() - started
    selection = Selection.from_steps(search(fold, source, acquisition=acquisition, max_models=MAX_MODELS), fold.pool)
    total = time.process_time() - started
    return {
        "models_fitted": len(selection.evaluated),
        "cpu_seconds": round(total, 4),
        "fitting_cpu_seconds": round(source.cpu + prepared, 4),
        "overhead_cpu_seconds": round(total - source.cpu - prepared, 4),
        "rank": float(ranks[fold.pool.index(selection.model_id)]),
        "model": selection.model_id,
        "stopped_because": selection.stopped_because,
    }


def overhead_growth() -> list[dict[str, Any]]:
    """CPU seconds of the search itself, measures replayed, as models and historical tasks grow (Lemma 2)."""
    rng = np.random.default_rng(0)
    rows = []
    pool = default_pool()
    for n_models, n_tasks in ((297, 39), (74, 39), (148, 39), (297, 78), (297, 156), (297, 400)):
        part = pool.subset(pool.ids[:n_models])
        performance = rng.random((n_tasks, n_models))
        measures = rng.random((n_tasks, n_models, 3))
        matrix = PerformanceMatrix(performance, tuple(f"t{i}" for i in range(n_tasks)), part.ids)
        database = MetaDatabase(
            pool=part,
            performance=matrix,
            groups=matrix.tasks,
            measure_names=PAPER_MEASURES,
            measures=measures,
            anchors=part.ids[:1],
            initial_models=coverage_initial_models(matrix, INITIAL_SIZE),
            predictor=train_predictor(
                performance, measures, params=PredictorParams(num_leaves=31, rounds=100), pairs_per_task=2000
            ),
        )
        source = ReplayedMeasures(part.ids, rng.random((n_models, 3)))
        list(search(database, source, max_models=10, patience=1000))
        started = time.process_time()
        list(search(database, source, max_models=57, patience=1000))
        seconds = round(time.process_time() - started, 4)
        rows.append({"models": n_models, "tasks": n_tasks, "steps": 57, "overhead_cpu_seconds": seconds})
    return rows


def size_growth(database: MetaDatabase) -> list[dict[str, Any]]:
    """CPU seconds of a whole selection as the rows grow, and on 5000 x 30."""
    rows = []
    for n, d in ((1000, 10), (2000, 10), (4000, 10), (8000, 10), (5000, 30)):
        X = np.random.default_rng(n).normal(size=(n, d))
        for acquisition in STRATEGIES:
            source = Timed(X)
            started = time.process_time()
            selection = Selection.from_steps(
                search(database, source, acquisition=acquisition, max_models=MAX_MODELS), database.pool
            )
            seconds = time.process_time() - started
            rows.append(
                {
                    "n": n,
                    "d": d,
                    "acquisition": acquisition,
                    "models_fitted": len(selection.evaluated),
                    "cpu_seconds": round(seconds, 3),
                    "overhead_cpu_seconds": round(seconds - source.cpu, 3),
                }
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--tasks", nargs="*", help="names of wild tasks; all but the largest by default")
    parser.add_argument("--work", help="a folder for finished scores")
    options = parser.parse_args()
    try:
        tasks = load_wild()
    except ElectError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    with work_folder(options.work) as pieces:
        records = make_records(tasks, Recipe(default_pool()), pieces)
        database = database_of(records, pieces, n_jobs=2)
        chosen = [t for t in tasks if (t.name in options.tasks if options.tasks else t.n_rows <= 12_000)]
        folds = {group: database_without(group, database, records, pieces) for group in {t.group for t in chosen}}
    ranks = records.performance.ranks()
    PoolScorer(tasks[0].X[:200]).scores("COF(n_neighbors=3)")
    rows = []
    for task in chosen:
        fold = folds[task.group]
        index = database.tasks.index(task.name)
        row: dict[str, Any] = {"task": task.name, "n": task.n_rows, "d": task.n_columns}
        row["iforest_cpu_seconds"] = round(iforest_seconds(np.array(task.X)), 4)
        for acquisition in STRATEGIES:
            row[acquisition] = on_task(fold, task, ranks[index], acquisition)
        rows.append(row)
        print(f"{task.name:<24}{row['ei']['cpu_seconds']:>8.2f} s  rank {row['ei']['rank']:.0f}", file=sys.stderr)
    result: dict[str, Any] = {"paper_seconds": PAPER_SECONDS, "tasks": rows, "summary": {}}
    iforest = float(np.mean([row["iforest_cpu_seconds"] for row in rows]))
    for acquisition in STRATEGIES:
        ours = [row[acquisition] for row in rows]
        mean = float(np.mean([o["cpu_seconds"] for o in ours]))
        result["summary"][acquisition] = {
            "mean_cpu_seconds": round(mean, 3),
            "mean_overhead_cpu_seconds": round(float(np.mean([o["overhead_cpu_seconds"] for o in ours])), 4),
            "mean_models_fitted": round(float(np.mean([o["models_fitted"] for o in ours])), 1),
            "mean_rank": round(float(np.mean([o["rank"] for o in ours])), 1),
            "times_one_iforest": round(mean / iforest, 2),
            "share_of_paper_seconds": round(mean / PAPER_SECONDS, 4),
        }
    saved = [row["ei"]["cpu_seconds"] - row["ei-per-second"]["cpu_seconds"] for row in rows]
    lost = [row["ei-per-second"]["rank"] - row["ei"]["rank"] for row in rows]
    result["cost_aware"] = {
        "mean_saved_cpu_seconds": round(float(np.mean(saved)), 3),
        "mean_rank_lost": round(float(np.mean(lost)), 1),
        "rank_lost_standard_error": round(float(np.std(lost, ddof=1) / np.sqrt(len(lost))), 1),
    }
    result["overhead_growth"] = overhead_growth()
    result["size_growth"] = size_growth(replace(database, provenance={}))
    goals = next(r for r in result["overhead_growth"] if r["models"] == 297 and r["tasks"] == 39)
    result["goals"] = {
        "overhead_297x39x50_under_0.3": goals["overhead_cpu_seconds"] < 0.3,
        "5000x30_under_3": all(r["cpu_seconds"] < 3 for r in result["size_growth"] if (r["n"], r["d"]) == (5000, 30)),
    }
    print(json.dumps(result) if options.json else json.dumps(result["summary"] | result["goals"], indent=1))


if __name__ == "__main__":
    main()
