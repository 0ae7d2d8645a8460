"""The strategies on the union of the wild tasks and those of KEEL, with a wide history, nothing judged by its kin.

The groups are dealt to ten folds. For each fold a database is trained on the other folds alone, and every strategy
runs with it as it ships, on scores computed before. So a task is never judged by a history that holds its source.
Scores are all there is of a task: the strategy ``committee`` goes by the common opinion of the models here.

The *test* tasks, the wild ones and those of KEEL akin to them, are told apart from the others, *development*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.baselines import BestMeanRank, Choice, GlobalBest, History, Selector, TaskView
from elect.bench.judging import judge_choice
from elect.bench.statistics import wilcoxon_p
from elect.core import LabeledTask
from elect.core.sources import ReplayedScores
from elect.history.database import MetaDatabase
from elect.history.learning import learn_without
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords, Recipe, stored_scores, work_folder
from elect.history.train import make_records
from elect.paper.folds import group_folds
from elect.strategies import STRATEGIES, select
from elect.support.arrays import FloatArray
from elect.support.meter import Meter, meter

N_FOLDS = 10
PAIRS_PER_TASK = 2_000
FIXED = "best fixed model by mean rank"
SIMPLE: dict[str, Selector] = {FIXED: BestMeanRank(), "best fixed model by mean AP": GlobalBest()}
"""What the strategies have to beat."""


@dataclass(frozen=True, eq=False)
class UnionPicks:
    """What every method did on every task while its fold was left out."""

    kinds: tuple[str, ...]  # of each task
    groups: tuple[str, ...]
    ranks: dict[str, FloatArray]  # of the model picked, among all
    values: dict[str, FloatArray]  # its performance


def kind_of(task: str) -> str:
    """The kind of a task by its name.

    >>> kind_of("keel/iris+largest-5%-scattered+local"), kind_of("keel/yeast1"), kind_of("odds/wine")
    ('injected', 'keel', 'wild')
    """
    source = task.split("/")[0]
    if source in ("odds", "dami"):
        return "wild"
    if source == "keel":
        return "injected" if task.endswith(("+global", "+local", "+clustered")) else "keel"
    known = {"resnet18": "image features", "simulated": "simulated", "optdigits": "images", "mnist": "images"}
    return known.get(source, "texts")


def nested_picks(
    tasks: Sequence[LabeledTask],
    records: MetaRecords,
    pieces: Pieces,
    bar: Meter | None = None,
    n_jobs: int = 1,
) -> UnionPicks:
    """Leave each fold of groups out in turn, learn from the others, and pick."""
    from joblib import Parallel, delayed

    bar = bar or Meter()
    recipe = records.recipe
    performance, groups = records.performance.values, records.groups
    folds = group_folds(groups, N_FOLDS)
    n = len(records.tasks)
    ranks: dict[str, FloatArray] = {}
    values: dict[str, FloatArray] = {}
    bar.stage("leaving out groups", N_FOLDS)

    def leave_out(fold: int) -> None:
        outside = np.flatnonzero(folds == fold).tolist()
        left_out = {records.tasks[t].name for t in outside}
        database = learn_without(left_out, records, pieces, pairs_per_task=PAIRS_PER_TASK)
        fixed = _simple_choices(database)
        for t in outside:
            scores = stored_scores(pieces, records.tasks[t], recipe)
            found = {name: select(database, ReplayedScores(scores), strategy=name) for name in STRATEGIES}
            choices = {name: Choice((selection.model_id,)) for name, selection in found.items()} | fixed
            for name, choice in choices.items():
                rank, value = judge_choice(choice, recipe.pool, performance[t], tasks[t].y)
                ranks.setdefault(name, np.full(n, np.nan))[t] = rank
                values.setdefault(name, np.full(n, np.nan))[t] = value
        bar.advance()

    Parallel(n_jobs=n_jobs, backend="threading")(delayed(leave_out)(fold) for fold in range(int(folds.max()) + 1))
    return UnionPicks(tuple(kind_of(record.name) for record in records.tasks), groups, ranks, values)


def _simple_choices(database: MetaDatabase) -> dict[str, Choice]:
    """The same model for every task."""
    history = History(
        pool=database.pool,
        performance=database.performance,
        groups=database.groups,
        measure_names=database.measure_names,
        measures=database.measures,
        meta_features=np.zeros((len(database.tasks), 0)),
    )
    nothing = TaskView(np.zeros((len(database.pool), 0)), np.zeros(0))
    return {name: selector.fit(history).select(nothing) for name, selector in SIMPLE.items()}


def compared(found: UnionPicks) -> dict[str, Any]:
    """Mean rank and AP of each method by kind of task, and grouped Wilcoxon tests."""
    kinds, groups = np.array(found.kinds), np.array(found.groups)
    union = np.isin(kinds, ["wild", "keel"])
    akin = np.isin(groups, sorted(set(groups[kinds == "wild"])))
    subsets = {kind: kinds == kind for kind in dict.fromkeys(found.kinds)}
    subsets |= {"union": union, "test": union & akin, "development": union & ~akin, "all": np.ones(len(kinds), bool)}
    subsets = {name: rows for name, rows in subsets.items() if rows.any()}
    methods = []
    for name, ranks in found.ranks.items():
        row: dict[str, Any] = {"name": name}
        for subset, rows in subsets.items():
            mine = _by_group(ranks, groups, rows)
            row[subset] = {
                "mean_rank": round(float(ranks[rows].mean()), 1),
                "median_rank": float(np.median(ranks[rows])),
                "mean_rank_groups": round(float(mine.mean()), 1),
                "mean_ap": round(float(found.values[name][rows].mean()), 4),
                "p_value": round(wilcoxon_p(mine, _by_group(found.ranks["elect"], groups, rows)), 5),
                "p_value_fixed": round(wilcoxon_p(mine, _by_group(found.ranks[FIXED], groups, rows)), 5),
            }
        methods.append(row)
    return {
        "protocol": "strict",
        "n_tasks": {subset: int(rows.sum()) for subset, rows in subsets.items()},
        "n_groups": {subset: len(set(groups[rows])) for subset, rows in subsets.items()},
        "methods": methods,
    }


def _by_group(ranks: FloatArray, groups: Any, rows: Any) -> FloatArray:
    """The mean rank within each group: siblings are one voice."""
    return np.array([ranks[rows & (groups == group)].mean() for group in sorted(set(groups[rows]))])


def run_union(
    history: Sequence[Path] = (),
    *,
    seed: int = 0,
    work_dir: str | None = None,
    progress: bool = True,
    n_jobs: int = 2,
) -> dict[str, Any]:
    """``elect bench union``: the strategies with a wide history. ``history`` lists corpora; by default those of
    ``elect corpus`` without the texts, which need a language model."""
    from elect.bench.testbeds import load_more, load_wild
    from elect.bench.testbeds.history import history_tasks
    from elect.history.corpus import read_corpus
    from elect.pool import default_pool

    tasks: list[LabeledTask] = [*load_wild(), *load_more()]
    if history:
        tasks += [task for path in history for task in read_corpus(path)]
    else:
        tasks += history_tasks(seed=seed)
    with work_folder(work_dir) as pieces, meter(progress) as bar:
        records = make_records(tasks, Recipe(default_pool(), seed=seed), pieces, bar, n_jobs)
        picks = nested_picks(tasks, records, pieces, bar, n_jobs)
    return {"testbed": "union", "source": "computed", **compared(picks)}
