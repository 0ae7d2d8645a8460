"""The strategies on tasks of every kind with a wide history, nothing judged by its kin.

The sources are dealt to five folds. For each fold a database is trained on the other folds alone, and every strategy
runs with it as it ships, on scores computed before; the committee hears a row scorer that was trained without the
source of the task, too. So a task is never judged by a history that holds its source.

Tables with entry errors are judged as well, one of each source, but are no part of the history. Of a task longer than
the row scorer learns from, strategies see the rows that are drawn for it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.judging import judge_choice
from elect.bench.left_out import fold_scorers
from elect.bench.rows import LabelledRows, corpus_kind, described, drawn_rows, labelled_rows
from elect.bench.statistics import wilcoxon_p
from elect.bench.union_ways import Learned, SeenTask, every_choice
from elect.committee.scorer import RowScorer, chance_of
from elect.core import LabeledTask, RankInterval, ScoreMatrix
from elect.history.expectation import COMMITTEE_RANKS
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords, Recipe, measure_task, stored_scores, work_folder
from elect.history.row_training import ERRORS, RowTask
from elect.history.train import make_records
from elect.paper.anchors import rank_correlations
from elect.paper.folds import group_folds
from elect.pool import PoolScorer, default_pool
from elect.strategies import STRATEGIES
from elect.support.arrays import FloatArray, IntArray
from elect.support.meter import Meter, meter

N_FOLDS = 5
UNION = ("wild", "keel", "odd")
"""Real tables in which a class is outlying: what strategies are chosen by."""

EXPECTING = ("committee", "elect")
"""The strategies that say which rank a pick may have."""

CALIBRATING = (*UNION, ERRORS)
"""What that is read from. Picks are much better where values are wrong: without such tables half of them would be
better than the interval says."""

Heard = Callable[[str], FloatArray]
"""The chance of each row of a task, by its name."""


@dataclass(frozen=True, eq=False)
class UnionPicks:
    """What every method did on every task while its fold was left out."""

    kinds: tuple[str, ...]  # of each task
    groups: tuple[str, ...]
    folds: IntArray
    ranks: dict[str, FloatArray]  # of the model picked, among all
    values: dict[str, FloatArray]  # its performance
    shown: dict[str, dict[int, frozenset[str]]] = field(default_factory=dict)  # similar tasks, by method and task


def kind_of(task: str) -> str:
    """The kind of a task by its name.

    >>> kind_of("keel/iris+largest-5%-scattered+local"), kind_of("keel/yeast1"), kind_of("odds/wine")
    ('injected', 'keel', 'wild')
    """
    source = task.split("/")[0]
    return "wild" if source in ("odds", "dami") else "image features" if source == "resnet18" else corpus_kind(task)


def nested_picks(
    tasks: Sequence[LabeledTask],
    records: MetaRecords,
    pieces: Pieces,
    heard: Heard,
    bar: Meter | None = None,
    judged_only: Mapping[str, str] | None = None,
) -> UnionPicks:
    """Leave each fold of groups out in turn, learn from the others, and pick.

    ``judged_only`` has the kinds of tasks, by name, that nothing is learned from.
    """
    bar, only = bar or Meter(), judged_only or {}
    recipe = records.recipe
    performance, groups = records.performance.values, records.groups
    folds = group_folds(groups, N_FOLDS)
    kinds = tuple(only.get(record.name) or kind_of(record.name) for record in records.tasks)
    found = UnionPicks(kinds, groups, folds, {}, {})
    bar.stage("leaving out groups", len(records.tasks))
    for fold in range(int(folds.max()) + 1):
        outside = np.flatnonzero(folds == fold).tolist()
        learned = Learned.without({records.tasks[t].name for t in outside} | set(only), records, pieces)
        for t in outside:
            scores = stored_scores(pieces, records.tasks[t], recipe)
            rows = drawn_rows(tasks[t].n_rows)
            measures = measure_task(pieces, records.tasks[t], recipe, recipe.pool.ids)
            seen = SeenTask(ScoreMatrix(scores.values[rows], recipe.pool.ids), heard(tasks[t].name), measures)
            for name, choice, similar in every_choice(learned, seen):
                rank, value = judge_choice(choice, recipe.pool, performance[t], tasks[t].y)
                found.ranks.setdefault(name, np.full(len(kinds), np.nan))[t] = rank
                found.values.setdefault(name, np.full(len(kinds), np.nan))[t] = value
                if similar:
                    found.shown.setdefault(name, {})[t] = frozenset(similar)
            bar.advance()
    return found


def compared(found: UnionPicks) -> dict[str, Any]:
    """Mean rank and AP of each method by kind of task, and grouped Wilcoxon tests."""
    groups = np.array(found.groups)
    subsets = _subsets(found)
    methods = []
    for name, ranks in found.ranks.items():
        row: dict[str, Any] = {"name": name}
        for subset, rows in subsets.items():
            mine = _by_group(ranks, groups, rows)
            rivals = {
                rival: _by_group(found.ranks[rival], groups, rows) for rival in STRATEGIES if rival in found.ranks
            }
            row[subset] = {
                "mean_rank": round(float(ranks[rows].mean()), 1),
                "median_rank": float(np.median(ranks[rows])),
                "mean_rank_groups": round(float(mine.mean()), 1),
                "mean_ap": round(float(found.values[name][rows].mean()), 4),
                "against": {rival: _against(mine, theirs) for rival, theirs in rivals.items() if rival != name},
            }
        methods.append(row)
    return {
        "protocol": f"strict, {int(found.folds.max()) + 1} folds of sources",
        "n_tasks": {subset: int(rows.sum()) for subset, rows in subsets.items()},
        "n_groups": {subset: len(set(groups[rows])) for subset, rows in subsets.items()},
        "methods": methods,
        "expected_rank": {name: told for name in EXPECTING if (told := coverage(found, name)) is not None},
        "similar_tasks": {name: similar_tasks(found, name) for name in found.shown},
    }


def _subsets(found: UnionPicks) -> dict[str, Any]:
    kinds = np.array(found.kinds)
    subsets = {kind: kinds == kind for kind in dict.fromkeys(found.kinds)}
    subsets |= {"union": np.isin(kinds, UNION), "all": np.ones(len(kinds), bool)}
    return {name: rows for name, rows in subsets.items() if rows.any()}


def _by_group(ranks: FloatArray, groups: Any, rows: Any) -> FloatArray:
    """The mean rank within each group: siblings are one voice."""
    return np.array([ranks[rows & (groups == group)].mean() for group in sorted(set(groups[rows]))])


def _against(mine: FloatArray, theirs: FloatArray) -> dict[str, float | None]:
    """How much larger ranks are than those of a rival, by group, with a standard error and a Wilcoxon test."""
    gap = mine - theirs
    error = None if len(gap) < 2 else round(float(gap.std(ddof=1) / np.sqrt(len(gap))), 2)
    return {"difference": round(float(gap.mean()), 2), "error": error, "p_value": round(wilcoxon_p(mine, theirs), 5)}


def coverage(found: UnionPicks, name: str) -> dict[str, Any] | None:
    """How often the interval of a pick's expected rank holds the rank: it is made from the ranks on the tasks of the
    other folds. None where these are too few."""
    ranks, subsets = found.ranks[name], _subsets(found)
    known = np.isin(found.kinds, CALIBRATING)
    held = np.full(len(ranks), np.nan)
    for fold in np.unique(found.folds):
        interval = RankInterval.of(ranks[known & (found.folds != fold)])
        if interval is None:
            return None
        own = found.folds == fold
        held[own] = (ranks[own] >= interval.low) & (ranks[own] <= interval.high)
    whole = RankInterval.of(ranks[known])
    assert whole is not None  # a part of it was enough
    return {
        "expected": round(whole.expected, 1),
        "low": whole.low,
        "high": whole.high,
        "level": whole.level,
        "coverage": {subset: round(float(held[rows].mean()), 3) for subset, rows in subsets.items()},
    }


def similar_tasks(found: UnionPicks, name: str) -> dict[str, Any]:
    """How far the similar tasks that are shown depend on the table. Histories of different folds are not compared."""
    shown = found.shown[name]
    sets, often_set, often_task = 0, [], []
    for fold in np.unique(found.folds):
        own = [shown[t] for t in np.flatnonzero(found.folds == fold).tolist() if t in shown]
        if own:
            counts = Counter(own)
            sets += len(counts)
            often_set.append(max(counts.values()) / len(own))
            often_task.append(max(Counter(chain.from_iterable(own)).values()) / len(own))
    return {
        "tables": len(shown),
        "different_sets": sets,
        "largest_share_of_one_set": round(max(often_set), 3),
        "largest_share_of_one_task": round(max(often_task), 3),
    }


def run_union(
    history: Sequence[Path] = (),
    *,
    seed: int = 0,
    work_dir: str | None = None,
    progress: bool = True,
    n_jobs: int = 1,
) -> dict[str, Any]:
    """``elect bench union``: the strategies with a wide history. ``history`` lists corpora; by default those of
    ``elect corpus`` without the texts, which need a language model."""
    from elect.bench.testbeds import load_more, load_odd, load_wild
    from elect.bench.testbeds.history import history_tasks
    from elect.history.corpus import read_corpus

    made = [] if history else history_tasks(seed=seed)
    errors = list(_error_tables())
    tasks = [*load_wild(), *load_more(), *load_odd(), *made, *chain.from_iterable(map(read_corpus, history)), *errors]
    recipe = Recipe(default_pool(), seed=seed)
    with work_folder(work_dir) as pieces, meter(progress) as bar:
        _score_tables(errors, recipe, pieces, n_jobs)
        records = make_records(tasks, recipe, pieces, bar, n_jobs)
        bar.stage("describing rows", 1)
        own = [LabelledRows(task.name, task.group, kind_of(task.name), task.X, task.y) for task in made]
        rows = described(chain(labelled_rows(None, history), own), pieces.folder)
        bar.stage("training row scorers without each fold", N_FOLDS)
        scorers = fold_scorers(rows, set(records.groups), N_FOLDS, pieces, bar.advance)
        only = {task.name: ERRORS for task in errors}
        picks = nested_picks(tasks, records, pieces, heard_from(rows, scorers), bar, only)
    known = np.isin(picks.kinds, CALIBRATING)
    return {
        "testbed": "union",
        "source": "computed",
        **compared(picks),
        # What a database that ships knows about the rank of its picks.
        COMMITTEE_RANKS: picks.ranks["committee"][known].tolist(),
    }


def heard_from(rows: Sequence[RowTask], scorers: Mapping[str, RowScorer]) -> Heard:
    """The chances by scorers that know nothing of the source of a task."""
    by_name = {task.name: task for task in rows}

    def chance(name: str) -> FloatArray:
        task = by_name[name]
        return chance_of(scorers[task.group].log_odds(task.features.astype(np.float64)))

    return chance


def _error_tables() -> Iterator[LabeledTask]:
    """The first table with entry errors of each source, its columns treated as a user's are."""
    from elect.bench.testbeds import load_errors
    from elect.tables import ColumnTreatment, read_table

    seen = set()
    for task in load_errors():
        if task.group not in seen:
            seen.add(task.group)
            _, rows = ColumnTreatment.fit_transform(read_table(task.table))
            yield LabeledTask(task.name, task.group, rows, task.y)


def _score_tables(tables: Sequence[LabeledTask], recipe: Recipe, pieces: Pieces, n_jobs: int = 1) -> None:
    """Score treated tables as they are: their columns have the scale that they shall have."""
    for task in tables:
        if not pieces.has("scores", key := recipe.score_key(task)):
            options = {"seed": recipe.seed, "trials": recipe.trials, "n_jobs": n_jobs}
            scorer = PoolScorer(task.X, recipe.pool, standardize=False, **options)
            scores = np.column_stack([scorer.scores(model_id) for model_id in recipe.pool.ids])
            pieces.put("scores", key, {"scores": scores, "correlations": rank_correlations(scores)})
