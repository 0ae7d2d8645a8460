"""What can go wrong in a way the user can mend.

Every message says what was wrong, what was expected, and what to do.
"""

from collections.abc import Collection

LONGEST = 2000
"""A message has at most so many characters: what it quotes may be any file's, or any caller's."""


class ElectError(Exception):
    """Base of every error that a user of elect can cause and can mend."""

    def __init__(self, message: str = "", *more: object) -> None:
        text = str(message)
        super().__init__(text if len(text) <= LONGEST else f"{text[:LONGEST]} ...", *more)


class ElectWarning(UserWarning):
    """Something was done as asked, but says little about the table."""


class InvalidInput(ElectError, ValueError):
    """A table, array or parameter that cannot be used as given."""


class WrongType(InvalidInput, TypeError):
    """A value of a type that cannot be used at all."""


class MissingExtra(ElectError, ImportError):
    """Something that needs a package which is not installed."""


def check_word(name: str, value: object, words: Collection[str]) -> None:
    """Refuse a value that is none of these words, whatever it is.

    >>> check_word("aim", "find", ("learn", "find"))
    """
    if not isinstance(value, str) or value not in words:
        known = list(words)
        allowed = " or ".join(map(repr, known)) if len(known) < 3 else f"one of {', '.join(known)}"
        raise InvalidInput(f"{name} must be {allowed}, got {repr(value)[:100]}.")


class UnknownModel(ElectError, KeyError):
    """A model id that is not in the pool at hand."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class PoolMismatch(ElectError, ValueError):
    """Two artifacts that were made with different model pools."""


class StoreError(ElectError, ValueError):
    """A stored artifact that is damaged, hostile, or of a version this one cannot read."""
