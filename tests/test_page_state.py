"""The state of the page: searches that stop and replace each other, answers that are never lost."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elect.answers.kept import KeptAnswers, beside
from elect.errors import InvalidInput
from elect.page import views
from elect.page._base import Ranking
from elect.page.reader import NotYet
from elect.page.rows import Query, find, ordered
from elect.page.state import PageState
from page_fake import KINDS, N_STEPS, FakeProduct, payments
from page_serving import ready, until


@contextmanager
def opened(product: FakeProduct, answers: Path | None = None) -> Iterator[PageState]:
    state = PageState(product, KeptAnswers(answers, product.row_ids))
    try:
        yield state
    finally:
        if product.hold is not None:
            product.hold.set()
        state.close()


def test_rows_appear_while_the_search_runs_and_stop_keeps_what_there_is() -> None:
    product = FakeProduct(payments(300), hold=threading.Event())
    with opened(product) as state:
        state.search()
        until(lambda: state.moment.done == 6)
        assert state.moment.phase == "searching"
        rows = state.reader.rows(state.moment, Query(), 0, 5)
        assert len(rows["rows"]) == 5
        with pytest.raises(NotYet):
            state.download("csv")
        state.stop()
        product.hold.set()
        ready(state)
        assert state.moment.done < N_STEPS
        assert state.moment.found is not None
        assert state.moment.found.selection.stopped_because == "it was stopped from the page"


def test_of_many_searches_only_the_latest_is_finished() -> None:
    product = FakeProduct(payments(300), hold=threading.Event())
    with opened(product) as state:
        state.search()
        until(lambda: state.moment.done == 6)
        state.search(["fee"])
        state.search(["fee", "hour"])
        state.search(["amount"])
        product.hold.set()
        ready(state)
        assert product.searches == [(), ("amount",)]
        assert state.moment.left_out == ("amount",)
        assert state.moment.found_version == 3  # one early find of the first search, both of the last


def test_an_answer_given_during_a_search_counts_when_it_has_ended(tmp_path: Path) -> None:
    product = FakeProduct(payments(300), hold=threading.Event())
    with opened(product, tmp_path / "a.csv") as state:
        state.search()
        until(lambda: state.moment.done == 6)
        state.answer(7, True)
        assert state.moment.answers == ((7, True),)
        assert "7,P-100007,yes" in (tmp_path / "a.csv").read_text()
        product.hold.set()
        ready(state)
        until(lambda: state.moment.ranking is not None and state.moment.ranking.chance[7] > 0.98)


def test_answers_are_kept_found_again_changed_and_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with opened(FakeProduct(payments(300)), path) as state:
        state.search()
        ready(state)
        first = state.moment.question
        assert first is not None
        state.answer(first, True)
        assert state.moment.question != first
        state.answer(11, None)
        state.answer(12, False)
        # A second answer about a row replaces the first.
        state.answer(11, False)
        assert state.moment.answers == ((first, True), (12, False), (11, False))
    with opened(FakeProduct(payments(300)), path) as state:
        assert state.moment.answers == ((first, True), (12, False), (11, False))
        state.search()
        ready(state)
        assert state.moment.ranking is not None
        assert state.moment.ranking.chance[first] == pytest.approx(0.99)
        assert state.moment.ranking.chance[12] == pytest.approx(0.01)
        plain = state.moment.ranking.chance.copy()
        state.answer(20, True)
        assert state.moment.changed is not None
        assert state.moment.changed["row"] == "P-100020"
        state.undo()
        assert state.moment.changed is not None
        assert state.moment.changed["undone"]
        np.testing.assert_allclose(state.moment.ranking.chance, plain)
        for _ in range(3):
            state.undo()
        with pytest.raises(InvalidInput, match="no answer to take back"):
            state.undo()
    assert path.read_text() == "position,row,answer\n"


def test_answers_stay_when_a_column_is_left_out() -> None:
    with opened(FakeProduct(payments(300))) as state:
        state.search()
        ready(state)
        state.answer(5, True)
        state.search(["amount"])
        until(lambda: state.moment.found_version == 4)
        ready(state)
        assert state.moment.ranking is not None
        assert state.moment.ranking.chance[5] == pytest.approx(0.99)


def test_answers_of_another_table_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    product = FakeProduct(payments(30))
    for text in (
        "position,row,answer\n3,P-1,yes\n",
        "position,row,answer\n30,P-100030,yes\n",
        "position,answer\n3,perhaps\n",
        "a\n1\n",
    ):
        path.write_text(text)
        with pytest.raises(InvalidInput):
            KeptAnswers(path, product.row_ids).read()
    path.write_text("position,answer\n3,unknown\n")
    assert KeptAnswers(path, product.row_ids).read() == ((3, None),)
    assert beside(Path("a.b.csv")) == Path("a.b.answers.csv")


def test_what_goes_wrong_is_said_and_the_next_search_runs() -> None:
    product = FakeProduct(payments(300), broken="no memory")
    with opened(product) as state:
        state.search()
        until(lambda: state.moment.phase == "failed")
        assert state.moment.failure == "The search failed: RuntimeError: no memory"
        product.broken = None
        state.search()
        ready(state)
        assert state.moment.failure is None


def test_threshold_and_aim_are_the_state_of_all_tabs() -> None:
    with opened(FakeProduct(payments(300))) as state:
        heard = threading.Event()
        end = state.listen(heard.set)
        state.search()
        ready(state)
        heard.clear()
        state.set_threshold(0.9)
        assert heard.is_set()
        end()
        heard.clear()
        document = state.document()
        assert document["ranking"]["threshold"] == 0.9
        assert document["ranking"]["is_own"]
        state.set_threshold(None)
        assert not heard.is_set()
        assert state.document()["ranking"]["threshold"] == 0.5
        state.set_aim("find")
        assert state.moment.question == int(np.argmax(state.moment.ranking.chance))


def test_nothing_changes_after_the_end() -> None:
    with opened(FakeProduct(payments(300))) as state:
        state.search()
        ready(state)
        state.end()
        version = state.moment.version
        state.set_threshold(0.9)
        assert state.moment.version == version


NUMBERS = {"x": np.array([3.0, np.nan, 1.0, 2.0, 1.0])}
FRAME = pl.DataFrame({"x": ["3", None, "1", "2", "1"], "w": ["Berlin", "bern", None, "Oslo", "<b>"]})
RANKING = Ranking(np.array([0.1, 0.9, 0.5, 0.5, 0.2]), np.array([1, 2, 1, 2, 1], np.int8), KINDS, 0.5)


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        (Query(), [1, 2, 3, 4, 0]),
        (Query(descending=False), [0, 4, 2, 3, 1]),
        (Query(sort="row", descending=False), [0, 1, 2, 3, 4]),
        (Query(sort="row"), [4, 3, 2, 1, 0]),
        # What is missing comes last, both ways.
        (Query(sort="column:x"), [0, 3, 2, 4, 1]),
        (Query(sort="column:x", descending=False), [2, 4, 3, 0, 1]),
        (Query(sort="column:w", descending=False), [4, 0, 3, 1, 2]),
        (Query(sort="kind", descending=False), [2, 4, 0, 1, 3]),
        (Query(text="BER"), [1, 0]),
        (Query(text="1", column="x"), [2, 4]),
        (Query(text=">= 2", column="x"), [3, 0]),
        (Query(text="=1", column="x"), [2, 4]),
        (Query(text="<b>"), [4]),
        (Query(text=".*"), []),
        (Query(shown="flagged"), [1, 2, 3]),
        (Query(shown="answered"), [4]),
        (Query(kind=KINDS[2]), [1, 3]),
        (Query(within=(0, 3), text="o"), [3]),
    ],
)
def test_queries(query: Query, positions: list[int]) -> None:
    assert ordered(query, FRAME, NUMBERS, RANKING, 0.5, [4]).tolist() == positions


def test_a_row_is_found_by_its_id_then_by_its_beginning() -> None:
    names = pl.Series("id", ["a-10", "b", "a-1", None, "xb"])
    order = np.array([4, 3, 0, 2, 1])
    assert find("a-1", names, order) == 3
    assert find(" a- ", names, order) == 2
    assert find("b", names, order[:3]) == 0
    assert find("(", names, order) is None


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=60),
    st.floats(0, 1),
)
def test_flagged_rows_and_false_alarms_are_those_of_the_curve(chances: list[float], threshold: float) -> None:
    chance = np.array(chances)
    percent = round(threshold * 100)
    curve, exact = views.curve(chance), views.flagged(chance, percent / 100)
    assert curve["count"][percent] == exact["count"]
    assert curve["false_alarms"][percent] == pytest.approx(exact["false_alarms"], abs=1e-3)
    assert curve["count"] == sorted(curve["count"], reverse=True)


@given(st.lists(st.floats(-1e300, 1e300) | st.just(float("nan")) | st.just(float("inf")), min_size=1, max_size=60))
def test_every_number_lies_in_a_bin_and_bins_ascend(values: list[float]) -> None:
    numbers = np.array(values)
    bins = views.Bins.of(pl.Series("x", values), numbers)
    assert bins.numbers is not None
    assert (np.diff(bins.numbers.edges) >= 0).all()
    drawn = views.bars(bins, np.zeros(len(values), bool), str)
    assert sum(drawn["counts"]) + drawn["missing"] == len(values)
    assert drawn["missing"] == int((~np.isfinite(numbers)).sum())


def test_whole_numbers_have_a_bin_each_and_far_ones_are_counted_at_the_border() -> None:
    values = np.array([*np.repeat(np.arange(1.0, 8.0), 100), 36.0])
    drawn = views.bars(views.Bins.of(pl.Series("x", values), values), values > 30, lambda number: f"{number:g}")
    assert drawn["ends"][0] == "1"
    assert drawn["ends"][1].startswith("≥ ")
    assert drawn["counts"][:7] == [100] * 7
    assert (drawn["counts"][-1], drawn["flagged"][-1]) == (1, 1)


def test_words_beyond_the_commonest_are_one_bar() -> None:
    cells = pl.Series("w", [*["a"] * 5, *["b"] * 3, *[f"w{i}" for i in range(20)], None])
    drawn = views.bars(views.Bins.of(cells, None), np.arange(29) < 5, str)
    assert drawn["names"][:2] == ["a", "b"]
    assert drawn["names"][-1] == "others"
    assert (drawn["counts"][0], drawn["flagged"][0], drawn["missing"], drawn["distinct"]) == (5, 5, 1, 22)
    assert sum(drawn["counts"]) == 28


def test_what_an_answer_changed() -> None:
    before = Ranking(np.array([0.9, 0.6, 0.2, 0.1]), np.array([0, 0, 1, 1], np.int8), KINDS, 0.5, "a")
    after = Ranking(np.array([0.01, 0.6, 0.7, 0.1]), np.array([0, 0, 1, 1], np.int8), KINDS, 0.5, "b")
    found = views.changes(before, after, (0.5, 0.5), pl.Series("row", ["p", "q", "r", "s"]), {0})
    assert (found["added"], found["removed"], found["pick"]) == (1, 1, "b")
    assert found["rows"][0] == {"position": 2, "row": "r", "was": 3, "now": 1}
    assert all(row["position"] != 0 for row in found["rows"])


def test_two_models_side_by_side() -> None:
    found = views.compare(np.array([5.0, 4, 3, np.nan]), np.array([5.0, 1, 3, 9]), 2)
    assert {name: rows.tolist() for name, rows in found.items()} == {"both": [0], "one": [1], "other": [3]}
