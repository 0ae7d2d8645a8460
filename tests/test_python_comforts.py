"""What a person at a Python prompt or in a notebook expects of the package."""

import logging
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import elect
from elect import ElectDetector, ElectWarning, Feedback, ScoreMatrix, load_database
from elect.errors import InvalidInput
from elect.history.shipped import shipped_database

ROWS = np.vstack([np.random.default_rng(0).normal(size=(80, 3)).round(2), [[0.1, 30.0, 0.2]]])


@pytest.fixture(scope="module")
def scores() -> ScoreMatrix:
    return ScoreMatrix([[0.1, 3.0, 1.0], [0.9, 1.0, 2.0]], ("a", "b", "c"))


def test_scores_are_an_array(scores: ScoreMatrix) -> None:
    assert scores.shape == np.asarray(scores).shape == np.shape(scores) == (2, 3)
    assert len(scores) == 2
    assert np.asarray(scores, dtype=np.float32).dtype == np.float32
    assert np.max(scores) == 3.0
    assert repr(scores) == "ScoreMatrix(2 rows x 3 models: a, b, ...)"


def test_what_is_taken_from_scores_as_a_copy_is_one(scores: ScoreMatrix) -> None:
    np.array(scores)[0, 0] = 7.0  # a copy may be written to
    assert scores["a"][0] == 0.1
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(scores)[0, 0] = 7.0
    with pytest.raises(ValueError, match="copy"):
        np.array(scores, dtype=np.float32, copy=False)


def test_scores_become_frames(scores: ScoreMatrix) -> None:
    import pandas as pd

    assert scores.to_polars().to_dict(as_series=False) == {"a": [0.1, 0.9], "b": [3.0, 1.0], "c": [1.0, 2.0]}
    pd.testing.assert_frame_equal(scores.to_pandas(), pd.DataFrame({"a": [0.1, 0.9], "b": [3.0, 1.0], "c": [1.0, 2.0]}))


def test_databases_are_loaded_by_one_name(tmp_path: Path) -> None:
    assert load_database() is shipped_database()
    load_database().save(tmp_path / "ours.elect")
    assert load_database(tmp_path / "ours.elect").tasks == shipped_database().tasks
    assert len(repr(load_database())) < 100


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (np.array([[1.0, 2.0], [2.0, 3.0]]), "2 rows are too few"),
        (pl.DataFrame({"a": [1.0, 2.0, 4.0]}), "3 rows are too few"),
        (np.ones((50, 3)), "all rows are alike"),
    ],
)
def test_a_table_that_cannot_tell_much_is_warned_of(table: object, said: str) -> None:
    with pytest.warns(ElectWarning, match=said):
        detector = ElectDetector().fit(table)
    assert not detector.labels_.any()


def test_an_ordinary_table_is_not_warned_of() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ElectDetector(max_models=3).fit(ROWS)


def test_what_is_done_is_logged_and_nothing_is_printed(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    ElectDetector(max_models=3).fit(ROWS)
    capfd.readouterr()  # kernels that were compiled say so, once
    with caplog.at_level(logging.INFO, logger="elect"):
        ElectDetector(max_models=3).fit(ROWS)
    assert [record.levelname for record in caplog.records] == ["INFO"] * 3
    assert caplog.messages[0] == "The array: 81 rows"
    assert caplog.messages[2] == "1 of 81 rows flagged"
    assert capfd.readouterr() == ("", "")


def test_progress_is_shown_where_it_is_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    ElectDetector(max_models=3, verbose=True).fit(ROWS)
    out, shown = capfd.readouterr()
    assert out == ""
    assert "electing a detector" in shown


def test_a_notebook_shows_a_session_of_questions() -> None:
    session = Feedback(ROWS)
    assert "No answers yet" in session._repr_html_()
    session.tell(80, True)
    session.tell(3, None)
    shown = session._repr_html_()
    assert "2 answers (1 yes, 0 no, 1 don&#x27;t know)" in shown
    assert '<tr><th scope="row">80</th>' in shown
    assert shown.count("<tr>") == 11


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_it_is_the_end_of_a_pipeline(output: str) -> None:
    steps = make_pipeline(StandardScaler(), ElectDetector(max_models=3)).set_output(transform=output)
    steps.fit(ROWS)
    assert steps.predict(ROWS)[80] == 1
    assert steps.decision_function(ROWS).argmax() == 80
    assert steps[-1].detector_.decision_scores_.shape == (81,)


def test_the_package_is_typed() -> None:
    assert (Path(elect.__file__).parent / "py.typed").is_file()


def test_a_session_takes_what_a_detector_takes() -> None:
    columns = {"size": [float(i % 7) for i in range(40)], "kind": ["a", "b"] * 20}
    assert Feedback(columns).n_rows == ElectDetector(max_models=3).fit(columns).labels_.size == 40
    with pytest.raises(elect.ElectError, match="frame"):
        Feedback(np.array([[1.0, np.nan], [2.0, 3.0]]))


def test_the_name_of_a_file_is_no_table() -> None:
    with pytest.raises(TypeError, match=r"read_table\('payments.csv'\)"):
        ElectDetector().fit("payments.csv")


def test_what_is_long_is_shown_short() -> None:
    database = load_database()
    assert repr(elect.ModelPool.grid("COF", n_neighbors=[3, 5])) == "ModelPool(2 COF)"
    for shown in (database, database.pool, database.performance, ElectDetector(max_models=3).fit(ROWS).selection_):
        assert len(repr(shown)) < 150


@pytest.mark.parametrize("X", [[["a", "b"], ["c", "d"]], np.array([["1.5", "red"]] * 30)])
def test_text_in_an_array_gets_an_advice(X: object) -> None:
    with pytest.raises(InvalidInput, match=r"holds text.*give a pandas or polars frame"):
        ElectDetector().fit(X)


def test_a_missing_value_in_an_array_gets_our_advice() -> None:
    gone = ROWS.copy()
    gone[3, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"contains NaN.*give a pandas or polars frame"):
        ElectDetector().fit(gone)
    detector = ElectDetector(strategy="fixed").fit(ROWS)
    with pytest.raises(InvalidInput, match=r"contains NaN.*give a pandas or polars frame"):
        detector.predict(gone)
