"""A few answers from a person: they spread to similar rows, and elect again."""

from elect.answers.electing import AnsweredElection
from elect.answers.evidence import RowEvidence
from elect.answers.left import Remaining
from elect.answers.model import AnswerModel
from elect.answers.session import Answer, Feedback

__all__ = ["Answer", "AnswerModel", "AnsweredElection", "Feedback", "Remaining", "RowEvidence"]
