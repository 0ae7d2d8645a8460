"""A grammar of tables as text: columns of all kinds, odd cells, ways to write them, damage."""

import csv
import io
import random
import re
from typing import Any

from hypothesis import strategies as st

Case = dict[str, Any]

KINDS = (
    "numbers",
    "whole",
    "constant",
    "huge",
    "tiny",
    "decimal comma",
    "thousands",
    "percent",
    "money",
    "dates",
    "german dates",
    "times",
    "zones",
    "yes and no",
    "few words",
    "many words",
    "sentences",
    "counter",
    "codes",
    "telephone",
    "formulas",
    "empty",
    "mostly empty",
    "missing words",
    "numbers and words",
    "sentinels",
    "infinities",
    "leading zeros",
    "long digits",
    "blanks",
    "one differs",
)

NASTY = (
    "",
    " ",
    "NA",
    "nan",
    "NULL",
    "-",
    "inf",
    "-inf",
    "1e309",
    "-1e-320",
    "9" * 400,
    "0x1F",
    "1_000",
    "1,5",
    "1.234,5",
    "12:61",
    "2024-02-30",
    "0000-00-00",
    "31.12.9999",
    "=cmd|' /C calc'!A0",
    " =1+1",
    "+49170",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "<script>alert(1)</script>",
    "'; DROP TABLE rows; --",
    "\x1b[2J\x1b]0;owned\x07",
    "a\nb",
    "a\r\nb",
    'say "hi"',
    '"',
    "a,b;c\td|e",
    "\u202egnp.exe",
    "\ufeff",
    "\u00a0",
    "\u2028",
    "e\u0301",
    "\U0001f600",
    "\u0000",
    "٣",
    "½",
    "x" * 5000,
    "{0}",
    "%s",
    "[bold]",
    "true",
    "1",
    "0",
)

NAMES = (
    "amount",
    "a",
    "b",
    "c",
    "id",
    "row",
    "label",
    "x0",
    "elect_score",
    "elect_chance",
    "",
    " spaced ",
    "2019",
    "=1+1",
    "a,b",
    'quo"te',
    "new\nline",
    "name with \x1b[31m",
    "größe",
    "日付",
    "\U0001f4c8",
    "y" * 300,
    "__index_level_0__",
    "constructor",
    "unnamed_1",
    "None",
    "[red]",
)

WORDS = ("north", "south", "east", "west", "Berlin", "São Paulo", "tokyo", "n/a?", "big", "small")

_cell = st.one_of(st.sampled_from(NASTY), st.text(max_size=12), st.floats().map(repr), st.integers().map(str))
_column = st.fixed_dictionaries(
    {"kind": st.sampled_from(KINDS), "seed": st.integers(0, 10**6), "gaps": st.sampled_from((0, 0, 0, 5, 40))}
)
_damage = st.one_of(
    st.tuples(st.sampled_from(("cut", "repeat", "delete")), st.integers(0, 10**4), st.integers(1, 60)),
    st.tuples(st.just("byte"), st.integers(0, 10**4), st.integers(0, 255)),
    st.tuples(st.just("insert"), st.integers(0, 10**4), st.sampled_from(('"', ",", "\n", "\r", "\0", ";", "\t"))),
)
_damages: st.SearchStrategy[list[Any]] = st.one_of(
    st.just([]), st.just([]), st.just([]), st.lists(_damage, min_size=1, max_size=3)
)


