"""ElectDetector: PyOD's contract and scikit-learn's, on every kind of input."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import elect.detector
from elect import MetaDatabase
from elect.detect import Options, election
from elect.detect.threshold import threshold_of
from elect.detector import EXPECTED_FAILED_CHECKS, ElectDetector
from elect.errors import ElectError, InvalidInput
from elect.strategies import STRATEGIES
from elect.strategies.committee import quick_models
from toys import make_task

TASK = make_task(1, n=200)
X, y = np.array(TASK.X), np.array(TASK.y)


@pytest.fixture(scope="module")
def fitted() -> ElectDetector:
    return ElectDetector(contamination=0.1, max_models=12).fit(X)


def test_pyods_contract(fitted: ElectDetector) -> None:
    from pyod.models.base import BaseDetector

    assert isinstance(fitted, BaseDetector)
    assert isinstance(fitted.detector_, BaseDetector)
    assert fitted.decision_scores_.shape == (len(X),)
    assert set(fitted.labels_) == {0, 1}
    assert fitted.labels_.mean() == pytest.approx(0.1, abs=0.01)
    assert np.array_equal(fitted.labels_, (fitted.decision_scores_ > fitted.threshold_).astype(int))
    new = np.vstack([X[:5], X.mean(axis=0) + 50])
    scores = fitted.decision_function(new)
    assert scores.argmax() == 5
    assert fitted.predict(new)[5] == 1
    for method in ("linear", "unify"):
        assert fitted.predict_proba(new, method=method).shape == (6, 2)
    labels, confidence = fitted.predict(new, return_confidence=True)
    assert labels.shape == confidence.shape == (6,)


def test_the_selection_and_its_explanation(fitted: ElectDetector) -> None:
    selection = fitted.selection_
    alone = ElectDetector(max_models=12, scorer="model").fit(X)
    assert np.array_equal(alone.detector_.decision_scores_, alone.decision_scores_)
    assert np.array_equal(alone.detector_.decision_scores_, fitted.detector_.decision_scores_)
    assert alone.chance_ is None
    assert fitted.chance_ is not None
    assert ((fitted.chance_ > 0) & (fitted.chance_ < 1)).all()
    assert len(selection.evaluated) == 12
    explanation = selection.explain()
    text = str(explanation)
    assert selection.model_id in text
    assert "the budget of 12 models is spent" in text
    for neighbor in selection.neighbors:
        assert neighbor.task in text
    page = selection._repr_html_()
    assert "<table>" in page
    assert selection.model_id.replace(" ", "") in page.replace(" ", "")


def test_explanations_escape_what_they_show(fitted: ElectDetector) -> None:
    from dataclasses import replace

    hostile = replace(fitted.selection_, notes=("<script>alert(1)</script>",))
    assert "<script>" not in hostile._repr_html_()


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    found = check_estimator(
        ElectDetector(max_models=3), expected_failed_checks=EXPECTED_FAILED_CHECKS, on_fail=None, on_skip=None
    )
    failed = {result["check_name"] for result in found if result["status"] == "failed"}
    assert failed == set()
    written = {result["check_name"] for result in found if result["status"] == "xfail"}
    assert written == set(EXPECTED_FAILED_CHECKS), "a check in the list passes: take it out"


def test_pipeline_clone_and_search() -> None:
    from sklearn.model_selection import GridSearchCV, KFold

    detector = ElectDetector(max_models=3, random_state=1)
    assert clone(detector).get_params() == detector.get_params()
    pipeline = make_pipeline(StandardScaler(), detector).fit(X)
    assert pipeline.decision_function(X[:3]).shape == (3,)

    def score(estimator: Any, rows: Any, labels: Any = None) -> float:
        return float(estimator.decision_function(rows).std())

    found = GridSearchCV(detector, {"max_models": [0, 3]}, scoring=score, cv=KFold(2)).fit(X)
    assert found.best_params_["max_models"] in (0, 3)


def test_equal_states_give_equal_results() -> None:
    one, other = (ElectDetector(max_models=8, random_state=5).fit(X) for _ in range(2))
    assert one.selection_.model_id == other.selection_.model_id
    assert np.array_equal(one.decision_scores_, other.decision_scores_)


def test_frames_and_arrays_agree(fitted: ElectDetector) -> None:
    import pandas as pd
    import polars as pl

    for frame in (pd.DataFrame(X, columns=list("abc")), pl.DataFrame(X, schema=list("abc"))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores = ElectDetector(max_models=12).fit(frame).decision_scores_
        assert np.allclose(scores, fitted.decision_scores_)


def test_messy_frames_are_treated_and_new_rows_the_same_way() -> None:
    import polars as pl

    colours = np.where(np.arange(len(X)) % 3 == 0, "red", "blue")
    messy = pl.DataFrame({"size": X[:, 0], "colour": colours, "weight": X[:, 1]}).with_columns(
        pl.when(pl.int_range(pl.len()) % 10 == 0).then(None).otherwise(pl.col("weight")).alias("weight")
    )
    detector = ElectDetector(max_models=6).fit(messy)
    assert {s.column for s in detector.treatment_.summary()} == {"size", "colour", "weight"}
    assert np.isfinite(detector.decision_scores_).all()
    assert detector.decision_function(messy[:4]).shape == (4,)
    odd = pl.DataFrame({"size": [500.0], "colour": ["red"], "weight": [None]}, schema_overrides={"weight": pl.Float64})
    assert detector.decision_function(odd)[0] > np.quantile(detector.decision_scores_, 0.95)


def test_sparse_input_is_made_dense_or_refused(monkeypatch: pytest.MonkeyPatch, fitted: ElectDetector) -> None:
    from scipy.sparse import csr_array

    assert np.allclose(ElectDetector(max_models=12).fit(csr_array(X)).decision_scores_, fitted.decision_scores_)
    monkeypatch.setattr(elect.detector, "MAX_DENSE_CELLS", 100)
    with pytest.raises(InvalidInput, match="TruncatedSVD"):
        ElectDetector(max_models=3).fit(csr_array(X))


def test_large_tables_are_sampled_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    many = np.vstack([rng.normal(size=(1500, 3)), rng.normal(size=(5, 3)) + 9])
    monkeypatch.setattr(election, "MAX_ROWS", 400)
    detector = ElectDetector(max_models=6, scorer="model").fit(many)
    assert "seeded sample of 400 of the 1,505 rows" in detector.selection_.notes[-1]
    assert detector.decision_scores_.shape == (1505,)
    assert len(detector.detector_.decision_scores_) == 400
    again = ElectDetector(max_models=6, scorer="model").fit(many)
    assert np.array_equal(again.decision_scores_, detector.decision_scores_)
    sample = election.sample_rows(1505, 0, 400)
    assert np.array_equal(detector.decision_scores_[sample], detector.detector_.decision_scores_)
    rest = np.setdiff1d(np.arange(1505), sample)
    assert np.array_equal(detector.decision_scores_[rest], detector.detector_.decision_function(many[rest]))


def test_auto_contamination_finds_few_or_none() -> None:
    rng = np.random.default_rng(0)
    assert (rng.uniform(size=1000) > threshold_of(rng.uniform(size=1000), "auto", "model")).sum() == 0
    scores = np.r_[rng.normal(size=990), np.full(10, 30.0)]
    assert 10 <= (scores > threshold_of(scores, "auto", "model")).sum() <= 14
    assert threshold_of(np.r_[np.zeros(90), np.ones(10)], "auto", "model") == 0.0
    detector = ElectDetector(max_models=4, scorer="model").fit(X)
    assert detector.threshold_ == pytest.approx(threshold_of(detector.decision_scores_, "auto", "model"))
    assert ElectDetector(max_models=4).fit(X).threshold_ == 0.0  # an even chance
    assert detector.predict_confidence(X[:3]).shape == (3,)


def test_databases_by_path_object_and_default(tmp_path: Path, small_database: MetaDatabase) -> None:
    path = tmp_path / "ours.elect"
    small_database.save(path)
    picks = {ElectDetector(database=d).fit(X).selection_.model_id for d in (path, str(path), small_database)}
    assert len(picks) == 1
    assert picks <= set(small_database.pool.ids)
    assert ElectDetector(max_models=0).fit(X).selection_.evaluated == ()


def test_a_budget_of_models_is_for_the_search_unless_another_strategy_is_named(small_database: MetaDatabase) -> None:
    assert Options().elected_by == "committee"
    assert Options(max_models=5).elected_by == "elect"
    for strategy in STRATEGIES:
        assert Options(strategy=strategy, max_models=5).elected_by == Options(strategy=strategy).elected_by == strategy
    plain = ElectDetector(database=small_database).fit(X)
    assert plain.selection_.strategy == "committee"
    assert plain.selection_.evaluated == quick_models(small_database.pool)
    assert ElectDetector(database=small_database, max_models=5).fit(X).selection_.strategy == "elect"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_elects_and_explains_itself(strategy: str, small_database: MetaDatabase) -> None:
    detector = ElectDetector(database=small_database, strategy=strategy).fit(X)
    selection = detector.selection_
    assert selection.strategy == strategy
    assert selection.model_id in small_database.pool
    text, page = str(selection.explain()), selection._repr_html_()
    for words in (selection.model_id, selection.why, selection.stopped_because, strategy):
        assert words in text
        assert words[1:] in page  # a sentence begins with a capital there
    assert all(neighbor.task in text for neighbor in selection.neighbors)
    again = ElectDetector(database=small_database, strategy=strategy).fit(X)
    assert np.array_equal(again.decision_scores_, detector.decision_scores_)


def test_a_file_that_names_classes_is_not_trusted(tmp_path: Path) -> None:
    from pyod.models.ecod import ECOD

    from elect import ModelPool, ModelSpec, train

    pool = ModelPool.grid("kNN", method=["mean"], n_neighbors=[5]) + ModelPool.of([ModelSpec.of(ECOD)])
    train([make_task(0), make_task(1)], pool, tune=False).save(tmp_path / "own.elect")
    with pytest.raises(InvalidInput, match="names detector classes"):
        ElectDetector(database=tmp_path / "own.elect").fit(X)
    own = MetaDatabase.load(tmp_path / "own.elect", pool)
    assert ElectDetector(database=own).fit(X).selection_.model_id in pool


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contamination": 0.7}, "contamination must be 'auto' or a number"),
        ({"contamination": "most"}, "contamination must be"),
        ({"strategy": "guess"}, "strategy must be one of auto, committee, fixed, elect"),
        ({"strategy": None}, "strategy must be one of"),
        ({"database": 3}, "database must be None, a path or a MetaDatabase"),
        ({"database": "nowhere.elect"}, "nowhere.elect"),
        ({"max_models": -1}, "max_models"),
        ({"max_models": -1, "strategy": "committee"}, "max_models"),
        ({"max_seconds": float("nan")}, "max_seconds"),
    ],
)
def test_bad_parameters_are_refused_in_fit(options: dict[str, Any], message: str) -> None:
    detector = ElectDetector(**options)
    with pytest.raises(ElectError, match=message):
        detector.fit(X)


def test_unfitted_and_bad_rows(fitted: ElectDetector) -> None:
    with pytest.raises(NotFittedError):
        ElectDetector().decision_function(X)
    with pytest.raises(ElectError, match="features"):
        fitted.decision_function(X[:, :2])
    with pytest.raises(ElectError, match="NaN"):
        fitted.decision_function([[np.nan, 0.0, 0.0]])
    with pytest.raises(ElectError, match="NaN"):
        ElectDetector().fit(np.where(X > 3, np.nan, X))


def test_pyods_helpers_accept_it(fitted: ElectDetector) -> None:
    from pyod.models.combination import average, maximization
    from pyod.models.lof import LOF
    from pyod.utils.data import evaluate_print
    from pyod.utils.utility import precision_n_scores, standardizer

    other = LOF().fit(X)
    both = standardizer(np.column_stack([fitted.decision_scores_, other.decision_scores_]))
    assert average(both).shape == maximization(both).shape == (len(X),)
    evaluate_print("elect", y, fitted.decision_scores_)
    assert 0 <= precision_n_scores(y, fitted.decision_scores_) <= 1
    from pyod.models.feature_bagging import FeatureBagging

    bagged = FeatureBagging(ElectDetector(max_models=2), n_estimators=2, random_state=0).fit(X)
    assert bagged.decision_scores_.shape == (len(X),)
