"""Seconds and peak memory of each stage of meta-training on the wild tasks, and how stages grow with tasks and models.

ELECT_DATA_HOME=... python benchmarks/offline.py [--json] [--n-jobs 2]
"""

import argparse
import json
import resource
import sys
import tempfile
import time
from typing import Any

import numpy as np

from elect import ElectError, ModelPool, default_pool
from elect.bench.testbeds import load_wild
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords, Recipe, measure_task, read_record
from elect.history.train import database_of
from elect.history.workers import score_corpus
from elect.paper.anchors import choose_anchors
from elect.paper.predictor_training import train_predictor, tune_predictor
from elect.support.meter import Meter


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Stages:
    """Wall and CPU seconds of named stages, said on standard error as they end."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def run(self, name: str, work: Any) -> Any:
        wall, cpu = time.perf_counter(), time.process_time()
        result = work()
        row = {
            "stage": name,
            "wall_seconds": round(time.perf_counter() - wall, 2),
            "cpu_seconds": round(time.process_time() - cpu, 2),
            "peak_mib": round(peak_mib()),
        }
        self.rows.append(row)
        print(f"{name:<28}{row['wall_seconds']:>9.1f} s wall{row['cpu_seconds']:>9.1f} s CPU", file=sys.stderr)
        return result


def growth(records: MetaRecords, pieces: Pieces, anchors: tuple[str, ...]) -> list[dict[str, Any]]:
    """CPU seconds of the stages after scoring for half and all of the tasks, and half and all of the models."""
    rows = []
    total_tasks, total_models = len(records.tasks), len(records.recipe.pool)
    every = np.array([measure_task(pieces, record, records.recipe, anchors) for record in records.tasks])
    for tasks, models in (
        (total_tasks // 4, total_models),
        (total_tasks // 2, total_models),
        (total_tasks, total_models),
        (total_tasks, total_models // 4),
        (total_tasks, total_models // 2),
    ):
        performance = records.performance.values[:tasks, :models]
        correlations = records.correlations[:tasks, :models, :models]
        started = time.process_time()
        choose_anchors(correlations, performance, records.groups[:tasks])
        chosen = time.process_time()
        train_predictor(performance, every[:tasks, :models])
        trained = time.process_time()
        rows.append(
            {
                "tasks": tasks,
                "models": models,
                "pairs": tasks * models * (models - 1) // 2,
                "anchors_cpu_seconds": round(chosen - started, 3),
                "predictor_cpu_seconds": round(trained - chosen, 3),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--n-jobs", type=int, default=2)
    options = parser.parse_args()
    try:
        tasks = load_wild()
    except ElectError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    recipe = Recipe(default_pool())
    stages = Stages()
    # Compilation is paid once a machine; it is not part of a stage.
    stages.run("warm-up (compilation)", lambda: _warm_up(recipe.pool))
    with tempfile.TemporaryDirectory() as folder:
        pieces = Pieces.at(folder)
        begun = time.perf_counter()
        stages.run("scores", lambda: score_corpus(tasks, recipe, pieces, Meter(), options.n_jobs))
        read = stages.run("performance", lambda: [read_record(pieces, task, recipe) for task in tasks])
        records = MetaRecords(recipe, tuple(read))
        values, groups = records.performance.values, records.groups
        choice = stages.run("anchors", lambda: choose_anchors(records.correlations, values, groups))
        anchors = tuple(recipe.pool.ids[i] for i in choice.anchors)
        measured = stages.run("measures", lambda: [measure_task(pieces, r, recipe, anchors) for r in records.tasks])
        measures = np.array(measured)
        stages.run("predictor tuning", lambda: tune_predictor(values, measures, groups, n_jobs=options.n_jobs))
        stages.run("predictor, all pairs", lambda: train_predictor(values, measures))
        database = stages.run("whole, scores at hand", lambda: database_of(records, pieces, n_jobs=options.n_jobs))
        total = time.perf_counter() - begun
        result: dict[str, Any] = {
            "tasks": len(tasks),
            "models": len(recipe.pool),
            "n_jobs": options.n_jobs,
            "stages": stages.rows,
            "total_wall_seconds": round(total, 1),
            "goal_seconds": 900,
            "met": total < 900,
            "anchors": list(database.anchors),
            "growth": growth(records, pieces, anchors),
            "note": "the total counts the predictor stages twice: once alone, once in the whole",
        }
    if options.json:
        print(json.dumps(result))
        return
    print(f"{len(tasks)} tasks, {len(recipe.pool)} models: {total:.0f} s from scores to database (goal < 900)")
    for row in result["growth"]:
        print("  ".join(f"{key} {value}" for key, value in row.items()))


def _warm_up(pool: ModelPool) -> None:
    from elect import score_pool

    score_pool(np.random.default_rng(0).normal(size=(150, 3)), pool)


if __name__ == "__main__":
    main()
