"""Simulated answers: how well rows are ranked after so many questions, by this package and by its peers.

Whatever is learned from a history is learned without the group of the task. The labels answer, a share of them wrongly;
which answers are wrong depends on the task and the number of the answer, so that all methods hear the same mistakes.
A row that is asked about again is a question like any other.

- ``ap``: average precision of all rows, those answered placed by their answers, yes first and no last;
- ``ap_unasked``: of the rows not asked about; tasks of which every outlier was asked about have none;
- ``found``: outliers among the rows asked about;
- ``rank``: where this package elects a model too, its rank among all models of the pool, 1 the best;
- ``left_held``, ``left_off``: how often its interval of the outliers not asked about held, and by what factor the
  number was too high or too low, the median over tasks.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.answers import AnsweredElection
from elect.answers.electing import posterior_of, ranks_of
from elect.answers.opening import committee_evidence, scorer_of
from elect.answers.posterior import Posterior, RankedTable
from elect.bench.askers import Asker, OpenedTask, Ours, chosen_askers
from elect.bench.statistics import model_rank
from elect.bench.testbeds.errors import ErrorTask
from elect.committee.scorer import RowScorer
from elect.core import LabeledTask
from elect.core.metrics import average_precision
from elect.core.sources import ScoreSource
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords
from elect.history.shipped import shipped_database
from elect.support.arrays import FloatArray

COUNTS = (0, 5, 10, 20, 50)
WRONG = (0.0, 0.1)
WORSE = 0.02
"""A task is worse off if its average precision with answers is lower than without by more than this."""

PAIRS_PER_TASK = 5_000
TESTBEDS = ("wild", "odd", "errors")
_DRAWS = 2000


@dataclass(frozen=True, eq=False)
class AnswerTask:
    """A task that answers: its rows before any answer, the truth, and the performance of the pool's models."""

    name: str
    opened: OpenedTask
    y: NDArray[np.int8]
    performance: FloatArray | None = None


@dataclass(frozen=True)
class Outcome:
    """How things stand after n answers."""

    ap: float
    ap_unasked: float | None
    found: int
    rank: float | None
    left_held: bool | None
    left_off: float | None


Outcomes = dict[tuple[str, float, int], Outcome]
"""Of one task, by method, share of wrong answers and number of answers."""


def simulate(
    task: AnswerTask,
    askers: dict[str, Callable[[OpenedTask], Asker]],
    *,
    counts: Sequence[int] = COUNTS,
    wrong: Sequence[float] = WRONG,
) -> Outcomes:
    """Every method asks about the rows of one task."""
    found: Outcomes = {}
    for name, start in askers.items():
        for share in wrong:
            mistakes = _mistakes(task.name, max(counts)) < share
            for n, outcome in _session(start(task.opened), task, sorted(set(counts)), mistakes):
                found[name, share, n] = outcome
    return found


def _mistakes(name: str, count: int) -> FloatArray:
    """For each answer of a task a number in [0, 1): it is wrong where a share is above it."""
    return np.random.default_rng(list(name.encode())).random(count)


def _session(
    asker: Asker, task: AnswerTask, counts: Sequence[int], mistakes: NDArray[np.bool_]
) -> Iterator[tuple[int, Outcome]]:
    said: dict[int, bool] = {}
    asked = 0
    for n in counts:
        while asked < n and len(said) < len(task.y) - 1:
            row = asker.ask()
            # A row that is asked about again is a question like any other, and the answer may be wrong again.
            said[row] = bool(task.y[row]) != bool(mistakes[asked])
            asked += 1
            asker.tell(row, said[row])
        yield n, _outcome(asker, task, said)


