"""Command lines that nobody meant: any command, any option, any value, odd files, odd streams, odd surroundings."""

import os
import shlex
import subprocess
import sys
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.command import Ran, command, files_in, judged
from attack.verdict import Verdict

GOAL, BATCH, SECONDS = 200, 100, 240

TABLE = "id,a,b,label\n" + "".join(f"r{i},{i % 7}.5,{i * 37 % 11},{int(i == 3)}\n" for i in range(40))

FILES = (
    *("t.csv", "t.csv", "t.csv", "t.parquet", "empty.csv", "folder", "nothing.csv", "loop.csv", "link.csv"),
    *("m.elect-detector", "d.elect", "answers.csv", "random.bin", "/dev/null", "/dev/zero", "/proc/self/mem", "-"),
    *("", " ", "a" * 300, "t.csv/x", "//", "~", "\x1b[2J.csv", "caf\udce9.csv", "no\nline.csv", "--", "-x", "%s"),
    "/dev/full",
)
OUTPUTS = ("out.csv", "out.tsv", "out.parquet", "r.html", "m2.elect-detector", "o.elect", *FILES)
VALUES = (
    *("0", "1", "-1", "3", "0.1", "5%", "5%x", "50%", "auto", "1e400", "nan", "inf", "-0", "1_000", "9" * 30),
    *("", " ", "a", "b", "id", "label", "a,b", "nosuch", "committee", "model", "elect", "fixed", "learn", "find"),
    *(
        "10s",
        "0s",
        "1h",
        "1000000",
        "\x1b[31m",
        "\x00",
        "é",
        "\ud800",
        "x" * 5000,
        "--json",
        "None",
        "[]",
        "tcp://127.0.0.1:9",
    ),
)
COMMANDS: dict[str, tuple[int, tuple[str, ...]]] = {
    "detect": (
        1,
        (
            *(
                "-o",
                "--report",
                "--save",
                "--contamination",
                "--answers",
                "--aim",
                "--top",
                "--label",
                "--id",
                "--drop",
            ),
            *("--columns", "--scorer", "--budget", "--strategy", "--max-models", "--seed", "--database", "--n-jobs"),
            *("--scores-only", "--trust", "--trace", "--json", "--nonsense"),
        ),
    ),
    "select": (
        1,
        (
            *("--label", "--id", "--drop", "--columns", "--budget", "--strategy", "--max-models", "--seed"),
            *("--database", "--n-jobs", "--trust", "--trace", "--json", "-o"),
        ),
    ),
    "score": (2, ("-o", "--scores-only", "--top", "--label", "--n-jobs", "--trust", "--json", "--seed")),
    "train": (1, ("-o", "--label", "--metric", "--seed", "--n-jobs", "--json", "--cluster")),
    "info": (1, ("--json", "--trust")),
    "models": (0, ("--json", "--family", "--pool")),
    "open": (1, ("--port", "--answers", "--label", "--id")),
    "bench": (1, ("--json", "--protocol")),
    "nonsense": (1, ("--json",)),
    "--version": (0, ()),
    "--help": (0, ()),
}
GOOD: dict[str, tuple[str, ...]] = {
    "-o": ("out.csv", "out.tsv", "out.parquet"),
    "--report": ("r.html",),
    "--save": ("m2.elect-detector",),
    "--contamination": ("auto", "0.1", "5%", "0.5"),
    "--answers": ("answers.csv", "new.csv"),
    "--aim": ("learn", "find"),
    "--top": ("1", "3", "1000000"),
    "--label": ("label",),
    "--id": ("id",),
    "--drop": ("a", "b", "label,a"),
    "--columns": ("a,b", "a"),
    "--scorer": ("committee", "model"),
    "--budget": ("10s", "1ms", "0.1"),
    "--strategy": ("auto", "committee", "fixed", "elect"),
    "--max-models": ("1", "3", "20"),
    "--seed": ("0", "7", "4294967295", "99999999999999999999"),
    "--database": ("d.elect",),
    "--n-jobs": ("1", "2", "-1", "1000000"),
    "--metric": ("ap", "roc", "prn"),
}
FLAGS = frozenset(("--scores-only", "--trust", "--trace", "--json", "--nonsense"))
PATHS = frozenset(("-o", "--report", "--save", "--answers", "--database"))
PLACES = (
    *("here",) * 14,
    *("no standard output", "no standard error", "no streams", "closed pipe", "full output", "no home"),
    *("ascii", "folder gone", "no compilation", "no temporary folder", "few files"),
)


