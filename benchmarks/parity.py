"""Average precision of the pool's scores against the published average precision, on the wild testbed.

    ELECT_DATA_HOME=... python benchmarks/parity.py [--json] [--tasks odds/letter dami/Wilt ...]

Models with one right answer must agree with the published figures; the random ones (LODA, IForest) must differ from
them no more than from themselves under another seed; the linear OCSVM, whose published scores are solver noise, stands
apart. Published figures have four digits, so that exact agreement shows as a mean difference of 0.000025.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from elect import ElectError, ModelPool, ModelSpec, ScoreMatrix, default_pool, score_pool
from elect.bench.testbeds import TaskEntry, load_task, published_labels, published_performance, wild_entries
from elect.pool import model_id_of
from elect.support.arrays import FloatArray

GOAL = 0.001
SEED = 0
TRIALS = 5
NOISE_SEEDS = (0, 1, 2, 3, 4, 5)
RANDOM = ("LODA", "IForest")
NOISE = "OCSVM linear"

Report = dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """How far one set of models is from the published average precision, over the tasks at hand."""

    name: str
    models: int
    mean_abs_difference: float
    max_abs_difference: float
    worst_task: str
    worst_model: str


@dataclass(frozen=True)
class RandomDifference(Difference):
    """The same for a random family. ``run_to_run`` is the mean absolute difference of two of our seeds; the ratio sets
    the mean over our seeds of the difference from the published beside it, and is 1 where both are the same noise."""

    run_to_run: float
    mean_difference: float
    ratio_to_run_to_run: float
    largest_task_ratio: float
    largest_task_ratio_at: str


@dataclass(frozen=True)
class TaskDifference:
    """One task: the models with one right answer."""

    task: str
    n: int
    d: int
    mean_abs_difference: float
    max_abs_difference: float
    worst_model: str
    notes: tuple[str, ...]
    cpu_seconds: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Our average precision under several seeds and the published one, tasks x models."""

    tasks: tuple[str, ...]
    pool: ModelPool
    ours: FloatArray  # (seeds, tasks, models); seeds after the first only for random models
    published: FloatArray  # (tasks, models)

    def columns(self, strata: Iterable[str]) -> list[int]:
        wanted = set(strata)
        return [i for i, spec in enumerate(self.pool) if stratum(spec) in wanted]

    def of(self, name: str, strata: Iterable[str]) -> Difference:
        columns = self.columns(strata)
        gap = np.abs(self.ours[0] - self.published)[:, columns]
        row, column = np.unravel_index(gap.argmax(), gap.shape)
        return Difference(
            name,
            len(columns),
            float(gap.mean()),
            float(gap.max()),
            self.tasks[row],
            self.pool.ids[columns[column]],
        )

    def of_random(self, family: str) -> RandomDifference:
        columns = self.columns([family])
        ours, published = self.ours[:, :, columns], self.published[:, columns]
        between = np.mean([np.abs(a - b).mean(axis=1) for a, b in combinations(ours, 2)], axis=0)
        from_published = np.abs(ours - published).mean(axis=(0, 2))
        ratios = from_published / between
        return RandomDifference(
            **asdict(self.of(family, [family])),
            run_to_run=float(between.mean()),
            mean_difference=float((ours - published).mean()),
            ratio_to_run_to_run=float(from_published.mean() / between.mean()),
            largest_task_ratio=float(ratios.max()),
            largest_task_ratio_at=self.tasks[int(ratios.argmax())],
        )


def stratum(spec: ModelSpec) -> str:
    """The family, and for OCSVM also the kernel."""
    return f"OCSVM {spec['kernel']}" if spec.detector == "OCSVM" else spec.detector


def chosen_entries(names: Sequence[str] | None) -> list[TaskEntry]:
    """The available tasks of these names; ``letter`` will do for ``odds/letter`` where no other ends so."""
    available = [entry for entry in wild_entries() if entry.available]
    if names is None:
        return available
    chosen = []
    for name in names:
        found = [r for r in available if name in (r.name, r.name.rpartition("/")[2])]
        if len(found) != 1:
            known = ", ".join(entry.name for entry in available)
            raise ElectError(f"Unknown task {name!r}: it must be one of {known}.")
        chosen += found
    return chosen


def precisions(scores: ScoreMatrix, y: NDArray[np.int8]) -> FloatArray:
    return np.array([average_precision_score(y, scores[model_id]) for model_id in scores.model_ids])


