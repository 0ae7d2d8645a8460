"""The candidate models and the engine that scores all of them for the price of a few."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elect.pool.engine import PoolScorer, score_pool
from elect.pool.pools import default_pool, model_id_of, paper_pool, published_label, resolve_pool

if TYPE_CHECKING:
    from elect.pool.detectors import fit_detector

__all__ = [
    "PoolScorer",
    "default_pool",
    "fit_detector",
    "model_id_of",
    "paper_pool",
    "published_label",
    "resolve_pool",
    "score_pool",
]


def __getattr__(name: str) -> Any:
    # PyOD takes a second to import, and only handing out detectors needs it.
    if name == "fit_detector":
        return import_module("elect.pool.detectors").fit_detector
    raise AttributeError(f"module 'elect.pool' has no attribute {name!r}")
