"""Python as good as the command line: reasons of any rows, the report, and what a notebook shows."""

import copy
import pickle
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from elect import ElectDetector, MetaDatabase, load_detector, save_detector
from elect.cli import main
from elect.errors import InvalidInput

RNG = np.random.default_rng(5)
N = 200
TABLE = pl.DataFrame(
    {
        "who": [f"W{i}" for i in range(N)],
        "size": RNG.normal(10, 1, N).round(2),
        "city": RNG.choice(["Rome", "Oslo", "Bern"], N).tolist(),
        "speed": [None if i % 30 == 0 else round(v, 2) for i, v in enumerate(RNG.normal(5, 1, N))],
    }
).with_columns(size=pl.when(pl.int_range(N) == 7).then(1000.5).otherwise(pl.col("size")))


@pytest.fixture(scope="module")
def fitted(small_database: MetaDatabase) -> ElectDetector:
    return ElectDetector(database=small_database).fit(TABLE)


def test_rows_that_were_fitted_are_judged_as_they_were(fitted: ElectDetector) -> None:
    found = fitted.explain(TABLE)
    assert [row.position for row in found] == list(range(N))
    np.testing.assert_allclose([row.chance for row in found], fitted.chance_, rtol=1e-9)
    assert [row.is_outlier for row in found] == (fitted.labels_ == 1).tolist()
    odd = found[7]
    assert (odd.id, odd.reasons[0].column, odd.reasons[0].value) == ("W7", "size", "1000.5")
    assert str(odd).startswith("W7: chance ")
    assert "size = 1000.5" in str(odd)
    some = fitted.explain(TABLE.to_pandas()[["speed", "city", "size", "who"]].iloc[5:9], rows=[2, -1])
    assert [row.id for row in some] == ["W7", "W8"]
    assert some[0].chance == pytest.approx(odd.chance)


def test_new_rows_are_judged_as_decision_function_scores_them(fitted: ElectDetector, tmp_path: Path) -> None:
    new = pl.DataFrame({"who": ["A", "B"], "size": [10.0, -900.0], "city": ["Rome", "Rom"], "speed": [5.0, 5.0]})
    found = fitted.explain(new)
    np.testing.assert_allclose([row.score for row in found], fitted.decision_function(new), rtol=1e-9)
    assert {reason.column for reason in found[1].reasons} & {"size", "city"}
    save_detector(fitted, tmp_path / "d")
    assert [str(row) for row in load_detector(tmp_path / "d").explain(new)] == [str(row) for row in found]


def test_arrays_and_truth_values(small_database: MetaDatabase) -> None:
    X = RNG.normal(size=(150, 4)).round(3)
    X[3, 2] = 300.0
    detector = ElectDetector(database=small_database).fit(X)
    (found,) = detector.explain(X, np.arange(150) == 3)
    assert (found.id, found.position, found.reasons[0].column) == ("3", 3, "x2")
    assert found.chance == pytest.approx(detector.chance_[3])
    for rows in ([150], [0.5], [[1]], "a"):
        with pytest.raises(InvalidInput, match="rows must be positions from 0 to 149"):
            detector.explain(X, rows)


def test_the_elected_model_alone_has_reasons_too(small_database: MetaDatabase) -> None:
    detector = ElectDetector(database=small_database, scorer="model").fit(TABLE)
    (found,) = detector.explain(TABLE, [7])
    assert found.chance is None
    assert found.reasons[0].column == "size"
    assert detector._repr_html_()


@pytest.mark.parametrize("kind", ["frame", "array"])
def test_the_report_is_written_from_python(kind: str, small_database: MetaDatabase, tmp_path: Path) -> None:
    X = TABLE if kind == "frame" else TABLE.select("size", pl.col("speed").fill_null(5.0)).to_numpy()
    detector = ElectDetector(database=small_database).fit(X)
    detector.report(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "false alarm" in page
    assert "size" in page if kind == "frame" else "x0" in page
    with pytest.raises(InvalidInput, match=r"\.html"):
        detector.report(tmp_path / "r.pdf")
    for copied in (pickle.loads(pickle.dumps(detector)), copy.deepcopy(detector)):
        with pytest.raises(InvalidInput, match="loaded or copied has no table"):
            copied.report(tmp_path / "again.html")
        np.testing.assert_array_equal(copied.decision_function(X), detector.decision_function(X))


def test_a_notebook_shows_the_rows(fitted: ElectDetector) -> None:
    html = fitted._repr_html_()
    assert "W7" in html
    assert "of 200 rows flagged" in html
    assert fitted._repr_mimebundle_()["text/html"] == html
    assert "ElectDetector" in ElectDetector()._repr_html_()


def test_the_reasons_are_those_of_the_command_line(
    fitted: ElectDetector, small_database: MetaDatabase, tmp_path: Path
) -> None:
    small_database.save(tmp_path / "small.elect")
    TABLE.write_csv(tmp_path / "t.csv")
    out = tmp_path / "o.parquet"
    own = ["--database", str(tmp_path / "small.elect"), "--trust", "-q"]
    assert main(["detect", str(tmp_path / "t.csv"), "-o", str(out), *own]) == 0
    written = pl.read_parquet(out)
    flagged = np.flatnonzero(fitted.labels_)
    assert len(flagged)
    for row in fitted.explain(TABLE, flagged):
        assert written["elect_kind"][row.position] == row.kind
        assert written["elect_reasons"][row.position] == row.why
