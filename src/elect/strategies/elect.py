"""The strategy ``elect``, the paper's: few models are evaluated, similar historical tasks found, the best model on them
is the pick. Every step carries what the database knows about the rank of such picks.
"""

from collections.abc import Iterator
from dataclasses import replace

from elect.core import SearchStep
from elect.core.sources import MeasureSource, ScoreSource
from elect.history.database import MetaDatabase
from elect.history.expectation import expected_rank
from elect.paper.search import search
from elect.paper.settings import MAX_MODELS


def elect_steps(
    database: MetaDatabase,
    source: ScoreSource | MeasureSource,
    *,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Iterator[SearchStep]:
    """The steps of ``elect.paper``; every one carries the expected rank."""
    known = expected_rank(database)
    most = MAX_MODELS if max_models is None else max_models
    for step in search(database, source, max_models=most, max_seconds=max_seconds, seed=seed):
        yield replace(step, expected_rank=known)
