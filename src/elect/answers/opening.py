"""From a table to what a session of questions needs: every model is scored once."""

from os import PathLike
from typing import Any

import numpy as np

from elect.answers.electing import AnsweredElection
from elect.answers.evidence import RowEvidence, evidence_of_ranks
from elect.answers.posterior import Posterior, RankedTable
from elect.committee.curves import OutlierCurves
from elect.core import Selection
from elect.core.sources import ScoreSource
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.measures import rank
from elect.pool import PoolScorer
from elect.strategies import select
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment


def open_table(
    X: Any, database: "MetaDatabase | str | PathLike[str] | None", seed: int
) -> tuple[RowEvidence, AnsweredElection]:
    """The evidence on the rows of an array or a frame, and the election over its models."""
    found = _database(database)
    return open_scores(found, *scorer_of(X, found, seed))


def scorer_of(X: Any, database: MetaDatabase, seed: int) -> tuple[PoolScorer, FloatArray]:
    """The models of the pool on an array, which is standardised, or on a frame, whose columns are treated."""
    if hasattr(X, "columns"):
        _, rows = ColumnTreatment.fit_transform(X)
        scorer = PoolScorer(rows, database.pool, seed=seed, standardize=False)
    else:
        scorer = PoolScorer(X, database.pool, seed=seed)
    return scorer, np.asarray(scorer.work.Z)


def open_scores(
    database: MetaDatabase, source: ScoreSource, columns: FloatArray, unlabelled: Selection | None = None
) -> tuple[RowEvidence, AnsweredElection]:
    """The same from a source of scores and the standardised columns; ``unlabelled`` is the pick without answers."""
    ranks = ranks_of(database, source)
    posterior = posterior_of(database, ranks)
    evidence = evidence_of_ranks(ranks, [spec.detector for spec in database.pool], posterior, columns)
    picked = select(database, source) if unlabelled is None else unlabelled
    return evidence, AnsweredElection(database, posterior.table.rows, picked)


def ranks_of(database: MetaDatabase, source: ScoreSource) -> FloatArray:
    """The descending ranks of the rows by every model of the pool (rows x models)."""
    return rank(np.column_stack([source.scores(model_id) for model_id in database.pool.ids]))


def posterior_of(database: MetaDatabase, ranks: FloatArray) -> Posterior:
    """What the history says about the models on a table with these ranks."""
    if database.calibration is None or "curves" not in database.calibration:
        raise InvalidInput("This database carries no calibration, which answers need: train it again.")
    if database.settings.metric != "ap":
        raise InvalidInput(
            f"Answers must have a database of average precision (ap), got one of {database.settings.metric!r}."
        )
    curves = OutlierCurves.from_json(database.calibration["curves"])
    return Posterior(RankedTable.of(ranks), curves, database.performance.values)


def _database(database: "MetaDatabase | str | PathLike[str] | None") -> MetaDatabase:
    if database is None:
        from elect.history.shipped import shipped_database

        return shipped_database()
    return database if isinstance(database, MetaDatabase) else MetaDatabase.load(database)
