"""A session of questions: which row to ask about, what the answers say of every row, which model they elect."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from elect.answers.cuts import add_moves, add_together, foretelling
from elect.answers.electing import AnsweredElection
from elect.answers.evidence import RowEvidence
from elect.answers.laplace import Belief, believe
from elect.answers.left import Remaining, remaining
from elect.answers.model import AnswerModel
from elect.answers.opening import open_table
from elect.answers.posterior import placed
from elect.answers.questions import AIMS, most_likely, most_telling
from elect.answers.space import RowSpace
from elect.core import Selection
from elect.errors import InvalidInput, check_word
from elect.history.database import MetaDatabase
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray, read_only
from elect.support.threads import one_thread

WRONG = 0.05
"""The share of answers expected to be mistaken."""

TRUST = 0.5
"""How much the log-odds of the committee count beside an answer: it is surer of itself than it should be on tables
unlike its history. Chosen with the amplitudes of the space: with less trust tables with wrong values gain more from
the first answers; on rare classes anything from 0.4 to 0.8 is within the error."""

DOUBTED = {"learn": 0.7, "find": 0.9}
"""A row that the table alone gives at least this chance, and that is answered no, is asked about once more: people do
slip. With one answer in ten wrong, twenty answers then help on tables with wrong values too; where all are right hardly
a question is lost. To find, a question is dearer."""

_TIRED, _EVERY = 10, 3
"""After so many answers that were all no, to find is to learn first what the person means: every third question is for
that. More outliers are found so on the OddBench and the wild tasks; 3, 5 and 10 do about as well."""

_STRICTER, _SOON = 0.45, 4
"""The threshold is up to so much higher if all answers are yes, half of it after so many. With questions that find,
ten of them, F1 of the flags is 0.836 instead of 0.807 on left-out tables with wrong values, 0.234 instead of 0.201 on
rare classes, 0.421 instead of 0.384 on the wild tasks; with questions that learn, where yes and no come in turns, it
stays."""

_LATER = 2
"""So many answers later: a second look should be a fresh one."""


@dataclass(frozen=True)
class Answer:
    """What a person said of a row; None means they do not know."""

    row: int
    is_outlier: bool | None


class Feedback:
    """Asks about rows, spreads what was answered to similar rows, and elects with it.

    ``X`` is an array or a frame. ``aim="learn"`` asks for the row whose answer tells most, which ranks the other rows
    best; ``"find"`` asks for the likeliest outlier not yet asked about, which finds the most on the way, and after ten
    times no in a row now and then for the row that tells most. Without an answer, chances and selection are those of
    the table alone.

    >>> import numpy as np
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(80, 2)), [[9.0, 9.0]]])
    >>> feedback = Feedback(X, aim="find")
    >>> row = feedback.ask()
    >>> row
    80
    >>> feedback.tell(row, True)
    ''
    >>> bool(feedback.flagged[80])
    True
    """

    def __init__(
        self,
        X: Any,
        *,
        database: "MetaDatabase | str | PathLike[str] | None" = None,
        aim: Literal["learn", "find"] = "learn",
        random_state: int = 0,
    ) -> None:
        evidence, election = open_table(X, database, random_state)
        self._start(evidence, election, aim, random_state)

    @classmethod
    def of(
        cls,
        evidence: RowEvidence,
        election: AnsweredElection | None = None,
        *,
        aim: Literal["learn", "find"] = "learn",
        random_state: int = 0,
    ) -> "Feedback":
        """A session over parts that were computed before. Without an election it has no selection."""
        session = cls.__new__(cls)
        session._start(evidence, election, aim, random_state)
        return session

    def _start(self, evidence: RowEvidence, election: AnsweredElection | None, aim: str, random_state: int) -> None:
        self.aim = _checked_aim(aim)
        self._prior, self._election = evidence.log_odds, election
        self._space = RowSpace.of(evidence.columns, evidence.signals, random_state, n_kinds=evidence.n_kinds)
        self._rows = self._space.place(evidence.columns, evidence.signals)
        self._order = np.random.default_rng(random_state).permutation(self.n_rows)
        self._answers: dict[int, bool | None] = {}
        self._heard: dict[int, bool] = {}  # those that were known
        self._undone: list[tuple[int, bool, bool | None]] = []  # (row, was it answered before, how)
        self._times: Counter[int] = Counter()  # how often a row was told of, undone or not
        self._columns: dict[int, FloatArray] = {}  # closeness of every row to an answered one
        self._selection: Selection | None = None
        self._learn()

    @property
    def n_rows(self) -> int:
        return len(self._prior)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """What was told so far, in order."""
        return tuple(Answer(row, said) for row, said in self._answers.items())

    def ask(self, aim: Literal["learn", "find"] | None = None) -> int:
        """The row to ask about next, by the aim of the session or another; an error once every row was asked about.

        A row may be asked about once more: ``doubted`` tells.
        """
        wanted = self.aim if aim is None else _checked_aim(aim)
        is_open = np.ones(self.n_rows, dtype=bool)
        is_open[list(self._answers)] = False
        if not is_open.any():
            raise InvalidInput(f"Every one of the {self.n_rows:,} rows was asked about already.")
        doubted = self._doubted(wanted)
        if doubted is not None:
            return doubted
        if wanted == "find" and not self._in_vain:
            return most_likely(self._log_odds, is_open)
        log_odds = TRUST * self._log_odds
        with one_thread():
            return most_telling(
                self._space, self._rows, self._heights, log_odds, is_open, self._belief, self._covariance, self._order
            )

    @property
    def _in_vain(self) -> bool:
        """Whether what is likeliest was asked about so long in vain that this question is for learning."""
        said = list(self._heard.values())[::-1]
        no = said.index(True) if True in said else len(said)
        return no >= _TIRED and (no - _TIRED) % _EVERY == 0

    @property
    def doubted(self) -> int | None:
        """A row that was answered no, some answers ago and once, although nearly all speaks for it."""
        return self._doubted(self.aim)

    def _doubted(self, aim: str) -> int | None:
        for row in list(self._answers)[:-_LATER]:
            if self._answers[row] is False and self._times[row] == 1 and expit(self._prior[row]) >= DOUBTED[aim]:
                return row
        return None

    def tell(self, row: int, is_outlier: bool | None) -> str:
        """Take an answer: True for an outlier, False for a normal row, None for "don't know".

        A row may be answered again: the last answer counts. What is worth knowing about that, or about an equal row
        that was answered otherwise, is returned as a sentence, which is mostly empty.
        """
        if isinstance(row, bool) or not isinstance(row, int | np.integer) or not 0 <= row < self.n_rows:
            raise InvalidInput(f"row must be a whole number from 0 to {self.n_rows - 1}, got {row!r}.")
        if is_outlier is not None and not isinstance(is_outlier, bool | np.bool_):
            raise InvalidInput(f"An answer must be True, False or None, got {is_outlier!r}.")
        row, said = int(row), None if is_outlier is None else bool(is_outlier)
        note = self._note(row, said)
        self._times[row] += 1
        before = self._answers.get(row)
        if row in self._answers and before == said:
            return note
        self._undone.append((row, row in self._answers, before))
        self._answers[row] = said
        self._learn()
        return note

    def undo(self) -> int:
        """Take back the last answer; the row it was about."""
        if not self._undone:
            raise InvalidInput("There is no answer to take back.")
        row, answered, before = self._undone.pop()
        if answered:
            self._answers[row] = before
        else:
            del self._answers[row]
        self._learn()
        return row

    def resume(self, answers: Iterable[Answer]) -> None:
        """Take answers of an earlier session; none of them is asked about again."""
        for answer in answers:
            self.tell(answer.row, answer.is_outlier)
            self._times[answer.row] += 1

    @property
    def log_odds(self) -> FloatArray:
        """The log-odds of each row to be an outlier, by the table and the answers (rows,)."""
        return self._log_odds.copy()

    @property
    def chance(self) -> FloatArray:
        """The chance of each row to be an outlier (rows,). One answered yes is nearly 1, one answered no nearly 0."""
        return placed(expit(self._log_odds), self._heard, WRONG)

    @property
    def threshold(self) -> float:
        """The chance from which a row is flagged: one half, as without answers, and more if yes was answered more often
        than no. Where hardly anything but outliers was asked about, nothing told how far what they say should reach. No
        row answered no reaches it, every row answered yes does."""
        yes = sum(self._heard.values())
        more = max(0, 2 * yes - len(self._heard))
        return 0.5 + round(_STRICTER * more / (len(self._heard) + _SOON), 2)

    @property
    def flagged(self) -> NDArray[np.bool_]:
        """Which rows are flagged as outliers (rows,)."""
        flags: NDArray[np.bool_] = self.chance >= self.threshold
        return flags

    @property
    def left(self) -> Remaining:
        """How many outliers there are among the rows not asked about, with an interval."""
        is_open = np.ones(self.n_rows, dtype=bool)
        is_open[self._told] = False
        return remaining(self._prior, self._log_odds, is_open)

    @property
    def selection(self) -> Selection:
        """The elected model after the answers so far; without any, the unlabelled pick."""
        if self._election is None:
            raise InvalidInput("This session was opened without an election: it has no selection.")
        if self._selection is None:
            self._selection = self._election.elect(self.chance, self._heard)
        return self._selection

    @property
    def model(self) -> AnswerModel:
        """What was learned, as plain arrays: it scores rows seen or new."""
        dual = np.zeros(0) if self._belief is None else self._belief.dual / TRUST
        return AnswerModel(self._space, self._rows.at(self._told), dual, read_only(self._trees))

    def __repr__(self) -> str:
        said = list(self._answers.values())
        counts = f"{said.count(True)} yes, {said.count(False)} no, {said.count(None)} unknown"
        told = f"{wording.count(len(said), 'answer')} ({counts})" if said else "no answers"
        return f"Feedback({wording.count(self.n_rows, 'row')}, {told}, {self.left}, aim={self.aim!r})"

    def _repr_html_(self) -> str:
        # By name: what draws a session stands above it.
        html: str = import_module("elect.report.notebook").feedback_html(self)
        return html

    def _learn(self) -> None:
        self._selection = None
        self._belief: Belief | None = None
        self._heard = {row: said for row, said in self._answers.items() if said is not None}
        self._told = list(self._heard)
        with one_thread():
            self._spread(np.array(list(self._heard.values()), dtype=bool))

    def _spread(self, said: NDArray[np.bool_]) -> None:
        """What the answers say of every row."""
        for row in self._told:
            if row not in self._columns:
                self._columns[row] = self._space.closeness(self._rows, self._rows.at([row]))[:, 0]
        self._closeness = np.empty((self.n_rows, len(self._told)), order="F")
        for place, row in enumerate(self._told):
            self._closeness[:, place] = self._columns[row]
        leaves = self._rows.leaves[self._told]
        self._trees = foretelling(leaves, expit(TRUST * self._prior[self._told]), said)
        self._heights = self._space.heights(self._trees)
        self._log_odds = self._prior
        if self._told:
            told = np.array(self._told)
            self._belief = believe(self._covariance(told), TRUST * self._prior[told], said, WRONG)
            dual = self._belief.dual / TRUST
            self._log_odds = self._prior + self._closeness @ dual
            add_moves(self._rows.leaves, leaves, dual, self._heights, self._log_odds)

    def _covariance(self, rows: IntArray) -> FloatArray:
        """Of these rows with the answered ones."""
        covariance = np.ascontiguousarray(self._closeness[rows])
        add_together(self._rows.leaves[rows], self._rows.leaves[self._told], self._heights, covariance)
        return covariance

    def _note(self, row: int, said: bool | None) -> str:
        words = {True: "yes", False: "no", None: "don't know"}
        if row in self._answers:
            before = self._answers[row]
            if before == said:
                return f"Row {row} was answered {words[said]} before: nothing changes."
            return f"Row {row} was answered {words[before]} before: {words[said]} counts now."
        for other in self._told:
            same = np.array_equal(self._rows.coordinates[other], self._rows.coordinates[row])
            if same and said is not None and self._answers[other] is not said:
                return f"Row {other}, which has the same values, was answered {words[self._answers[other]]}."
        return ""


def _checked_aim(aim: str) -> str:
    check_word("aim", aim, AIMS)
    return aim
