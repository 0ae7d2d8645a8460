"""One road from a table to a detection: the same scores whoever walks it and however the rows are cut."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect import ElectDetector, MetaDatabase, ModelPool, ModelSpec, load_detector
from elect.cli import main
from elect.core import Candidate, SearchStep, Selection
from elect.detect import Detection, Election, Options, election, findings_of, open_array, open_table, opened
from elect.detect.saving import kept, load_saved, saved_bytes
from elect.detect.scoring import score_file
from elect.errors import InvalidInput
from toys import SMALL_POOL

RNG = np.random.default_rng(21)
N = 240


def table() -> pl.DataFrame:
    """Numbers only, an id and a column that repeats another among them; rows 5 and 77 are odd."""
    X = RNG.normal(size=(N, 3)).round(4)
    X[5, 0], X[77] = 14.0, -9.0
    return pl.DataFrame({"number": np.arange(1, N + 1), "a": X[:, 0], "b": X[:, 1], "again": X[:, 1], "c": X[:, 2]})


TABLE = table()


@pytest.fixture(scope="module")
def database(small_database: MetaDatabase, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("road") / "small.elect"
    small_database.save(path)
    return path


def elected(data: Any, database: MetaDatabase, **options: Any) -> Election:
    """An election that ran to its end."""
    asked = Options(**options)
    done = Election(open_table(data, asked.seed), database, asked)
    for _ in done.steps():
        pass
    return done


def walk(data: Any, database: MetaDatabase, **options: Any) -> Detection:
    done = elected(data, database, **options)
    return done.detect(done.selection())


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_python_and_the_command_line_give_the_same_scores(kind: str, database: Path, tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "scores.csv"
    TABLE.write_csv(path)
    own = ["--database", str(database), "--trust", "--n-jobs", "1", "-q"]
    assert main(["detect", str(path), "-o", str(out), "--save", str(tmp_path / "d"), *own]) == 0
    frame = TABLE if kind == "polars" else TABLE.to_pandas()
    detector = ElectDetector("auto", database=database).fit(frame)
    assert detector.treatment_.sources == ("a", "b", "c")
    found = pl.read_csv(out)
    np.testing.assert_allclose(found["elect_score"].to_numpy(), detector.decision_scores_, rtol=1e-12)
    assert found["elect_outlier"].to_list() == detector.labels_.tolist()
    np.testing.assert_array_equal(
        load_detector(tmp_path / "d").decision_function(frame), detector.decision_function(frame)
    )


def test_columns_of_a_frame_are_found_by_name_and_of_an_array_by_place(database: Path) -> None:
    detector = ElectDetector(database=database).fit(TABLE)
    plain = detector.decision_function(TABLE)
    np.testing.assert_array_equal(detector.decision_function(TABLE.select(sorted(TABLE.columns, reverse=True))), plain)
    np.testing.assert_array_equal(detector.decision_function(TABLE.to_pandas()[["c", "b", "a"]]), plain)
    np.testing.assert_array_equal(detector.decision_function(TABLE.to_numpy()), plain)
    assert detector.feature_names_in_.tolist() == TABLE.columns
    assert detector.n_features_in_ == 5
    with pytest.raises(InvalidInput, match="5 columns that were fitted, got 4"):
        detector.decision_function(TABLE.to_numpy()[:, 1:])
    with pytest.raises(InvalidInput, match="lacks column 'a'"):
        detector.decision_function(TABLE.drop("a"))


def test_an_array_is_taken_as_it_is(database: Path) -> None:
    detector = ElectDetector(database=database).fit(TABLE.to_numpy())
    assert detector.treatment_ is None
    assert detector.detector_.n_features_in_ == 5


def named(detection: Detection) -> list[str]:
    return [str(name) for batch in detection.opened.batches() for name in detection.names(batch)]


@pytest.mark.parametrize("rows", [1, 7, 64, 1000])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_how_the_rows_are_cut_does_not_matter(
    kind: str, rows: int, small_database: MetaDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long file read in batches, the same table in memory: learned from 120 rows, fitted on 50 of these."""
    monkeypatch.setattr(opened, "LEARNED_ROWS", 120)
    monkeypatch.setattr(election, "MAX_ROWS", 50)
    path = tmp_path / f"t.{kind}"
    mixed = TABLE.with_columns(colour=pl.Series(RNG.permutation(["red", "blue", "green"] * 80)))
    mixed.write_parquet(path) if kind == "parquet" else mixed.write_csv(path)
    in_memory = walk(mixed, small_database, seed=3, id="number")
    monkeypatch.setattr(opened, "ROWS_AT_ONCE", rows)
    streamed = walk(path, small_database, seed=3, id="number")
    assert in_memory.opened.whole is not None
    assert streamed.opened.is_streamed
    np.testing.assert_array_equal(streamed.scores, in_memory.scores)
    assert streamed.selection.pick == in_memory.selection.pick
    assert streamed.threshold == in_memory.threshold
    assert streamed.notes == in_memory.notes
    assert streamed.selection.notes == ("elected and fitted on a seeded sample of 50 of the 240 rows",)
    np.testing.assert_array_equal(streamed.fitted, in_memory.fitted)
    assert named(streamed) == named(in_memory)


