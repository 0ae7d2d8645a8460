"""What is written for spreadsheets: joins keep working, formulas do not."""

import csv
import datetime
import io
import re

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elect.detect.output import table_bytes
from elect.support.formulas import guarded

TEXTS = ["-1", "+49170123", "+49 (0)170/12-3", "-1.5e-3", "-", "--", "+", "1-2", "-5%", "-$5", "plain", "a=b", ""]
FORMULAS = ["=1+1", "@SUM(A1)", "+A1", "-cmd|' /C calc'!A0", " =1+1", "\t=1", "\r\n=1", "\xa0=HYPERLINK()", "\uff1d1"]


def written(frame: pl.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table_bytes(frame, ".csv").decode(), newline="")))


def test_numbers_and_telephone_numbers_are_written_as_they_are() -> None:
    assert [row[0] for row in written(pl.DataFrame({"id": TEXTS, "x": 1}))[1:]] == TEXTS


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.Enum(FORMULAS)])
def test_formulas_are_not_run(kind: pl.DataType) -> None:
    cells = written(pl.DataFrame({"id": pl.Series(FORMULAS, dtype=kind), "x": 1}))[1:]
    assert [row[0] for row in cells] == [f"'{text}" for text in FORMULAS]


def test_the_name_of_a_column_is_no_formula_either() -> None:
    assert written(pl.DataFrame({"=1+1": ["a"], "'=1+1": ["b"]}))[0] == ["'=1+1", "''=1+1"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12))
def test_only_what_holds_no_letter_may_begin_like_a_formula(text: str) -> None:
    said = guarded(text)
    assert said in (text, f"'{text}")
    if re.match(r"[\s\0]*[=@]", said):
        raise AssertionError(said)
    if re.match(r"[\s\0]*[+-]", said):
        assert not re.search(r"[^\W\deE_]|[|!'\"=\[]", said)


def test_ids_of_kinds_that_csv_has_no_word_for() -> None:
    frame = pl.DataFrame(
        {
            "binary": [b"abc", b"\xff\x00", None],
            "struct": [{"a": 1}, {"a": 2}, None],
            "list": [[1, 2], [], None],
            "length": [datetime.timedelta(hours=1), datetime.timedelta(0), None],
            "nothing": [None, None, None],
        }
    )
    rows = written(frame)
    assert rows[1] == ["abc", "{'a': 1}", "[1, 2]", "PT1H", ""]
    assert rows[2][:3] == ["ff00", "{'a': 2}", "[]"]
    assert rows[3] == ["", "", "", "", ""]
