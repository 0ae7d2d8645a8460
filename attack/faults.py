"""Machines that fail: a file system that is full, limits on files and memory, folders that cannot be written."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.invocations import TABLE
from attack.processes import detector_file, ended, finished, judged, long_table, parts, write_corpus
from attack.verdict import Verdict, wrong

GOAL, BATCH, SECONDS = 60, 12, 400

COMMANDS: dict[str, list[str]] = {
    "detect": [
        *("detect", "t.csv", "-o", "out/out.csv", "--report", "out/r.html", "--save", "out/s.elect-detector"),
        *("--max-models", "3", "--n-jobs", "1", "-q"),
    ],
    "score": ["score", "m.elect-detector", "l.csv", "-o", "out/out.parquet", "-q", "--n-jobs", "1"],
    "train": ["train", "corpus", "-o", "out/x.elect", "--work", "out/work", "-q", "--n-jobs", "1"],
    "select": ["select", "t.csv", "-q", "--max-models", "3", "--n-jobs", "1", "--json"],
}


def cases() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "command": st.sampled_from(("detect", "detect", "score", "train", "select")),
            "fault": st.sampled_from(("file size", "file size", "memory", "full", "full", "read-only", "processes")),
            "much": st.floats(0, 1),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    (here / "t.csv").write_text(TABLE)
    (here / "l.csv").write_bytes(long_table())
    (here / "m.elect-detector").write_bytes(detector_file())
    write_corpus(here / "corpus")
    (here / "out").mkdir()
    args, much = COMMANDS[case["command"]], case["much"]
    try:
        match case["fault"]:
            case "file size":
                status, _, err = finished(args, here, preexec_fn=_limited("RLIMIT_FSIZE", int(10 ** (2 + 5 * much))))
            case "memory":
                # Below about a gigabyte of addresses the libraries do not load: what fails is Python itself.
                size = int((1.5 + 6 * much) * 2**30)
                status, _, err = finished(args, here, preexec_fn=_limited("RLIMIT_AS", size))
            case "processes":
                status, _, err = finished(args, here, preexec_fn=_limited("RLIMIT_NOFILE", int(24 + 100 * much)))
            case fault:
                found = _mounted(args, here, fault, int(10 ** (4 + 3 * much)))
                if found is None:
                    return Verdict("refused", tries=0)  # it takes a privilege to mount a file system
                status, err = found
    except subprocess.TimeoutExpired:
        return Verdict("hang", f"{case['command']} with {case['fault']}")
    verdict = judged(status, err)
    if not verdict.fine:
        return verdict
    if status == 2 and len(err.strip().splitlines()) > 3:
        return wrong(f"not one line: {err[-500:]}")
    if parts(here / "out"):
        return wrong(f"left {parts(here / 'out')}")
    if status == 2 and (left := _results(here / "out")) and case["command"] != "detect":
        return wrong(f"refused, but left {left}")
    return Verdict("result" if status == 0 else "refused")


def _results(out: Path) -> list[str]:
    return sorted(path.name for path in out.iterdir() if path.is_file())


def _limited(name: str, value: int) -> Any:
    def limit() -> None:
        number = getattr(resource, name)
        resource.setrlimit(number, (value, resource.getrlimit(number)[1]))

    return limit


def _mounted(args: list[str], here: Path, fault: str, size: int) -> tuple[int, str] | None:
    """Run with a file system of its own mounted where results go: small, or one that cannot be written. What is left
    there is copied back, since it goes with the mount."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return None
    options = f"size={max(size, 8192)}" if fault == "full" else "ro"
    script = (
        f"mount -t tmpfs -o {options} tmpfs out 2>/dev/null || exit 99\n"
        '"$@"; status=$?\n'
        "mkdir -p ../back && cp -r out/. ../back/ 2>/dev/null; exit $status"
    )
    inside = subprocess.Popen(
        ["unshare", "-m", "bash", "-c", script, "bash", sys.executable, "-m", "elect.cli", *args],
        cwd=here,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    status, _, err = ended(inside)
    if status == 99:
        return None
    shutil.copytree(here.parent / "back", here / "out", dirs_exist_ok=True)
    return status, err
