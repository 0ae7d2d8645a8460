"""A table that is too long to be learned from whole: its columns are known exactly at their ends, however it is cut."""

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect.detect import Election, Options, election, open_table, opened
from elect.detect.costs import RowCost, Size, cost_of
from elect.history.shipped import shipped_database
from elect.support.ahead import ahead
from elect.tables import ColumnTreatment
from elect.tables.cells import CellJudge, Survey, cells_of_array, cells_of_frame, merged, survey
from elect.tables.cells._base import PLACE
from elect.tables.cells.numbers import NumberJudge

RNG = np.random.default_rng(5)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6), st.just(np.nan)), min_size=1, max_size=80),
    st.lists(st.integers(0, 80), max_size=6),
)
def test_a_survey_does_not_care_how_rows_are_cut(values: list[float], cuts: list[int]) -> None:
    x = np.array(values)[:, None]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "ENDS", 7)
        whole = Survey.of(cells_of_array(x))
        parts = [part for part in np.split(x, sorted(min(cut, len(x)) for cut in cuts)) if len(part)]
        found = merged(Survey.of(cells_of_array(part)) for part in parts)
    known = np.sort(x[~np.isnan(x)])
    for told in (whole, found):
        assert told.rows == len(x)
        assert told.numbers[0].count == len(known)
        np.testing.assert_array_equal(told.numbers[0].low, known[:7])
        np.testing.assert_array_equal(told.numbers[0].high, known[-7:])


def test_the_ends_of_a_column_are_judged_as_if_all_rows_had_been_learned() -> None:
    X = np.round(RNG.standard_t(3, size=(40_000, 2)), 2)
    X[7, 0], X[8, 0], X[9, 1] = 60.0, 60.0, np.nan
    whole = cells_of_array(X)
    sample = cells_of_array(X[100::20])
    exact, guessed = CellJudge.fit(whole), CellJudge.fit(sample, Survey.of(whole))
    ends = np.r_[np.argsort(X[:, 0])[:30], np.argsort(X[:, 0])[-30:], 7, 8, 9]
    for judge in (exact, guessed):
        assert judge.numbers.counts.tolist() == [40_000, 39_999]
    # In the units of the one scale: the other is that of the sample, and differs a little.
    known = NumberJudge(**{**vars(exact.numbers), "scale": guessed.numbers.scale})
    cells = whole.rows(ends)
    said = np.zeros((len(ends), 2, len(PLACE)), np.float32)
    want = np.zeros_like(said)
    guessed.numbers.judge(cells, said)
    known.judge(cells, want)
    for name in ("tail", "alone", "missing"):
        np.testing.assert_array_equal(said[:-1, 0, PLACE[name]], want[:-1, 0, PLACE[name]], err_msg=name)
    np.testing.assert_allclose(said[-3:-1, 0, PLACE["gap"]], want[-3:-1, 0, PLACE["gap"]], rtol=1e-6)
    assert said[-1, 1, PLACE["missing"]] == want[-1, 1, PLACE["missing"]] == np.float32(-np.log(1 / 40_000))


def test_rare_words_are_counted_in_all_rows() -> None:
    words = ["Rome"] * 5_000 + ["Oslo"] * 4_990 + ["Rone"] * 3 + [None] * 7
    table = pl.DataFrame({"city": words, "x": RNG.normal(size=len(words))})
    treatment = ColumnTreatment.fit(table[::100])
    cells = cells_of_frame(treatment, table)
    judge = CellJudge.fit(cells_of_frame(treatment, table[::100]), Survey.of(cells))
    assert judge.words == CellJudge.fit(cells).words
    assert judge.words.columns[0].counts["Rone"] == 3


def test_too_many_different_words_are_known_from_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(survey, "MOST_WORDS", 3)
    few, many = Survey(2, (), (Counter({"a": 2}),)), Survey(3, (), (Counter({"b": 1, "c": 1, "d": 1}),))
    assert (few | few).words == (Counter({"a": 4}),)
    assert (few | many).words == (None,)
    assert (few | many | few).words == (None,)


