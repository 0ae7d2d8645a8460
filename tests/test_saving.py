"""Saved detectors: the same scores after loading, nothing executed, nothing believed."""

import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elect import MetaDatabase, ModelPool, ModelSpec, PoolScorer, default_pool
from elect.core import Candidate, SearchStep, Selection
from elect.detect.saving import KIND, SavedDetector
from elect.detect.threshold import threshold_of
from elect.detector import ElectDetector, load_detector, save_detector
from elect.errors import ElectError, StoreError
from elect.pool.detectors import detector_from
from elect.storage.archive import Archive, pack
from elect.strategies import STRATEGIES
from elect.tables import ColumnTreatment, read_table
from toys import SMALL_POOL

RNG = np.random.default_rng(11)
TABLE = {
    "size": np.r_[RNG.normal(size=140), RNG.normal(size=6) * 8].tolist(),
    "speed": RNG.normal(size=146).tolist(),
    "colour": RNG.choice(["red", "blue", "green"], size=146).tolist(),
}
NEW = {"size": [0.0, 50.0, None], "speed": [0.1, -3.0, 0.2], "colour": ["red", "violet", None]}


@pytest.fixture(scope="module")
def treated() -> tuple[ColumnTreatment, Any, PoolScorer]:
    treatment, rows = ColumnTreatment.fit_transform(TABLE)
    return treatment, rows, PoolScorer(rows, standardize=False)


def fit(treated: Any, model_id: str, pool: ModelPool | None = None, contamination: Any = "auto") -> ElectDetector:
    treatment, rows, scorer = treated
    if pool is not None:
        scorer = PoolScorer(rows, pool, standardize=False)
    step = SearchStep(0, "prior", None, None, (), Candidate(model_id, 0.5, 0.1), (), 0.0)
    inner = detector_from(scorer, model_id)
    scores = inner.decision_scores_
    found = SavedDetector(
        selection=Selection.from_steps([step], scorer.pool),
        detector=inner,
        treatment=treatment,
        contamination=contamination,
        threshold=threshold_of(scores, contamination, "model"),
        scores=scores,
        mean_score=float(np.mean(scores)),
        spread_of_scores=float(np.std(scores)),
    )
    return ElectDetector(contamination)._adopt(found)


@pytest.mark.parametrize("model_id", default_pool().ids)
def test_every_model_scores_the_same_after_a_round_trip(tmp_path: Path, treated: Any, model_id: str) -> None:
    before = fit(treated, model_id)
    save_detector(before, tmp_path / "model.elect-detector")
    after = load_detector(tmp_path / "model.elect-detector")
    for rows in (NEW, TABLE):
        assert np.array_equal(after.decision_function(rows), before.decision_function(rows))
    assert np.array_equal(after.predict(NEW), before.predict(NEW))
    assert after.threshold_ == before.threshold_
    assert after.selection_ == before.selection_
    assert after.treatment_ == before.treatment_
    assert np.array_equal(after.decision_scores_, before.decision_scores_)
    assert np.array_equal(after.labels_, before.labels_)
    if np.ptp(before.decision_scores_) > 0:
        assert np.array_equal(after.predict_proba(NEW_FRAME), before.predict_proba(NEW_FRAME))


NEW_FRAME = read_table(NEW).frame


def test_a_detector_of_an_array_round_trips(tmp_path: Path, small_database: MetaDatabase) -> None:
    X = RNG.normal(size=(80, 3))
    before = ElectDetector(0.05, database=small_database, max_models=8).fit(X)
    save_detector(before, tmp_path / "a")
    after = load_detector(tmp_path / "a")
    assert np.array_equal(after.predict(X), before.predict(X))
    assert after.selection_ == before.selection_
    with pytest.raises(ElectError, match="features"):
        after.decision_function(X[:, :2])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_what_every_strategy_says_round_trips(tmp_path: Path, small_database: MetaDatabase, strategy: str) -> None:
    ranks = np.linspace(1.0, len(SMALL_POOL), 25).tolist()
    database = replace(
        small_database,
        calibration={**small_database.calibration, "held_out_ranks": ranks, "committee_ranks": ranks},
    )
    before = ElectDetector(0.05, database=database, strategy=strategy).fit(RNG.normal(size=(80, 3)))
    assert (before.selection_.expected_rank is None) == (strategy == "fixed")
    save_detector(before, tmp_path / "a")
    after = load_detector(tmp_path / "a")
    assert after.selection_ == before.selection_
    assert after.selection_.steps[-1].expected_rank == before.selection_.expected_rank
    assert after.selection_.why == before.selection_.why


def test_equal_detectors_are_equal_bytes(tmp_path: Path, treated: Any) -> None:
    for name in "ab":
        save_detector(fit(treated, "COF(n_neighbors=10)"), tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_file_holds_no_code(tmp_path: Path, treated: Any) -> None:
    save_detector(fit(treated, "IForest(max_features=0.5, n_estimators=10)"), tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a") as file:
        names = file.namelist()
    assert {Path(name).suffix for name in names} == {".json", ".npy"}


def test_a_custom_detector_is_refused_unless_trusted(tmp_path: Path, treated: Any) -> None:
    from pyod.models.ecod import ECOD

    pool = ModelPool.of([ModelSpec.of(ECOD)])
    detector = fit(treated, pool.ids[0], pool, contamination=0.1)
    with pytest.raises(StoreError, match="--trust"):
        save_detector(detector, tmp_path / "a")
    assert not list(tmp_path.iterdir())
    save_detector(detector, tmp_path / "a", trust=True)
    with pytest.raises(StoreError, match="pickle, which can run anything"):
        load_detector(tmp_path / "a")
    after = load_detector(tmp_path / "a", trust=True)
    assert np.array_equal(after.decision_function(NEW), detector.decision_function(NEW))


class Bomb:
    """Unpickling this would be noticed."""

    def __reduce__(self) -> Any:
        return (exec, ("raise SystemExit('a pickle was loaded')",))


def test_a_hostile_pickle_is_never_loaded(tmp_path: Path) -> None:
    content = {"detector": "os:system", "params": {}, "n_features": 1, "numbers": {}, "contamination": 0.1}
    arrays = {"scale": np.ones(1), "center": np.zeros(1)}
    bomb = pack(Archive(content, arrays, raw={"detector": pickle.dumps(Bomb())}), KIND)
    (tmp_path / "a").write_bytes(bomb)
    with pytest.raises(StoreError, match="pickle"):
        load_detector(tmp_path / "a")
    bomb = pack(Archive(content, arrays), KIND)
    (tmp_path / "a").write_bytes(bomb)
    with pytest.raises(StoreError, match="unknown family"):
        load_detector(tmp_path / "a")


def test_damage_is_one_line(tmp_path: Path, treated: Any) -> None:
    save_detector(fit(treated, "LOF(metric=euclidean, n_neighbors=5)"), tmp_path / "a")
    whole = (tmp_path / "a").read_bytes()
    damaged = [b"", b"PK\x03\x04", b"hello", whole[: len(whole) // 2]]
    damaged += [
        whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :] for place in range(40, len(whole), 997)
    ]
    for data in damaged:
        (tmp_path / "b").write_bytes(data)
        with pytest.raises(StoreError) as caught:
            load_detector(tmp_path / "b")
        assert "\n" not in str(caught.value)
    with pytest.raises(StoreError, match="no such file"):
        load_detector(tmp_path / "nothing")
