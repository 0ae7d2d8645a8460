"""Every usual way to hold a table is read to the same rows, and every unusable one is refused in one clear line."""

import csv
import gzip
import io
import os
import zipfile
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elect.errors import ElectError, InvalidInput
from elect.tables import (
    DuplicateColumns,
    MissingExtra,
    RaggedRows,
    TableError,
    TooFewRows,
    UnreadableFile,
    files,
    iter_batches,
    read_table,
)
from elect.tables.dialect import guess_delimiter


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def workbook(path: Path, *sheets: list[list[object]]) -> Path:
    """A minimal Excel file, so that the tests need nothing that can write one."""

    def cell(value: object) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, str):
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>'
        return f"<c><v>{value}</v></c>"

    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    numbers = range(1, len(sheets) + 1)
    with zipfile.ZipFile(path, "w") as book:
        types = "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="application/vnd.openxmlformats-'
            'officedocument.spreadsheetml.worksheet+xml"/>'
            for n in numbers
        )
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxml'
            'formats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override '
            'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
            f'sheet.main+xml"/>{types}</Types>',
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" Type="{office}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        listed = "".join(f'<sheet name="s{n}" sheetId="{n}" r:id="r{n}"/>' for n in numbers)
        book.writestr("xl/workbook.xml", f'<workbook {space} xmlns:r="{office}"><sheets>{listed}</sheets></workbook>')
        links = "".join(
            f'<Relationship Id="r{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{links}</Relationships>'
        )
        for n, rows in zip(numbers, sheets, strict=True):
            lines = "".join(f"<row>{''.join(cell(value) for value in row)}</row>" for row in rows)
            book.writestr(
                f"xl/worksheets/sheet{n}.xml", f"<worksheet {space}><sheetData>{lines}</sheetData></worksheet>"
            )
    return path


# --- text files ---------------------------------------------------------------------------------------------------

ROWS = [["name", "size"], ["Zoë; |x", "1,5"], ['say "hi"', ""], ["two\nlines", "-2"], ["tab\there", "3.25"]]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiter_and_encoding_are_found(tmp_path: Path, delimiter: str, encoding: str, newline: str) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=newline).writerows(ROWS)
    path = write(tmp_path, "table.csv", text.getvalue().encode(encoding))
    table = read_table(path)
    assert [list(table.columns), *map(list, table.frame.rows())] == ROWS
    assert table.row_ids.to_list() == [0, 1, 2, 3]
    assert f"encoding {encoding}" in table.notes[0]


def test_latin1_is_the_last_resort_and_is_said(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "name,n\nJos\xe9,1\n\x81,2\n".encode("latin-1"))
    table = read_table(path)
    assert table.frame["name"][0] == "José"
    assert "latin-1 (the file is not UTF-8" in table.notes[0]


def test_a_byte_that_is_not_utf8_is_found_anywhere_in_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b"name,n\n" + b"plain,1\n" * 200_000 + b"Jos\xe9,2\n")
    table = read_table(path)
    assert table.n_rows == 200_001
    assert table.frame["name"][-1] == "José"


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a;b\n1,5;2,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ('a,b\n"x;y;z",1\n"p",2\n', ","),
        ("a\tb, c\n1\t2, 3\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("one\ntwo\n", ","),
    ],
)
def test_guess_delimiter(text: str, delimiter: str) -> None:
    assert guess_delimiter(text) == delimiter


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;x\n", ","),
        ("a;b\n1,234;x\n", ","),  # alone ambiguous, but semicolons are there because commas are taken
        ("a;b\n1.5;1,234\n", "."),
        ("a;b\n1.234,5;x\n", ","),
        ("a,b\n1.5,2\n", "."),
        ("a,b\n1,2\n", None),
        ('a,b\n"1,234",2\n', None),
    ],
)
def test_decimal_mark_is_found(tmp_path: Path, text: str, decimal: str | None) -> None:
    assert read_table(write(tmp_path, "a.csv", text)).decimal == decimal


