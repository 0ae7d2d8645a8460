"""Which outlier detector, with which hyperparameters, should I run on this table without labels?

Importing this package does nothing but make names available; each is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from elect.detector import ElectDetector
    from elect.errors import ElectError
    from elect.feedback import Feedback
    from elect.meta.database import MetaDatabase
    from elect.pool import PoolScorer, default_pool, fit_detector, score_pool
    from elect.product import load_detector, save_detector
    from elect.search import search
    from elect.training import train

__version__ = "0.1.0"

_HOME = {
    "ElectDetector": "elect.detector",
    "ElectError": "elect.errors",
    "Feedback": "elect.feedback",
    "LabeledTask": "elect.core",
    "MetaDatabase": "elect.meta.database",
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
    "load_detector": "elect.product",
    "save_detector": "elect.product",
    "score_pool": "elect.pool",
    "search": "elect.search",
    "train": "elect.training",
}

__all__ = [
    "ElectDetector",
    "ElectError",
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
    "load_detector",
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
