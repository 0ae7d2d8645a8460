"""Signals at any moment in ``detect``, ``score``, ``train`` and ``open``: an end in order, outputs old or whole."""

import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.invocations import TABLE
from attack.processes import ENDINGS, detector_file, ended, judged, long_table, parts, start, write_corpus
from attack.verdict import Verdict, wrong

GOAL, BATCH, SECONDS = 60, 15, 400

COMMANDS: dict[str, list[str]] = {
    "detect": ["detect", "t.csv", "-o", "out.csv", "--report", "r.html", "--save", "s.elect-detector", "--n-jobs", "1"],
    "score": ["score", "m.elect-detector", "l.csv", "-o", "out.csv"],
    "train": ["train", "corpus", "-o", "x.elect", "--work", "work", "--n-jobs", "1"],
    "open": ["open", "t.csv", "--no-browser", "--json", "--n-jobs", "1"],
}
OUTPUTS = ("out.csv", "r.html", "s.elect-detector", "x.elect")


def cases() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "command": st.sampled_from(sorted(COMMANDS)),
            "signals": st.lists(
                st.tuples(st.sampled_from(("SIGINT", "SIGTERM", "SIGHUP")), st.floats(0.05, 4)), min_size=1, max_size=2
            ),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    (here / "t.csv").write_text(TABLE)
    (here / "l.csv").write_bytes(long_table())
    (here / "m.elect-detector").write_bytes(detector_file())
    write_corpus(here / "corpus")
    process = start(COMMANDS[case["command"]], here)
    sent = 0
    for name, later in case["signals"]:
        time.sleep(later)
        if process.poll() is None:
            process.send_signal(signal.Signals[name])
            sent += 1
    if case["command"] == "open" and process.poll() is None and not sent:
        process.kill()
    try:
        status, _, err = ended(process, 120)
    except subprocess.TimeoutExpired:
        return Verdict("hang", f"{case['command']} went on after {case['signals']}")
    if status < 0 and -status in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP) and not _entered(here, err):
        return Verdict("result", tries=sent)  # before the first line of elect there is only Python
    verdict = judged(status, err, allowed=[*ENDINGS])
    if not verdict.fine:
        return verdict
    if parts(here):
        return wrong(f"{case['command']} left {parts(here)}")
    for name in OUTPUTS:
        path = here / name
        if path.exists() and not _whole(path):
            return wrong(f"{name} is not whole")
    return Verdict("result", tries=sent)


def _entered(here: Path, err: str) -> bool:
    """Whether elect had said a word: what ends Python before it has begun is not elect's."""
    return bool(err.strip()) and "elect:" in err


def _whole(path: Path) -> bool:
    content = path.read_bytes()
    if path.suffix == ".csv":
        return content.endswith(b"\n") and content.count(b"\n") in (41, 3001)
    if path.suffix == ".html":
        return content.rstrip().endswith(b"</html>")
    return content[:4] == b"PK\x03\x04" and b"PK\x05\x06" in content[-64:]
