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
    if hasattr(X, "columns"):
        _, columns = ColumnTreatment.fit_transform(X)
        scorer = PoolScorer(columns, found.pool, seed=seed, standardize=False)
    else:
        scorer = PoolScorer(X, found.pool, seed=seed)
    return open_scores(found, scorer, np.asarray(scorer.work.Z))


def open_scores(
    database: MetaDatabase, source: ScoreSource, columns: FloatArray, unlabelled: Selection | None = None
) -> tuple[RowEvidence, AnsweredElection]:
    """The same from a source of scores and the standardised columns; ``unlabelled`` is the pick without answers."""
    if database.calibration is None or "curves" not in database.calibration:
        raise InvalidInput("This database carries no calibration, which answers need: train it again.")
    if database.settings.metric != "ap":
        raise InvalidInput(
            f"Answers must have a database of average precision (ap), got one of {database.settings.metric!r}."
        )
    curves = OutlierCurves.from_json(database.calibration["curves"])
    ranks = rank(np.column_stack([source.scores(model_id) for model_id in database.pool.ids]))
    table = RankedTable.of(ranks)
    posterior = Posterior(table, curves, database.performance.values)
    families = [spec.detector for spec in database.pool]
    evidence = evidence_of_ranks(ranks, families, posterior, columns)
    picked = select(database, source) if unlabelled is None else unlabelled
    return evidence, AnsweredElection(database, table.rows, picked)


def _database(database: "MetaDatabase | str | PathLike[str] | None") -> MetaDatabase:
    if database is None:
        from elect.history.shipped import shipped_database

        return shipped_database()
    return database if isinstance(database, MetaDatabase) else MetaDatabase.load(database)
