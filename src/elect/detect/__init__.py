"""From a file to an answer worth acting on: detection with reasons, in memory or in batches, saved and loaded again."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elect.detect.detection import Choices, Detection, Election
    from elect.detect.saving import load_detector, save_detector

_HOME = {
    "Choices": "elect.detect.detection",
    "Detection": "elect.detect.detection",
    "Election": "elect.detect.detection",
    "load_detector": "elect.detect.saving",
    "save_detector": "elect.detect.saving",
}

__all__ = ["Choices", "Detection", "Election", "load_detector", "save_detector"]


def __getattr__(name: str) -> Any:
    # Fitting needs PyOD, which takes a second to import; writing a file or parsing an option does not.
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'elect.detect' has no attribute {name!r}")
