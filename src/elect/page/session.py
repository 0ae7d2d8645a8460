"""The questions behind the page: about the rows that the models saw, and about the likeliest of all others."""

from typing import TYPE_CHECKING

import numpy as np

from elect.answers import Feedback, RowEvidence
from elect.answers.evidence import evidence_of_committee
from elect.detect.election import Election
from elect.detect.scorers import cells_of
from elect.support.arrays import IntArray, read_only

if TYPE_CHECKING:
    import polars as pl


def session_of(election: Election, frame: "pl.DataFrame", others: IntArray) -> Feedback:
    """A session about the rows at ``election.positions``, followed by the rows at ``others``, which only the committee
    has judged: a long table is elected on a sample, and most of the rows that a person looks at are not in it. With
    others there is no pick of the answers."""
    said, treatment = election.first_look, election.treatment
    if len(others) == 0:
        return election.feedback()
    assert said is not None
    assert said.features is not None
    assert said.scorer.committee is not None
    assert treatment is not None
    committee = said.scorer.committee
    cells = frame[others]
    rows = treatment.transform(cells)
    features = committee.describe(rows, cells_of(treatment, rows, cells))
    seen = evidence_of_committee(committee.committee, said.features, np.asarray(election.scorer.work.Z))
    new = evidence_of_committee(committee.committee, features, committee.voices.standardizer.transform(rows))
    joined = RowEvidence(
        read_only(np.concatenate([seen.log_odds, new.log_odds])),
        read_only(np.concatenate([seen.columns, new.columns])),
        read_only(np.concatenate([seen.signals, new.signals])),
        seen.n_kinds,
    )
    return Feedback.of(joined, random_state=election.options.seed)
