"""Each baseline on a toy history where the right answer is known by construction."""

import numpy as np
import pytest

from elect.bench.baselines import (
    BASELINES,
    PAPER_BASELINES,
    Alors,
    AnyModel,
    ArgoSmart,
    BestMeanRank,
    ByMeasure,
    GlobalBest,
    History,
    Isac,
    MeasureSurrogates,
    MegaEnsemble,
    MetaOD,
    PopularModel,
    SupervisedSurrogates,
    TaskView,
    meta_features,
)
from elect.bench.baselines.factorization import _fill_slopes, climb_ranking_gain
from elect.core import ModelPool, PerformanceMatrix, ScoreMatrix
from elect.errors import InvalidInput, PoolMismatch
from elect.measures import PAPER_MEASURES
from elect.pool import default_pool

POOL = (
    ModelPool.grid("IForest", n_estimators=[10, 100], max_features=[0.5, 0.9])
    + ModelPool.grid("LOF", metric=["minkowski"], n_neighbors=[5, 20])
    + ModelPool.grid("COF", n_neighbors=[5, 10])
)
BY_META_FEATURES = [ArgoSmart(), Isac(), Alors(n_factors=3), MetaOD(n_factors=3), SupervisedSurrogates()]
BEST = {0: 2, 1: 5}  # the best model on tasks of kind 0 and of kind 1


