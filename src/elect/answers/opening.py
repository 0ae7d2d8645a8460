"""From a table to what a session of questions needs: what the committee says of its rows."""

from os import PathLike
from typing import Any

import numpy as np

from elect.answers.electing import AnsweredElection
from elect.answers.evidence import RowEvidence, evidence_of_committee
from elect.committee.committee import Committee
from elect.committee.scorer import RowScorer
from elect.history.database import MetaDatabase
from elect.history.shipped import load_database, row_scorer_of
from elect.pool import PoolScorer
from elect.tables import ColumnTreatment, is_frame, read_table
from elect.tables.cells import Cells, cells_of_array, cells_of_frame


def open_table(
    X: Any, database: "MetaDatabase | str | PathLike[str] | None", seed: int
) -> tuple[RowEvidence, AnsweredElection]:
    """The evidence on the rows of an array or a frame, and the election over its models."""
    found = _database(database)
    scorer, cells = scorer_of(X, found, seed)
    return committee_evidence(row_scorer_of(found), scorer, cells), AnsweredElection(found, scorer)


def scorer_of(X: Any, database: MetaDatabase, seed: int) -> tuple[PoolScorer, Cells]:
    """The models of the pool, and the cells: of an array, which is standardised, or of a frame, which is treated."""
    if is_frame(X):
        table = read_table(X)
        treatment, rows = ColumnTreatment.fit_transform(table)
        scorer = PoolScorer(rows, database.pool, seed=seed, standardize=False)
        return scorer, cells_of_frame(treatment, table.frame)
    return PoolScorer(X, database.pool, seed=seed), cells_of_array(np.asarray(X, dtype=np.float64))


def committee_evidence(row_scorer: RowScorer, scorer: PoolScorer, cells: Cells) -> RowEvidence:
    """What a committee says of the rows of a scorer, whose cells these are."""
    committee, learned = Committee.fit(row_scorer, scorer, cells)
    features = committee.table.describe(learned.scores, learned.cells)
    return evidence_of_committee(committee, features, np.asarray(scorer.work.Z))


def _database(database: "MetaDatabase | str | PathLike[str] | None") -> MetaDatabase:
    return database if isinstance(database, MetaDatabase) else load_database(database)
