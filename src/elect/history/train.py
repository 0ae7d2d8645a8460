"""Meta-training: corpus, scores, performance, anchors, measures, predictor, initial set, settings; a meta-database."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from typing import Any

import numpy as np

from elect.core import LabeledTask, ModelPool
from elect.core.metrics import Metric
from elect.errors import InvalidInput
from elect.history.corpus import read_corpus
from elect.history.database import MetaDatabase, plain_json
from elect.history.learned import MIN_GROUPS, task_signals, train_rank_predictor
from elect.history.pieces import Pieces, digest
from elect.history.rank_predictor import RankPredictor
from elect.history.records import (
    MetaRecords,
    Recipe,
    check_corpus,
    measure_task,
    read_record,
    single_precision,
    work_folder,
)
from elect.history.signals import Grid
from elect.history.tuning import PAPER_INITIAL_SIZE, Trial, tune_settings
from elect.history.workers import score_corpus
from elect.paper.anchors import choose_anchors
from elect.paper.coverage import coverage_initial_models
from elect.paper.predictor import PredictorParams, train_predictor, tune_predictor
from elect.paper.settings import SearchSettings
from elect.pool import default_pool
from elect.support.arrays import FloatArray
from elect.support.meter import Meter, meter
from elect.support.threads import n_threads

LIBRARIES = ("elect", "numpy", "scipy", "scikit-learn", "numba", "lightgbm")


def train(
    corpus: str | PathLike[str] | Sequence[LabeledTask],
    pool: ModelPool | None = None,
    *,
    metric: Metric = "ap",
    measures: Sequence[str] = ("mc", "select", "hits"),
    label: str | None = None,
    seed: int = 0,
    trials: int = 5,
    pairs_per_task: int | None = None,
    tune: bool = True,
    n_jobs: int | None = None,
    work_dir: str | PathLike[str] | None = None,
    cluster: Any = None,
    progress: bool = False,
) -> MetaDatabase:
    """Train a meta-database on labelled tasks (a folder, a manifest, or the tasks themselves).

    With ``work_dir`` every finished piece is kept there: a run killed at any moment goes on where it was and ends with
    the same database to the last bit, and a corpus with one more task computes only what is new. ``cluster``
    (the address of a dask scheduler, or a Client) scores the tasks there. ``tune=False`` takes the paper's settings.
    """
    tasks = tuple(corpus) if not isinstance(corpus, str | PathLike) else read_corpus(corpus, label)
    if not all(isinstance(task, LabeledTask) for task in tasks):
        raise InvalidInput("A corpus must be a folder, a manifest or a sequence of LabeledTask.")
    check_corpus(tasks)
    recipe = Recipe(default_pool() if pool is None else pool, metric, tuple(measures), seed, trials)
    jobs = n_threads(n_jobs)
    with work_folder(None if work_dir is None else str(work_dir)) as pieces, meter(progress) as bar:
        records = make_records(tasks, recipe, pieces, bar, jobs, cluster)
        return database_of(records, pieces, pairs_per_task=pairs_per_task, tune=tune, n_jobs=jobs, bar=bar)


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
    learn_ranks: bool = True,
    n_jobs: int = 1,
    bar: Meter | None = None,
) -> MetaDatabase:
    """Everything that is learned from records. Only these play a part: leaving a task out is leaving it out here."""
    bar = bar or Meter()
    recipe = records.recipe
    performance, groups = records.performance, records.groups
    several = len(set(groups)) > 1
    bar.stage("choosing anchors", 1)
    choice = choose_anchors(records.correlations, performance.values, groups)
    anchors = tuple(recipe.pool.ids[i] for i in choice.anchors)
    bar.advance()
    bar.stage("measuring models", len(records.tasks))
    measured = [_advanced(measure_task(pieces, task, recipe, anchors), bar) for task in records.tasks]
    measures = single_precision(np.array(measured))
    bar.stage("training the predictor", 2)
    key = digest(recipe.seed, groups, performance.values.tobytes().hex(), measures.tobytes().hex())
    params = (
        _tuned_params(performance.values, measures, groups, recipe, pieces, key, n_jobs) if several and tune else None
    )
    params = params or PredictorParams()
    bar.advance()
    predictor = train_predictor(
        performance.values,
        measures,
        params=params,
        pairs_per_task=pairs_per_task,
        seed=recipe.seed,
        measure_names=recipe.measure_names,
    )
    bar.advance()
    size = min(PAPER_INITIAL_SIZE, len(recipe.pool))
    database = MetaDatabase(
        pool=recipe.pool,
        performance=performance,
        groups=groups,
        measure_names=recipe.measure_names,
        measures=measures,
        anchors=anchors,
        initial_models=coverage_initial_models(performance, size),
        predictor=predictor,
        settings=SearchSettings(metric=performance.metric),
        provenance=_provenance(records, params, choice.held_out),
        calibration={"curves": records.curves.to_json()},
        rank_predictor=_rank_predictor(records, pieces, bar) if learn_ranks else None,
    )
    if not (several and tune):
        return database
    bar.stage("tuning the search", 1)
    trial, held_out = _tuned_trial(database, params, recipe, pieces, key, n_jobs)
    return _with_settings(database, trial, held_out)


def _rank_predictor(records: MetaRecords, pieces: Pieces, bar: Meter) -> RankPredictor | None:
    """What the learned pick goes by."""
    grid = Grid.of(records.recipe.pool)
    if len(set(records.groups)) < MIN_GROUPS:
        return None
    bar.stage("reading the pool's signals", len(records.tasks))
    signals = []
    for task in records.tasks:
        signals.append(task_signals(pieces, task, records.recipe, grid))
        bar.advance()
    bar.stage("training the rank predictor", 1)
    found = train_rank_predictor(signals, records.performance.values, records.groups, grid, records.recipe.seed)
    bar.advance()
    return found


def _advanced(value: FloatArray, bar: Meter) -> FloatArray:
    bar.advance()
    return value


def _tuned_params(
    performance: FloatArray,
    measures: FloatArray,
    groups: Sequence[str],
    recipe: Recipe,
    pieces: Pieces,
    key: str,
    n_jobs: int,
) -> PredictorParams:
    """The predictor's hyperparameters by grouped cross-validation; kept as a piece."""
    piece = pieces.get("predictor-params", key)
    if piece is None or set(piece) != {"num_leaves", "rounds", "learning_rate", "min_leaf_share"}:
        best = tune_predictor(performance, measures, groups, seed=recipe.seed, n_jobs=n_jobs).best
        piece = {name: np.array(value) for name, value in asdict(best).items()}
        pieces.put("predictor-params", key, piece)
    return PredictorParams(
        int(piece["num_leaves"]), int(piece["rounds"]), float(piece["learning_rate"]), float(piece["min_leaf_share"])
    )


