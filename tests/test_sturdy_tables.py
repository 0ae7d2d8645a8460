"""Files that would crash a reader, hang it, or be read as something else: a result, or one line."""

import contextlib
import csv
import io
import json
import os
import sys
import threading
import warnings
import zipfile
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elect.answers.kept import KeptAnswers
from elect.cli import main
from elect.detect import opened
from elect.errors import InvalidInput
from elect.tables import TableError, UnreadableFile, iter_batches, pipes, read_table
from test_tables_read import workbook

ROWS = 40
FEW = ("--max-models", "3", "--n-jobs", "1", "-q")
TABLE = "id,a,b\n" + "".join(f"r{i},{i % 7}.5,{i * 37 % 11}\n" for i in range(ROWS))


def placed(path: Path, rows: list[list[object]], first: int, letter: str = "B", more: str = "") -> Path:
    """A workbook whose table begins elsewhere than in its first row and column."""
    workbook(path, [])
    with zipfile.ZipFile(path) as book:
        members = {name: book.read(name) for name in book.namelist()}

    def cell(value: object, name: str) -> str:
        if isinstance(value, str):
            return f'<c r="{name}" t="inlineStr"><is><t>{value}</t></is></c>'
        return f'<c r="{name}"><v>{value}</v></c>'

    lines = "".join(
        f'<row r="{line}">{"".join(cell(v, chr(ord(letter) + j) + str(line)) for j, v in enumerate(row))}</row>'
        for line, row in enumerate(rows, first)
    )
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    members["xl/worksheets/sheet1.xml"] = (
        f"<worksheet {space}><sheetData>{lines}{more}</sheetData></worksheet>".encode()
    )
    with zipfile.ZipFile(path, "w") as book:
        for name, data in members.items():
            book.writestr(name, data)
    return path


# --- Excel --------------------------------------------------------------------------------------------------------


def test_a_sheet_whose_table_begins_further_down(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    rows: list[list[object]] = [["name", "n"], *([f"r{i}", i] for i in range(60))]
    table = read_table(placed(tmp_path / "b3.xlsx", rows, 3))
    assert table.columns == ("name", "n")
    assert table.frame["n"].to_list() == list(range(60))
    assert table.reading is not None
    assert (table.reading.header, table.reading.sheet) == (3, "s1")
    assert any("row 3 of the sheet" in note for note in table.notes)


@pytest.mark.parametrize("first", [1, 3])
def test_a_title_above_a_sheet_s_table_is_no_header(tmp_path: Path, first: int) -> None:
    pytest.importorskip("fastexcel")
    body: list[list[object]] = [[f"r{i}", i] for i in range(60)]
    for titles in ([["Report of 2024"]], [["Report of 2024"], [], ["by nobody"], []]):
        table = read_table(placed(tmp_path / "t.xlsx", [*titles, ["name", "n"], *body], first))
        assert table.columns == ("name", "n")
        assert table.frame["n"].to_list() == list(range(60))
        assert table.reading is not None
        assert table.reading.header == first + len(titles)
        assert any("below a title that was not read" in note for note in table.remarks)
    # What is below a lonely name are numbers: it is the header, of which one name is missing.
    for other in ([["name"], *([i, i] for i in range(5))], [["name"], *([i] for i in range(5))]):
        table = read_table(placed(tmp_path / "t.xlsx", other, first))
        assert (table.columns[0], table.n_rows) == ("name", 5)


def test_a_small_workbook_that_asks_for_all_memory_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fastexcel")
    stray = '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
    path = placed(tmp_path / "bomb.xlsx", [["a", "b"], [1, 2], [3, 4]], 1, "A", stray)
    with pytest.raises(UnreadableFile, match="memory"):
        read_table(path)


# --- Feather and Arrow --------------------------------------------------------------------------------------------


def test_feather_of_the_first_version(tmp_path: Path) -> None:
    path = tmp_path / "a.feather"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyarrow.feather.write_feather(pa.table({"a": [1, 2], "b": ["x", None]}), path, version=1)
    assert read_table(path).frame.rows() == [(1, "x"), (2, None)]
    whole = path.read_bytes()
    for broken in (b"FEA1", b"FEA1FEA1", b"FEA1" + b"\xff" * 20 + b"FEA1", whole[:-12] + b"\xff" * 8 + b"FEA1"):
        path.write_bytes(broken)
        with pytest.raises(UnreadableFile, match="Feather"):
            read_table(path)


def test_a_damaged_dictionary_is_refused(tmp_path: Path) -> None:
    indices = pa.array([0, 1, 0, 1], pa.int32())
    broken = pa.DictionaryArray.from_arrays(pa.array([0, 99_999_999, -5, 1], pa.int32()), ["a", "b"], safe=False)
    path = tmp_path / "a.arrow"
    for column, fine in ((pa.DictionaryArray.from_arrays(indices, ["a", "b"]), True), (broken, False)):
        batch = pa.record_batch({"d": column, "x": [1.0, 2.0, 3.0, 4.0]})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
            writer.write(batch)
        if fine:
            assert read_table(path).frame["d"].to_list() == ["a", "b", "a", "b"]
        else:
            for read in (read_table, lambda path: list(iter_batches(path, 2))):
                with pytest.raises(UnreadableFile, match="Arrow"):
                    read(path)


def odd_columns() -> dict[str, pa.Array]:
    whole = pa.array([1, 2, 3], pa.int64())
    return {
        "zone": pa.array([1, 2, 3], pa.timestamp("us", tz="+05:30")),
        "nowhere": pa.array([1, 2, 3], pa.timestamp("us", tz="No/Where")),
        "zones": pa.array([1, 2, 3], pa.timestamp("us", tz="+05:30")).dictionary_encode(),
        "far": pa.array([2**31 - 1, 5, None], pa.int32()).cast(pa.date32()),
        "further": pa.array([2**62, 5, None], pa.int64()).cast(pa.timestamp("s")),
        "wide": pa.array([Decimal("1.5"), None, Decimal("-2")], pa.decimal256(60, 2)),
        "widest": pa.array([Decimal("1" * 50), None, Decimal("-2")], pa.decimal256(60, 2)),
        "runs": pa.RunEndEncodedArray.from_arrays([2, 3], [1.5, 2.5]),
        "union": pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [whole, pa.array(["a", "b", "c"])]),
        "views": pa.array([[1], [2], []], pa.list_view(pa.int64())),
        "interval": pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()),
        "bytes": pa.array([b"a", b"\xff", None]),
        "struct": pa.array([{"a": 1}, {"a": 2}, None]),
        "length": pa.array([1, 2, None], pa.duration("s")),
    }