@pytest.mark.parametrize("place", [0, 1_234, 2_999])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_extreme_value_is_known_wherever_it_is(
    place: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened, "LEARNED_ROWS", 500)
    monkeypatch.setattr(opened, "ROWS_AT_ONCE", 700)
    monkeypatch.setattr(election, "MAX_ROWS", 200)
    X = RNG.normal(size=(3_000, 4)).round(6)
    X[place, 2] = 60.0
    frame, path = pl.DataFrame(X, schema=list("abcd")), tmp_path / f"t.{kind}"
    frame.write_parquet(path) if kind == "parquet" else frame.write_csv(path)
    found = Election(open_table(path), shipped_database(), Options(strategy="fixed"))
    judge = found.heard.committee.committee.judge.numbers
    here = slice(int(judge.starts[2]), int(judge.starts[3]))
    assert judge.distinct[here][-1] == 60.0
    assert judge.counts.tolist() == [3_000] * 4


def test_reading_ahead_hands_on_what_happens() -> None:
    def items() -> object:
        yield 1
        raise KeyError("gone")

    got = ahead(items())  # type: ignore[arg-type]
    assert next(got) == 1
    with pytest.raises(KeyError, match="gone"):
        next(got)
    closed = []

    def endless() -> object:
        try:
            while True:
                yield 1
        finally:
            closed.append(True)

    some = ahead(endless())  # type: ignore[arg-type]
    assert next(some) == 1
    some.close()  # type: ignore[attr-defined]
    assert closed == [True]


def test_a_committee_that_fits_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opened, "LEARNED_ROWS", 500)
    monkeypatch.setattr(election, "MAX_ROWS", 200)
    path = tmp_path / "t.parquet"
    pl.DataFrame(RNG.normal(size=(3_000, 4)), schema=list("abcd")).write_parquet(path)

    def walked(seconds: float | None, a_row: float) -> Election:
        def told(scorer: object, size: Size, *_: object) -> RowCost:
            return RowCost(size, 0.6 * a_row, 0.3 * a_row, 0.1 * a_row)

        monkeypatch.setattr(election, "cost_of", told)
        found = Election(open_table(path), shipped_database(), Options(max_seconds=seconds, n_jobs=1))
        found.planned = found.plan()  # type: ignore[attr-defined]
        return found

    free, easy = walked(None, 1.0), walked(100.0, 1e-4)
    assert free.size == easy.size == Size(200, 5)
    assert free.planned == pytest.approx(3_450.0)  # type: ignore[attr-defined]
    tight = walked(100.0, 0.03)  # 103 s with all rows, 72 with half of them
    assert tight.size == Size(100, 5)
    assert len(tight.positions) == len(tight.heard.voices) == 100
    assert tight.planned == pytest.approx(72.45)  # type: ignore[attr-defined]
    never = walked(100.0, 1.0)
    assert never.size == Size(40, 1)
    for found, said in ((tight, "takes about 1 min 12 s"), (never, "no committee is quick enough")):
        list(found.steps())
        detection = found.detect(found.selection())
        assert len(detection.scores) == 3_000
        assert said in detection.selection.notes[-1]
    assert "smaller forest" not in tight.selection().notes[-1]
    assert "40 rows instead of 200 and a smaller forest" in never.selection().notes[-1]
    short = Election(open_table(pl.read_parquet(path)[:400]), shipped_database(), Options(max_seconds=1.0))
    assert short.plan() is None


def test_what_a_row_costs_is_measured(tmp_path: Path) -> None:
    table = open_table(pl.DataFrame(RNG.normal(size=(1_200, 3)), schema=list("abc")))
    found = Election(table, shipped_database(), Options())
    assert found.first_look is not None
    cost = cost_of(found.first_look.scorer, found.size, found.learned, table.sample.frame)
    assert 0 < cost.neighbors < cost.of(cost.size) < 0.1
    assert cost.forest > 0
    assert cost.of(Size(100, 1)) < cost.of(cost.size)
