"""Coarse pieces of work in threads. Kernels release the GIL; the pieces do not depend on the number of threads."""

from collections.abc import Callable

from elect.errors import InvalidInput

MOST = 256
"""Threads that are ever started, whatever is asked for. Results do not depend on their number."""


def n_threads(n_jobs: int | None) -> int:
    """How many threads ``n_jobs`` asks for, counted as joblib and scikit-learn do: None is 1, -1 is every core.

    >>> n_threads(None), n_threads(2)
    (1, 2)
    """
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, int) or n_jobs == 0):
        raise InvalidInput(f"n_jobs must be None, a positive number or -1 for every core, got {n_jobs!r}.")
    return min(int(effective_n_jobs(n_jobs)), MOST)


def run_chunks(work: Callable[[int, int], None], n: int, size: int, n_jobs: int) -> None:
    """Call ``work(start, stop)`` over ``range(n)`` in pieces of ``size``."""
    pieces = [(start, min(start + size, n)) for start in range(0, n, size)]
    if n_jobs == 1 or len(pieces) == 1:
        for start, stop in pieces:
            work(start, stop)
        return
    from joblib import Parallel, delayed

    Parallel(n_jobs=n_jobs, backend="threading")(delayed(work)(start, stop) for start, stop in pieces)
