"""Where the search gets a model's scores from: computed on a table, or replayed from what was computed before."""

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from elect.core.matrices import ScoreMatrix
from elect.errors import UnknownModel
from elect.support.arrays import FloatArray


class ScoreSource(Protocol):
    """Answers with the outlier scores of one model on the task at hand, as ``PoolScorer`` does. It holds no labels."""

    def scores(self, model_id: str) -> FloatArray: ...


@runtime_checkable
class MeasureSource(Protocol):
    """Answers with the internal measures of one model, for histories that come without scores."""

    def measures(self, model_id: str) -> FloatArray: ...


@runtime_checkable
class ChanceSource(Protocol):
    """A source that can say how likely each row is an outlier (rows,), as the committee of a table does."""

    def chance(self) -> FloatArray: ...


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
