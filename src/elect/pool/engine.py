"""Scores of every model of a pool on one table, for the price of a few.

A model's scores depend on the table, the model, the seed and the number of trials; never on which other models were
asked for, in which order, or on how many threads.
"""

from copy import copy
from typing import Any

import numpy as np

from elect.core.matrices import ScoreMatrix
from elect.core.models import ModelSpec
from elect.errors import InvalidInput
from elect.pool.families import family_of
from elect.pool.families._base import Cost, Piece
from elect.pool.pools import PoolLike, resolve_pool
from elect.pool.standardize import Standardizer, check_table
from elect.support.arrays import FloatArray, read_only

DEFAULT_TRIALS = 5
# CPU seconds of measuring a new model's scores and updating the neighbours, whatever the model.
_MEASURING = Cost(3e-4, rows=5e-8)
# A model fitted by itself shares nothing; it is taken to cost as much as the dearest of the families, OCSVM.
_ALONE = Cost(0.0043, pairs=6.9e-09, most_rows=12_000)


def _check_whole(name: str, value: Any, low: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise InvalidInput(f"{name} must be a whole number of at least {low}, got {value!r}.")
    return int(value)


class PoolScorer:
    """Scores one model at a time; what models share is built once, on first need.

    ``standardize=False`` takes the columns as they are, for tables that were brought to scale before.

    >>> import numpy as np
    >>> X = np.vstack([np.random.default_rng(0).normal(size=(50, 2)), [[9.0, 9.0]]])
    >>> scorer = PoolScorer(X)
    >>> int(scorer.scores("kNN(method=largest, n_neighbors=5)").argmax())
    50
    """

    def __init__(
        self,
        X: Any,
        pool: PoolLike | None = None,
        *,
        seed: int = 0,
        trials: int = DEFAULT_TRIALS,
        n_jobs: int | None = None,
        standardize: bool = True,
    ) -> None:
        from elect.pool.work import SharedWork
        from elect.support.threads import n_threads

        self.pool = resolve_pool(pool)
        array = check_table(X)
        self.standardizer = Standardizer.fit(array) if standardize else Standardizer.none(array.shape[1])
        self.work: SharedWork = SharedWork(
            self.standardizer.transform(array),
            seed=_check_whole("seed", seed, 0),
            trials=_check_whole("trials", trials, 1),
            n_jobs=n_threads(n_jobs),
        )
        self._scores: dict[str, FloatArray] = {}
        self._built: set[Piece] = set()

    @property
    def n_points(self) -> int:
        return self.work.n_rows

    def beside(self, pool: PoolLike) -> "PoolScorer":
        """A scorer of other models on the same table; what either has built serves both."""
        other = copy(self)
        other.pool = resolve_pool(pool)
        return other

    def group(self, model_id: str) -> tuple[str, ...]:
        """The models of the pool that are scored together with this one, itself included."""
        return tuple(spec.id for spec in self._group(self.pool[model_id]))

    def scores(self, model_id: str) -> FloatArray:
        """The training scores of a model, higher = more outlying. Read-only; computed once."""
        if model_id not in self._scores:
            group = self._group(self.pool[model_id])
            for spec, column in zip(group, self._score(group), strict=True):
                self._scores[spec.id] = read_only(np.ascontiguousarray(column))
            self._built.update(self._pieces(self.pool[model_id]))
        return self._scores[model_id]

    def predicted_seconds(self, model_id: str) -> float:
        """About how many CPU seconds a model's scores would take now: shared pieces that are built cost nothing."""
        n, d = self.work.Z.shape
        missing = () if model_id in self._scores else self._pieces(self.pool[model_id])
        needed = sum(piece.cost.seconds(n, d, self.work.trials) for piece in missing if piece not in self._built)
        return float(_MEASURING.seconds(n, d, 1) + needed)

    def _pieces(self, spec: ModelSpec) -> tuple[Piece, ...]:
        family = family_of(spec)
        return (Piece("alone", spec.id, _ALONE),) if family is None else family.pieces(family.params_of(spec))

    def note(self, model_id: str) -> str | None:
        """What a reader of this model's scores must know, if anything."""
        family = family_of(self.pool[model_id])
        return None if family is None else family.note(self.work, family.params_of(self.pool[model_id]))

    def _group(self, spec: ModelSpec) -> list[ModelSpec]:
        family = family_of(spec)
        if family is None:
            return [spec]
        key = family.group(family.params_of(spec), self.n_points)
        return [
            other
            for other in self.pool
            if other.detector == spec.detector
            and family_of(other) is family
            and family.group(family.params_of(other), self.n_points) == key
        ]

    def _score(self, group: list[ModelSpec]) -> list[FloatArray]:
        family = family_of(group[0])
        if family is None:
            from elect.pool.one_by_one import FittedAlone

            return [FittedAlone.fit(group[0], self.work).training_scores()]
        scores = family.scores(self.work, [family.params_of(spec) for spec in group])
        if not np.isfinite(scores).all():
            raise InvalidInput(f"The values of this table are too extreme for {group[0].id}: its scores overflow.")
        return list(scores.T)


def score_pool(
    X: Any,
    pool: PoolLike | None = None,
    *,
    seed: int = 0,
    trials: int = DEFAULT_TRIALS,
    n_jobs: int | None = None,
) -> ScoreMatrix:
    """Outlier scores of every model of the pool (rows x models).

    Columns are standardised first. Random models (LODA, IForest) are averaged over ``trials``.

    >>> from elect import ModelPool
    >>> pool = ModelPool.grid("kNN", method=["mean"], n_neighbors=[2, 3])
    >>> score_pool([[0.0], [1.0], [2.0], [9.0]], pool).values.argmax(axis=0)
    array([3, 3])
    """
    scorer = PoolScorer(X, pool, seed=seed, trials=trials, n_jobs=n_jobs)
    values = np.empty((scorer.n_points, len(scorer.pool)), order="F")
    notes = {}
    for position, model_id in enumerate(scorer.pool.ids):
        values[:, position] = scorer.scores(model_id)
        note = scorer.note(model_id)
        if note is not None:
            notes[model_id] = note
    return ScoreMatrix(values, scorer.pool.ids, notes)
