"""The pairwise predictor: what training costs, what sampling pairs costs, what a step of the search costs.

    ELECT_DATA_HOME=... python benchmarks/predictor.py [--json] [--seeds 3] [--parts training sampling search grid]

All on the published performances and measures. Errors are root mean squared errors of the predicted gaps, over all
pairs of a task whose whole group was held out (5 folds), averaged over the tasks that have all measures; those of the
grid are over a sample of pairs. Times are wall-clock seconds; training uses one thread.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from elect import ElectError
from elect.bench.testbeds import published_measures, published_performance, wild_entries
from elect.paper.predictor_training import GRID, PredictorParams, train_predictor, tune_predictor
from elect.support.arrays import FloatArray

PARTS = ("training", "sampling", "search", "grid")
PAIRS = (2_000, 5_000, 10_000)
PARAMS = {"default": PredictorParams(), "large": PredictorParams(31, 100, 0.1, 0.0001)}
SEARCHED = 60
"""Models evaluated at the end of a long search."""

Report = dict[str, Any]


def say(text: str) -> None:
    print(f"predictor: {text}", file=sys.stderr, flush=True)


def complete_tasks() -> tuple[FloatArray, FloatArray, list[str]]:
    """Performance, measures and groups of the tasks for which every measure was published."""
    measures = published_measures().values
    complete = np.flatnonzero(np.isfinite(measures.sum(axis=(1, 2))))
    entries = wild_entries()
    groups = [entries[task].group for task in complete]
    return published_performance().values[complete], measures[complete], groups


def training() -> list[Report]:
    """Seconds to train on 38 tasks, gaps in the measures filled, since time does not depend on their values."""
    performance, measures = published_performance().values[:38], published_measures().filled()[:38]
    rows = []
    for name, params in PARAMS.items():
        for pairs in (None, 5_000):
            say(f"training on {len(performance)} tasks, {pairs or 'all'} pairs each, {name} parameters")
            started = time.perf_counter()
            train_predictor(performance, measures, params=params, pairs_per_task=pairs)
            rows.append({"params": name, "pairs_per_task": pairs, "seconds": time.perf_counter() - started})
    return rows


def sampling(seeds: int) -> list[Report]:
    """The error of a sample of pairs beside that of all pairs, task by task."""
    performance, measures, groups = complete_tasks()
    rows = []
    for name, params in PARAMS.items():
        every: FloatArray | None = None
        for pairs in (None, *PAIRS):
            errors = []
            for seed in range(1 if pairs is None else seeds):
                say(f"{name} parameters, {pairs or 'all'} pairs, seed {seed}")
                result = tune_predictor(
                    performance,
                    measures,
                    groups,
                    candidates=[params],
                    pairs_per_task=pairs,
                    evaluation_pairs=None,
                    seed=seed,
                )
                errors.append(result.errors[0])
            if every is None:
                every = errors[0]
            differences = np.mean(errors, axis=0) - every
            rows.append(
                {
                    "params": name,
                    "pairs_per_task": pairs,
                    "error": float(np.mean(errors)),
                    "spread_over_seeds": float(np.ptp([error.mean() for error in errors])),
                    "difference": float(differences.mean()),
                    "difference_standard_error": float(differences.std(ddof=1) / np.sqrt(len(differences))),
                    "standard_error_over_tasks": float(np.mean(errors, axis=0).std(ddof=1) / np.sqrt(len(differences))),
                    "error_of_no_gap": float(result.zero_errors.mean()),
                }
            )
    return rows


def search() -> list[Report]:
    """Milliseconds to predict the pairs that one more model brings, and all pairs."""
    performance, measures, _ = complete_tasks()
    models = measures[0]
    rows = []
    for name, params in PARAMS.items():
        predictor = train_predictor(performance, measures, params=params, pairs_per_task=2_000)
        before, new = models[: SEARCHED - 1], models[SEARCHED - 1]
        gaps = predictor.gaps(before)
        rows.append(
            {
                "params": name,
                "step_ms": _milliseconds(predictor.with_model, gaps, before, new),
                f"all_pairs_of_{SEARCHED}_ms": _milliseconds(predictor.gaps, models[:SEARCHED]),
                f"all_pairs_of_{len(models)}_ms": _milliseconds(predictor.gaps, models),
            }
        )
    return rows


def _milliseconds(call: Callable[..., FloatArray], *arguments: FloatArray) -> float:
    times = []
    for _ in range(20):
        started = time.perf_counter()
        call(*arguments)
        times.append(time.perf_counter() - started)
    return 1e3 * float(np.median(times))


def grid(n_jobs: int) -> Report:
    """What tuning finds on the default grid, and how long it takes."""
    performance, measures, groups = complete_tasks()
    say(f"tuning over {len(GRID)} candidates")
    started = time.perf_counter()
    result = tune_predictor(performance, measures, groups, n_jobs=n_jobs)
    seconds = time.perf_counter() - started
    candidates = [
        {**vars(candidate), "error": float(error)}
        for candidate, error in zip(result.candidates, result.mean_errors, strict=True)
    ]
    return {
        "seconds": seconds,
        "tasks": len(groups),
        "error_of_no_gap": float(result.zero_errors.mean()),
        "best": vars(result.best),
        "candidates": candidates,
    }


def printed(report: Report) -> None:
    for part, content in report.items():
        rows = content["candidates"] if isinstance(content, dict) else content
        print(f"\n{part}\n" + "  ".join(f"{key:>25}" for key in rows[0]))
        for row in rows:
            cells = (
                "all" if value is None else f"{value:.4g}" if isinstance(value, float) else value
                for value in row.values()
            )
            print("  ".join(f"{cell:>25}" for cell in cells))
        if isinstance(content, dict):
            print({key: value for key, value in content.items() if key != "candidates"})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--seeds", type=int, default=3, help="samples of pairs to average over")
    parser.add_argument("--n-jobs", type=int, default=2, help="threads for tuning")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    options = parser.parse_args()
    jobs: dict[str, Callable[[], Any]] = {
        "training": training,
        "sampling": lambda: sampling(options.seeds),
        "search": search,
        "grid": lambda: grid(options.n_jobs),
    }
    try:
        report = {part: jobs[part]() for part in PARTS if part in options.parts}
    except ElectError as error:
        print(f"predictor: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(report, indent=1))
    else:
        printed(report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