@pytest.mark.parametrize("name", odd_columns())
def test_valid_columns_of_rare_types(tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    column = odd_columns()[name]
    data = pa.table({name: column, "x": [1.0, 2.0, 3.0]})
    path = tmp_path / "a.arrow"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, data.schema) as writer:
        writer.write(data)
    for table in (read_table(path), read_table(data), next(iter_batches(path, 3))):
        assert table.frame["x"].to_list() == [1.0, 2.0, 3.0]
        gone = name in ("union", "views", "interval")
        assert (name not in table.columns) == gone
        assert any(f"{name!r} is left out" in note for note in table.notes) == gone
        assert any(f"{name!r} has dates beyond" in note for note in table.notes) == (name in ("far", "further"))
    assert capfd.readouterr().err == ""


def test_what_was_not_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    odd = {name: odd_columns()[name].take(pa.array([1, 2] * 14 + [0, 0])) for name in ("views", "far")}
    data = pa.table({**odd, "x": rng.normal(size=30), "y": rng.normal(size=30)})
    path, model = tmp_path / "a.arrow", tmp_path / "m.elect-detector"
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, data.schema) as writer:
        writer.write(data)
    expected = (
        "Column 'views' is left out: elect does not read values of type list_view<item: int64>.",
        "Column 'far' has dates beyond the years 1 to 9999; they were read as missing.",
    )
    for args in (
        ["detect", str(path), *FEW, "--save", str(model)],
        ["select", str(path), *FEW],
        ["score", str(model), str(path), "-q"],
    ):
        assert main(args) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert all(f"note: {note}" in told for note in expected)
        assert main([*args, "--json"]) == 0
        assert {*expected} <= {*json.loads(capsys.readouterr().out)["notes"]}
    assert main(["detect", str(path), *FEW, "--id", "views"]) == 2
    assert capsys.readouterr().err == f"elect: {expected[0]} Name another in id.\n"