@pytest.mark.parametrize(
    ("text", "columns", "rows"),
    [
        ("a,b\n1,2", ("a", "b"), [("1", "2")]),
        ("\n\na,b\n1,2\n\n3,4\n\n", ("a", "b"), [("1", "2"), ("3", "4")]),
        ("sep=;\na;b\n1;2\n", ("a", "b"), [("1", "2")]),
        ("1,2\n3,4\n", ("x0", "x1"), [("1", "2"), ("3", "4")]),
        (",a\n0,5\n", ("unnamed_1", "a"), [("0", "5")]),
        (" a , b\n1,2\n", ("a", "b"), [("1", "2")]),
        ("a\n1\n\n3\n", ("a",), [("1",), ("",), ("3",)]),
        ('"a\nb",c\n1,5" pipe\n2,x\n', ("a\nb", "c"), [("1", '5" pipe'), ("2", "x")]),
        ("a,b\r1,2\r3,4\r", ("a", "b"), [("1", "2"), ("3", "4")]),
        ("\na\u2028z,b\n1\x1f,2\n" + "3,4\n" * 9, ("a\u2028z", "b"), [("1\x1f", "2"), *[("3", "4")] * 9]),
        ("zip,b\n007,1\n", ("zip", "b"), [("007", "1")]),
    ],
)
def test_odd_but_readable_text(tmp_path: Path, text: str, columns: tuple[str, ...], rows: list[object]) -> None:
    path = write(tmp_path, "a.csv", text)
    table = read_table(path)
    assert table.columns == columns
    assert table.frame.rows() == rows
    assert [row for batch in iter_batches(path, 1) for row in batch.frame.rows()] == rows


def test_what_is_given_is_not_guessed(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "2019,2020\n1,2\n")
    assert read_table(path, header=True).columns == ("2019", "2020")
    assert read_table(path, delimiter=";", header=True).columns == ("2019,2020",)
    assert read_table(path, decimal=",").decimal == ","
    assert (
        read_table(write(tmp_path, "b.csv", "a,b\n\xe9,1\n".encode("cp1250")), encoding="cp1250").frame["a"][0] == "é"
    )


def test_compressed_text(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv.gz", gzip.compress(b"a,b\n1,2\n"))
    assert read_table(path).frame.rows() == [("1", "2")]


cells = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from('\n",;|'), max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 4).flatmap(lambda w: st.lists(st.lists(cells, min_size=w, max_size=w), min_size=1)), st.data())
def test_any_cells_come_back_as_they_were_written(tmp_path: Path, rows: list[list[str]], data: st.DataObject) -> None:
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([[f"c{j}" for j in range(len(rows[0]))], *rows])
    path = write(tmp_path, "any.csv", text.getvalue())
    assert [list(row) for row in read_table(path, delimiter=",").frame.rows()] == rows
    size = data.draw(st.integers(1, len(rows) + 1))
    batches = list(iter_batches(path, size, delimiter=","))
    assert [list(row) for batch in batches for row in batch.frame.rows()] == rows
    assert [row for batch in batches for row in batch.row_ids] == list(range(len(rows)))


# --- formats with types, and data in memory -----------------------------------------------------------------------

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "when": [datetime(2024, 1, 2, 3)] * 3})


def test_parquet_and_arrow(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "a.parquet")
    FRAME.write_ipc(tmp_path / "a.feather")
    FRAME.write_ipc_stream(tmp_path / "a.arrows")
    (tmp_path / "a.parquet").rename(tmp_path / "by_content.dat")
    for name in ("by_content.dat", "a.feather", "a.arrows"):
        assert read_table(tmp_path / name).frame.equals(FRAME), name
        batches = list(iter_batches(tmp_path / name, 2))
        assert [batch.n_rows for batch in batches] == [2, 1], name
        assert pl.concat([batch.frame for batch in batches]).equals(FRAME), name
        assert [row for batch in batches for row in batch.row_ids] == [0, 1, 2], name


def test_a_pandas_index_names_the_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["r1", "r2"])
    frame.to_parquet(tmp_path / "a.parquet")
    for table in (read_table(frame), read_table(tmp_path / "a.parquet")):
        assert table.columns == ("a",)
        assert table.row_ids.to_list() == ["r1", "r2"]
    assert read_table(frame.reset_index(drop=True)).row_ids.to_list() == [0, 1]
    assert read_table(pd.DataFrame({"a": [1, 2, 3]})[1:]).row_ids.to_list() == [1, 2]


