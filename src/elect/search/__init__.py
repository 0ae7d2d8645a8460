"""The online phase: an anytime search for the historical tasks that resemble the one at hand."""

from elect.search.loop import search
from elect.search.sources import CostedSource, MeasureSource, ReplayedMeasures, ReplayedScores, ScoreSource

__all__ = ["CostedSource", "MeasureSource", "ReplayedMeasures", "ReplayedScores", "ScoreSource", "search"]
