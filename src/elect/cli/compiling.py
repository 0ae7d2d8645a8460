"""The first call on a machine: a second process compiles some of the kernels while this one compiles the others.

numba compiles one kernel at a time in a process. What the second process makes is kept on disk, as always, and the
first reads it there.
"""

import atexit
import subprocess
import sys

LEFT = tuple(f"elect.pool.kernels.{name}" for name in ("neighbors", "lof", "loda", "hbos"))
"""The modules whose kernels are left to the second process: about half of the work."""


def compile_ahead() -> None:
    """Start the second process, where kernels are missing and there is a core for it."""
    from elect.support.compiled import are_kept, leave_to
    from elect.support.threads import n_threads

    if are_kept(LEFT) or n_threads(-1) < 2 or not sys.executable:
        return
    silent = subprocess.DEVNULL
    try:
        process = subprocess.Popen([sys.executable, "-m", __name__], stdin=silent, stdout=silent, stderr=silent)
    except OSError:
        return  # all is compiled here, then
    atexit.register(_end, process)
    leave_to(process, LEFT)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait()


def make() -> None:
    """Call the kernels as a search calls them, in the same order, on a table that takes no time."""
    import numpy as np

    from elect.pool import PoolScorer
    from elect.support.compiled import are_kept

    scorer = PoolScorer(np.random.default_rng(0).normal(size=(30, 3)))
    scorer.scores("kNN(method=mean, n_neighbors=10)")
    if not are_kept(LEFT[:1]):
        return  # nothing can be kept on this machine
    scorer.scores("LOF(metric=euclidean, n_neighbors=10)")
    scorer.scores("LODA(n_bins=10, n_random_cuts=10)")
    scorer.scores("HBOS(alpha=0.1, n_bins=10)")


if __name__ == "__main__":
    make()
