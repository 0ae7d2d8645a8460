"""Work on a dask cluster: its address is checked, its workers are waited for, jobs survive the loss of one."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from elect.errors import ElectError

RETRIES = 5
WORKERS_WITHIN = 60.0
"""Seconds within which a cluster must have its first worker."""

_LOOK_EVERY = 2.0

_ADDRESS = re.compile(r"(?:[a-z]+://)?[^\s/:]+:\d{1,5}|(?:[a-z]+://)\[[0-9a-fA-F:]+\]:\d{1,5}|inproc://\S+")

J = TypeVar("J")
R = TypeVar("R")


class ClusterError(ElectError, RuntimeError):
    """A cluster that could not be reached, or that could not finish a job."""


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    """A client of the scheduler at an address; a client that is given stays open."""
    if not isinstance(cluster, str):
        _wait_for_workers(cluster, cluster)
        yield cluster
        return
    if not _ADDRESS.fullmatch(cluster):
        raise ClusterError(f"The address of a scheduler must be like tcp://host:8786, got {cluster!r}.")
    with _quiet():
        try:
            client = _distributed().Client(cluster, set_as_default=False, timeout="5s")
        except ElectError:
            raise
        except Exception as error:  # of a dozen kinds, by what is wrong with the address or behind it
            raise ClusterError(f"The scheduler {cluster!r} could not be reached ({type(error).__name__}).") from None
        try:
            _wait_for_workers(client, cluster)
            yield client
        finally:
            with suppress(Exception):  # a scheduler that has gone cannot be told that we go
                client.close()


@contextmanager
def _quiet() -> Iterator[None]:
    """What becomes of the cluster is said by us, in one line; dask would log tracebacks of its own."""
    import logging

    _distributed()  # whose import sets levels of its own
    levels = {name: logging.getLogger(name).level for name in ("distributed", "distributed.client", "tornado")}
    try:
        for name in levels:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def local_workers(n: int) -> Iterator[Any]:
    """A client of a cluster on this machine: so many processes of one thread each, on loopback, gone at the end."""
    import logging
    import tempfile

    distributed = _distributed()
    with (
        tempfile.TemporaryDirectory(prefix="elect-workers-") as folder,
        distributed.LocalCluster(
            n_workers=n,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        _wait_for_workers(client, "of this machine")
        yield client


def finished(
    client: Any, work: Callable[[J], R], jobs: Sequence[J], key: Callable[[J], str], name: Callable[[J], str]
) -> Iterator[tuple[J, R]]:
    """Every job with its result, as they come. ``key`` tells jobs apart, ``name`` says them to a person."""
    # A job travels with its request, not beside it: when a worker dies the scheduler can send it to another.
    futures = {client.submit(work, job, pure=False, retries=RETRIES, key=key(job)): job for job in jobs}
    ready = _distributed().as_completed(list(futures), loop=client.loop)
    while futures:
        _wait_for_one(ready, client)
        future = next(ready)
        job = futures.pop(future)
        try:
            result = future.result()
        except ElectError:
            raise
        except Exception as error:
            raise ClusterError(
                f"{name(job)} could not be scored on the cluster ({type(error).__name__}: {error}). "
                "What was finished is kept: run the same again."
            ) from error
        yield job, result
        future.release()


def _wait_for_one(ready: Any, client: Any) -> None:
    """Wait for a job to end. A cluster that has lost all workers would be waited for without end."""
    looked = alive = time.monotonic()
    while not ready.has_ready():
        time.sleep(0.02)
        if time.monotonic() > looked + _LOOK_EVERY:
            with suppress(Exception):  # where the scheduler has gone the jobs are cancelled, and are ready then
                alive = time.monotonic() if client.nthreads() else alive
            looked = time.monotonic()
            if looked > alive + WORKERS_WITHIN:
                raise ClusterError(
                    f"The cluster had no worker for {WORKERS_WITHIN:.0f} s. What was finished is kept: start workers "
                    "with 'dask worker ADDRESS', and run the same again."
                )


def _wait_for_workers(client: Any, cluster: Any) -> None:
    """A scheduler without workers would take the jobs and never answer."""
    try:
        client.wait_for_workers(1, timeout=WORKERS_WITHIN)
    except TimeoutError:
        raise ClusterError(
            f"The scheduler {cluster!r} had no worker for {WORKERS_WITHIN:.0f} s: start one with 'dask worker ADDRESS'."
        ) from None


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ClusterError("Work on a cluster must have dask.distributed: pip install 'elect[cluster]'.") from None
    return distributed
