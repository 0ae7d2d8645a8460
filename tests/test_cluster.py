"""Training on a real dask scheduler with worker processes on loopback, one of which is killed mid-run."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from elect import MetaDatabase, default_pool
from elect.history import train
from elect.support.cluster import ClusterError
from toys import SMALL_POOL, corpus

distributed = pytest.importorskip("distributed", reason="needs elect[cluster]")


@pytest.fixture
def cluster(tmp_path: Path) -> Any:
    """A scheduler and two workers, each a process of its own; the address, and the processes of the workers."""
    place = tmp_path / "scheduler.json"
    quiet = {"cwd": tmp_path, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--host",
        "127.0.0.1",
        "--nthreads",
        "1",
        "--no-nanny",
    ]
    processes = [subprocess.Popen([*scheduler, "--no-dashboard", "--scheduler-file", str(place)], **quiet)]  # type: ignore[call-overload]
    try:
        for _ in range(2):
            command = [*worker, "--no-dashboard", "--scheduler-file", str(place)]
            processes.append(subprocess.Popen(command, **quiet))  # type: ignore[call-overload]
        deadline = time.monotonic() + 60
        while not place.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        address = json.loads(place.read_text())["address"]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait(timeout=30)


def saved(database: MetaDatabase, folder: Path) -> bytes:
    database.save(folder / "it.elect")
    return (folder / "it.elect").read_bytes()


def test_the_cluster_gives_the_same_database(cluster: Any, tmp_path: Path, small_database: MetaDatabase) -> None:
    address, _ = cluster
    assert saved(train(corpus(), SMALL_POOL, cluster=address), tmp_path) == saved(small_database, tmp_path)


def test_a_worker_that_dies_loses_nothing(cluster: Any, tmp_path: Path) -> None:
    address, workers = cluster
    pool = default_pool().select("IForest", n_estimators=200) + default_pool().select("OCSVM", kernel="rbf")
    tasks = corpus(12)
    work = tmp_path / "work"
    pieces_then: list[int] = []

    def kill_one() -> None:
        """Once the first piece is there, end a worker; with twelve tasks on two workers it is at work on another."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not list(work.glob("scores-*.npz")):
            time.sleep(0.002)
        workers[0].send_signal(signal.SIGKILL)
        pieces_then.append(len(list(work.glob("scores-*.npz"))))

    killer = Thread(target=kill_one)
    killer.start()
    with distributed.Client(address, set_as_default=False) as client:
        database = train(tasks, pool, cluster=client, work_dir=work, tune=False)
    killer.join()
    assert workers[0].wait(timeout=30) == -signal.SIGKILL
    assert pieces_then[0] < len(tasks), "the run was over before the worker was killed"
    assert len(list(work.glob("scores-*.npz"))) == len(tasks)
    assert saved(database, tmp_path) == saved(train(tasks, pool, tune=False), tmp_path)


def test_an_unreachable_scheduler_is_said_so() -> None:
    with pytest.raises(ClusterError, match="could not be reached"):
        train(corpus(2), SMALL_POOL, cluster="tcp://127.0.0.1:9", tune=False)
