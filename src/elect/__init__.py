"""Which outlier detector, with which hyperparameters, should I run on this table without labels?

Importing this package does nothing but make names available; each is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.answers import Feedback
    from elect.core import (
        LabeledTask,
        ModelPool,
        ModelSpec,
        PerformanceMatrix,
        ScoreMatrix,
        SearchStep,
        Selection,
        Task,
    )
    from elect.detector import ElectDetector, load_detector, save_detector
    from elect.errors import ElectError, ElectWarning
    from elect.history import train
    from elect.history.database import MetaDatabase
    from elect.history.shipped import load_database
    from elect.paper.search import search
    from elect.pool import PoolScorer, default_pool, fit_detector, paper_pool, score_pool

__version__ = "0.2.0"

_HOME = {
    "ElectDetector": "elect.detector",
    "ElectError": "elect.errors",
    "ElectWarning": "elect.errors",
    "Feedback": "elect.answers",
    "LabeledTask": "elect.core",
    "MetaDatabase": "elect.history.database",
    "ModelPool": "elect.core",
    "ModelSpec": "elect.core",
    "PerformanceMatrix": "elect.core",
    "PoolScorer": "elect.pool",
    "ScoreMatrix": "elect.core",
    "SearchStep": "elect.core",
    "Selection": "elect.core",
    "Task": "elect.core",
    "default_pool": "elect.pool",
    "fit_detector": "elect.pool",
    "load_database": "elect.history.shipped",
    "load_detector": "elect.detector",
    "paper_pool": "elect.pool",
    "save_detector": "elect.detector",
    "score_pool": "elect.pool",
    "search": "elect.paper.search",
    "train": "elect.history",
}

__all__ = [
    "ElectDetector",
    "ElectError",
    "ElectWarning",
    "Feedback",
    "LabeledTask",
    "MetaDatabase",
    "ModelPool",
    "ModelSpec",
    "PerformanceMatrix",
    "PoolScorer",
    "ScoreMatrix",
    "SearchStep",
    "Selection",
    "Task",
    "default_pool",
    "fit_detector",
    "load_database",
    "load_detector",
    "paper_pool",
    "save_detector",
    "score_pool",
    "search",
    "train",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'elect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
