"""Two processes at once on one output, one work folder, one cache: each ends in order, the result is one of theirs."""

import os
import subprocess
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.invocations import TABLE
from attack.processes import digest, ended, finished, judged, kept, parts, start, with_environment, write_corpus
from attack.verdict import RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 16, 4, 600

COMMANDS: dict[str, tuple[str, list[str]]] = {
    "output": ("out.csv", ["detect", "t.csv", "-o", "out.csv", "--max-models", "3", "--n-jobs", "1", "-q"]),
    "saved": (
        "s.elect-detector",
        [
            "detect",
            "t.csv",
            "--save",
            "s.elect-detector",
            "--max-models",
            "3",
            "--n-jobs",
            "1",
            "-q",
        ],
    ),
    "work": ("x.elect", ["train", "corpus", "-o", "x.elect", "--work", "work", "-q", "--n-jobs", "1"]),
    "cache": ("out.csv", ["detect", "t.csv", "-o", "out.csv", "--max-models", "3", "--n-jobs", "1", "-q"]),
}


def cases() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"shared": st.sampled_from(sorted(COMMANDS)), "processes": st.integers(2, 3)})


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    name, args = COMMANDS[case["shared"]]
    _furnish(here)
    environment = with_environment()
    if case["shared"] == "cache":
        environment["NUMBA_CACHE_DIR"] = os.fspath(folder / "cache")
    together = [start(args, here, env=environment) for _ in range(case["processes"])]
    try:
        ends = [ended(process) for process in together]
    except subprocess.TimeoutExpired:
        return Verdict("hang", case["shared"])
    finally:
        for process in together:
            if process.poll() is None:
                process.kill()
                process.communicate()
    for status, _, err in ends:
        verdict = judged(status, err, allowed=[0])
        if not verdict.fine:
            return verdict
    if parts(here):
        return wrong(f"left {parts(here)}")
    if case["shared"] != "saved" and digest(here / name) != _expected(case["shared"]):
        return wrong(f"{name} is not what one process writes")
    return Verdict(RESULT.word)


def _furnish(here: Path) -> None:
    (here / "t.csv").write_text(TABLE)
    write_corpus(here / "corpus")


def _expected(shared: str) -> str:
    here = kept(f"alone-{shared}")
    name, args = COMMANDS[shared]
    if not (here / name).exists():
        _furnish(here)
        status, _, err = finished(args, here)
        assert status == 0, err
    return digest(here / name)
