"""Plain numbers and arrays of a file, checked as they are asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import StoreError
from elect.support.arrays import FloatArray

LARGEST = 1e100
"""Of any stored number, in magnitude: products of such numbers stay finite."""

Numbers = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Stored:
    """What a file says about a fitted model."""

    numbers: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    n_features: int
    n_jobs: int

    def part(self, prefix: str) -> "Stored":
        """What is stored under names that begin so."""
        numbers = {n.removeprefix(prefix): v for n, v in self.numbers.items() if n.startswith(prefix)}
        arrays = {n.removeprefix(prefix): a for n, a in self.arrays.items() if n.startswith(prefix)}
        return Stored(numbers, arrays, self.n_features, self.n_jobs)

    def array(self, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64, *, finite: bool = True) -> Any:
        """An array of this type and shape (None: any size of at least 1)."""
        found = self.arrays.get(name)
        if found is None or found.dtype != dtype or found.ndim != len(shape):
            raise StoreError(f"Its array {name!r} is missing or of another type or shape than expected.")
        if any(
            size < 1 or (wanted is not None and size != wanted) for size, wanted in zip(found.shape, shape, strict=True)
        ):
            raise StoreError(f"Its array {name!r} has another size than expected.")
        # A comparison with NaN is false.
        if finite and not bool((np.abs(found.astype(np.float64, copy=False)) <= LARGEST).all()):
            raise StoreError(f"Its array {name!r} must hold finite numbers.")
        return found

    def indices(self, name: str, shape: tuple[int | None, ...], dtype: Any, below: int) -> Any:
        """An array of whole numbers that point into something of this size."""
        found = self.array(name, shape, dtype)
        require_below(found, below)
        return found

    def rows(self) -> FloatArray:
        found: FloatArray = self.array("rows", (None, self.n_features))
        return found

    def count(self, name: str, low: int = 1) -> int:
        value = self.numbers.get(name)
        if type(value) is not int or not low <= value <= 10**9:
            raise StoreError(f"Its number {name!r} must be a whole one of at least {low}.")
        return value

    def number(self, name: str) -> float:
        value = self.numbers.get(name)
        if not isinstance(value, float) or not abs(value) <= LARGEST:
            raise StoreError(f"Its number {name!r} must be finite.")
        return value

    def word(self, name: str, allowed: tuple[str, ...]) -> Any:
        value = self.numbers.get(name)
        if value not in allowed:
            raise StoreError(f"Its {name!r} must be one of {', '.join(allowed)}.")
        return value


def is_number(value: object) -> bool:
    """Whether a value of a manifest is a number that can be reckoned with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def require_below(indices: NDArray[Any], size: int) -> None:
    """Refuse indices that point outside of something of this size."""
    if not bool(((indices >= 0) & (indices < size)).all()):
        raise StoreError("It points outside of its own arrays.")
