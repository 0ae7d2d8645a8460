"""Meta-training: corpus, scores, performance, anchors, measures, predictor, initial set, settings; a meta-database."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any

import numpy as np

from elect.core import LabeledTask
from elect.core.metrics import Metric
from elect.errors import InvalidInput
from elect.history.corpus import read_corpus
from elect.history.database import MetaDatabase, plain_json
from elect.history.extending import check_start, extend
from elect.history.learning import learn_database, numbers_key, predictor_params
from elect.history.pieces import Pieces, digest
from elect.history.records import MetaRecords, Recipe, check_corpus, read_record, work_folder
from elect.history.row_adapting import LEAST_GROUPS, adapt, row_tasks
from elect.history.tuning import Trial, tune_settings
from elect.history.workers import score_corpus
from elect.measures import PAPER_MEASURES
from elect.paper.coverage import coverage_initial_models
from elect.paper.settings import SearchSettings
from elect.pool.pools import PoolLike, resolve_pool
from elect.support.arrays import FloatArray
from elect.support.boosting import require_lightgbm
from elect.support.meter import Meter, meter
from elect.support.threads import n_threads


def train(
    corpus: str | PathLike[str] | Sequence[LabeledTask],
    pool: PoolLike | None = None,
    *,
    metric: Metric = "ap",
    measures: Sequence[str] = PAPER_MEASURES,
    label: str | None = None,
    seed: int = 0,
    trials: int = 5,
    pairs_per_task: int | None = None,
    tune: bool = True,
    n_jobs: int | None = None,
    work_dir: str | PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = False,
    start: MetaDatabase | None = None,
) -> MetaDatabase:
    """Train a meta-database on labelled tasks (a folder, a manifest, or the tasks themselves).

    With ``start``, such as ``load_database()``, the tasks join that history, as ``elect train`` does; what they add on
    sources that are left out is told in the ``calibration``, under ``"added"`` and ``"rows"``. Without it the database
    knows these tasks alone, and all is learned from them.

    With ``work_dir`` every finished piece is kept there: a run killed at any moment goes on where it was and ends with
    the same database to the last bit, and a corpus with one more task computes only what is new. ``cluster``
    (the address of a dask scheduler, or a Client) scores the tasks there. ``tune=False`` takes the paper's settings.
    """
    tasks = tuple(corpus) if not isinstance(corpus, str | PathLike) else read_corpus(corpus, label)
    if not all(isinstance(task, LabeledTask) for task in tasks):
        raise InvalidInput("A corpus must be a folder, a manifest or a sequence of LabeledTask.")
    check_corpus(tasks)
    require_lightgbm()  # before any work
    recipe = Recipe(resolve_pool(pool), metric, tuple(measures), seed, trials)
    if start is not None:
        check_start(start, recipe)
    jobs = n_threads(n_jobs)
    with work_folder(None if work_dir is None else str(work_dir)) as pieces, meter(progress) as bar:
        records = make_records(tasks, recipe, pieces, bar, jobs, cluster)
        if start is None:
            database = database_of(records, pieces, pairs_per_task=pairs_per_task, tune=tune, n_jobs=jobs, bar=bar)
        else:
            database = extend(start, records, pieces, bar)
        return _with_rows(database, tasks, pieces, bar) if tune else database


def _with_rows(database: MetaDatabase, tasks: Sequence[LabeledTask], pieces: Pieces, bar: Meter) -> MetaDatabase:
    """The shipped row scorer leaned towards these tasks, with the evidence, where that gains."""
    from elect.history.shipped import shipped_database

    base = database.row_scorer or shipped_database().row_scorer
    if base is None or len({task.group for task in tasks}) < LEAST_GROUPS:
        return database
    scorer, told = adapt(base, row_tasks(tasks, pieces, bar))
    if told is None:
        return database
    calibration = {**plain_json(database.calibration or {}), "rows": asdict(told)}
    return replace(database, row_scorer=scorer if told.kept else database.row_scorer, calibration=calibration)


def make_records(
    tasks: Sequence[LabeledTask],
    recipe: Recipe,
    pieces: Pieces,
    bar: Meter | None = None,
    n_jobs: int = 1,
    cluster: Any = None,
) -> MetaRecords:
    """Score every task and keep what training needs of it."""
    bar = bar or Meter()
    score_corpus(tasks, recipe, pieces, bar, n_jobs, cluster)
    bar.stage("measuring performance", len(tasks))
    records = []
    for task in tasks:
        records.append(read_record(pieces, task, recipe))
        bar.advance()
    return MetaRecords(recipe, tuple(records))


def database_of(
    records: MetaRecords,
    pieces: Pieces,
    *,
    pairs_per_task: int | None = None,
    tune: bool = True,
    n_jobs: int = 1,
    bar: Meter | None = None,
) -> MetaDatabase:
    """What is learned from records; with ``tune`` the settings of the search are chosen on them too."""
    bar = bar or Meter()
    database = learn_database(records, pieces, tune=tune, pairs_per_task=pairs_per_task, n_jobs=n_jobs, bar=bar)
    if not tune or len(set(records.groups)) < 2:
        return database
    bar.stage("tuning the search", 1)
    trial, held_out = _tuned_trial(database, records, pieces, n_jobs)
    return _with_settings(database, trial, held_out)


def _tuned_trial(database: MetaDatabase, records: MetaRecords, pieces: Pieces, n_jobs: int) -> tuple[Trial, FloatArray]:
    """The search's settings by leave-one-out, and the ranks of its picks meanwhile; kept as a piece."""
    numbers = numbers_key(records.recipe.seed, database.groups, database.performance.values, database.measures)
    key = digest(numbers, predictor_params(database))
    piece = pieces.get("search-settings", key)
    if piece is None or set(piece) != {"trial", "held_out_ranks"}:
        choice = tune_settings(database, records, pieces, n_jobs=n_jobs)
        chosen = choice.chosen
        values = [chosen.n_neighbor_tasks, chosen.initial_size, int(chosen.scale_gaps), chosen.patience]
        piece = {"trial": np.array(values), "held_out_ranks": choice.held_out_ranks}
        pieces.put("search-settings", key, piece)
    neighbors, size, scale, patience = (int(value) for value in piece["trial"])
    return Trial(neighbors, size, bool(scale), patience), piece["held_out_ranks"]


def _with_settings(database: MetaDatabase, trial: Trial, held_out: FloatArray) -> MetaDatabase:
    size = min(trial.initial_size, len(database.pool))
    return replace(
        database,
        settings=SearchSettings(trial.n_neighbor_tasks, trial.patience, trial.scale_gaps, database.performance.metric),
        initial_models=coverage_initial_models(database.performance, size),
        calibration={**plain_json(database.calibration), "held_out_ranks": held_out.tolist()},
    )
