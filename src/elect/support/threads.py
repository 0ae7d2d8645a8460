"""Coarse pieces of work in threads. Kernels release the GIL; the pieces do not depend on the number of threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from elect.errors import InvalidInput

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

MOST = 256
"""Threads that are ever started, whatever is asked for. Results do not depend on their number."""


def n_threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` asks for, counted as joblib and scikit-learn do: None is 1, -1 is every core.

    >>> n_threads(None), n_threads(2)
    (1, 2)
    """
    if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs == 0):
        raise InvalidInput(f"n_jobs must be None, a positive number or -1 for every core, got {n_jobs!r}.")
    if n_jobs is None or n_jobs > 0:
        return min(n_jobs or 1, MOST)
    return min(max(1, n_cores() + 1 + n_jobs), MOST)


def n_cores() -> int:
    """The cores that this process may use: not those kept from it, nor more than its container is given."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        allowed = min(allowed, -(-int(quota) // int(period)))  # "max" is no number: no limit
    return max(1, allowed)


def one_thread() -> AbstractContextManager[object]:
    """Linear algebra on small matrices in one thread, which is faster, the more so where other processes keep the cores
    busy: threads of BLAS wait for each other."""
    limited: AbstractContextManager[object] = _linear_algebra().limit(limits=1)
    return limited


@cache
def _linear_algebra() -> "ThreadpoolController":
    from threadpoolctl import ThreadpoolController

    # Looking for the libraries that are loaded takes some milliseconds.
    return ThreadpoolController()


def run_chunks(work: Callable[[int, int], None], n: int, size: int, n_jobs: int) -> None:
    """Call ``work(start, stop)`` over ``range(n)`` in pieces of ``size``."""
    pieces = [(start, min(start + size, n)) for start in range(0, n, size)]
    if n_jobs == 1 or len(pieces) == 1:
        for start, stop in pieces:
            work(start, stop)
        return
    # Not joblib, which looks every ten milliseconds whether its threads are done.
    with ThreadPoolExecutor(min(n_jobs, len(pieces))) as threads:
        for done in [threads.submit(work, start, stop) for start, stop in pieces]:
            done.result()
