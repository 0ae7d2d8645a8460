"""Simulated answers: how the pick improves with the number of rows a person is asked about.

Each task is left out with its whole group (or alone); the database of the others asks about its rows, and the labels
answer, a share of them wrongly. The rank of the pick is measured on all rows (which model was right) and on the rows
not asked about (what is left to find); tasks whose outliers were all asked about have no rank of the second kind.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.answers import Feedback, open_scores
from elect.bench.protocol import folds
from elect.bench.statistics import model_rank
from elect.core import LabeledTask, ScoreMatrix
from elect.core.metrics import performance
from elect.core.sources import ReplayedScores
from elect.errors import InvalidInput
from elect.history.learning import learn_without
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords, stored_scores
from elect.pool.standardize import Standardizer
from elect.support.arrays import FloatArray

PAIRS_PER_TASK = 5_000
REPEATS = 3
"""Runs with wrong answers differ by which were wrong: they are repeated and averaged."""


@dataclass(frozen=True)
class AnswerResult:
    """The quality of the picks after n answers, averaged over tasks."""

    n: int
    wrong: float
    mean_rank: float
    median_rank: float
    mean_rank_unasked: float
    median_rank_unasked: float
    mean_ap: float
    standard_error: float
    tasks: int

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class _Outcome:
    rank: float
    rank_unasked: float | None
    ap: float


def simulate_answers(
    tasks: Sequence[LabeledTask],
    records: MetaRecords,
    pieces: Pieces,
    *,
    counts: Sequence[int] = (0, 5, 10, 20, 50),
    wrong: Sequence[float] = (0.0, 0.1),
    protocol: str = "strict",
    seed: int = 0,
) -> Iterator[tuple[str, dict[tuple[float, int], list[_Outcome]]]]:
    """Outcomes task by task, by share of wrong answers and number of answers."""
    counts = sorted(set(counts))
    places = {task.name: place for place, task in enumerate(tasks)}
    for fold in folds(list(places), records.groups, protocol):
        database = learn_without(fold.held_out, records, pieces, pairs_per_task=PAIRS_PER_TASK)
        for name in fold.held_out:
            task, record = tasks[places[name]], records.tasks[places[name]]
            scores = stored_scores(pieces, record, records.recipe)
            columns = Standardizer.fit(task.X).transform(task.X)
            found: dict[tuple[float, int], list[_Outcome]] = {}
            for share in wrong:
                for repeat in range(REPEATS if share > 0 else 1):
                    rng = np.random.default_rng([seed, places[name], repeat])
                    feedback = Feedback.of(*open_scores(database, ReplayedScores(scores), columns))
                    for n, outcome in _session(feedback, scores, task, record.performance, counts, share, rng):
                        found.setdefault((share, n), []).append(outcome)
            yield name, found


def _session(
    feedback: Feedback,
    scores: ScoreMatrix,
    task: LabeledTask,
    truth: FloatArray,
    counts: Sequence[int],
    share: float,
    rng: np.random.Generator,
) -> Iterator[tuple[int, _Outcome]]:
    for n in counts:
        while len(feedback.answers) < min(n, feedback.n_rows - 1):
            row = feedback.ask()
            said = bool(task.y[row]) != bool(rng.random() < share)
            feedback.tell(row, said)
        yield n, _outcome(feedback, scores, task, truth)


def _outcome(feedback: Feedback, scores: ScoreMatrix, task: LabeledTask, truth: FloatArray) -> _Outcome:
    chosen = scores.index(feedback.selection.model_id)
    left = np.ones(task.n_rows, dtype=bool)
    left[[answer.row for answer in feedback.answers]] = False
    unasked = None
    if 0 < task.y[left].sum() < left.sum():
        rest = ScoreMatrix(scores.values[left], scores.model_ids)
        unasked = model_rank(performance(rest, task.y[left]), chosen)
    return _Outcome(model_rank(truth, chosen), unasked, float(truth[chosen]))


def summarise(outcomes: Sequence[dict[tuple[float, int], list[_Outcome]]]) -> list[AnswerResult]:
    """Means and medians over tasks; repeats of a task are averaged first."""
    results = []
    for share, n in sorted({key for task in outcomes for key in task}):
        runs = [task[share, n] for task in outcomes if (share, n) in task]
        ranks = np.array([np.mean([o.rank for o in task]) for task in runs])
        kept = [[o.rank_unasked for o in task if o.rank_unasked is not None] for task in runs]
        unasked = np.array([np.mean(task) for task in kept if task])
        results.append(
            AnswerResult(
                n=n,
                wrong=share,
                mean_rank=round(float(ranks.mean()), 2),
                median_rank=float(np.median(ranks)),
                mean_rank_unasked=round(float(unasked.mean()), 2),
                median_rank_unasked=float(np.median(unasked)),
                mean_ap=round(float(np.mean([np.mean([o.ap for o in task]) for task in runs])), 4),
                standard_error=round(float(ranks.std(ddof=1) / np.sqrt(len(ranks))), 2) if len(ranks) > 1 else 0.0,
                tasks=len(runs),
            )
        )
    return results


def run_answers(
    testbed: str,
    *,
    counts: Sequence[int],
    protocol: str = "strict",
    seed: int = 0,
    work_dir: str | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """``elect bench answers``: the picks by number of simulated answers, right and one in ten wrong."""
    from elect.bench.testbeds import load_controlled, load_wild
    from elect.history.records import Recipe, work_folder
    from elect.history.train import make_records
    from elect.pool import default_pool
    from elect.support.meter import meter

    if not counts or min(counts) < 0:
        raise InvalidInput("The numbers of answers must be whole numbers of at least 0, such as 0,5,10,20,50.")
    tasks = load_wild() if testbed == "wild" else load_controlled()
    with work_folder(work_dir) as pieces, meter(progress) as bar:
        records = make_records(tasks, Recipe(default_pool(), seed=seed), pieces, bar, n_jobs=2)
        bar.stage("simulating answers", len(tasks))
        outcomes = []
        for _, found in simulate_answers(tasks, records, pieces, counts=counts, protocol=protocol, seed=seed):
            outcomes.append(found)
            bar.advance()
    return {
        "testbed": testbed,
        "source": "computed",
        "protocol": protocol,
        "n_models": len(records.recipe.pool),
        "answers": [result.to_json() for result in summarise(outcomes)],
    }
