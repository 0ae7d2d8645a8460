"""The online phase: an anytime search for the historical tasks that resemble the one at hand."""

import sys
from types import ModuleType
from typing import Any

from elect.search.loop import search
from elect.search.sources import CostedSource, MeasureSource, ReplayedMeasures, ReplayedScores, ScoreSource

__all__ = ["CostedSource", "MeasureSource", "ReplayedMeasures", "ReplayedScores", "ScoreSource", "search"]


class _Search(ModuleType):
    """This package and the function share a name: ``from elect import search`` gives the package once it was imported,
    and must be the function all the same."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return search(*args, **options)


sys.modules[__name__].__class__ = _Search
