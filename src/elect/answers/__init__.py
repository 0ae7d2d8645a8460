"""A few answers from a person: they spread to similar rows, and elect again."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.answers.electing import AnsweredElection
    from elect.answers.evidence import RowEvidence
    from elect.answers.left import Remaining
    from elect.answers.model import AnswerModel
    from elect.answers.session import Answer, Feedback

_HOME = {
    "Answer": "elect.answers.session",
    "AnswerModel": "elect.answers.model",
    "AnsweredElection": "elect.answers.electing",
    "Feedback": "elect.answers.session",
    "Remaining": "elect.answers.left",
    "RowEvidence": "elect.answers.evidence",
}

__all__ = ["Answer", "AnswerModel", "AnsweredElection", "Feedback", "Remaining", "RowEvidence"]


def __getattr__(name: str) -> Any:
    # A session needs much of SciPy; scoring rows without answers needs none of it.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'elect.answers' has no attribute {name!r}")