def _tuned_trial(
    database: MetaDatabase, params: PredictorParams, recipe: Recipe, pieces: Pieces, key: str, n_jobs: int
) -> tuple[Trial, FloatArray]:
    """The search's settings by leave-one-out, and the ranks of its picks meanwhile; kept as a piece."""
    key = digest(key, params)
    piece = pieces.get("search-settings", key)
    if piece is None or set(piece) != {"trial", "ranks"}:
        choice = tune_settings(database, params, seed=recipe.seed, n_jobs=n_jobs)
        chosen = choice.chosen
        values = [chosen.n_neighbor_tasks, chosen.initial_size, int(chosen.scale_gaps), chosen.patience]
        piece = {"trial": np.array(values), "ranks": choice.held_out_ranks}
        pieces.put("search-settings", key, piece)
    neighbors, size, scale, patience = (int(value) for value in piece["trial"])
    return Trial(neighbors, size, bool(scale), patience), piece["ranks"]


def _with_settings(database: MetaDatabase, trial: Trial, held_out: FloatArray) -> MetaDatabase:
    size = min(trial.initial_size, len(database.pool))
    return replace(
        database,
        settings=SearchSettings(trial.n_neighbor_tasks, trial.patience, trial.scale_gaps, database.performance.metric),
        initial_models=coverage_initial_models(database.performance, size),
        calibration={**plain_json(database.calibration), "rank_shares": [round(float(r), 6) for r in held_out]},
    )


def _provenance(records: MetaRecords, params: PredictorParams, held_out: FloatArray) -> dict[str, Any]:
    return {
        "tasks": [task.provenance() for task in records.tasks],
        "libraries": {name: _version(name) for name in LIBRARIES},
        "seed": records.recipe.seed,
        "trials": records.recipe.trials,
        "predictor": asdict(params),
        "anchor_agreement": [round(float(value), 6) for value in held_out],
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
