"""Parity: with the published score matrices, and with PyOD itself on generated data."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from elect import ModelPool, PoolScorer, default_pool, score_pool
from elect.pool.kernels.loda import Projections, loda_scores
from elect.pool.one_by_one import detector_class

PUBLISHED = ("dami_Stamps", "dami_WPBC", "odds_glass", "odds_lympho", "odds_vertebral", "odds_wine")
SEEDS = 12


@pytest.fixture(scope="module", params=PUBLISHED)
def published(request: pytest.FixtureRequest, data_home: Path) -> Any:
    """Our scores beside the published ones, models in the same order."""
    with np.load(data_home / "wild" / f"{request.param}.npz") as task:
        X = task["X"]
    with np.load(data_home / "reference" / "scores" / f"{request.param}.npz") as file:
        theirs = file["scores"]
    return X, score_pool(X), theirs


def _columns(family: str, **params: Any) -> list[tuple[str, int]]:
    return [(m, default_pool().index(m)) for m in default_pool().select(family, **params).ids]


@pytest.mark.parametrize("family", ["kNN", "LOF", "ABOD", "HBOS", "COF"])
def test_deterministic_families_match_the_published_scores(published: Any, family: str) -> None:
    _, ours, theirs = published
    for model_id, column in _columns(family):
        np.testing.assert_allclose(ours[model_id], theirs[:, column], rtol=1e-6, err_msg=model_id)


@pytest.mark.parametrize("kernel", ["rbf", "sigmoid"])
def test_ocsvm_ranks_as_published(published: Any, kernel: str) -> None:
    _, ours, theirs = published
    for model_id, column in _columns("OCSVM", kernel=kernel):
        assert spearmanr(ours[model_id], theirs[:, column])[0] >= 0.999, model_id


@pytest.mark.parametrize(("family", "most"), [("LODA", {"n_random_cuts": 200}), ("IForest", {"n_estimators": 200})])
def test_random_families_match_within_their_own_noise(published: Any, family: str, most: dict[str, int]) -> None:
    """The published scores are as far from ours as ours, with another seed, are from each other.

    Each seed in turn plays the published file. Its distance is the mean squared deviation from the mean of the others,
    in units of their variance, point by point; the published distance must lie among these. It cannot for a score that
    is biased, scaled or noisier than the published one: see the test below.
    """
    X, _, theirs = published
    pool = default_pool().select(family, **most)
    draws = np.array([score_pool(X, pool, seed=seed).values for seed in range(SEEDS)])
    column = [default_pool().index(model_id) for model_id in pool.ids]
    assert _within_noise(draws, theirs[:, column])


def test_the_noise_test_can_fail() -> None:
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(150, 6))
    draws = truth + 0.3 * rng.normal(size=(SEEDS, 150, 6))
    fair = truth + 0.3 * rng.normal(size=(150, 6))
    assert _within_noise(draws, fair)
    assert not _within_noise(draws, fair + 0.3)  # biased by one standard deviation of the noise
    assert not _within_noise(draws, truth + 0.6 * rng.normal(size=(150, 6)))  # twice as noisy
    assert not _within_noise(draws, fair * 1.5)  # on another scale


def _within_noise(draws: Any, published: Any) -> bool:
    def distance(one: Any, others: Any) -> Any:
        variance = others.var(axis=0, ddof=1).mean(axis=0)  # a variance a model: single points have too few draws
        return np.mean((one - others.mean(axis=0)) ** 2 / variance)

    null = np.array([distance(draws[s], np.delete(draws, s, axis=0)) for s in range(len(draws))])
    found = np.mean([distance(published, np.delete(draws, s, axis=0)) for s in range(len(draws))])
    return bool(abs(found - null.mean()) <= 4 * max(null.std(ddof=1), 0.03 * null.mean()))


GENERATED = np.vstack(
    [
        np.random.default_rng(0).normal(size=(110, 5)),
        np.random.default_rng(1).normal(size=(80, 5)) * 0.3 + 3,
        np.random.default_rng(2).uniform(-8, 8, size=(10, 5)),
    ]
)
Z = (GENERATED - GENERATED.mean(axis=0)) / GENERATED.std(axis=0)


@pytest.mark.parametrize("family", ["kNN", "LOF", "HBOS", "COF"])
def test_deterministic_families_match_pyod(family: str) -> None:
    scores = score_pool(GENERATED, default_pool().select(family))
    for spec in default_pool().select(family):
        theirs = detector_class(spec)(**dict(spec.params)).fit(Z.copy()).decision_scores_
        np.testing.assert_allclose(scores[spec.id], theirs, rtol=1e-8, err_msg=spec.id)


@pytest.mark.parametrize("k", [5, 10, 20])
def test_abod_matches_pyod_but_for_the_row_itself(k: int) -> None:
    """PyOD counts the row among its own neighbours: its ABOD(k + 1) sees the angles of our ABOD(k)."""
    from pyod.models.abod import ABOD

    ours = score_pool(GENERATED, ModelPool.grid("ABOD", n_neighbors=[k])).values[:, 0]
    np.testing.assert_allclose(ours, ABOD(n_neighbors=k + 1).fit(Z).decision_scores_, rtol=1e-8)


@pytest.mark.parametrize(("kernel", "least"), [("rbf", 0.999), ("sigmoid", 0.999), ("poly", 0.98)])
def test_ocsvm_matches_pyod(kernel: str, least: float) -> None:
    pool = default_pool().select("OCSVM", kernel=kernel)
    scores = score_pool(GENERATED, pool)
    for spec in pool:
        theirs = detector_class(spec)(**dict(spec.params)).fit(Z).decision_scores_
        assert spearmanr(scores[spec.id], theirs)[0] >= least, spec.id


def test_linear_ocsvm_is_at_least_as_good_a_solution_as_pyods() -> None:
    """The objective is the norm of the weight vector; ours is zero, PyOD's is what its tolerance left."""
    from pyod.models.ocsvm import OCSVM

    ours = score_pool(GENERATED, default_pool().select("OCSVM", kernel="linear"))
    assert not ours.values.any()
    assert "zero vector" in ours.notes["OCSVM(kernel=linear, nu=0.5)"]
    theirs = OCSVM(kernel="linear", nu=0.5).fit(Z)
    assert 0 < np.linalg.norm(theirs.coef_) < 0.2