def two_kinds(n_each: int = 8, seed: int = 0) -> History:
    """Tasks of two kinds that meta-features tell apart, each kind with a best model of its own."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat([0, 1], n_each)
    performance = rng.uniform(0.2, 0.4, (len(kinds), len(POOL)))
    for task, kind in enumerate(kinds):
        performance[task, BEST[int(kind)]] = 0.9
    features = np.column_stack([kinds * 10.0, rng.normal(size=len(kinds)), np.full(len(kinds), 3.0)])
    return history(performance, features=features + rng.normal(0, 0.05, features.shape) * [1, 1, 0])


def history(performance, measures=None, features=None, groups=None) -> History:
    performance = np.asarray(performance, dtype=float)
    n, m = performance.shape
    return History(
        pool=POOL,
        performance=PerformanceMatrix(performance, tuple(f"t{i}" for i in range(n)), POOL.ids),
        groups=groups or tuple(f"g{i}" for i in range(n)),
        measure_names=PAPER_MEASURES,
        measures=np.zeros((n, m, 3)) if measures is None else measures,
        meta_features=np.zeros((n, 2)) if features is None else features,
    )


def view(features=(0.0, 0.0), measures=None, scores=None) -> TaskView:
    return TaskView(np.zeros((len(POOL), 3)) if measures is None else measures, np.array(features), scores)


@pytest.mark.parametrize("selector", BY_META_FEATURES, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("kind", [0, 1])
def test_meta_feature_methods_find_the_kind(selector, kind):
    choice = selector.fit(two_kinds()).select(view((10.0 * kind, 0.3, 3.0)))
    assert choice.model_id == POOL.ids[BEST[kind]]


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda b: b.name)
def test_every_baseline_fits_the_protocol_and_repeats_itself(baseline):
    rng = np.random.default_rng(1)
    known = two_kinds()
    task = view((10.0, 0.0, 3.0), rng.normal(size=(len(POOL), 3)), ScoreMatrix(rng.normal(size=(20, 8)), POOL.ids))
    first = baseline.make(3).fit(known).select(task)
    again = baseline.make(3).fit(known).select(task)
    assert set(first.model_ids) <= set(POOL.ids)
    assert first.model_ids == again.model_ids
    assert set(first.evaluated) <= set(POOL.ids)


def test_the_paper_has_thirteen_in_its_order():
    assert PAPER_BASELINES == (
        "iForest", "LOF", "ME", "MC", "SELECT", "HITS", "GB", "ISAC", "AS", "ALORS", "MetaOD", "SS", "IPM_SS",
    )  # fmt: skip


def test_popular_models_are_nearest_to_pyods_defaults():
    assert PopularModel("IForest").model_of(default_pool()) == "IForest(max_features=0.9, n_estimators=100)"
    assert PopularModel("LOF").model_of(default_pool()) == "LOF(metric=minkowski, n_neighbors=20)"
    with pytest.raises(InvalidInput, match="family"):
        PopularModel("ABOD").model_of(POOL)


def test_mean_performance_and_mean_rank_can_disagree():
    performance = np.full((3, len(POOL)), 0.1)
    performance[:, 1] = 0.2  # first on two tasks of three
    performance[2, 4] = 0.95  # best on average, by one easy task
    known = history(performance)
    assert GlobalBest().fit(known).select(view()).model_id == POOL.ids[4]
    assert BestMeanRank().fit(known).select(view()).model_id == POOL.ids[1]


def test_any_model_is_every_model():
    assert AnyModel().fit(two_kinds()).select(view()).model_ids == POOL.ids


@pytest.mark.parametrize(("measure", "column"), [("mc", 0), ("select", 1), ("hits", 2)])
def test_by_measure_takes_the_largest(measure, column):
    measures = np.zeros((len(POOL), 3))
    measures[6, column] = 1.0
    choice = ByMeasure(measure).fit(two_kinds()).select(view(measures=measures))
    assert choice.model_id == POOL.ids[6]
    assert choice.evaluated == POOL.ids


def test_by_measure_must_know_the_measure():
    with pytest.raises(InvalidInput, match="udr"):
        ByMeasure("udr").fit(two_kinds())


def test_mega_ensemble_weighs_models_equally_whatever_their_scale():
    n = 50
    truth = np.zeros(n)
    truth[-1] = 9.0
    scores = np.column_stack([truth * 10.0**k for k in range(len(POOL) - 1)] + [np.full(n, 4.0)])
    choice = MegaEnsemble().fit(two_kinds()).select(view(scores=ScoreMatrix(scores, POOL.ids)))
    assert choice.scores is not None
    assert choice.scores.argmax() == n - 1
    assert np.isfinite(choice.scores).all()


def test_mega_ensemble_needs_scores():
    with pytest.raises(InvalidInput, match="scores"):
        MegaEnsemble().fit(two_kinds()).select(view())


def test_measure_surrogates_learn_what_a_measure_means():
    """A low MC is good here: only a method that learns can know."""
    rng = np.random.default_rng(0)
    measures = rng.uniform(size=(30, len(POOL), 3))
    known = history(1.0 - measures[:, :, 0], measures=measures)
    task = np.full((len(POOL), 3), 0.8)
    task[3, 0] = 0.05
    assert MeasureSurrogates().fit(known).select(view(measures=task)).model_id == POOL.ids[3]


def test_ranking_gain_climbs_and_its_slope_is_right():
    rng = np.random.default_rng(0)
    performance = rng.uniform(size=(6, 12))
    ascent = climb_ranking_gain(performance, rng.normal(size=(6, 4)), rng.normal(size=(12, 4)), 80, 0.05, 5.0)
    trace = [gain for _, _, gain in ascent]
    assert trace[-1] > trace[0] + 0.05
    assert trace[-1] <= 1.0 + 1e-9
    predicted, slope = rng.uniform(size=(6, 12)), np.empty((6, 12))
    _fill_slopes(performance, predicted, 5.0, slope)
    step = np.zeros_like(predicted)
    step[2, 3] = 1e-5
    up, down = (_fill_slopes(performance, predicted + s, 5.0, np.empty((6, 12))) for s in (step, -step))
    assert slope[2, 3] == pytest.approx((up - down) / 2e-5, rel=1e-4)


def test_histories_that_do_not_fit_together_are_refused():
    known = two_kinds()
    with pytest.raises(PoolMismatch):
        History(
            POOL.subset(POOL.ids[:2]), known.performance, known.groups, ("mc",), known.measures, known.meta_features
        )
    with pytest.raises(InvalidInput, match="measures"):
        History(POOL, known.performance, known.groups, ("mc",), known.measures, known.meta_features)
    with pytest.raises(InvalidInput, match="group"):
        History(POOL, known.performance, (), PAPER_MEASURES, known.measures, known.meta_features)


class TestMetaFeatures:
    def test_finite_and_repeatable_on_awkward_tables(self):
        rng = np.random.default_rng(0)
        tables = [
            rng.normal(size=(40, 1)),
            rng.normal(size=(12, 60)),
            np.ones((10, 3)),
            np.column_stack([rng.normal(size=30), np.zeros(30), 1e9 * rng.normal(size=30)]),
            rng.integers(0, 2, size=(50, 4)),
        ]
        names = None
        for X in tables:
            found = meta_features(X, seed=1)
            assert np.isfinite(list(found.values())).all()
            assert found == meta_features(X, seed=1)
            assert names is None or names == tuple(found)
            names = tuple(found)

    def test_they_tell_heavy_tails_from_light_ones(self):
        rng = np.random.default_rng(0)
        light, heavy = meta_features(rng.uniform(size=(300, 4))), meta_features(rng.standard_t(2, size=(300, 4)))
        for name in ("kurtosis_mean", "forest_scores_highest", "loda_scores_top_percent", "pca_scores_kurtosis"):
            assert heavy[name] > light[name]

    def test_units_do_not_matter(self):
        X = np.random.default_rng(0).normal(size=(80, 3))
        a, b = meta_features(X), meta_features(X * 1024.0)
        assert list(a.values()) == pytest.approx(list(b.values()), abs=1e-6)

    def test_large_tables_are_thinned(self):
        X = np.random.default_rng(0).normal(size=(6_000, 2))
        assert meta_features(X)["log_rows"] == pytest.approx(np.log(6_000))
