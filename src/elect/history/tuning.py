"""The settings of the search by leave-one-out on the historical tasks: neighbours, initial size, patience, gap scaling.

Each task in turn plays the new one, its whole group left out of what the search knows. The paper's settings stay unless
others pick better by more than the standard error of the difference: a smaller difference is not a result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from elect.core import SearchStep
from elect.core.sources import ReplayedMeasures
from elect.history.database import MetaDatabase
from elect.history.learning import learn_without, predictor_params
from elect.history.pieces import Pieces
from elect.history.records import MetaRecords
from elect.paper.coverage import coverage_initial_models
from elect.paper.predictor_training import tuning_pairs
from elect.paper.search import search
from elect.paper.settings import INITIAL_SIZE, MAX_MODELS, SearchSettings
from elect.paper.stopping import Patience
from elect.support.arrays import FloatArray

TUNED_TASKS = 120
"""Settings are compared on at most so many tasks, spread evenly over the groups."""


@dataclass(frozen=True)
class Trial:
    """One combination of settings."""

    n_neighbor_tasks: int = 5
    initial_size: int = INITIAL_SIZE
    scale_gaps: bool = False
    patience: int = 17


NEIGHBORS, SIZES, SCALES, PATIENCES = (5, 3, 8, 12), (7, 5, 10), (False, True), (17, 10, 25)


@dataclass(frozen=True, eq=False)
class SettingsChoice:
    """The chosen settings and the mean rank of the picks of each combination."""

    chosen: Trial
    trials: tuple[Trial, ...]
    ranks: FloatArray  # (trials, tasks asked about) of the pick, among all models

    @property
    def held_out_ranks(self) -> FloatArray:
        """The rank of the chosen settings' pick on each task while its group was left out."""
        row: FloatArray = self.ranks[self.trials.index(self.chosen)]
        return row


def tune_settings(database: MetaDatabase, records: MetaRecords, pieces: Pieces, *, n_jobs: int = 1) -> SettingsChoice:
    """Leave each group out in turn and see which settings pick best; anchors and predictor parameters stay."""
    from joblib import Parallel, delayed

    params, pairs_per_task = predictor_params(database), tuning_pairs(len(database.tasks))
    combinations = [Trial(t, size, scale) for t, size, scale in product(NEIGHBORS, SIZES, SCALES)]
    trials = tuple(replace(trial, patience=p) for trial in combinations for p in PATIENCES)
    true_ranks = database.performance.ranks()
    ranks = np.full((len(trials), len(database.tasks)), np.nan)
    asked = spread_tasks(database.groups, TUNED_TASKS)

    def leave_out(group: str) -> None:
        fold = learn_without(
            [record.name for record in records.tasks if record.group == group],
            records,
            pieces,
            anchors=database.anchors,
            params=params,
            pairs_per_task=pairs_per_task,
        )
        largest = coverage_initial_models(fold.performance, max(SIZES))
        for task in (i for i in asked if database.groups[i] == group):
            source = ReplayedMeasures(database.pool.ids, database.measures[task])
            row = 0
            for trial in combinations:
                settings = SearchSettings(
                    trial.n_neighbor_tasks, max(PATIENCES), trial.scale_gaps, fold.settings.metric
                )
                known = replace(fold, settings=settings, initial_models=largest[: trial.initial_size])
                steps = list(search(known, source, max_models=MAX_MODELS, seed=records.recipe.seed))
                for patience in PATIENCES:
                    pick = _pick_with_patience(steps, patience)
                    ranks[row, task] = true_ranks[task, database.pool.index(pick)]
                    row += 1

    groups = list(dict.fromkeys(database.groups))
    Parallel(n_jobs=n_jobs, backend="threading")(delayed(leave_out)(group) for group in groups)
    ranks = ranks[:, asked]
    return SettingsChoice(_choose(trials, ranks), trials, ranks)


def spread_tasks(groups: Sequence[str], most: int) -> list[int]:
    """At most so many tasks (or one a group), the same number of each group as far as there are.

    >>> spread_tasks(["a", "a", "b", "a"], 3)
    [0, 1, 2]
    """
    for each in range(len(groups), 0, -1):
        seen: dict[str, int] = {}
        chosen = []
        for i, group in enumerate(groups):
            seen[group] = seen.get(group, 0) + 1
            if seen[group] <= each:
                chosen.append(i)
        if len(chosen) <= most:
            return chosen
    return chosen


def _pick_with_patience(steps: Sequence[SearchStep], patience: int) -> str:
    """The pick of a search that would have stopped after ``patience`` steps without a change of neighbours."""
    settled = Patience(patience)
    for step in steps:
        neighbors = [neighbor.task for neighbor in step.neighbors]
        if step.phase != "adaptive":
            settled = Patience(patience, neighbors)
        elif settled.after(neighbors) is not None:
            return step.pick.model_id
    return steps[-1].pick.model_id


def _choose(trials: Sequence[Trial], ranks: FloatArray) -> Trial:
    """The paper's settings, unless the best ones are better by more than the standard error of the difference."""
    usual = trials.index(Trial())
    if np.isnan(ranks).any() or ranks.shape[1] < 2:
        return trials[usual]
    best = int(np.argmin(ranks.mean(axis=1)))
    difference = ranks[usual] - ranks[best]
    error = difference.std(ddof=1) / np.sqrt(len(difference))
    return trials[best] if difference.mean() > error else trials[usual]
