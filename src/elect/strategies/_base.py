"""What a strategy is: a database and a source of scores in, steps out.

``elect.paper.steps`` builds the steps, ``elect.paper.stopping`` has the budgets; both are shared with the search.
"""

from collections.abc import Iterator
from typing import Protocol

from elect.core import SearchStep
from elect.core.sources import ScoreSource
from elect.history.database import MetaDatabase


class Strategy(Protocol):
    """Elects a model. The caller may stop after any step and has the pick so far; there is always at least one."""

    def __call__(
        self,
        database: MetaDatabase,
        source: ScoreSource,
        *,
        max_models: int | None = None,
        max_seconds: float | None = None,
        seed: int = 0,
    ) -> Iterator[SearchStep]: ...
