"""Where the search gets a model's scores from: computed on a table, or replayed from what was computed before."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from elect.core import ScoreMatrix
from elect.core.arrays import FloatArray
from elect.errors import UnknownModel
from elect.measures import References


class ScoreSource(Protocol):
    """Answers with the outlier scores of one model on the task at hand, as ``PoolScorer`` does. It holds no labels."""

    def scores(self, model_id: str) -> FloatArray: ...


@runtime_checkable
class MeasureSource(Protocol):
    """Answers with the internal measures of one model, for histories that come without scores."""

    def measures(self, model_id: str) -> FloatArray: ...


@runtime_checkable
class CostedSource(Protocol):
    """A source that can say what a model would cost."""

    def predicted_seconds(self, model_id: str) -> float: ...


@dataclass(frozen=True, eq=False)
class ReplayedScores:
    """Scores that were computed before."""

    matrix: ScoreMatrix

    def scores(self, model_id: str) -> FloatArray:
        return self.matrix[model_id]


@dataclass(frozen=True, eq=False)
class ReplayedMeasures:
    """Measures that were computed before (models x measures). No anchors are needed."""

    model_ids: tuple[str, ...]
    values: FloatArray
    _index: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {model_id: i for i, model_id in enumerate(self.model_ids)})

    def measures(self, model_id: str) -> FloatArray:
        try:
            row: FloatArray = self.values[self._index[model_id]]
        except KeyError:
            raise UnknownModel(f"No measures are stored for {model_id!r}.") from None
        return row


@dataclass
class MeasuringSource:
    """Turns a source of scores into one of measures, relative to the anchors scored so far."""

    source: ScoreSource
    names: Sequence[str]
    _anchors: dict[str, FloatArray] = field(default_factory=dict)
    _references: References | None = None

    def add_anchor(self, model_id: str) -> None:
        self._anchors[model_id] = self.source.scores(model_id)

    def fix_anchors(self) -> bool:
        """No more anchors come. False if there are none: then nothing can be measured."""
        if not self._anchors:
            return False
        matrix = ScoreMatrix(np.column_stack(list(self._anchors.values())), tuple(self._anchors))
        self._references = References.of(matrix, self.names)
        return True

    def measures(self, model_id: str) -> FloatArray:
        assert self._references is not None, "fix_anchors comes first"
        scores = self._anchors[model_id] if model_id in self._anchors else self.source.scores(model_id)
        row: FloatArray = self._references.values(scores[:, None])[0]
        return row
