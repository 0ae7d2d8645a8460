"""Tables of the grammar through ``detect``, ``score`` and ``select``: all rows, in their order, or one line."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

from attack import grammar
from attack.command import command, files_in, judged
from attack.verdict import RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 900, 60, 240
COMMANDS = 3
"""A case is three commands, and so many tries."""

cases = grammar.tables

_FEW = ("--max-models", "3", "--n-jobs", "1", "-q")
_RESULTS = ["elect_score", "elect_chance", "elect_outlier", "elect_kind", "elect_reasons"]


def run(case: dict[str, Any], folder: Path) -> Verdict:
    return replace(_tried(case, folder), tries=COMMANDS)


def _tried(case: dict[str, Any], folder: Path) -> Verdict:
    from elect.support.formulas import guarded
    from elect.tables.table import column_names

    here, streams = folder / "here", folder / "streams"
    (here / "t.csv").write_bytes(grammar.bytes_of(case))
    before = files_in(here)
    detect = ["detect", "t.csv", *_FEW, "--json", "-o", "out.csv", "--save", "m.elect-detector", "--report", "r.html"]
    ran = command(detect, streams)
    after = files_in(here)
    verdict = judged(ran, before, after, ["out.csv", "m.elect-detector", "r.html"], json_asked=True)
    if not verdict.fine:
        return verdict
    detected = verdict
    selected = judged(command(["select", "t.csv", *_FEW], streams), after, files_in(here), [])
    if not selected.fine:
        return selected
    if selected != verdict:
        return wrong(f"detect gave a {verdict.word}, select did not")
    if detected == RESULT and (broken := _broken(here / "out.csv", None)):
        return wrong(f"detect: {broken}")
    model = "m.elect-detector" if detected == RESULT else str(_other_model(folder))
    verdict = judged(
        command(["score", model, "t.csv", "-q", "--json", "-o", "scored.csv"], streams),
        after,
        files_in(here),
        ["scored.csv"],
        json_asked=True,
    )
    if not verdict.fine:
        return verdict
    if detected == RESULT and verdict != RESULT:
        return wrong("the table a detector was made from cannot be scored with it")
    if case["damage"] or detected != RESULT:
        return detected
    # Nothing is damaged: it is known what must come out.
    rows = [[_out(cell, guarded) for cell in row] for row in grammar.cells(case)]
    if case["header"]:
        names = [guarded(name) for name in column_names(case["names"], "t.csv")]
        numbers = all(name.strip().isdigit() for name in case["names"])
    else:
        names, numbers = [f"x{i}" for i in range(len(case["names"]))], False
    for name in ("out.csv", "scored.csv"):
        if broken := _broken(here / name, None if numbers else (names, rows, case["header"])):
            return wrong(f"{name}: {broken}")
    return detected


def _out(cell: str, guarded: Any) -> str:
    return str(guarded(cell))


def _broken(path: Path, expected: "tuple[list[str], list[list[str]], bool] | None") -> str | None:
    """What is wrong with a table that was written."""
    head, *rows = grammar.parsed(path.read_bytes().decode())
    if head[-5:] != _RESULTS or any(len(row) != len(head) for row in rows):
        return f"columns {head}"
    for row in rows:
        score, chance, outlier = row[-5:-2]
        if not math.isfinite(float(score)) or not 0 <= float(chance) <= 1 or outlier not in ("0", "1"):
            return f"a row with {row[-5:-2]}"
    if expected is None:
        return None
    names, cells, header = expected
    own = [i for i, name in enumerate(names) if name not in _RESULTS]
    if header and head[:-5] != [names[i] for i in own]:
        return f"columns {head[:-5]} instead of {names}"
    found = [row[:-5] for row in rows]
    if not header and len(found) == len(cells) - 1:
        return None  # a first row that is no row of numbers is taken for a header, and said to be
    if len(found) != len(cells):
        return f"{len(found)} rows instead of {len(cells)}"
    for number, (one, other) in enumerate(zip(found, cells, strict=True)):
        if one != (wanted := [other[i] for i in own]):
            return f"row {number} is {one!r:.300} instead of {wanted!r:.300}"
    return None


_models: dict[str, Path] = {}


def _other_model(folder: Path) -> Path:
    """A detector of another table, to score tables with that no detector could be made from."""
    if "made" not in _models:
        import tempfile

        place = Path(tempfile.mkdtemp(prefix="attack-"))
        (place / "t.csv").write_text("a,b\n" + "".join(f"{i % 7}.5,{i * 37 % 11}\n" for i in range(40)))
        made = place / "m.elect-detector"
        command(["detect", str(place / "t.csv"), *_FEW, "--save", str(made)], folder / "streams")
        _models["made"] = made
    return _models["made"]