@st.composite
def cases(draw: Any) -> Any:
    name = draw(st.sampled_from([*COMMANDS, *("detect",) * 8, *("score",) * 4, *("select",) * 3]))
    count, options = COMMANDS[name]
    args = [name]
    # Most of the command line is right, so that the part that is not is reached.
    right = {"detect": ["t.csv"], "select": ["t.csv"], "score": ["m.elect-detector", "t.csv"], "info": ["d.elect"]}
    if name in right and draw(st.integers(0, 2)):
        args += right[name]
    else:
        args += draw(st.lists(st.sampled_from(FILES), min_size=max(count - 1, 0), max_size=count + 1))
    for option in draw(st.lists(st.sampled_from(options), max_size=4, unique=True)) if options else []:
        args.append(option)
        if option not in FLAGS:
            hostile = OUTPUTS if option in PATHS else VALUES
            args.append(draw(st.sampled_from(GOOD[option] if option in GOOD and draw(st.integers(0, 3)) else hostile)))
    if name in ("detect", "select") and "--max-models" not in args:
        args += ["--max-models", "3"]
    if name == "open" or (name == "train" and draw(st.booleans())):
        args.append("nosuch.csv")  # the page would be served until it is told to end; a signal does that elsewhere
    return {"args": args, "place": draw(st.sampled_from(PLACES)), "quiet": draw(st.booleans())}


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    _furnish(here)
    args = list(case["args"])
    if case["quiet"] and args[0] in ("detect", "select", "score", "train"):
        args.append("-q")
    before = files_in(here)
    if case["place"] == "here" and not any("\0" in arg for arg in args):
        ran = command(args, folder / "streams", TABLE.encode())
    else:
        args = [arg.replace("\0", "") for arg in args]
        ran = _elsewhere(args, case["place"], folder)
    after = files_in(here)
    quiet = "-q" in args and case["place"] != "no compilation"
    if case["place"] in ("no standard error", "no streams") and ran.status == 2:
        ran = Ran(2, ran.out, "elect: (nobody could read it)\n")
    if case["place"] == "closed pipe" and ran.status == 0:
        ran = Ran(0, "{}", ran.err)
    if case["place"] in ("no standard output", "no streams", "full output"):
        ran = Ran(ran.status, "{}" if ran.status == 0 else "", ran.err)
    verdict = judged(
        ran,
        before,
        after,
        _expected(args, before, after),
        json_asked="--json" in args and args[0] not in ("--help", "--version"),
        quiet=quiet,
    )
    if case["place"] == "full output" and verdict.why.startswith("refused, but changed"):
        return Verdict("refused")  # the files were written before the last word could not be
    return verdict


def _expected(args: list[str], before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The files that the command line names as outputs, as far as they are in the folder."""
    options = ("-o", "--report", "--save", "--answers")
    named = [value for option, value in pairwise(args) if option in options]
    named = [os.path.normpath(name) for name in named]
    # A second -o, or an output that is a device or a link, need not show as a file that changed.
    return [name for name in named if name in after and before.get(name) != after[name]]


def _furnish(here: Path) -> None:
    (here / "t.csv").write_text(TABLE)
    for name, content in _files().items():
        (here / name).write_bytes(content)
    (here / "empty.csv").write_bytes(b"")
    (here / "folder").mkdir()
    (here / "loop.csv").symlink_to("loop.csv")
    (here / "link.csv").symlink_to("t.csv")
    (here / "answers.csv").write_text("position,row,answer\n1,r1,no\n")
    (here / "random.bin").write_bytes(bytes(range(256)) * 4)


@cache
def _files() -> dict[str, bytes]:
    import io

    import polars as pl

    from attack.artifacts import base

    buffer = io.BytesIO()
    pl.read_csv(TABLE.encode()).write_parquet(buffer)
    return {"t.parquet": buffer.getvalue(), "m.elect-detector": base("kNN"), "d.elect": base("database")}


def _latin(arg: str) -> str:
    """The bytes of an argument as letters: a shell takes them as they are."""
    return arg.encode("utf-8", errors="surrogateescape" if "\ud800" not in arg else "replace").decode("latin-1")


def _elsewhere(args: list[str], place: str, folder: Path) -> Ran:
    """In a process of its own, in surroundings that a command may be started in."""
    words = "exec " + shlex.join([sys.executable, "-m", "elect.cli", *(_latin(arg) for arg in args)])
    line = words.encode("latin-1")
    script = line
    environment = dict(os.environ)
    match place:
        case "no standard output":
            script = line + b" >&-"
        case "no standard error":
            script = line + b" 2>&-"
        case "no streams":
            script = line + b" <&- >&- 2>&-"
        case "closed pipe":
            script = b"set -o pipefail; (" + line + b") | true"
        case "full output":
            script = line + b" > /dev/full"
        case "no home":
            environment.update(HOME="/nonexistent", XDG_CACHE_HOME="/proc/none", XDG_CONFIG_HOME="/proc/none")
        case "ascii":
            environment.update(LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
        case "folder gone":
            script = b"mkdir gone && cd gone && rmdir ../gone && " + line
        case "no compilation":
            environment["NUMBA_DISABLE_JIT"] = "1"
        case "no temporary folder":
            environment["TMPDIR"] = "/proc/none"
        case "few files":
            script = b"ulimit -n 40; " + line
    done = subprocess.run(
        [b"bash", b"-c", script], input=TABLE.encode(), capture_output=True, cwd=folder / "here", env=environment
    )
    status = done.returncode
    if place == "closed pipe" and status == 141:  # the shell's word for a pipe that was closed
        status = 0
    if status < 0 or status > 128:
        return Ran(status, "", f"signal: {done.stderr.decode(errors='replace')}")
    return Ran(status, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))