def tables(*, damaged: bool = True) -> st.SearchStrategy[Case]:
    """Tables with how they are written; of an undamaged one it is known what must come out."""
    return st.fixed_dictionaries(
        {
            "names": st.lists(st.sampled_from(NAMES), min_size=1, max_size=7, unique=True),
            "columns": st.lists(_column, min_size=7, max_size=7),
            "rows": st.sampled_from((0, 1, 2, 3, 5, 8, 13, 30, 30, 30, 47, 47, 60, 60)),
            "odd": st.lists(st.tuples(st.integers(0, 59), st.integers(0, 6), _cell), max_size=6),
            "delimiter": st.sampled_from((",", ",", ",", ";", "\t", "|")),
            "newline": st.sampled_from(("\n", "\n", "\r\n", "\r")),
            "encoding": st.sampled_from(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1", "utf-32")),
            "quotes": st.sampled_from(("needed", "needed", "all")),
            "header": st.sampled_from((True, True, True, True, False)),
            "before": st.sampled_from(("", "", "", "\n", "sep=\n")),
            "last": st.booleans(),
            "damage": _damages if damaged else st.just([]),
        }
    )


def cells(case: Case) -> list[list[str]]:
    """The rows of a table, every cell as text."""
    width, n = len(case["names"]), case["rows"]
    columns = [_values(column, n) for column in case["columns"][:width]]
    rows = [list(row) for row in zip(*columns, strict=True)] if n else []
    for row, column, text in case["odd"]:
        if n:
            rows[row % n][column % width] = text
    return rows


def _values(column: Case, n: int) -> list[str]:
    rng = random.Random(column["seed"])
    values = [_value(column["kind"], rng, i) for i in range(n)]
    if column["kind"] == "one differs" and n:
        values[rng.randrange(n)] = "other"
    return ["" if rng.randrange(100) < column["gaps"] else value for value in values]


def _value(kind: str, rng: random.Random, i: int) -> str:
    match kind:
        case "numbers":
            return f"{rng.gauss(10, 3):.3f}"
        case "whole":
            return str(rng.randrange(-50, 50))
        case "constant" | "one differs":
            return "7"
        case "huge":
            return f"{rng.gauss(0, 1):.3f}e{rng.randrange(150, 308)}"
        case "tiny":
            return f"{rng.gauss(0, 1):.3f}e-{rng.randrange(150, 323)}"
        case "decimal comma":
            return f"{rng.gauss(10, 3):.2f}".replace(".", ",")
        case "thousands":
            return f"{rng.randrange(10**7):,}"
        case "percent":
            return f"{rng.randrange(100)}%"
        case "money":
            return f"${rng.randrange(10**5)}.{rng.randrange(100):02d}"
        case "dates":
            return f"20{rng.randrange(10, 30)}-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"
        case "german dates":
            return f"{rng.randrange(1, 29):02d}.{rng.randrange(1, 13):02d}.20{rng.randrange(10, 30)}"
        case "times":
            return f"{rng.randrange(24):02d}:{rng.randrange(60):02d}:{rng.randrange(60):02d}"
        case "zones":
            return f"2024-01-{rng.randrange(1, 29):02d}T{rng.randrange(24):02d}:00:00+05:30"
        case "yes and no":
            return rng.choice(("yes", "no"))
        case "few words":
            return rng.choice(WORDS)
        case "many words":
            return "".join(rng.choice("abcdefghij") for _ in range(6))
        case "sentences":
            return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 9)))
        case "counter":
            return str(1000 + i)
        case "codes":
            return f"K{rng.randrange(10**8):08d}"
        case "telephone":
            return f"+49 170 {rng.randrange(10**7)}"
        case "formulas":
            return rng.choice(("=A1+1", "@x", "-2+3", "+a", "1"))
        case "empty":
            return ""
        case "mostly empty":
            return "" if rng.randrange(20) else "3.5"
        case "missing words":
            return rng.choice(("NA", "null", "-", "4.5", "n/a", "?"))
        case "numbers and words":
            return rng.choice((f"{rng.gauss(0, 1):.2f}", rng.choice(WORDS)))
        case "sentinels":
            return rng.choice((f"{rng.gauss(40, 4):.1f}", "-999", "9999"))
        case "infinities":
            return rng.choice(("inf", "-inf", "NaN", f"{rng.gauss(0, 1):.2f}"))
        case "leading zeros":
            return f"{rng.randrange(10**5):07d}"
        case "long digits":
            return str(rng.randrange(10**30))
        case "blanks":
            return f" {rng.randrange(20)} "
    raise ValueError(kind)


def text_of(case: Case) -> str:
    """The table as a text file: a value that any reader could take for more than one is quoted."""
    buffer = io.StringIO(newline="")
    lines = [case["names"], *cells(case)] if case["header"] else cells(case)
    for number, line in enumerate(lines):
        buffer.write(case["delimiter"].join(_quoted(cell, case, len(line)) for cell in line))
        if case["last"] or number < len(lines) - 1:
            buffer.write(case["newline"])
    before = case["before"].replace("sep=", f"sep={case['delimiter']}").replace("\n", case["newline"])
    return f"{before}{buffer.getvalue()}"


_DELIMITING = re.compile(r'[,;\t|"\r\n]|^\s|\s$|^sep=', re.IGNORECASE)


def _quoted(cell: str, case: Case, width: int) -> str:
    if case["quotes"] == "all" or _DELIMITING.search(cell) or (width == 1 and not cell):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def bytes_of(case: Case) -> bytes:
    """The file, damage and all."""
    text = text_of(case)
    # Latin-1 with the controls that cp1252 has letters for cannot be told from it: the guess is said to be one.
    ambiguous = case["encoding"] == "latin-1" and any("\x80" <= letter <= "\x9f" for letter in text)
    try:
        content = text.encode("utf-8" if ambiguous else case["encoding"])
    except UnicodeError:
        content = text.encode("utf-8", errors="surrogatepass")
    for kind, place, what in case["damage"]:
        at = place % (len(content) + 1)
        match kind:
            case "cut":
                content = content[:at]
            case "repeat":
                content = content[: at + what] + content[at:]
            case "delete":
                content = content[:at] + content[at + what :]
            case "byte":
                content = content[:at] + bytes([what]) + content[at + 1 :]
            case "insert":
                content = content[:at] + what.encode() + content[at:]
    return content


def parsed(text: str) -> list[list[str]]:
    """A file that elect wrote."""
    csv.field_size_limit(1 << 30)
    return list(csv.reader(io.StringIO(text, newline="")))
