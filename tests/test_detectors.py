"""Detectors handed out agree with the engine and score new rows."""

from typing import Any

import numpy as np
import pytest
from pyod.models.base import BaseDetector
from sklearn.base import clone

from elect import ModelPool, ModelSpec, PoolScorer, default_pool, fit_detector
from elect.errors import ElectError, InvalidInput, UnknownModel

RNG = np.random.default_rng(7)
X = np.vstack([RNG.normal(size=(140, 4)) * [1, 10, 0.1, 3] + [5, 0, 0, -20], RNG.normal(size=(6, 4)) * 30])
NEW = np.vstack([X[:3], RNG.normal(size=(20, 4)), [[1e6, 1e6, 1e6, 1e6]]])


@pytest.fixture(scope="module")
def scorer() -> PoolScorer:
    return PoolScorer(X)


@pytest.mark.parametrize("model_id", default_pool().ids)
def test_training_scores_are_the_engines(scorer: PoolScorer, model_id: str) -> None:
    detector = fit_detector(model_id, X)
    assert isinstance(detector, BaseDetector)
    assert np.array_equal(detector.decision_scores_, scorer.scores(model_id))
    assert detector.labels_.shape == (len(X),)
    scores = detector.decision_function(NEW)
    assert scores.shape == (len(NEW),)
    assert np.isfinite(scores).all()
    assert set(detector.predict(NEW)) <= {0, 1}
    if np.ptp(detector.decision_scores_) > 0:
        assert detector.predict_proba(NEW).shape == (len(NEW), 2)


@pytest.mark.parametrize("family", ["LODA", "IForest", "HBOS", "OCSVM"])
def test_seen_rows_score_as_in_training(family: str) -> None:
    """These do not look at neighbours, so a row's own presence does not matter."""
    for spec in list(default_pool().select(family))[::7]:
        detector = fit_detector(spec, X)
        assert np.allclose(detector.decision_function(X), detector.decision_scores_, rtol=1e-3, atol=1e-3), spec.id


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("kNN", {"method": "largest", "n_neighbors": 5}),
        ("kNN", {"method": "mean", "n_neighbors": 20}),
        ("kNN", {"method": "median", "n_neighbors": 10}),
        ("LOF", {"metric": "manhattan", "n_neighbors": 10}),
        ("LOF", {"metric": "minkowski", "n_neighbors": 50}),
        ("HBOS", {"n_bins": 20, "alpha": 0.2}),
        ("OCSVM", {"kernel": "rbf", "nu": 0.4}),
        ("OCSVM", {"kernel": "sigmoid", "nu": 0.2}),
    ],
)
def test_new_rows_score_as_in_pyod(name: str, params: dict[str, Any]) -> None:
    from elect.pool.one_by_one import detector_class

    spec = ModelSpec.of(name, **params)
    mean, std = X.mean(axis=0), X.std(axis=0)
    theirs = detector_class(spec)(**params).fit((X - mean) / std)
    ours = fit_detector(spec, X)
    near = NEW[:-1]
    expected = theirs.decision_function((near - mean) / std)
    assert np.allclose(ours.decision_function(near), expected, rtol=2e-3 if name == "OCSVM" else 1e-8, atol=1e-3)


def test_abod_of_a_new_row_is_the_variance_of_its_angles() -> None:
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    row = NEW[5]
    z = (row - X.mean(axis=0)) / X.std(axis=0)
    nearest = np.argsort(np.linalg.norm(Z - z, axis=1))[:5]
    A = Z[nearest] - z
    cosines = [A[i] @ A[j] / (A[i] @ A[i]) / (A[j] @ A[j]) for i in range(5) for j in range(i)]
    assert fit_detector("ABOD(n_neighbors=5)", X).decision_function([row])[0] == pytest.approx(
        -np.var(cosines), rel=1e-9
    )


def test_cof_of_a_row_far_away_is_large() -> None:
    detector = fit_detector("COF(n_neighbors=10)", X)
    far = X.mean(axis=0) + 50 * X.std(axis=0)
    assert detector.decision_function([far])[0] > detector.decision_scores_.max()


@pytest.mark.parametrize(
    "model_id", ["LODA(n_bins=10, n_random_cuts=50)", "IForest(max_features=0.5, n_estimators=50)"]
)
def test_random_detectors_repeat_from_the_seed(model_id: str) -> None:
    one, same, other = (fit_detector(model_id, X, seed=s) for s in (3, 3, 4))
    assert np.array_equal(one.decision_function(NEW), same.decision_function(NEW))
    assert not np.array_equal(one.decision_function(NEW), other.decision_function(NEW))
    again = clone(one).fit(X)
    assert np.array_equal(one.decision_scores_, again.decision_scores_)


def test_detectors_are_pyods_and_can_be_cloned() -> None:
    from pyod.models.lof import LOF

    detector = fit_detector("LOF(metric=euclidean, n_neighbors=20)", X, contamination=0.05)
    assert isinstance(detector, LOF)
    assert detector.get_params()["n_neighbors"] == 20
    assert detector.labels_.sum() == pytest.approx(0.05 * len(X), abs=1)
    assert np.array_equal(clone(detector).fit(X).decision_scores_, detector.decision_scores_)


def test_detector_of_a_custom_pool() -> None:
    from pyod.models.ecod import ECOD

    pool = ModelPool.of([ModelSpec.of(ECOD)])
    detector = fit_detector(pool.ids[0], X, pool=pool)
    assert np.array_equal(detector.decision_scores_, PoolScorer(X, pool).scores(pool.ids[0]))
    assert isinstance(detector.fitted_.detectors[0], ECOD)
    assert np.isfinite(detector.decision_function(NEW)).all()


def test_errors_say_what_to_do() -> None:
    with pytest.raises(UnknownModel, match="Did you mean"):
        fit_detector("LOF(metric=euclidean, n_neighbors=21)", X)
    detector = fit_detector("COF(n_neighbors=3)", X)
    with pytest.raises(InvalidInput, match="4 columns"):
        detector.decision_function(np.zeros((2, 3)))
    with pytest.raises(InvalidInput, match="finite"):
        detector.decision_function([[np.nan, 0, 0, 0]])
    with pytest.raises(ElectError, match="not fitted"):
        clone(detector).decision_function(X)
    with pytest.raises(InvalidInput, match="at least 2 rows"):
        fit_detector("COF(n_neighbors=3)", X[:1])


def test_many_rows_are_scored_in_pieces() -> None:
    detector = fit_detector("kNN(method=mean, n_neighbors=5)", X)
    many = np.random.default_rng(0).normal(size=(40_000, 4))
    scores = detector.decision_function(many)
    assert np.array_equal(scores[16_380:16_390], detector.decision_function(many[16_380:16_390]))
