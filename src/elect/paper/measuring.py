"""Measures of the models of one task, relative to the anchors that were scored on it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from elect.core import ScoreMatrix
from elect.core.sources import ScoreSource
from elect.measures import References
from elect.support.arrays import FloatArray


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
