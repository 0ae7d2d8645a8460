"""What can go wrong in a way the user can mend.

Every message says what was wrong, what was expected, and what to do.
"""


class ElectError(Exception):
    """Base of every error that a user of elect can cause and can mend."""


class InvalidInput(ElectError, ValueError):
    """A table, array or parameter that cannot be used as given."""


class WrongType(InvalidInput, TypeError):
    """A value of a type that cannot be used at all."""


class UnknownModel(ElectError, KeyError):
    """A model id that is not in the pool at hand."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class PoolMismatch(ElectError, ValueError):
    """Two artifacts that were made with different model pools."""


class StoreError(ElectError, ValueError):
    """A stored artifact that is damaged, hostile, or of a version this one cannot read."""
