"""When a search ends: hands-off by itself, once its neighbours settle; hands-on when a budget is spent (section IV)."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from elect.errors import InvalidInput
from elect.support import wording


@dataclass
class Patience:
    """*Hands-off*: the search ends when its neighbours stayed the same for p steps in a row.

    >>> patience = Patience(2, neighbors=["a"])
    >>> [patience.after(step) for step in (["b"], ["b"], ["b"])]
    [None, None, 'the neighbours stayed the same for 2 steps']
    """

    steps: int
    neighbors: Iterable[object] = ()
    unchanged: int = 0

    def after(self, neighbors: Iterable[object]) -> str | None:
        """Count a step that left these neighbours, in whatever order; why to stop, if it is time."""
        before, self.neighbors = self.neighbors, frozenset(neighbors)
        self.unchanged = self.unchanged + 1 if frozenset(before) == self.neighbors else 0
        return self.why()

    def why(self) -> str | None:
        if self.unchanged < self.steps:
            return None
        return f"the neighbours stayed the same for {self.unchanged} steps"


@dataclass(frozen=True)
class Budget:
    """*Hands-on*: the search ends after so many models or seconds, counted from here; None sets no limit.

    >>> Budget(max_models=50).spent(50)
    'the budget of 50 models is spent'
    """

    max_models: int | None = None
    max_seconds: float | None = None
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        check_budgets(max_models=self.max_models, max_seconds=self.max_seconds)

    @property
    def seconds(self) -> float:
        """Those that have passed."""
        return time.perf_counter() - self.started

    def spent(self, n_models: int) -> str | None:
        """Why to stop after so many models, if it is time."""
        if self.max_models is not None and n_models >= self.max_models:
            return f"the budget of {self.max_models} models is spent"
        if self.max_seconds is not None and self.seconds >= self.max_seconds:
            return f"the budget of {wording.number(self.max_seconds)} s is spent"
        return None


def check_budgets(**budgets: float | None) -> None:
    """Budgets are None or at least 0."""
    for name, value in budgets.items():
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating) or not value >= 0:
            raise InvalidInput(f"{name} must be a number of at least 0, got {value!r}.")
