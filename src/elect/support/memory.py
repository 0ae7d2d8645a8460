"""How much memory there is for this process."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def available() -> int | None:
    """Bytes that can be had: of the machine, of the container, of the limit set on the process. None: nobody knows."""
    return min(_limits(), default=None)


def _limits() -> Iterator[int]:
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                yield int(line.split()[1]) << 10
    for most, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        with suppress(OSError, ValueError):  # "max" is no number, and no limit
            group = Path("/sys/fs/cgroup")
            yield int((group / most).read_text()) - int((group / used).read_text())
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            yield max(limit - pages * os.sysconf("SC_PAGE_SIZE"), 0)
