"""Fitted PyOD detectors that agree with the engine: the same training scores, and a score for any new row.

There is a class a family: PyOD's own with its fitting and scoring done by the engine. They take raw rows, and
standardise them as the engine did. Where they differ from PyOD, the file of the family says so; random ones are the
mean of several trials.
"""

from functools import cache
from typing import Any

import numpy as np
from pyod.models.base import BaseDetector

from elect.core.models import ModelPool, ModelSpec
from elect.errors import InvalidInput
from elect.pool.engine import DEFAULT_TRIALS, PoolScorer
from elect.pool.families import FAMILIES, family_of
from elect.pool.families._base import Family, FittedModel
from elect.pool.one_by_one import FittedAlone
from elect.pool.pools import PoolLike, resolve_pool
from elect.pool.standardize import check_table
from elect.support.arrays import FloatArray

# New rows are scored this many at a time, so that memory does not grow with their number.
_ROWS_AT_ONCE = 16_384


class EngineDetector:
    """What turns a PyOD class into one that the engine fits. Comes first among the bases."""

    family: Family
    n_features_in_: int = 0  # PyOD's IForest reads it from a scikit-learn forest, which there is none of
    seed: int = 0
    trials: int = DEFAULT_TRIALS
    n_threads: int | None = None
    standardize: bool = True

    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit on raw rows; ``y`` is ignored."""
        # LODA and IForest have PyOD's random_state, which a clone keeps.
        state = getattr(self, "random_state", None)
        seed = self.seed if state is None else state
        scorer = PoolScorer(
            X,
            ModelPool.of([self._spec()]),
            seed=seed,
            trials=self.trials,
            n_jobs=self.n_threads,
            standardize=self.standardize,
        )
        return self._adopt(scorer, self._spec())

    def _spec(self) -> ModelSpec:
        """The model the constructor's parameters name."""
        return ModelSpec.of(self.family.name, **{name: getattr(self, name) for name in self.family.defaults})

    def _adopt(self, scorer: PoolScorer, spec: ModelSpec) -> Any:
        family = family_of(spec)
        if family is None:
            raise InvalidInput(f"{spec.id} is not a model of the engine: fit PyOD's own class instead.")
        self._set_n_classes(None)  # type: ignore[attr-defined]
        self.standardizer_ = scorer.standardizer
        self.fitted_: FittedModel | FittedAlone = family.fit(scorer.work, family.params_of(spec))
        self.decision_scores_ = np.array(scorer.scores(spec.id))
        self.n_features_in_ = scorer.work.Z.shape[1]
        self._process_decision_scores()  # type: ignore[attr-defined]
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of raw rows, seen or not; higher is more outlying."""
        if not hasattr(self, "fitted_"):
            raise InvalidInput(f"This {type(self).__name__} is not fitted yet: call fit first.")
        rows = check_table(X, min_rows=1)
        out = np.empty(rows.shape[0])
        for start in range(0, rows.shape[0], _ROWS_AT_ONCE):
            part = rows[start : start + _ROWS_AT_ONCE]
            out[start : start + _ROWS_AT_ONCE] = self.fitted_.scores(self.standardizer_.transform(part))
        return out


class PlainDetector(EngineDetector, BaseDetector):  # type: ignore[misc]
    """A detector of the user's, or PyOD's with parameters the engine does not know, behind the same interface.

    ``fitted_.detectors`` holds the detectors themselves, fitted on standardised rows.
    """

    def __init__(self, spec: ModelSpec, contamination: float = 0.1) -> None:
        super().__init__(contamination=contamination)
        self.spec = spec

    def _spec(self) -> ModelSpec:
        return self.spec

    def _adopt(self, scorer: PoolScorer, spec: ModelSpec) -> Any:
        self._set_n_classes(None)
        self.standardizer_ = scorer.standardizer
        fitted = FittedAlone.fit(spec, scorer.work)
        self.fitted_ = fitted
        self.decision_scores_ = fitted.training_scores()
        self.n_features_in_ = scorer.work.Z.shape[1]
        self._process_decision_scores()
        return self


@cache
def twin_of(family: Family) -> type:
    """PyOD's class of a family, fitted and scored by the engine."""
    theirs = family.pyod_class()
    body = {"family": family, "__module__": __name__, "__doc__": f"PyOD's {theirs.__name__}, fitted by the engine."}
    return type(theirs.__name__, (EngineDetector, theirs), body)


def __getattr__(name: str) -> Any:
    """Classes are found by their names too, as ``elect.pool.detectors.LOF``: a pickle looks for them so."""
    twins = () if name.startswith("_") else map(twin_of, FAMILIES.values())
    for twin in twins:
        if twin.__name__ == name:
            return twin
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def new_detector(
    spec: ModelSpec,
    *,
    contamination: Any = 0.1,
    seed: int = 0,
    trials: int = DEFAULT_TRIALS,
    n_jobs: int | None = None,
    standardize: bool = True,
) -> Any:
    """The detector of a model, not fitted yet."""
    detector: Any
    family = family_of(spec)
    if family is None:
        detector = PlainDetector(spec, contamination=contamination)
    else:
        random = {"random_state": seed} if family.is_random else {}
        detector = twin_of(family)(contamination=contamination, **dict(spec.params), **random)
    detector.seed, detector.trials, detector.n_threads, detector.standardize = seed, trials, n_jobs, standardize
    return detector


def detector_from(scorer: PoolScorer, model_id: str, *, contamination: Any = 0.1) -> Any:
    """The detector of a model, fitted on the table a scorer holds with the pieces it has built already."""
    work = scorer.work
    detector = new_detector(
        scorer.pool[model_id], contamination=contamination, seed=work.seed, trials=work.trials, n_jobs=work.n_jobs
    )
    return detector._adopt(scorer, scorer.pool[model_id])


def fit_detector(
    model_id: str | ModelSpec,
    X: Any,
    *,
    pool: PoolLike | None = None,
    contamination: Any = 0.1,
    seed: int = 0,
    trials: int = DEFAULT_TRIALS,
    n_jobs: int | None = None,
) -> Any:
    """A fitted PyOD detector of any model: its training scores are the engine's, and it scores new rows.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> detector = fit_detector("LOF(metric=euclidean, n_neighbors=20)", X)
    >>> detector.decision_function([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]).round(1)
    array([0.9, 7.8])
    """
    spec = model_id if isinstance(model_id, ModelSpec) else resolve_pool(pool)[model_id]
    return new_detector(spec, contamination=contamination, seed=seed, trials=trials, n_jobs=n_jobs).fit(X)
