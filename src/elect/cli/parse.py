"""What options mean."""

import math
import re
from collections.abc import Sequence
from typing import Literal

from elect.errors import InvalidInput

_DURATION = re.compile(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|m|min|h)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, None: 1.0}


def seconds(text: str | None) -> float | None:
    """A duration in seconds.

    >>> seconds("10s"), seconds("1.5m"), seconds("250ms"), seconds("3")
    (10.0, 90.0, 0.25, 3.0)
    """
    if text is None:
        return None
    match = _DURATION.fullmatch(text.strip().lower())
    if match is None:
        raise InvalidInput(f"--budget must be a time such as 10s, 2m or 500ms, got {text!r}.")
    return float(match[1]) * _SECONDS[match[2]]


def contamination(text: str) -> float | Literal["auto"]:
    """A share of rows, as a number or in percent, or ``auto``.

    >>> contamination("auto"), contamination("0.05"), contamination("5%")
    ('auto', 0.05, 0.05)
    """
    if text.strip().lower() == "auto":
        return "auto"
    found = _share(text)
    if not 0 < found <= 0.5:
        raise InvalidInput(f"--contamination must be auto or a share above 0 and up to 0.5, got {text!r}.")
    return found


def limit(text: str | None) -> float | None:
    """The share of flagged rows that is still fine.

    >>> limit("1%"), limit("0.02"), limit("0"), limit(None)
    (0.01, 0.02, 0.0, None)
    """
    if text is None:
        return None
    found = _share(text)
    if not 0 <= found < 1:
        raise InvalidInput(f"--fail-above must be a share such as 1% or 0.01, got {text!r}.")
    return found


def _share(text: str) -> float:
    """A share as a number or in percent; not a number where it is neither."""
    number, percent, rest = text.strip().partition("%")
    try:
        return math.nan if rest else float(number) / (100.0 if percent else 1.0)
    except ValueError:
        return math.nan


def aim(text: str) -> Literal["learn", "find"]:
    """What questions are for.

    >>> aim("Find")
    'find'
    """
    match text.strip().lower():
        case "learn":
            return "learn"
        case "find":
            return "find"
    raise InvalidInput(f"--aim must be learn or find, got {text!r}.")


def names(given: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Column names given one at a time or with commas; a name that has a comma itself is taken as it is.

    >>> names(["a,b", "c,d"], ["a", "b", "c,d"])
    ('a', 'b', 'c,d')
    """
    return tuple(
        name
        for item in given
        for name in ([item] if item in columns else [part.strip() for part in item.split(",") if part.strip()])
    )