def test_new_rows_score_the_same_in_any_batches(
    small_database: MetaDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TABLE.write_parquet(tmp_path / "t.parquet")
    walked = elected(TABLE, small_database, contamination=0.05)
    detection = walked.detect(walked.selection())
    findings = findings_of(walked, detection, top=4)
    assert {row.position for row in findings.top[:2]} == {5, 77}
    (tmp_path / "d").write_bytes(saved_bytes(kept(detection, findings.explainer)))
    saved = load_saved(tmp_path / "d")
    whole = score_file(saved, tmp_path / "t.parquet", top=4)
    for rows in (1, 13, 100):
        monkeypatch.setattr(opened, "ROWS_AT_ONCE", rows)
        cut = score_file(saved, tmp_path / "t.parquet", top=4)
        np.testing.assert_array_equal(cut.scores, whole.scores)
        assert cut.top == whole.top
        assert cut.notes == whole.notes


@pytest.mark.parametrize("model_id", SMALL_POOL.ids)
def test_a_row_scores_the_same_alone_and_among_others(model_id: str) -> None:
    from elect import fit_detector

    X = RNG.normal(size=(150, 5))
    detector = fit_detector(model_id, X)
    new = RNG.normal(size=(40, 5)) * 3
    together = detector.decision_function(new)
    alone = np.concatenate([detector.decision_function(new[[row]]) for row in range(len(new))])
    np.testing.assert_array_equal(alone, together)


def test_notes_are_said_once_and_belong_to_the_pick(small_database: MetaDatabase, monkeypatch: Any) -> None:
    monkeypatch.setattr(election, "MAX_ROWS", 100)
    walked = elected(TABLE, small_database)
    selection = walked.selection()
    assert selection.notes == ("elected and fitted on a seeded sample of 100 of the 240 rows",)
    detection = walked.detect(selection)
    assert detection.selection.notes == selection.notes
    # The pick of the answers keeps nothing that was said of another one.
    monkeypatch.setattr(walked.scorer, "note", lambda model_id: f"about {model_id}")
    assert walked.detect(selection).selection.notes[0] == f"about {selection.model_id}"


def test_a_search_may_be_stopped_after_any_step(small_database: MetaDatabase) -> None:
    walked = Election(open_array(TABLE.to_numpy()), small_database, Options(strategy="elect"))
    for step in walked.steps():
        if step.index == 2:
            break
    detection = walked.detect(walked.selection("enough"))
    assert detection.selection.stopped_because == "enough"
    assert len(detection.scores) == len(named(detection)) == N
    assert detection.labels.tolist() == (detection.scores > detection.threshold).astype(int).tolist()


def test_parameters_come_from_the_pool_not_from_the_name() -> None:
    pool = ModelPool.of([ModelSpec.of("mine:Detector", depth="5", words="a, b=c")])
    step = SearchStep(0, "prior", None, None, (), Candidate(pool.ids[0], 0.5, 0.1), (), 0.0)
    assert Selection.from_steps([step], pool).params == (("depth", "5"), ("words", "a, b=c"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"contamination": 0.0}, r"contamination must be 'auto' or a number in \(0, 0.5\], got 0.0"),
        ({"contamination": True}, "contamination must be"),
        ({"strategy": "guess"}, "strategy must be one of auto, committee, fixed, elect, got 'guess'"),
        ({"max_models": -1}, "max_models must be a number of at least 0"),
        ({"max_seconds": float("nan")}, "max_seconds must be a number of at least 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must be None, a positive number or -1"),
    ],
)
def test_options_are_checked_when_they_are_made(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Options(**options)


def test_the_help_tells_the_threshold_that_is_used() -> None:
    from typer.main import get_command

    from elect.cli.app import app
    from elect.detect.threshold import rule_of

    commands: Any = get_command(app)
    told = next(option.help for option in commands.commands["detect"].params if option.name == "contamination")
    assert f"auto: {rule_of(0.0, 'auto', 'committee')}" in told