def compare(entries: Sequence[TaskEntry]) -> tuple[Comparison, list[TaskDifference]]:
    pool = default_pool()
    published = published_performance("ap", [model_id_of(label) for label in published_labels()])
    is_random = np.array([spec.detector in RANDOM for spec in pool])
    random_pool = ModelPool.of(spec for spec in pool if spec.detector in RANDOM)
    fixed = np.array([stratum(spec) not in (*RANDOM, NOISE) for spec in pool])
    expected = np.array([[published.column(m)[published.task_index(r.name)] for m in pool.ids] for r in entries])
    ours = np.full((len(NOISE_SEEDS), len(entries), len(pool)), np.nan)
    tasks = []
    for row, entry in enumerate(entries):
        print(f"parity: {row + 1}/{len(entries)} {entry.name} {entry.n} x {entry.d}", file=sys.stderr, flush=True)
        task = load_task(entry)
        started = time.process_time()
        scores = score_pool(task.X, pool, seed=SEED, trials=TRIALS)
        seconds = time.process_time() - started
        ours[0, row] = precisions(scores, task.y)
        for position, seed in enumerate(NOISE_SEEDS[1:], start=1):
            again = score_pool(task.X, random_pool, seed=seed, trials=TRIALS)
            ours[position, row, is_random] = precisions(again, task.y)
        gap = np.where(fixed, np.abs(ours[0, row] - expected[row]), -1.0)
        notes = sorted({note for model_id, note in scores.notes.items() if stratum(pool[model_id]) != NOISE})
        tasks.append(
            TaskDifference(
                entry.name,
                entry.n,
                entry.d,
                float(gap[fixed].mean()),
                float(gap.max()),
                pool.ids[int(gap.argmax())],
                tuple(notes),
                round(seconds, 2),
            )
        )
    return Comparison(tuple(r.name for r in entries), pool, ours, expected), tasks


def report(comparison: Comparison, tasks: Sequence[TaskDifference]) -> Report:
    strata = list(dict.fromkeys(stratum(spec) for spec in comparison.pool))
    fixed = [name for name in strata if name not in (*RANDOM, NOISE)]
    overall = comparison.of("deterministic families and OCSVM poly, rbf, sigmoid", fixed)
    return {
        "benchmark": "parity",
        "metric": "average precision, ours against published",
        "tasks": len(tasks),
        "seed": SEED,
        "trials": TRIALS,
        "overall": {**asdict(overall), "goal": GOAL, "met": overall.mean_abs_difference < GOAL},
        "families": [asdict(comparison.of(name, [name])) for name in fixed],
        "random_families": [asdict(comparison.of_random(name)) for name in RANDOM],
        "linear_ocsvm": {
            **asdict(comparison.of(NOISE, [NOISE])),
            "note": "published scores are solver noise around a zero optimum; ours are zero: their AP is the base rate",
        },
        "by_task": [asdict(task) for task in tasks],
    }


def table(result: Report) -> str:
    def line(row: Report) -> str:
        gaps = f"{row['mean_abs_difference']:>11.6f}{row['max_abs_difference']:>10.4f}"
        return f"{row['name']:52}{row['models']:>7}{gaps}  {row['worst_task']} {row['worst_model']}"

    overall, linear = result["overall"], result["linear_ocsvm"]
    head = f"{'':52}{'models':>7}{'mean |dAP|':>11}{'max':>10}  worst"
    verdict = "met" if overall["met"] else "NOT met"
    lines = [f"AP, ours against published, {result['tasks']} tasks, seed {SEED}, trials {TRIALS}", "", head]
    lines += [line(row) for row in result["families"]]
    lines += [line(overall), f"goal: mean below {GOAL}: {verdict}", "", "random families", head]
    for row in result["random_families"]:
        lines += [
            line(row),
            f"    two seeds of ours differ by {row['run_to_run']:.6f}; ours from the published, as a share of that: "
            f"{row['ratio_to_run_to_run']:.2f} (largest on a task {row['largest_task_ratio']:.2f}, "
            f"{row['largest_task_ratio_at']}); mean signed difference {row['mean_difference']:+.6f}",
        ]
    lines += ["", f"linear OCSVM: {linear['note']}", line(linear), ""]
    lines += [f"{'task':24}{'n':>7}{'d':>6}{'mean |dAP|':>11}{'max':>9}  worst model"]
    lines += [
        f"{t['task']:24}{t['n']:>7}{t['d']:>6}{t['mean_abs_difference']:>11.6f}{t['max_abs_difference']:>9.4f}  "
        + "; ".join([t["worst_model"], *t["notes"]])
        for t in result["by_task"]
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="tasks of the wild testbed (default: all)")
    options = parser.parse_args()
    try:
        result = report(*compare(chosen_entries(options.tasks)))
    except ElectError as error:
        print(f"parity: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=2) if options.json else table(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
