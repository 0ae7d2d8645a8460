"""Training on a dask cluster whose parts die, pause or run out of memory: it ends in order, and goes on afterwards."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.processes import digest, ended, finished, judged, start, until, write_corpus
from attack.verdict import RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 8, 4, 900

FAULTS = ("worker dies", "all workers die", "scheduler dies", "worker pauses", "no memory")


def cases() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({"fault": st.sampled_from(FAULTS), "after": st.floats(0, 3)})


def run(case: dict[str, Any], folder: Path) -> Verdict:
    here = folder / "here"
    write_corpus(here / "corpus")
    args = ["train", "corpus", "-o", "x.elect", "--work", "work", "-q", "--n-jobs", "1"]
    with Cluster(folder, memory="300MB" if case["fault"] == "no memory" else "0") as cluster:
        process = start([*args, "--cluster", cluster.address], here)
        until(lambda: any((here / "work").glob("scores-*")) or process.poll() is not None, 60)
        time.sleep(case["after"])
        cluster.suffer(case["fault"])
        try:
            status, _, err = ended(process, 400)
        except subprocess.TimeoutExpired:
            return Verdict("hang", case["fault"])
        verdict = judged(status, err)
        if not verdict.fine:
            return verdict
        if status == 2 and (here / "x.elect").exists():
            return wrong("refused, but left a database")
    # Whatever happened, the same again without a cluster goes on from what was kept.
    status, _, err = finished(args, here)
    if status != 0 or digest(here / "x.elect") != _expected():
        return wrong(f"the run after it: status {status}, {err[-300:]}")
    return RESULT


def _expected() -> str:
    from attack.killed_training import _expected as alone

    return alone()


class Cluster:
    """A scheduler and two workers, each a process of its own on this machine."""

    def __init__(self, folder: Path, memory: str) -> None:
        self._folder = folder / "cluster"
        self._folder.mkdir()
        self._memory = memory
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Cluster":
        place = self._folder / "scheduler.json"
        self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(place))
        for _ in range(2):
            more = ("--nthreads", "1", "--no-nanny", "--memory-limit", self._memory)
            self._start("dask_worker", "--host", "127.0.0.1", *more, "--scheduler-file", str(place))
        if not until(place.exists, 120):
            raise RuntimeError("the scheduler did not start")
        time.sleep(0.2)
        self.address = json.loads(place.read_text())["address"]
        return self

    def _start(self, name: str, *args: str) -> None:
        self._processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{name}", "--no-dashboard", *args],
                cwd=self._folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s"},
            )
        )

    def suffer(self, fault: str) -> None:
        match fault:
            case "worker dies":
                self._processes[1].kill()
            case "all workers die":
                self._processes[1].kill()
                self._processes[2].kill()
            case "scheduler dies":
                self._processes[0].kill()
            case "worker pauses":
                self._processes[1].send_signal(signal.SIGSTOP)
                time.sleep(5)
                self._processes[1].send_signal(signal.SIGCONT)

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()
