"""The values that pass between stages. All are frozen; arrays in them are read-only."""

from elect.core.matrices import PerformanceMatrix, ScoreMatrix
from elect.core.models import ModelPool, ModelSpec
from elect.core.selection import Candidate, Neighbor, RankInterval, SearchStep, Selection
from elect.core.task import LabeledTask, Task

__all__ = [
    "Candidate",
    "LabeledTask",
    "ModelPool",
    "ModelSpec",
    "Neighbor",
    "PerformanceMatrix",
    "RankInterval",
    "ScoreMatrix",
    "SearchStep",
    "Selection",
    "Task",
]
