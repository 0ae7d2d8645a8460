"""What a treatment is made of: the features, and one record for each input column. All plain, frozen data."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.support.arrays import FloatArray
from elect.tables.encoders import Encoder, encoder_from_plain

FURTHEST = 1e12  # standard deviations; further out is as far out, and sums of squares stay finite


@dataclass(frozen=True)
class Feature:
    """One column of the matrix: the input column it comes from, the part of it, and how it was scaled.

    The matrix holds ``(encoded - center) * scale``.
    """

    name: str
    source: str
    part: str
    center: float
    scale: float


@dataclass(frozen=True)
class ColumnSummary:
    """What was done with one input column, and why.

    ``role`` is feature, dropped, label or id; ``kind`` what the column holds; ``missing`` the share of its values
    that are missing or could not be used.

    >>> print(ColumnSummary("city", "dropped", "category", "dropped", "the same value in every row", 0.0))
    city: dropped (the same value in every row)
    """

    column: str
    role: str
    kind: str
    done: str
    why: str
    missing: float
    features: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.column}: {self.done} ({self.why})"


@dataclass(frozen=True)
class ColumnStep:
    """A used column: its encoder, which of the encoder's outputs are kept, and the features they become."""

    column: str
    encoder: Encoder
    kept: tuple[int, ...]
    features: tuple[Feature, ...]

    def apply(self, series: Any) -> FloatArray:
        """The features of a column, rows x features."""
        return self.scale(self.encoder.encode(series)[:, list(self.kept)])

    def scale(self, encoded: FloatArray) -> FloatArray:
        center = np.array([feature.center for feature in self.features])
        scale = np.array([feature.scale for feature in self.features])
        if not center.any() and (scale == 1.0).all():
            return encoded
        clipped: FloatArray = np.clip((encoded - center) * scale, -FURTHEST, FURTHEST)
        return clipped


def step_from_plain(plain: Any) -> ColumnStep:
    """One stored column, every position checked before it is used."""
    encoder = encoder_from_plain(plain["encoder"])
    kept = tuple(plain["kept"])
    features = tuple(Feature(**feature) for feature in plain["features"])
    column, positions = plain["column"], range(len(encoder.outputs))
    numbers = [number for feature in features for number in (feature.center, feature.scale)]
    if not (
        isinstance(column, str)
        and len(kept) == len(features) > 0
        and all(isinstance(position, int) and position in positions for position in kept)
        and all(isinstance(number, int | float) and np.isfinite(number) for number in numbers)
        and all(feature.source == column for feature in features)
    ):
        raise ValueError(f"column {column!r} does not fit its encoder")
    return ColumnStep(column, encoder, kept, features)
