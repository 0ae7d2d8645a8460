"""How the search goes, as cross-validation on the history chose it."""

from dataclasses import dataclass

from elect.errors import InvalidInput

MAX_MODELS = 50
"""The paper's budget of evaluated models."""

INITIAL_SIZE = 7
"""The paper's number of initial models."""


@dataclass(frozen=True)
class SearchSettings:
    """How a search with this database proceeds.

    >>> SearchSettings(patience=0)
    Traceback (most recent call last):
        ...
    elect.errors.InvalidInput: patience must be a whole number of at least 1, got 0.
    """

    n_neighbor_tasks: int = 5
    patience: int = 17
    scale_gaps: bool = False
    metric: str = "ap"

    def __post_init__(self) -> None:
        for name in ("n_neighbor_tasks", "patience"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise InvalidInput(f"{name} must be a whole number of at least 1, got {value!r}.")
        if not isinstance(self.scale_gaps, bool):
            raise InvalidInput(f"scale_gaps must be True or False, got {self.scale_gaps!r}.")
        if not isinstance(self.metric, str) or not self.metric:
            raise InvalidInput(f"metric must be the name of a metric, got {self.metric!r}.")
