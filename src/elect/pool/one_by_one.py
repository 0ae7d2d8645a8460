"""Models without a shared-work implementation: any PyOD-compatible detector, fitted by itself."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from elect.core.models import ModelSpec
from elect.errors import InvalidInput
from elect.pool.families import family_named
from elect.pool.kernels.random_stream import stream_seed
from elect.pool.work import SharedWork
from elect.support.arrays import FloatArray


def detector_class(spec: ModelSpec) -> type:
    """The class a spec names: the user's own, or PyOD's of that family."""
    return spec.detector_class if spec.is_custom else family_named(spec.detector).pyod_class()


def fit_alone(spec: ModelSpec, Z: FloatArray, seed: int) -> Any:
    """The detector of a spec, fitted on standardised rows."""
    kind = detector_class(spec)
    params = dict(spec.params)
    if "random_state" in inspect.signature(kind).parameters and "random_state" not in params:
        params["random_state"] = int(stream_seed(spec.id, seed)) % 2**31
    try:
        return kind(**params).fit(Z)
    except Exception as error:
        raise InvalidInput(
            f"{spec.id} could not be fitted on {Z.shape[0]} x {Z.shape[1]} values ({type(error).__name__}: {error}): "
            "check its parameters, or leave it out of the pool."
        ) from error


def is_random(spec: ModelSpec) -> bool:
    params = inspect.signature(detector_class(spec)).parameters
    return "random_state" in params and "random_state" not in dict(spec.params)


@dataclass(frozen=True, eq=False)
class FittedAlone:
    """Detectors of one spec, one for each trial; their scores are averaged."""

    spec: ModelSpec
    detectors: tuple[Any, ...]

    @classmethod
    def fit(cls, spec: ModelSpec, work: SharedWork) -> "FittedAlone":
        trials = work.trials if is_random(spec) else 1
        # A copy each: some detectors keep or change the array they were given.
        return cls(spec, tuple(fit_alone(spec, np.array(work.Z), work.seed * 1009 + t) for t in range(trials)))

    def training_scores(self) -> FloatArray:
        return self._mean([detector.decision_scores_ for detector in self.detectors])

    def scores(self, Z: FloatArray) -> FloatArray:
        return self._mean([detector.decision_function(np.array(Z)) for detector in self.detectors])

    def _mean(self, columns: list[Any]) -> FloatArray:
        scores: FloatArray = np.mean([np.asarray(c, dtype=np.float64).ravel() for c in columns], axis=0)
        if not np.isfinite(scores).all():
            raise InvalidInput(f"{self.spec.id} gave scores that are not finite: leave it out of the pool.")
        return scores
