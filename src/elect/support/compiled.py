"""Compilation of numerical kernels, cached on disk across processes."""

import sys
from collections.abc import Callable
from typing import Any

import numba

Kernel = Callable[..., Any]

_announced = False


def compiled(*, fastmath: bool = False) -> Callable[[Kernel], Kernel]:
    """Compile a kernel on its first call and keep the machine code for later processes.

    Kernels release the GIL, so that coarse pieces of work can run in threads.

    >>> @compiled()
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def decorate(function: Kernel) -> Kernel:
        # The cache needs a source file: a function typed at a prompt has none.
        on_disk = not function.__code__.co_filename.startswith("<")
        kernel: Kernel = numba.njit(cache=on_disk, nogil=True, error_model="numpy", fastmath=fastmath)(function)
        return kernel

    return decorate


def announce_compilation(*kernels: Kernel) -> None:
    """Say once on standard error that compilation is under way, if any of the kernels is not cached yet."""
    global _announced
    if _announced or all(_is_cached(kernel) for kernel in kernels):
        return
    _announced = True
    print("elect: compiling kernels for this machine, once; this takes up to a minute ...", file=sys.stderr, flush=True)


def _is_cached(kernel: Any) -> bool:
    if kernel.signatures:
        return True
    try:
        # An index made from an older source file reads as empty.
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return True  # numba moved its cache: say nothing rather than something false
