"""Compilation of numerical kernels, cached on disk across processes where the disk allows it."""

import hashlib
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile
from numba.core.runtime import rtsys

Kernel = Callable[..., Any]

_announced = False
_kernels: dict[str, list[Any]] = {}
"""The kernels of each module that was imported."""
_elsewhere: "tuple[subprocess.Popen[bytes], frozenset[str], float] | None" = None
"""A process that compiles the kernels of some modules, and until when it is waited for."""
_PATIENCE = 90.0


def compiled(*, fastmath: bool = False) -> Callable[[Kernel], Kernel]:
    """Compile a kernel on its first call and keep the machine code for later processes.

    Kernels release the GIL, so that coarse pieces of work can run in threads. Where nothing can be kept (a read-only
    package and no home, a full disk) a kernel is compiled anew in every process; what is damaged is made again. Where
    nothing is compiled at all (``NUMBA_DISABLE_JIT``) it is interpreted, as silent about overflows as machine code.

    >>> @compiled()
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def decorate(function: Kernel) -> Kernel:
        if numba.config.DISABLE_JIT:
            interpreted: Kernel = np.errstate(all="ignore")(function)
            return interpreted
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        # The cache needs a source file: a function typed at a prompt has none.
        if not function.__code__.co_filename.startswith("<"):
            with suppress(RuntimeError, OSError):  # what numba raises where it finds no folder to write to
                kernel = _healing(numba.njit(cache=True, **options)(function))
                _kernels.setdefault(function.__module__, []).append(kernel)
                return kernel
        alone: Kernel = numba.njit(**options)(function)
        return alone

    return decorate


class _HealingCache(IndexDataCacheFile):  # type: ignore[misc]
    """Files that carry a digest: machine code is not run unless it is what was written there, for this source. What
    cannot be read is made again, what cannot be written is not kept."""

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):
            super().save(key, data)

    def _load_index(self) -> dict[Any, Any]:
        try:
            stamp, overloads = self._sound(self._index_path)
        except (OSError, ValueError):
            return {}
        return overloads if stamp == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        self._keep(self._index_path, ((self._version, self._source_stamp), overloads))

    def _load_data(self, name: str) -> Any:
        return self._sound(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._keep(self._data_path(name), data)

    def _keep(self, path: str, value: Any) -> None:
        content = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(self._digest(path, content) + content)

    def _sound(self, path: str) -> Any:
        """What a file holds; OSError, which numba takes for a file that is not there, where it is damaged."""
        content = Path(path).read_bytes()
        if self._digest(path, content[32:]) != content[:32]:
            raise OSError(f"{path} is damaged")
        return pickle.loads(content[32:])

    def _digest(self, path: str, content: bytes) -> bytes:
        """Of a file's place too: a whole file that was moved to the place of another holds another kernel."""
        place = repr((Path(path).name, self._version, self._source_stamp))
        return hashlib.sha256(hashlib.sha256(place.encode()).digest() + content).digest()


def _healing(kernel: Any) -> Kernel:
    """The kernel with files that heal."""
    cache = getattr(kernel, "_cache", None)
    if cache is not None and hasattr(cache, "_cache_file"):
        locator = cache._impl.locator
        cache._cache_file = _HealingCache(
            cache_path=cache._cache_path,
            filename_base=cache._impl.filename_base,
            source_stamp=locator.get_source_stamp(),
        )
        keep = cache.save_overload

        def save_overload(signature: Any, data: Any) -> None:
            with suppress(OSError):  # the folder may have gone since
                keep(signature, data)

        def load_overload(signature: Any, target: Any) -> Any:
            # numba would load all that compiling needs before it reads machine code: a fifth of a second at every
            # start. Its runtime is enough; where something is compiled after all, the rest is loaded then.
            rtsys.initialize(target)
            while True:
                coming = _is_coming(kernel)  # asked first: what was made since is found below
                with cache._guard_against_spurious_io_errors():
                    found = cache._load_overload(signature, target)
                if found is not None or not coming:
                    return found
                time.sleep(0.02)

        cache.save_overload, cache.load_overload = save_overload, load_overload
    result: Kernel = kernel
    return result


def leave_to(process: "subprocess.Popen[bytes]", modules: Iterable[str]) -> None:
    """Wait for a process that compiles the kernels of these modules, instead of compiling them here, while it runs."""
    global _elsewhere
    _elsewhere = process, frozenset(modules), time.monotonic() + _PATIENCE


def _is_coming(kernel: Any) -> bool:
    if _elsewhere is None:
        return False
    process, modules, until = _elsewhere
    return kernel.py_func.__module__ in modules and process.poll() is None and time.monotonic() < until


def are_kept(modules: Iterable[str]) -> bool:
    """Whether each of the modules has machine code on disk."""
    for name in modules:
        import_module(name)
    return all(any(map(_is_kept, _kernels.get(name, ()))) for name in modules)


def announce_compilation(*kernels: Kernel) -> None:
    """Say once on standard error that compilation is under way, if any of the kernels is not cached yet."""
    global _announced
    if _announced or all(_is_kept(kernel) for kernel in kernels):
        return
    _announced = True
    print(
        "elect: compiling kernels, once on this machine; that takes some ten seconds ...", file=sys.stderr, flush=True
    )


def _is_kept(kernel: Any) -> bool:
    if getattr(kernel, "signatures", True):
        return True
    try:
        # An index made from an older source file reads as empty.
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return True  # numba moved its cache: say nothing rather than something false
