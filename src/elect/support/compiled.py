"""Compilation of numerical kernels, cached on disk across processes where the disk allows it."""

import hashlib
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

Kernel = Callable[..., Any]

_announced = False


def compiled(*, fastmath: bool = False) -> Callable[[Kernel], Kernel]:
    """Compile a kernel on its first call and keep the machine code for later processes.

    Kernels release the GIL, so that coarse pieces of work can run in threads. Where nothing can be kept (a read-only
    package and no home, a full disk) a kernel is compiled anew in every process; what is damaged is made again.

    >>> @compiled()
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def decorate(function: Kernel) -> Kernel:
        options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
        # The cache needs a source file: a function typed at a prompt has none.
        if not function.__code__.co_filename.startswith("<"):
            with suppress(RuntimeError, OSError):  # what numba raises where it finds no folder to write to
                return _healing(numba.njit(cache=True, **options)(function))
        kernel: Kernel = numba.njit(**options)(function)
        return kernel

    return decorate


class _HealingCache(IndexDataCacheFile):  # type: ignore[misc]
    """Files that carry a digest: machine code is not run unless it is what was written. What cannot be read is made
    again, what cannot be written is not kept."""

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
            file.write(hashlib.sha256(content).digest() + content)

    def _sound(self, path: str) -> Any:
        """What a file holds; OSError, which numba takes for a file that is not there, where it is damaged."""
        content = Path(path).read_bytes()
        if hashlib.sha256(content[32:]).digest() != content[:32]:
            raise OSError(f"{path} is damaged")
        return pickle.loads(content[32:])


def _healing(kernel: Any) -> Kernel:
    """The kernel with files that heal. Without compilation (``NUMBA_DISABLE_JIT``) it is the function itself."""
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

        cache.save_overload = save_overload
    result: Kernel = kernel
    return result


def announce_compilation(*kernels: Kernel) -> None:
    """Say once on standard error that compilation is under way, if any of the kernels is not cached yet."""
    global _announced
    if _announced or all(_is_cached(kernel) for kernel in kernels):
        return
    _announced = True
    print("elect: compiling kernels for this machine, once; this takes up to a minute ...", file=sys.stderr, flush=True)


def _is_cached(kernel: Any) -> bool:
    if getattr(kernel, "signatures", True):
        return True
    try:
        # An index made from an older source file reads as empty.
        return bool(kernel._cache._cache_file._load_index())
    except (AttributeError, OSError):
        return True  # numba moved its cache: say nothing rather than something false
