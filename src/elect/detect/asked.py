"""The rows that a person is asked about: those that the models are scored on, and of a longer table the likeliest of
all others, which only the committee has judged. Most rows that are worth a look are among them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from elect.answers import Answer, AnsweredElection, Feedback, RowEvidence
from elect.answers.evidence import evidence_of_committee
from elect.detect.opened import rows_at
from elect.detect.scorers import cells_of
from elect.errors import InvalidInput, WrongType
from elect.support.arrays import FloatArray, IntArray, read_only

if TYPE_CHECKING:
    from elect.core import Selection
    from elect.detect.election import Election
    from elect.tables import Table

MOST_OTHERS = 1000
"""Of a long table, so many of the likeliest rows outside of the sample take part in the questions: few enough not to
change what is usual."""


@dataclass(frozen=True, eq=False)
class Others:
    """Rows of a table that the models are not scored on: where they are, and what they hold."""

    positions: IntArray  # (rows,)
    rows: FloatArray  # (rows, columns) as the models would see them
    table: "Table | None" = None  # as the user has them, where columns are treated


def likely_others(election: "Election", also: Iterable[int] = ()) -> Others | None:
    """The likeliest rows that the models are not scored on, and others of them, which were answered before; None where
    they are scored on all. All rows are ranked for it, which is done once."""
    n, opened = election.opened.n_rows, election.opened
    if len(election.positions) == n or election.committee is None:
        return None
    is_drawn = np.zeros(n, dtype=bool)
    is_drawn[election.positions] = True
    likely = np.argsort(-election.committee.scores, kind="stable")
    before = np.array([row for row in also if 0 <= row < n and not is_drawn[row]], dtype=np.intp)
    positions = np.union1d(likely[~is_drawn[likely]][:MOST_OTHERS], before)
    if election.treatment is None:
        return Others(positions, election.learned[positions])
    table = rows_at(iter([opened.sample]) if opened.positions is None else opened.batches(), positions)
    return Others(positions, election.treatment.transform(table), table)


def asked_positions(election: "Election", others: Others | None) -> IntArray:
    """Where the rows of a session are in the table: those that the models are scored on, then the others."""
    return election.positions if others is None else np.concatenate([election.positions, others.positions])


def session_of(
    election: "Election", selection: "Selection | None", aim: Literal["learn", "find"], others: Others | None
) -> Feedback:
    """A session about the rows at ``election.positions``, followed by others. The answers about all of them elect, by
    how the models rank the former."""
    said = election.first_look
    if said is None or said.features is None or said.scorer.committee is None:
        raise InvalidInput("Answers need the committee: leave scorer='model' out.")
    fitted = said.scorer.committee
    evidence = evidence_of_committee(fitted.committee, said.features, np.asarray(election.scorer.work.Z))
    if others is not None:
        cells = None if others.table is None else others.table.frame
        features = fitted.describe(others.rows, cells_of(election.treatment, others.rows, cells))
        standardised = fitted.voices.standardizer.transform(others.rows)
        evidence = _joined(evidence, evidence_of_committee(fitted.committee, features, standardised))
    elected = AnsweredElection(election.database, election.scorer, selection)
    return Feedback.of(evidence, elected, aim=aim, random_state=election.options.seed)


def answered_session(
    election: "Election", selection: "Selection", answers: Mapping[int, bool | None] | Iterable[Answer]
) -> tuple[Feedback, Others | None]:
    """A session that has heard answers about rows of the table, by their positions, and the others it is about."""
    told = answers.items() if isinstance(answers, Mapping) else [_told(answer) for answer in answers]
    n = election.opened.n_rows
    for row, _ in told:
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < n:
            raise InvalidInput(f"answers must name rows by whole numbers from 0 to {n - 1}, got {row!r}.")
    others = likely_others(election, [int(row) for row, _ in told])
    feedback = election.feedback(selection, others=others)
    place = {int(position): row for row, position in enumerate(asked_positions(election, others))}
    feedback.resume(Answer(place[int(row)], said) for row, said in told)
    return feedback, others


def _told(answer: Answer) -> tuple[int, bool | None]:
    if not isinstance(answer, Answer):
        raise WrongType(
            f"answers must be Feedback.answers, or True, False or None by the position of a row, got {answer!r}."
        )
    return answer.row, answer.is_outlier


def _joined(seen: RowEvidence, new: RowEvidence) -> RowEvidence:
    return RowEvidence(
        read_only(np.concatenate([seen.log_odds, new.log_odds])),
        read_only(np.concatenate([seen.columns, new.columns])),
        read_only(np.concatenate([seen.signals, new.signals])),
        seen.n_kinds,
    )
