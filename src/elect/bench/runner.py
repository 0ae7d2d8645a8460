"""Runs methods over the folds of a protocol. Every finished (method, fold) is kept, so that a run can be resumed."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.baselines import History, TaskView
from elect.bench.beds import Bed
from elect.bench.judging import judge_choice
from elect.bench.methods import Method
from elect.bench.protocol import Fold, folds
from elect.history.pieces import digest
from elect.support.atomic import write_atomically
from elect.support.meter import Meter

# Raised whenever a method gives other choices than before for the same settings.
RUNNER_VERSION = 1

REPETITIONS = 3
"""How often a random method is run, each time from another seed."""


@dataclass(frozen=True)
class Outcome:
    """What a method chose on one task, and how good that was.

    ``rank`` is among the models of the pool (1 is the best, ties share their mean rank); for a choice of several models
    rank and performance are the expected ones. ``pick`` is empty unless a single model was chosen. ``seconds`` are CPU
    seconds to select; ``build_seconds`` those of the models that had to be run for it, None where they were not timed.
    """

    method: str
    task: str
    repetition: int
    pick: str
    rank: float
    performance: float
    seconds: float
    fit_seconds: float
    build_seconds: float | None
    n_evaluated: int


def run_methods(
    bed: Bed,
    methods: Sequence[Method],
    protocol: str,
    *,
    seed: int = 0,
    repetitions: int = REPETITIONS,
    cache: Path | None = None,
    bar: Meter | None = None,
    stage: str = "",
) -> tuple[Outcome, ...]:
    """The outcomes of each method on each task, methods in the order given, tasks in that of the folds.

    A task that lacks what a method needs (scores, for an ensemble) has no outcome of it.
    """
    bar = bar or Meter()
    todo = folds(bed.tasks, bed.groups, protocol)
    bar.stage(stage or f"{bed.testbed} {bed.source} {protocol}", len(todo) * len(methods))
    found: dict[str, list[Outcome]] = {method.name: [] for method in methods}
    for fold in todo:
        known: dict[str, tuple[History, dict[str, TaskView]]] = {}
        for method in methods:
            path = None if cache is None else cache / f"bench-{_key(bed, method, fold, seed, repetitions)}.json"
            outcomes = _read(path, method.name)
            if outcomes is None:
                if method.reference not in known:
                    known[method.reference] = bed.history(fold, method.reference)
                outcomes = run_fold(bed, method, fold, *known[method.reference], seed=seed, repetitions=repetitions)
                _write(path, outcomes)
            found[method.name] += outcomes
            bar.advance()
    return tuple(outcome for method in methods for outcome in found[method.name])


def run_fold(
    bed: Bed,
    method: Method,
    fold: Fold,
    history: History,
    views: dict[str, TaskView],
    *,
    seed: int = 0,
    repetitions: int = REPETITIONS,
) -> tuple[Outcome, ...]:
    """The outcomes of one method on the held-out tasks of one fold."""
    outcomes = []
    for repetition in range(repetitions if method.is_random else 1):
        selector = method.make(seed + repetition)
        started = time.process_time()
        fitted = selector.fit(history)
        fit_seconds = time.process_time() - started
        for task in fold.held_out:
            view = views[task]
            if method.needs_scores:
                scores = bed.scores(task)
                if scores is None:
                    continue
                view = replace(view, scores=scores)
            started = time.process_time()
            choice = fitted.select(view)
            seconds = time.process_time() - started
            if method.needs_meta_features:
                seconds += float(np.nan_to_num(bed.meta_seconds[bed.performance.task_index(task)]))
            y = None if choice.scores is None else bed.labels(task)
            rank, performance = judge_choice(choice, bed.pool, bed.performance.row(task), y, bed.performance.metric)
            outcomes.append(
                Outcome(
                    method=method.name,
                    task=task,
                    repetition=repetition,
                    pick=choice.model_ids[0] if len(choice.model_ids) == 1 else "",
                    rank=rank,
                    performance=performance,
                    seconds=seconds,
                    fit_seconds=fit_seconds,
                    build_seconds=bed.build_seconds(task, choice.evaluated),
                    n_evaluated=len(choice.evaluated),
                )
            )
    return tuple(outcomes)


def _key(bed: Bed, method: Method, fold: Fold, seed: int, repetitions: int) -> str:
    times = repetitions if method.is_random else 1
    return digest(RUNNER_VERSION, bed.fingerprint, method.key(seed), fold.held_out, fold.history, seed, times)


def _read(path: Path | None, method: str) -> tuple[Outcome, ...] | None:
    """The outcomes kept in a file; None if there are none, or if they cannot be read."""
    if path is None or not path.is_file():
        return None
    try:
        entries: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        # Methods of other names can have the same settings, and so the same outcomes.
        return tuple(Outcome(**{**entry, "method": method}) for entry in entries)
    except (OSError, ValueError, TypeError):
        return None


def _write(path: Path | None, outcomes: Sequence[Outcome]) -> None:
    if path is not None:
        write_atomically(path, json.dumps([asdict(outcome) for outcome in outcomes]).encode())
