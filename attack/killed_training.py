"""Training ended at any moment, once or several times, goes on and ends with the same database to the last bit."""

import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.edits import edited
from attack.processes import digest, ended, finished, kept, parts, start, write_corpus
from attack.verdict import RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 50, 6, 900

ARGS = ["train", "corpus", "-o", "x.elect", "--work", "work", "-q", "--n-jobs", "1"]


def cases() -> st.SearchStrategy[Any]:
    """Moments in seconds; between kills a piece of the work folder may be damaged too."""
    return st.fixed_dictionaries(
        {
            "moments": st.lists(st.floats(0.2, 9), min_size=3, max_size=6),
            "signal": st.sampled_from(("SIGKILL", "SIGKILL", "SIGTERM", "SIGINT")),
            "damage": st.one_of(st.none(), st.integers(0, 1000)),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    write_corpus(here / "corpus")
    expected, kills = _expected(), 0
    for moment in case["moments"]:
        process = start(ARGS, here)
        time.sleep(moment)
        if process.poll() is None:
            kills += 1
            process.send_signal(signal.Signals[case["signal"]])
        try:
            status, _, err = ended(process)
        except subprocess.TimeoutExpired:
            return Verdict("hang", f"after {case['signal']}")
        if "Traceback" in err and "/elect/" in err:
            return Verdict("traceback", err[-3000:])
        if (here / "x.elect").exists():
            if digest(here / "x.elect") != expected:
                return wrong(f"another database after {case['signal']} (status {status})")
            (here / "x.elect").unlink()
        if case["damage"] is not None:
            _damage(here / "work", case["damage"])
    status, _, err = finished(ARGS, here)
    if status != 0:
        return wrong(f"the run after it: status {status}, {err[-500:]}")
    if digest(here / "x.elect") != expected:
        return wrong("the run after it ended with another database")
    if parts(here):
        return wrong(f"the run after it left {parts(here)}")
    return Verdict(RESULT.word, tries=kills)


def _damage(work: Path, seed: int) -> None:
    pieces = sorted(work.glob("*.npz")) if work.exists() else []
    if pieces:
        rng = random.Random(seed)
        path = rng.choice(pieces)
        kind = rng.choice(("cut", "zero", "set"))
        path.write_bytes(edited(path.read_bytes(), [(kind, rng.randrange(10**6), rng.randrange(1, 64))]))


def _expected() -> str:
    here = kept("trained")
    if not (here / "x.elect").exists():
        write_corpus(here / "corpus")
        status, _, err = finished(ARGS, here)
        assert status == 0, err
    return digest(here / "x.elect")