def _outcome(asker: Asker, task: AnswerTask, said: dict[int, bool]) -> Outcome:
    scores = asker.scores()
    # Ranks, so that a large step places the answered rows whatever the scores are.
    places = np.unique(scores, return_inverse=True)[1].astype(np.float64)
    unasked = np.ones(len(scores), dtype=bool)
    for row, yes in said.items():
        places[row] += 2.0 * len(scores) if yes else -2.0 * len(scores)
        unasked[row] = False
    left = task.y[unasked]
    rank = held = off = None
    if isinstance(asker, Ours):
        told, truly = asker.session.left, int(left.sum())
        held = told.low <= truly <= told.high
        # Half an outlier more: none left has a factor too.
        off = float(np.exp(abs(np.log((told.expected + 0.5) / (truly + 0.5)))))
        if task.performance is not None and task.opened.election is not None:
            pool = task.opened.election.database.pool
            rank = model_rank(task.performance, pool.index(asker.session.selection.model_id))
    return Outcome(
        ap=float(average_precision(places[:, None], task.y)[0]),
        ap_unasked=float(average_precision(scores[unasked][:, None], left)[0]) if 0 < left.sum() < len(left) else None,
        found=int(task.y[list(said)].sum()) if said else 0,
        rank=rank,
        left_held=held,
        left_off=off,
    )


def summarise(outcomes: Sequence[Outcomes], seed: int = 0) -> list[dict[str, Any]]:
    """Means over tasks with 95 % bootstrap intervals, and against no answers: the mean gain, and how many are worse."""
    results = []
    for key in dict.fromkeys(key for task in outcomes for key in task):
        method, wrong, n = key
        runs = [task[key] for task in outcomes]
        none = np.array([task[method, wrong, min(c for m, w, c in task if (m, w) == key[:2])].ap for task in outcomes])
        ap = np.array([run.ap for run in runs])
        unasked = [run.ap_unasked for run in runs if run.ap_unasked is not None]
        ranks = [run.rank for run in runs if run.rank is not None]
        held = [run.left_held for run in runs if run.left_held is not None]
        off = [run.left_off for run in runs if run.left_off is not None]
        low, high = _interval(ap, seed)
        results.append(
            {
                "method": method,
                "wrong": wrong,
                "n": n,
                "mean_ap": round(float(ap.mean()), 4),
                "low": round(low, 4),
                "high": round(high, 4),
                "mean_ap_unasked": round(float(np.mean(unasked)), 4) if unasked else None,
                "found": round(float(np.mean([run.found for run in runs])), 2),
                "gain": round(float((ap - none).mean()), 4),
                "gain_error": round(float((ap - none).std(ddof=1) / np.sqrt(len(ap))), 4) if len(ap) > 1 else None,
                "worse": round(float((ap < none - WORSE).mean()), 4),
                "mean_rank": round(float(np.mean(ranks)), 2) if ranks else None,
                "median_rank": round(float(np.median(ranks)), 2) if ranks else None,
                "left_held": round(float(np.mean(held)), 4) if held else None,
                "left_off": round(float(np.median(off)), 2) if off else None,
                "tasks": len(runs),
            }
        )
    return results


def _interval(values: FloatArray, seed: int) -> tuple[float, float]:
    """A 95 % bootstrap interval of the mean over tasks."""
    draws = np.random.default_rng(seed).integers(0, len(values), size=(_DRAWS, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), [0.025, 0.975])
    return float(low), float(high)