def test_excel(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    first = [["name", "n", None], ["x", 1, 0.5], [None, None, None], ["z", 3, 2.5]]
    path = workbook(tmp_path / "book.xlsx", first, [["other"], ["y"]])
    table = read_table(path)
    assert table.frame.to_dict(as_series=False) == {
        "name": ["x", None, "z"],
        "n": [1, None, 3],
        "unnamed_3": [0.5, None, 2.5],
    }
    assert read_table(path, sheet="s2").columns == read_table(path, sheet=2).columns == ("other",)
    assert [batch.n_rows for batch in iter_batches(path, 2)] == [2, 1]
    with pytest.raises(TableError, match=r"no sheet 'nope'; it has 's1', 's2'"):
        read_table(path, sheet="nope")
    with pytest.raises(TableError, match="no sheet 3"):
        read_table(path, sheet=3)
    with pytest.raises(DuplicateColumns, match="'a'"):
        read_table(workbook(tmp_path / "twice.xlsx", [["a", "a"], [1, 2]]))
    with pytest.raises(TooFewRows):
        read_table(workbook(tmp_path / "header.xlsx", [["a", "b"]]))
    with pytest.raises(UnreadableFile, match="empty sheet"):
        read_table(workbook(tmp_path / "empty.xlsx", []))


def test_excel_without_its_extra_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'elect\[excel\]'"):
        read_table(workbook(tmp_path / "book.xlsx", [["a"], [1]]))


@pytest.mark.parametrize(
    ("data", "columns", "rows"),
    [
        (FRAME.select("a", "b").lazy(), ("a", "b"), [(1, "x"), (2, None), (3, "z")]),
        (pa.table({"a": [1, None]}), ("a",), [(1,), (None,)]),
        (np.array([[1.0, 2.0], [3.0, 4.0]]), ("x0", "x1"), [(1.0, 2.0), (3.0, 4.0)]),
        (np.array([[1, "a"], [None, 2.5]], dtype=object), ("x0", "x1"), [(1, "a"), (None, "2.5")]),
        (np.array([(1, "x")], dtype=[("a", int), ("b", "U3")]), ("a", "b"), [(1, "x")]),
        (np.ma.masked_array([[1.0]], mask=[[False]]), ("x0",), [(1.0,)]),
        ([{"a": 1}, {"b": "x", "a": 2}], ("a", "b"), [(1, None), (2, "x")]),
        ([{"a": 1}, {"a": "x"}, {"a": 2.5}], ("a",), [("1",), ("x",), ("2.5",)]),
        ([[1, "x"], (2, None)], ("x0", "x1"), [(1, "x"), (2, None)]),
        ({"a": [np.float64(1.5), None]}, ("a",), [(1.5,), (None,)]),
        (pd.DataFrame({0: [1, 2], "b": [True, None]}), ("0", "b"), [(1, True), (2, None)]),
        (pd.DataFrame({"a": [1, "x", None, float("nan")]}), ("a",), [("1",), ("x",), (None,), (None,)]),
        (pd.DataFrame({"p": pd.period_range("2020-01", periods=2, freq="M")}), ("p",), [("2020-01",), ("2020-02",)]),
        (pd.DataFrame({("a", "b"): [1]}), ("a b",), [(1,)]),
        (pd.DataFrame({"a": pd.arrays.SparseArray([0, 1])}), ("a",), [(0,), (1,)]),
    ],
)
def test_data_in_memory(data: object, columns: tuple[str, ...], rows: list[object]) -> None:
    table = read_table(data)
    assert table.columns == columns
    assert table.frame.rows() == rows
    assert read_table(table) is table


def test_reading_does_not_rename_the_columns_of_the_callers_frame() -> None:
    frame = pl.DataFrame({" a ": [1]})
    assert read_table(frame).columns == ("a",)
    assert frame.columns == [" a "]


# --- batches ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, 250, 1000, 5000])
def test_batches_are_the_whole(tmp_path: Path, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", 1 << 10)  # many blocks of text in a batch, and many batches in a block
    path = write(tmp_path, "a.csv", "a;b\n" + "".join(f"{i};{i},5\n" for i in range(1000)))
    batches = list(iter_batches(path, rows))
    assert all(batch.n_rows == rows for batch in batches[:-1])
    assert pl.concat([batch.frame for batch in batches]).equals(read_table(path).frame)
    assert [row for batch in batches for row in batch.row_ids] == list(range(1000))
    assert all(batch.decimal == "," for batch in batches)


def test_batches_are_read_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BLOCK", 1 << 10)
    path = write(tmp_path, "a.csv", "a,b\n" + "1,2\n" * 50_000 + "1,2,3\n")
    batches = iter_batches(path, 10)
    assert next(batches).n_rows == 10  # the bad line is far ahead
    with pytest.raises(RaggedRows, match="line 50002"):
        list(batches)


def test_a_batch_needs_a_row(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="at least 1"):
        next(iter_batches(write(tmp_path, "a.csv", "a\n1\n"), 0))


# --- what cannot be read ------------------------------------------------------------------------------------------

NOISE = bytes(np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8))

BAD_FILES = [
    ("empty.csv", b"", UnreadableFile, "is empty"),
    ("blank.csv", b" \n\n  \n", UnreadableFile, "is empty"),
    ("bom.csv", b"\xef\xbb\xbf", UnreadableFile, "is empty"),
    ("noise.csv", NOISE, UnreadableFile, "binary"),
    ("picture.csv", b"\x89PNG\r\n\x1a\n" + NOISE, UnreadableFile, "binary"),
    ("bells.csv", b"a,b\n\x07\x07,\x08\x01\n", UnreadableFile, "binary"),
    ("header.csv", b"a,b\n", TooFewRows, "no rows"),
    ("header2.csv", b"a,b", TooFewRows, "no rows"),
    ("twice.csv", b"a,b,a\n1,2,3\n", DuplicateColumns, "'a'"),
    ("long.csv", b"a,b\n1,2\n3,4,5\n", RaggedRows, "line 3 has 3 values, but the table has 2 columns"),
    ("short.csv", b'a,b\n1,"x\ny"\n3\n', RaggedRows, "line 4 has 1 value,"),
    ("skipped.csv", b"\nsep=;\na;b\n1;2\n3\n", RaggedRows, "line 5 has 1 value,"),
    ("quote.csv", b'a,b\n1,2\n3,"x\n4,5\n', RaggedRows, "line 3 is never closed"),
    ("broken.csv.gz", b"\x1f\x8b\x08garbagegarbage", UnreadableFile, "damaged"),
    ("broken.parquet", b"PAR1garbage", UnreadableFile, "not a readable Parquet"),
    ("text.parquet", b"hello world, this is text", UnreadableFile, "not a readable Parquet"),
    ("broken.feather", b"ARROW1garbage", UnreadableFile, "not a readable Arrow"),
    ("a.json", b"[]", UnreadableFile, "does not read .json"),
]


@pytest.mark.parametrize(("name", "content", "error", "words"), BAD_FILES, ids=[case[0] for case in BAD_FILES])
def test_a_bad_file_is_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes, error: type[ElectError], words: str
) -> None:
    path = write(tmp_path, name, content)
    for read in (read_table, lambda path: list(iter_batches(path, 1))):
        with pytest.raises(ElectError) as raised:
            read(path)
        assert type(raised.value) is error
        assert words in str(raised.value)
        assert str(path) in str(raised.value)
        assert "\n" not in str(raised.value)