def test_what_was_not_read_of_later_rows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    days = pa.array([5] * 29 + [2**31 - 1], pa.int32()).cast(pa.date32())
    pyarrow.parquet.write_table(pa.table({"d": days, "x": np.arange(30.0)}), tmp_path / "a.parquet")
    monkeypatch.setattr(opened, "ROWS_AT_ONCE", 10)
    assert "'d' has dates beyond" in opened.open_table(tmp_path / "a.parquet").sample.remarks[0]


@pytest.mark.parametrize("name", ["zone", "far", "wide", "bytes", "struct", "length"])
def test_rare_types_as_ids(tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng(0)
    column = odd_columns()[name].take(pa.array([0, 1, 2] * 10))
    data = pa.table({name: column, "x": rng.normal(size=30), "y": rng.normal(size=30)})
    pyarrow.parquet.write_table(data, tmp_path / "a.parquet")
    for ending in ("csv", "parquet"):
        out = tmp_path / f"out.{ending}"
        assert main(["detect", str(tmp_path / "a.parquet"), "--id", name, "-o", str(out), *FEW]) == 0
        found = pl.read_csv(out) if ending == "csv" else pl.read_parquet(out)
        assert found.height == 30


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=8))
def test_parquet_with_other_bytes_is_a_table_or_refused(tmp_path: Path, places: list[tuple[int, int]]) -> None:
    path = tmp_path / "a.parquet"
    if not (tmp_path / "whole").exists():
        frame = pl.DataFrame({"a": range(50), "b": [f"w{i % 3}" for i in range(50)]})
        pyarrow.parquet.write_table(frame.to_arrow(), tmp_path / "whole")
    content = bytearray((tmp_path / "whole").read_bytes())
    for place, byte in places:
        content[place % len(content)] = byte
    path.write_bytes(content)
    with contextlib.suppress(TableError, MemoryError):
        assert read_table(path).n_rows > 0


# --- pipes --------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def standard_input(text: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    reading, writing = os.pipe()
    with open(reading) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with open(writing, "w") as file:
            file.write(text)
        yield


def test_standard_input_is_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    with standard_input(TABLE, monkeypatch):
        assert read_table("-").frame.equals(read_table(tmp_path / "t.csv").frame)
    with standard_input("", monkeypatch):
        assert main(["detect", "-", *FEW]) == 2
    assert capsys.readouterr().err == "elect: standard input is empty; a table needs a header and at least one row.\n"


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="there is no /dev/fd")
def test_what_a_shell_makes_of_another_command_is_a_table(tmp_path: Path) -> None:
    """``<(...)`` is the name of a pipe that is open already."""
    reading, writing = os.pipe()
    with open(reading), open(writing, "w") as file:
        file.write(TABLE)
        file.close()
        out = tmp_path / "out.csv"
        assert main(["detect", f"/dev/fd/{reading}", *FEW, "-o", str(out)]) == 0
    assert pl.read_csv(out)["id"].to_list() == [f"r{i}" for i in range(ROWS)]


def test_the_file_behind_standard_input_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    with path.open() as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert main(["detect", "-", *FEW, "-o", str(path)]) == 2
    assert "a file of its own" in capsys.readouterr().err
    assert path.read_text() == TABLE


def test_a_named_pipe_with_and_without_a_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    monkeypatch.setattr(pipes, "PATIENCE", 0.2)
    with pytest.raises(UnreadableFile, match=r"pipe\.csv is a pipe to which nobody writes"):
        read_table(path)
    monkeypatch.setattr(pipes, "PATIENCE", 20.0)
    writer = threading.Thread(target=path.write_text, args=(TABLE,))
    writer.start()
    batches = list(iter_batches(path, 7))
    writer.join()
    assert sum(batch.n_rows for batch in batches) == ROWS
    assert batches[0].source == str(path)
    assert sum(batch.n_rows for batch in iter_batches(path, 9)) == ROWS  # from the copy: a pipe is read once
    monkeypatch.setattr(pipes, "LARGEST", 10)
    writer = threading.Thread(target=lambda: _ignore(path))
    writer.start()
    with pytest.raises(UnreadableFile, match="more than"):
        read_table(path)
    writer.join()


def _ignore(path: Path) -> None:
    with contextlib.suppress(BrokenPipeError):
        path.write_text(TABLE)


