"""A few answers from a person sharpen the pick."""

from elect.answers.session import Answer, Feedback

__all__ = ["Answer", "Feedback"]
