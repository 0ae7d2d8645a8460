"""What is learned from records, and the one way to leave tasks out: learn again from the others."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from elect.history.database import MetaDatabase
from elect.history.pieces import Pieces, digest
from elect.history.records import MetaRecords, Recipe, measure_task, single_precision
from elect.paper.anchors import choose_anchors
from elect.paper.coverage import coverage_initial_models
from elect.paper.predictor_training import PredictorParams, train_predictor, tune_predictor
from elect.paper.settings import INITIAL_SIZE, SearchSettings
from elect.support.arrays import FloatArray
from elect.support.meter import Meter

LIBRARIES = ("elect", "numpy", "scipy", "scikit-learn", "numba", "lightgbm")


def learn_database(
    records: MetaRecords,
    pieces: Pieces,
    *,
    anchors: tuple[str, ...] | None = None,
    params: PredictorParams | None = None,
    tune: bool = False,
    pairs_per_task: int | None = None,
    n_jobs: int = 1,
    bar: Meter | None = None,
) -> MetaDatabase:
    """Everything that is learned from records, the search with the paper's settings. Only these records play a part.

    Anchors are chosen unless they are given. ``params`` are the predictor's; without them they are chosen by
    cross-validation with ``tune``, and are the usual ones otherwise.
    """
    bar = bar or Meter()
    recipe = records.recipe
    performance, groups = records.performance, records.groups
    agreement: Sequence[float] = ()
    if anchors is None:
        bar.stage("choosing anchors", 1)
        choice = choose_anchors(records.correlations, performance.values, groups)
        anchors = tuple(recipe.pool.ids[i] for i in choice.anchors)
        agreement = [round(float(value), 6) for value in choice.held_out]
        bar.advance()
    bar.stage("measuring models", len(records.tasks))
    measured = []
    for task in records.tasks:
        measured.append(measure_task(pieces, task, recipe, anchors))
        bar.advance()
    measures = single_precision(np.array(measured))
    bar.stage("training the predictor", 2)
    if params is None and tune and len(set(groups)) > 1:
        key = numbers_key(recipe.seed, groups, performance.values, measures)
        params = _tuned_params(performance.values, measures, groups, recipe, pieces, key, n_jobs)
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
    return MetaDatabase(
        pool=recipe.pool,
        performance=performance,
        groups=groups,
        measure_names=recipe.measure_names,
        measures=measures,
        anchors=anchors,
        initial_models=coverage_initial_models(performance, min(INITIAL_SIZE, len(recipe.pool))),
        predictor=predictor,
        settings=SearchSettings(metric=performance.metric),
        provenance=_provenance(records, params, agreement),
        calibration={"curves": records.curves.to_json()},
    )


def learn_without(
    held_out: Collection[str],
    records: MetaRecords,
    pieces: Pieces,
    *,
    anchors: tuple[str, ...] | None = None,
    params: PredictorParams | None = None,
    pairs_per_task: int | None = None,
) -> MetaDatabase:
    """The database as it would be had these tasks, by name, never been seen; options as for ``learn_database``."""
    return learn_database(
        records.without(held_out),
        pieces,
        anchors=anchors,
        params=params,
        pairs_per_task=pairs_per_task,
    )


def predictor_params(database: MetaDatabase) -> PredictorParams:
    """The hyperparameters that the predictor of a trained database has."""
    return PredictorParams(**dict(database.provenance["predictor"]))


def numbers_key(seed: int, groups: Sequence[str], performance: FloatArray, measures: FloatArray) -> str:
    """A name for the numbers that cross-validation goes by."""
    return digest(seed, groups, performance.tobytes().hex(), measures.tobytes().hex())


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


def _provenance(records: MetaRecords, params: PredictorParams, agreement: Sequence[float]) -> dict[str, Any]:
    return {
        "tasks": [task.provenance() for task in records.tasks],
        "libraries": {name: _version(name) for name in LIBRARIES},
        "seed": records.recipe.seed,
        "trials": records.recipe.trials,
        "predictor": asdict(params),
        "anchor_agreement": list(agreement),
    }


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
