"""Processes ended in the middle of writing: the old file or the new one, whole, and the next write leaves nothing."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import attack
from attack.processes import digest, ended, kept, parts
from attack.verdict import RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 50, 12, 400

OUTPUTS = ("out.csv", "out.parquet", "out.tsv", "out.elect-detector")


def cases() -> st.SearchStrategy[Any]:
    """``late`` is the moment in seconds: a write takes a few tenths, and one follows the other."""
    return st.fixed_dictionaries(
        {
            "output": st.sampled_from(OUTPUTS),
            "signal": st.sampled_from(("SIGKILL", "SIGKILL", "SIGTERM", "SIGINT")),
            "late": st.lists(st.floats(0, 0.7), min_size=2, max_size=4),
            "old": st.booleans(),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    output = here / case["output"]
    expected = _expected(case["output"])
    if case["old"]:
        output.write_bytes(b"old")
    for late in case["late"]:
        before = digest(output) if output.exists() else None
        process = _victim(here, case["output"], 1000)
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            return Verdict("traceback", ended(process)[2][-3000:])
        time.sleep(late)
        process.send_signal(signal.Signals[case["signal"]])
        try:
            status, _, err = ended(process)
        except subprocess.TimeoutExpired:
            return Verdict("hang", f"after {case['signal']}")
        if "Traceback" in err:
            return Verdict("traceback", err[-3000:])
        after = digest(output) if output.exists() else None
        if after not in (before, expected):
            return wrong(f"{case['signal']} left {output.stat().st_size} bytes under the name (status {status})")
        if case["signal"] != "SIGKILL" and parts(here):
            return wrong(f"{case['signal']} left {parts(here)}")
    time.sleep(1.1)  # what was left is taken for left after a second
    status, _, err = ended(_victim(here, case["output"], 1))
    if status != 0 or digest(output) != expected or sorted(p.name for p in here.iterdir()) != [case["output"]]:
        return wrong(f"the write after it: status {status}, {sorted(p.name for p in here.iterdir())} {err[-300:]}")
    return Verdict(RESULT.word, tries=len(case["late"]))


def _victim(here: Path, output: str, times: int) -> "subprocess.Popen[str]":
    root = Path(attack.__file__).parent.parent
    return subprocess.Popen(
        [sys.executable, "-m", "attack.victim", str(here / output), str(times)],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _expected(name: str) -> str:
    """What an undisturbed write gives."""
    here = kept("expected")
    if not (here / name).exists():
        status, _, err = ended(_victim(here, name, 1))
        assert status == 0, err
    return digest(here / name)
