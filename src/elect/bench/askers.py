"""Ways to ask a person about rows and to rank the rows by the answers: this package's and its peers.

Each is an ``Asker`` over one table. Peers see the standardised columns; they ask for the row they find likeliest, as
their authors do. The packages of peers are imported when one is opened.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import numpy as np

from elect.answers import AnsweredElection, Feedback, RowEvidence
from elect.answers.posterior import Posterior
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class OpenedTask:
    """A table before any answer. ``posterior`` makes what this package had before answers spoke for similar rows."""

    evidence: RowEvidence
    posterior: Callable[[], Posterior]
    election: AnsweredElection | None = None
    seed: int = 0

    @property
    def columns(self) -> FloatArray:
        return self.evidence.columns


class Asker(Protocol):
    def ask(self) -> int: ...
    def tell(self, row: int, said: bool) -> None: ...

    def scores(self) -> FloatArray:
        """How outlying every row is after the answers so far (rows,); answered rows need not be placed."""
        ...


class Ours:
    """``Feedback`` with one of its aims."""

    def __init__(self, task: OpenedTask, aim: Literal["learn", "find"]) -> None:
        self.session = Feedback.of(task.evidence, task.election, aim=aim, random_state=task.seed)

    def ask(self) -> int:
        return self.session.ask()

    def tell(self, row: int, said: bool) -> None:
        self.session.tell(row, said)

    def scores(self) -> FloatArray:
        return self.session.log_odds


class ByModels:
    """Answers weigh models, and models rank rows; asks for the row that tells most about which model is right."""

    def __init__(self, task: OpenedTask) -> None:
        self._belief = task.posterior()
        self._asked: list[int] = []

    def ask(self) -> int:
        information = self._belief.information()
        information[self._asked] = -np.inf
        return int(np.argmax(information))

    def tell(self, row: int, said: bool) -> None:
        self._asked.append(row)
        self._belief.tell(row, said)

    def scores(self) -> FloatArray:
        return self._belief.outlier_chance()


@dataclass
class Likeliest:
    """Asks for the row of the highest score; ``learn`` makes scores from the answers so far, ``every`` so many."""

    columns: FloatArray
    start: FloatArray
    learn: Callable[[list[int], list[bool]], FloatArray] | None = None
    every: int = 1
    rows: list[int] = field(default_factory=list)
    said: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._scores = self.start

    def ask(self) -> int:
        open_scores = self._scores.copy()
        open_scores[self.rows] = -np.inf
        return int(np.argmax(open_scores))

    def tell(self, row: int, said: bool) -> None:
        self.rows.append(row)
        self.said.append(said)
        # What learns a classifier needs answers of both kinds.
        if self.learn is not None and len(self.rows) % self.every == 0:
            self._scores = self.learn(self.rows, self.said)

    def scores(self) -> FloatArray:
        return self._scores


def _iforest(task: OpenedTask) -> FloatArray:
    from sklearn.ensemble import IsolationForest

    return -np.asarray(IsolationForest(random_state=task.seed).fit(task.columns).score_samples(task.columns))


def isolation_forest(task: OpenedTask) -> Asker:
    return Likeliest(task.columns, _iforest(task))


def random_forest(task: OpenedTask) -> Asker:
    """A random forest on the answers alone; until there are answers of both kinds, an isolation forest."""
    from sklearn.ensemble import RandomForestClassifier

    start = _iforest(task)

    def learn(rows: list[int], said: list[bool]) -> FloatArray:
        if len(set(said)) < 2:
            return start
        forest = RandomForestClassifier(class_weight="balanced", random_state=task.seed)
        forest.fit(task.columns[rows], said)
        # Many rows tie: the isolation forest orders them.
        return np.asarray(forest.predict_proba(task.columns)[:, 1] + 1e-6 * start, dtype=np.float64)

    return Likeliest(task.columns, start, learn)


class FittedOnce:
    """A detector without labels inside XGBOD: more answers never change its scores, so it is fitted once."""

    def __init__(self, detector: Any) -> None:
        self._detector = detector
        self.decision_scores_: FloatArray | None = None

    def fit(self, X: FloatArray) -> "FittedOnce":
        if self.decision_scores_ is None:
            self.decision_scores_ = self._detector.fit(X).decision_scores_
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        scores: FloatArray = self._detector.decision_function(X)
        return scores


def xgbod(task: OpenedTask) -> Asker:
    """PyOD's XGBOD on all rows, those not answered yes counting as normal, since few answers are too few for its
    detectors. It has no questions of its own: the likeliest rows; it learns again after every fifth answer."""
    from pyod.models.hbos import HBOS
    from pyod.models.iforest import IForest
    from pyod.models.knn import KNN
    from pyod.models.lof import LOF
    from pyod.models.xgbod import XGBOD

    start = _iforest(task)
    near = min(20, len(start) - 1)
    plain = (KNN(), KNN(n_neighbors=near), LOF(n_neighbors=near), HBOS(), IForest(random_state=task.seed))
    detectors = [FittedOnce(detector) for detector in plain]

    def learn(rows: list[int], said: list[bool]) -> FloatArray:
        if not any(said):
            return start
        model = XGBOD(detectors, [True] * len(detectors), random_state=task.seed)
        y = np.zeros(len(start), dtype=int)
        y[np.array(rows)[said]] = 1
        with warnings.catch_warnings():
            # PyOD hands xgboost a parameter it no longer has, and warns of the labels it asked for.
            warnings.simplefilter("ignore")
            model.fit(task.columns, y)
        return np.asarray(model.decision_scores_ + 1e-6 * start, dtype=np.float64)

    return Likeliest(task.columns, start, learn, every=5)


def conifer(task: OpenedTask, name: Literal["AADForest", "PineForest"]) -> Asker:
    """A forest of the package coniferest."""
    module = import_module(f"coniferest.{name.lower()}")
    label = import_module("coniferest.label").Label
    X = np.ascontiguousarray(task.columns)
    forest = getattr(module, name)(random_seed=task.seed, n_jobs=1)
    forest.fit(X)

    def learn(rows: list[int], said: list[bool]) -> FloatArray:
        forest.fit_known(X, X[rows], np.where(said, label.ANOMALY, label.REGULAR))
        return -np.asarray(forest.score_samples(X), dtype=np.float64)

    return Likeliest(X, -np.asarray(forest.score_samples(X), dtype=np.float64), learn)


ASKERS: dict[str, Callable[[OpenedTask], Asker]] = {
    "elect, learn": partial(Ours, aim="learn"),
    "elect, find": partial(Ours, aim="find"),
    "answers weigh models": ByModels,
    "AADForest": partial(conifer, name="AADForest"),
    "PineForest": partial(conifer, name="PineForest"),
    "XGBOD": xgbod,
    "random forest": random_forest,
    "isolation forest": isolation_forest,
}

_NEEDS = {"AADForest": "coniferest", "PineForest": "coniferest", "XGBOD": "xgboost"}


def chosen_askers(names: list[str] | None) -> dict[str, Callable[[OpenedTask], Asker]]:
    """The askers of these names, all without names; an error names what is not known or not installed."""
    wanted = list(ASKERS) if names is None else names
    unknown = [name for name in wanted if name not in ASKERS]
    if unknown:
        raise InvalidInput(f"methods must be among {'; '.join(ASKERS)}, got {'; '.join(unknown)}.")
    missing = sorted({_NEEDS[name] for name in wanted if name in _NEEDS and find_spec(_NEEDS[name]) is None})
    if missing:
        raise InvalidInput(f"Peers need {' and '.join(missing)}: install elect[bench], or name other methods.")
    return {name: ASKERS[name] for name in wanted}