# --- how it was read ----------------------------------------------------------------------------------------------


def test_a_header_of_years_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("2018,2019,2020\n" + "".join(f"{i % 7},{i * 37 % 11},{i * i % 13}\n" for i in range(ROWS)))
    assert main(["detect", str(path), *FEW, "--json", "--report", str(tmp_path / "r.html")]) == 0
    assert json.loads(capsys.readouterr().out)["read"] == {
        "format": "text",
        "header": None,
        "encoding": "utf-8",
        "delimiter": ",",
        "decimal": None,
        "sheet": None,
    }
    assert "The first line holds only numbers, so it is a row" in (tmp_path / "r.html").read_text()
    assert main(["detect", str(path), *FEW]) == 0
    told = capsys.readouterr().out
    assert "no header" in told
    assert "note: The first line holds only numbers, so it is a row" in told


def test_new_rows_of_which_nothing_can_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = "a;b\n" + "".join(f"{i % 7}.{i % 10};{i * 37 % 11}.25\n" for i in range(ROWS))
    (tmp_path / "points.csv").write_text(points)
    (tmp_path / "commas.csv").write_text(points.replace(".", ","))
    model = tmp_path / "m.elect-detector"
    assert main(["detect", str(tmp_path / "points.csv"), *FEW, "--save", str(model)]) == 0
    capsys.readouterr()
    out = tmp_path / "out.csv"
    assert main(["score", str(model), str(tmp_path / "commas.csv"), "-o", str(out), "-q"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no value of 'a', 'b' could be read" in said.err
    assert not out.exists()


def test_answers_are_no_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    kept = tmp_path / "answers.csv"
    kept.write_text("position,row,answer\n1,1,no\n")
    assert main(["detect", str(tmp_path / "t.csv"), *FEW, "--answers", str(kept), "-o", str(kept)]) == 2
    assert "a file of its own" in capsys.readouterr().err
    assert kept.read_text() == "position,row,answer\n1,1,no\n"


def kept_answers(lines: list[str], path: Path | None = None, *, names: str | None = None) -> KeptAnswers:
    frame = pl.read_csv(io.StringIO("\n".join(["id,a,b", *lines])), infer_schema=False)
    ids = frame[names] if names else pl.int_range(frame.height, eager=True)
    return KeptAnswers(path, ids, cells=frame)


def test_answers_follow_their_rows(tmp_path: Path) -> None:
    """Nothing but the cells tells which row was meant where rows have no names."""
    path, lines = tmp_path / "answers.csv", TABLE.splitlines()[1:]
    kept_answers(lines, path).write([(0, True), (3, False)])
    assert kept_answers(lines, path).read() == ((0, True), (3, False))
    assert kept_answers(lines[::-1], path).read() == ((ROWS - 1, True), (ROWS - 4, False))
    changed = kept_answers([lines[0] + "9", *lines[1:]], path)
    assert changed.read() == ((3, False),)
    assert changed.left_out == 1
    changed.write([(3, None)])
    assert kept_answers(lines, path).read() == ((3, None), (0, True))  # what was left out is not lost
    with pytest.raises(InvalidInput, match="belongs to another"):
        kept_answers([f"x{i},1,{i}" for i in range(ROWS)], path).read()


def test_a_row_with_a_name_keeps_its_answer_when_a_cell_is_mended(tmp_path: Path) -> None:
    path, lines = tmp_path / "answers.csv", TABLE.splitlines()[1:]
    kept_answers(lines, path, names="id").write([(0, True)])
    assert kept_answers([lines[0] + "9", *lines[1:]], path, names="id").read() == ((0, True),)


def test_the_file_of_answers_holds_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    lines = ["=1+1,1,2", " @SUM(A1),2,3", "-1,3,4", "+49170,4,5"]
    kept = kept_answers(lines, path, names="id")
    kept.write([(i, True) for i in range(4)])
    with path.open(newline="") as file:
        assert [line["row"] for line in csv.DictReader(file)] == ["'=1+1", "' @SUM(A1)", "-1", "+49170"]
    assert len(kept_answers(lines, path, names="id").read()) == 4
    path.write_text("position,row,answer\n0,'=1+1,no\n")
    assert kept_answers(lines, path, names="id").read() == ((0, False),)