def test_loda_matches_pyod_along_the_same_projections() -> None:
    from pyod.models.loda import LODA

    for n_bins in (5, 10, 25, 7):
        theirs = LODA(n_bins=n_bins, n_random_cuts=40, random_state=3).fit(Z)
        features = np.array([np.flatnonzero(row) for row in theirs.projections_], dtype=np.int32)
        weights = np.take_along_axis(theirs.projections_, features, axis=1)
        ours = loda_scores(Z, Projections(features[None], weights[None]), (n_bins,), (40,))[0, 0]
        np.testing.assert_allclose(ours, theirs.decision_scores_, rtol=1e-8)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_iforest_matches_pyod_within_its_noise(share: float) -> None:
    from pyod.models.iforest import IForest

    pool = ModelPool.grid("IForest", n_estimators=[100], max_features=[share])
    draws = np.array([score_pool(GENERATED, pool, seed=seed, trials=1).values for seed in range(SEEDS)])
    theirs = [IForest(n_estimators=100, max_features=share, random_state=s).fit(Z).decision_scores_ for s in range(4)]
    assert all(_within_noise(draws, scores[:, None]) for scores in theirs)


@pytest.mark.parametrize(
    "table",
    [
        GENERATED,
        np.random.default_rng(3).integers(0, 6, size=(150, 4)).astype(float),
        np.random.default_rng(4).exponential(size=(90, 3)) * [1, -1, 1],
        np.column_stack([np.arange(-50.0, 51.0), np.arange(101.0) ** 2]),
        np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]]),
    ],
    ids=["mixed", "ties", "skewed", "symmetric", "three rows"],
)
def test_ecod_matches_pyod(table: Any) -> None:
    from pyod.models.ecod import ECOD

    scorer = PoolScorer(table, ModelPool.grid("ECOD"))
    theirs = ECOD().fit(np.array(scorer.work.Z)).decision_scores_
    np.testing.assert_allclose(scorer.scores("ECOD()"), theirs, rtol=1e-9, atol=1e-9)
