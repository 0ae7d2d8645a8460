"""The committee: what it says of a row does not depend on the company, is stored exactly, and names the odd cell."""

import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from elect import ElectDetector, load_detector, save_detector
from elect.committee.committee import KINDS
from elect.committee.scorer import chance_of, either
from elect.detect import Election, Options, open_table
from elect.detect.findings import findings_of
from elect.errors import InvalidInput
from elect.history.shipped import shipped_database


def table(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    size = rng.normal(50, 5, n).round(1)
    weight = (size * 2 + rng.normal(0, 1, n)).round(1)
    city = rng.choice(["Rome", "Paris", "Oslo"], n)
    day = np.datetime64("2024-01-01") + rng.integers(0, 300, n)
    frame = pl.DataFrame({"size": size, "weight": weight, "city": city, "day": day.astype("datetime64[D]")})
    return frame.with_columns(
        size=pl.when(pl.int_range(pl.len()) == 7).then(pl.col("size") * 10).otherwise("size"),
        city=pl.when(pl.int_range(pl.len()) == 11).then(pl.lit("Romee")).otherwise("city"),
        weight=pl.when(pl.int_range(pl.len()) == 13).then(-999.0).otherwise("weight"),
    )


@pytest.fixture(scope="module")
def fitted() -> ElectDetector:
    return ElectDetector(strategy="fixed").fit(table())


def test_wrong_values_come_first_and_their_cells_are_named() -> None:
    election = Election(open_table(table()), shipped_database(), Options(strategy="fixed"))
    for _ in election.steps():
        pass
    detection = election.detect(election.selection())
    found = findings_of(election, detection, top=5)
    assert {row.position for row in found.top[:3]} == {7, 11, 13}
    named = {row.position: row.reasons[0].column for row in found.top[:3]}
    assert named == {7: "size", 11: "city", 13: "weight"}
    said = {row.position: str(row.reasons[0]) for row in found.top[:3]}
    assert "nearly 'Rome'" in said[11]
    assert all(row.kind in KINDS for row in found.top)
    assert all(row.chance is not None and row.chance > 0.5 for row in found.top[:3])
    assert detection.labels[[7, 11, 13]].all()
    assert detection.labels.sum() <= 5
    assert detection.false_alarms is not None
    assert 0 <= detection.false_alarms < 0.5


def test_a_row_scores_the_same_alone_and_in_any_batch(fitted: ElectDetector) -> None:
    new = table(40).with_columns(pl.col("size") + 1)
    together = fitted.decision_function(new)
    alone = np.array([fitted.decision_function(new[i : i + 1])[0] for i in range(len(new))])
    assert np.array_equal(together, alone)
    assert np.array_equal(fitted.decision_function(new[::-1])[::-1], together)


def test_columns_may_come_in_another_order(fitted: ElectDetector) -> None:
    new = table(20)
    assert np.array_equal(fitted.decision_function(new), fitted.decision_function(new.select(sorted(new.columns))))


def test_what_is_saved_scores_the_same(fitted: ElectDetector, tmp_path: Path) -> None:
    new = table(50).with_columns(city=pl.when(pl.int_range(pl.len()) == 3).then(pl.lit("Lima")).otherwise("city"))
    save_detector(fitted, tmp_path / "d.elect-detector")
    again = load_detector(tmp_path / "d.elect-detector")
    assert np.array_equal(again.decision_function(new), fitted.decision_function(new))
    assert np.array_equal(again.chance_, fitted.chance_)
    copied = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(copied.decision_function(new), fitted.decision_function(new))


def test_arrays_have_a_committee_too(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    X[5, 2] = 60.0
    detector = ElectDetector(strategy="fixed").fit(X)
    assert detector.decision_scores_.argmax() == 5
    assert detector.labels_[5] == 1
    save_detector(detector, tmp_path / "d")
    assert np.array_equal(load_detector(tmp_path / "d").decision_function(X[:9]), detector.decision_function(X[:9]))
    proba = detector.predict_proba(X[:9])
    assert np.allclose(proba.sum(axis=1), 1.0)
    assert proba[5, 1] == proba[:, 1].max()


@pytest.mark.parametrize("n", [2, 3, 12])
def test_small_tables(n: int) -> None:
    detector = ElectDetector(strategy="fixed").fit(table(300)[:n])
    assert np.isfinite(detector.decision_scores_).all()


def test_either_is_at_least_as_likely_as_each() -> None:
    a, b = np.meshgrid(np.linspace(-50, 50, 41), np.linspace(-50, 50, 41))
    both = either(a.ravel(), b.ravel())
    assert np.isfinite(both).all()
    expected = 1 - (1 - chance_of(a.ravel())) * (1 - chance_of(b.ravel()))
    assert np.allclose(chance_of(both), expected)


def test_an_unknown_scorer_is_refused() -> None:
    with pytest.raises(InvalidInput, match="scorer must be 'committee' or 'model', got 'all'"):
        ElectDetector(scorer="all").fit(np.eye(4))


def test_answers_count_for_every_row_and_are_saved_with_the_detector(tmp_path: Path) -> None:
    from elect.detect.saving import kept, load_saved, saved_bytes

    election = Election(open_table(table()), shipped_database(), Options(strategy="fixed"))
    for _ in election.steps():
        pass
    before = election.detect(election.selection())
    feedback = election.feedback()
    feedback.tell(7, False)
    feedback.tell(20, True)
    after = election.detect(election.selection(), feedback)
    assert before.labels[7] == 1
    assert after.labels[7] == 0
    assert after.labels[20] == 1
    assert after.scores[20] == after.scores.max()
    other = np.setdiff1d(np.arange(300), [7, 20])
    assert not np.array_equal(after.scores[other], before.scores[other])
    (tmp_path / "d").write_bytes(saved_bytes(kept(after)))
    new = table(30)
    again = load_saved(tmp_path / "d").scorer
    rows = again.treatment.transform(new) if again.treatment is not None else None
    assert rows is not None
    assert np.array_equal(again(rows, new), after.scorer(rows, new))
    assert not np.array_equal(again(rows, new), before.scorer(rows, new))