def test_a_row_that_never_ends(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b"a,b\n" + b"1,2\n" * 10 + b'3,"' + b"4,5\n" * 3_000_000 + b'"\n')
    for read in (read_table, lambda path: list(iter_batches(path, 5))):
        with pytest.raises(RaggedRows, match="row of more than 4 MB"):
            read(path)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="does not exist"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(UnreadableFile, match="is a directory"):
        read_table(str(tmp_path))
    with pytest.raises(UnreadableFile, match="unknown encoding"):
        read_table(write(tmp_path, "a.csv", "a\n1\n"), encoding="klingon")
    with pytest.raises(UnreadableFile, match="utf-8"):
        read_table(write(tmp_path, "b.csv", b"a\n" + b"1\n" * 10 + b"\xe9\n"), encoding="utf-8")


def test_an_encoding_that_fails_late_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", b"a,b\n" + b"1,2\n" * 500_000 + b"\xe9,2\n")
    with pytest.raises(UnreadableFile):
        read_table(path, encoding="utf-8")
    with pytest.raises(UnreadableFile):
        read_table(path, encoding="ascii")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "a\n1\n")
    path.chmod(0)
    with pytest.raises(UnreadableFile, match="permissions"):
        read_table(path)


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_a_file_cut_short(tmp_path: Path, kind: str, cut: float) -> None:
    path = tmp_path / f"a.{kind}"
    frame = pl.DataFrame({"a": range(10_000), "b": [str(i) for i in range(10_000)]})
    frame.write_parquet(path) if kind == "parquet" else frame.write_ipc(path)
    path.write_bytes(path.read_bytes()[: int(cut * path.stat().st_size)])
    with pytest.raises(UnreadableFile):
        read_table(path)
    with pytest.raises(UnreadableFile):
        list(iter_batches(path, 1000))


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (np.zeros(3), TableError, "two dimensions"),
        (np.zeros((0, 3)), TooFewRows, "no rows"),
        (np.zeros((3, 0)), TableError, "no columns"),
        (np.array([[1j]]), TableError, "Complex"),
        (pd.DataFrame(index=[1, 2]), TableError, "no columns"),
        (pd.DataFrame({"a": []}), TooFewRows, "no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), DuplicateColumns, "'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), DuplicateColumns, "'1'"),
        (pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]), DuplicateColumns, "'a'"),
        (pl.DataFrame(), TableError, "no columns"),
        (pl.DataFrame({"a": [1], " a": [2]}), DuplicateColumns, "'a'"),
        ([], TableError, "empty"),
        ([{}], TableError, "no columns"),
        ([[1, 2], [3]], TableError, "Row 1 of the list has 1 values"),
        ([1, 2], TableError, "dictionaries"),
        ({"a": [1, 2], "b": [1]}, TableError, "different lengths"),
        (5, TableError, "got int"),
        (None, TableError, "got NoneType"),
    ],
)
def test_bad_data_is_refused_in_one_line(data: object, error: type[ElectError], words: str) -> None:
    with pytest.raises(ElectError) as raised:
        read_table(data)
    assert type(raised.value) is error
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
