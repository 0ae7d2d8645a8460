"""Which outlier detector, with which hyperparameters, should I run on this table without labels?

Importing this package does nothing but make names available; each is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.core import LabeledTask, ModelPool, ModelSpec, PerformanceMatrix, ScoreMatrix, Task
    from elect.errors import ElectError
    from elect.pool import PoolScorer, default_pool, fit_detector, score_pool

__version__ = "0.1.0"

_HOME = {
    "ElectError": "elect.errors",
    "LabeledTask": "elect.core",
    "ModelPool": "elect.core",
    "ModelSpec": "elect.core",
    "PerformanceMatrix": "elect.core",
    "PoolScorer": "elect.pool",
    "ScoreMatrix": "elect.core",
    "Task": "elect.core",
    "default_pool": "elect.pool",
    "fit_detector": "elect.pool",
    "score_pool": "elect.pool",
}

__all__ = [
    "ElectError",
    "LabeledTask",
    "ModelPool",
    "ModelSpec",
    "PerformanceMatrix",
    "PoolScorer",
    "ScoreMatrix",
    "Task",
    "default_pool",
    "fit_detector",
    "score_pool",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'elect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
