"""Parquet, Arrow, Feather, Excel and compressed files with other bytes: a table, or one line."""

import gzip
import io
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.command import command, files_in, judged
from attack.edits import edited, edits
from attack.verdict import REFUSED, RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 4000, 200, 180
LONGEST = 1000

BASES = (
    "plain.parquet",
    "dictionary.parquet",
    "zstd.parquet",
    "odd.parquet",
    "groups.parquet",
    "pandas.parquet",
    "file.arrow",
    "stream.arrows",
    "odd.arrow",
    "dictionary.arrow",
    "lz4.feather",
    "first.feather",
    "text.csv.gz",
    "book.xlsx",
)


def cases() -> st.SearchStrategy[Any]:
    """Which file, what is changed; ``inside`` changes a member of a workbook and puts it together again; ``whole``
    runs a command on it instead of the reader."""
    return st.fixed_dictionaries(
        {
            "base": st.sampled_from(BASES),
            "edits": edits(),
            "inside": st.integers(0, 20),
            "whole": st.sampled_from((False,) * 9 + (True,)),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    name = case["base"]
    content = base(name)
    if name.endswith(".xlsx") and case["inside"]:
        content = _rezipped(content, case["inside"], case["edits"])
    elif name.endswith(".gz") and case["inside"]:
        content = gzip.compress(edited(gzip.decompress(content), case["edits"]))
    else:
        content = edited(content, case["edits"])
    path = folder / "here" / name
    path.write_bytes(content)
    if case["whole"]:
        before = files_in(folder / "here")
        args = ["detect", name, "--max-models", "3", "--n-jobs", "1", "-q", "--json", "-o", "out.csv"]
        ran = command(args, folder / "streams")
        return judged(ran, before, files_in(folder / "here"), ["out.csv"], json_asked=True)
    return _read(path)


def _read(path: Path) -> Verdict:
    """Whole and in batches it must be the same table, or refused. (One in four is read both ways: it is the reading in
    a process of its own that takes time.)"""
    from elect.errors import ElectError
    from elect.tables import iter_batches, read_table

    found = []
    both = sum(path.read_bytes()) % 4 == 0
    for whole in (True, False) if both else (True,):
        try:
            found.append([read_table(path)] if whole else list(iter_batches(path, 7)))
        except ElectError as error:
            if len(str(error)) > LONGEST or "\n" in str(error):
                return wrong(f"a message of {len(str(error))} characters: {str(error)[:200]!r}")
            found.append([])
        except MemoryError:  # the command says so in one line
            found.append([])
    rows = [sum(table.n_rows for table in tables) for tables in found]
    if both and rows[0] != rows[1] and rows[0]:
        return wrong(f"{rows[0]} rows, but {rows[1]} in batches")
    if not rows[0]:
        return REFUSED
    if not both:
        return RESULT
    batches = [row for table in found[1] for row in table.frame.rows()]
    return RESULT if repr(batches) == repr(found[0][0].frame.rows()) else wrong("other rows in batches")


def _rezipped(content: bytes, inside: int, changes: list[Any]) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as book:
        members = {name: book.read(name) for name in book.namelist()}
    chosen = sorted(members)[inside % len(members)]
    members[chosen] = edited(members[chosen], changes)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as book:
        for name, data in members.items():
            book.writestr(name, data)
    return buffer.getvalue()


# --- what is changed --------------------------------------------------------------------------------------------------


@cache
def base(name: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import feather

    table, sink = _table(odd=name.startswith("odd")), io.BytesIO()
    if name.startswith("dictionary"):
        table = table.set_column(1, "word", table["word"].dictionary_encode())
    match name.partition(".")[2]:
        case "parquet":
            if name.startswith("pandas"):
                table = pa.Table.from_pandas(table.to_pandas().set_index("word"))
            pq.write_table(
                table,
                sink,
                compression="zstd" if name.startswith("zstd") else "none",
                row_group_size=9 if name.startswith("groups") else 100,
                use_dictionary=name.startswith("dictionary"),
            )
        case "arrow":
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=11)
        case "arrows":
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table, max_chunksize=11)
        case "feather":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                first = name.startswith("first")
                feather.write_feather(table, sink, version=1 if first else 2, compression=None if first else "lz4")
        case "csv.gz":
            return gzip.compress(table.to_pandas().to_csv(index=False).encode())
        case "xlsx":
            return _workbook(table.to_pandas().values.tolist(), table.column_names)
    return sink.getvalue()


def _table(*, odd: bool) -> Any:
    import datetime
    from decimal import Decimal

    import pyarrow as pa

    n = 30
    columns = {
        "x": pa.array([i * 37 % 11 + 0.5 for i in range(n)]),
        "word": pa.array([f"w{i % 3}" if i % 7 else None for i in range(n)]),
        "n": pa.array([i * i % 13 for i in range(n)]),
    }
    if odd:
        columns["when"] = pa.array(
            [datetime.datetime(2024, 1, 1 + i % 28) for i in range(n)], pa.timestamp("us", "UTC")
        )
        columns["price"] = pa.array([Decimal(i) / 4 for i in range(n)], pa.decimal128(12, 2))
        columns["list"] = pa.array([[i, i + 1] for i in range(n)])
        columns["record"] = pa.array([{"a": i, "b": f"{i}"} for i in range(n)])
        columns["bytes"] = pa.array([bytes([i, 255]) for i in range(n)])
        columns["flag"] = pa.array([i % 2 == 0 for i in range(n)])
    return pa.table(columns)


def _workbook(rows: list[list[Any]], names: list[str]) -> bytes:
    """The least a workbook must have."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def cell(value: Any, column: int, line: int) -> str:
        place = f"{chr(65 + column)}{line}"
        if isinstance(value, str):
            return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
        return "" if value is None else f'<c r="{place}"><v>{value}</v></c>'

    lines = "".join(
        f'<row r="{line}">{"".join(cell(value, column, line) for column, value in enumerate(row))}</row>'
        for line, row in enumerate([names, *rows], 1)
    )
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    members = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="xml" '
        f'ContentType="application/xml"/><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        f'relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{kinds}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{office}"><sheets><sheet name="s1" sheetId="1" '
        'r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{space}"><sheetData>{lines}</sheetData></worksheet>',
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in members.items():
            book.writestr(name, text)
    return buffer.getvalue()