def run_answers(
    testbed: str,
    *,
    counts: Sequence[int] = COUNTS,
    methods: Sequence[str] | None = None,
    limit: int | None = None,
    corpora: Sequence[Path] = (),
    protocol: str = "strict",
    seed: int = 0,
    work_dir: str | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """``elect bench answers``: every method on a testbed, answers all right and one in ten wrong.

    With ``limit``, on so many tasks drawn at random.
    """
    from elect.support.meter import meter

    if not counts or min(counts) < 0:
        raise InvalidInput("The numbers of answers must be whole numbers of at least 0, such as 0,5,10,20,50.")
    if testbed not in TESTBEDS:
        raise InvalidInput(f"testbed must be one of {', '.join(TESTBEDS)}, got {testbed!r}.")
    askers = chosen_askers(None if methods is None else list(methods))
    with meter(progress) as bar:
        outcomes, best = [], []
        for task in _tasks(testbed, limit, corpora, protocol, seed, work_dir, bar):
            outcomes.append(simulate(task, askers, counts=sorted({0, *counts})))
            if task.performance is not None:
                best.append(float(task.performance.max()))
            bar.advance()
    return {
        "testbed": testbed,
        "protocol": protocol,
        "tasks": len(outcomes),
        "best_model_in_hindsight": round(float(np.mean(best)), 4) if best else None,
        "answers": summarise(outcomes, seed),
    }


def _tasks(
    testbed: str, limit: int | None, corpora: Sequence[Path], protocol: str, seed: int, work_dir: str | None, bar: Any
) -> Iterator[AnswerTask]:
    from elect.bench.errors import FOLDS
    from elect.bench.left_out import fold_scorers
    from elect.bench.rows import described, labelled_rows
    from elect.bench.testbeds import load_errors, load_odd, load_wild
    from elect.history.records import work_folder

    every: Sequence[Any] = load_wild() if testbed == "wild" else load_odd() if testbed == "odd" else load_errors()
    if testbed != "wild":
        # Models are weighed by the shipped database: it is judged on sources that it has not learned from.
        known = set(shipped_database().groups)
        every = [task for task in every if task.group not in known]
    drawn = _drawn([task.name for task in every], limit, seed)
    with work_folder(work_dir) as pieces:
        bar.stage("describing rows", 1)
        history = described(labelled_rows(None, corpora), pieces.folder)
        bar.stage("training without each fold", FOLDS)
        groups = {task.group for task in every if task.name in drawn}
        scorers = fold_scorers(history, groups, FOLDS, pieces, bar.advance)
        if testbed == "errors":
            yield from _error_tasks(every, drawn, scorers, seed, bar)
        else:
            yield from _array_tasks(testbed, every, drawn, scorers, protocol, seed, pieces, bar)


def _drawn(names: Sequence[str], limit: int | None, seed: int) -> set[str]:
    order = np.random.default_rng(seed).permutation(len(names))
    return {names[int(place)] for place in order[:limit]}


def _array_tasks(
    testbed: str,
    every: Sequence[LabeledTask],
    drawn: set[str],
    scorers: Mapping[str, RowScorer],
    protocol: str,
    seed: int,
    pieces: Pieces,
    bar: Any,
) -> Iterator[AnswerTask]:
    from elect.core.sources import ReplayedScores
    from elect.history.records import Recipe, stored_scores
    from elect.history.train import make_records
    from elect.pool import default_pool

    # The history of wild tasks is the other wild tasks, drawn or not.
    tasks = every if testbed == "wild" else [task for task in every if task.name in drawn]
    records = make_records(tasks, Recipe(default_pool(), seed=seed), pieces, bar)
    places = {task.name: place for place, task in enumerate(tasks)}
    bar.stage("simulating answers", len(drawn))
    for names, database in databases(testbed, records, drawn, protocol, pieces):
        for name in names:
            task, record = tasks[places[name]], records.tasks[places[name]]
            source = ReplayedScores(stored_scores(pieces, record, records.recipe))
            scorer, cells = scorer_of(task.X, database, seed)
            evidence = committee_evidence(scorers[task.group], scorer, cells)
            posterior = partial(_posterior, database, source)
            opened = OpenedTask(evidence, posterior, AnsweredElection(database, source), seed)
            yield AnswerTask(name, opened, task.y, performance=record.performance)


def databases(
    testbed: str, records: MetaRecords, drawn: set[str], protocol: str, pieces: Pieces
) -> Iterator[tuple[list[str], MetaDatabase]]:
    """The drawn tasks, with a database that has not learned from them."""
    from elect.bench.protocol import folds
    from elect.history.learning import learn_without

    names = [record.name for record in records.tasks]
    if testbed != "wild":
        yield names, shipped_database()
        return
    for fold in folds(names, records.groups, protocol):
        held_out = [name for name in fold.held_out if name in drawn]
        if held_out:
            yield held_out, learn_without(fold.held_out, records, pieces, pairs_per_task=PAIRS_PER_TASK)


def _error_tasks(
    every: Sequence[ErrorTask], drawn: set[str], scorers: Mapping[str, RowScorer], seed: int, bar: Any
) -> Iterator[AnswerTask]:
    bar.stage("simulating answers", len(drawn))
    for task in every:
        if task.name in drawn:
            database = shipped_database()
            scorer, cells = scorer_of(task.table, database, seed)
            evidence = committee_evidence(scorers[task.group], scorer, cells)
            posterior = partial(_posterior, database, scorer)
            yield AnswerTask(task.name, OpenedTask(evidence, posterior, None, seed), task.y)


def _posterior(database: MetaDatabase, source: ScoreSource) -> Posterior:
    return posterior_of(database, RankedTable.of(ranks_of(database, source)))
