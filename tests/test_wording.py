"""Words and numbers as people write them, whatever they are made from."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elect.core import RankInterval
from elect.support import wording

finite = st.floats(-1e300, 1e300)


@given(finite)
def test_a_number_is_near_what_it_stands_for_and_short(value: float) -> None:
    said = wording.number(value)
    assert float(said) == pytest.approx(value, rel=5e-4, abs=0)
    assert len(said) <= 18
    assert not re.search(r"\.\d*0$|e\+|e-0", said)


@given(finite)
def test_a_whole_number_stays_whole(value: float) -> None:
    if abs(value) < 1e15:
        assert wording.number(round(value)) == str(round(value))


def test_numbers_that_are_none() -> None:
    assert [wording.number(x) for x in (math.nan, math.inf, -math.inf)] == ["not a number", "infinity", "-infinity"]


@given(st.floats(0, 1))
def test_a_percentage_tells_none_from_few_and_most_from_all(share: float) -> None:
    said = wording.percent(share)
    assert (said == "0%") == (share == 0)
    assert (said == "100%") == (share == 1)
    assert float(said.removesuffix("%")) / 100 == pytest.approx(share, abs=0.0051)


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=2).map(sorted))
def test_a_longer_time_is_never_told_as_a_shorter_one(times: list[float]) -> None:
    def read(said: str) -> float:
        unit = {"s": 1, "min": 60, "h": 3600}
        words = said.split()
        return sum(float(number) * unit[name] for number, name in zip(words[::2], words[1::2], strict=True))

    first, second = (read(wording.duration(t)) for t in times)
    assert first <= second
    assert second == pytest.approx(times[1], rel=0.06, abs=0.06)


@given(st.text(max_size=200))
def test_no_text_moves_the_cursor_or_turns_the_line_around(text: str) -> None:
    said = wording.clean(text)
    assert len(said) == len(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in said)
    if text.isprintable():
        assert said == text
    assert len(wording.short(text)) <= wording.LONGEST_TEXT


@pytest.mark.parametrize("text", ["\x1b[2Jgone", "\u202egnp.exe", "\u2066x", "a\x00b", "\x9b31m", "a\u2028b"])
def test_hostile_texts(text: str) -> None:
    assert wording.clean(text).isprintable()
    assert not set(wording.clean(text)) & set("\x1b\u202e\u2066\x00\x9b\u2028")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("007", "007"),
        ("1,5", "1,5"),
        ("2024-01-05", "2024-01-05"),
        ("3.14159265", "3.142"),
        ("  ", "  "),
        (True, "True"),
    ],
)
def test_a_cell_stays_as_it_was_written(value: object, said: str) -> None:
    assert wording.cell(value) == said


def test_an_expected_rank_is_worded_once() -> None:
    assert str(RankInterval(30.4, 5.0, 120.0)) == "about 30 among all models, with 90% chance between 5 and 120"
