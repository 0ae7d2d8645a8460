"""Commands in processes of their own, for what only a process can suffer: signals, limits, neighbours."""

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attack.verdict import RESULT, Verdict, wrong

PATIENCE = 240.0
"""Seconds after which a command hangs."""

ENDINGS = {0, 2, 130, 129, 143}
"""A result, one line, or the shell's word for a signal."""


def start(args: Sequence[str], here: Path, **options: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "elect.cli", *args],
        cwd=here,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        **options,
    )


def ended(process: "subprocess.Popen[str]", seconds: float = PATIENCE) -> tuple[int, str, str]:
    """Status, output and errors of a process; a TimeoutExpired where it hangs."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return process.returncode, out, err


def finished(args: Sequence[str], here: Path, **options: Any) -> tuple[int, str, str]:
    return ended(start(args, here, **options))


def judged(status: int, err: str, *, allowed: Sequence[int] = (0, 2)) -> Verdict:
    """What every end of a command has in common."""
    if "Traceback (most recent call last)" in err or "panicked at" in err:
        # Before the first line of elect there is only Python.
        if "/elect/" not in err.split("Traceback", 1)[1] and "KeyboardInterrupt" in err:
            return RESULT
        return Verdict("traceback", err[-3000:])
    if status < 0:
        return Verdict("crash", f"{signal.Signals(-status).name}: {err[-500:]}")
    if status not in allowed:
        return wrong(f"status {status}: {err[-500:]}")
    if status == 2 and not err.strip().splitlines()[-1:][0].startswith("elect: "):
        return wrong(f"status 2 and no line of elect's: {err[-500:]}")
    return RESULT


def parts(here: Path) -> list[str]:
    return sorted(path.name for path in here.rglob("*.part"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def until(true: Callable[[], Any], seconds: float) -> bool:
    """Wait for something, in small steps."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.001)
    return False


# --- what the commands work on ----------------------------------------------------------------------------------------


@cache
def corpus_files() -> dict[str, bytes]:
    import random

    rng = random.Random(5)
    found = {}
    for number in range(3):
        lines = [f"{rng.gauss(0, 1 + 5 * (i < 3)):.3f},{rng.gauss(number, 1):.3f},{int(i < 3)}\n" for i in range(36)]
        found[f"t{number}.csv"] = ("a,b,label\n" + "".join(lines)).encode()
    return found


def write_corpus(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, content in corpus_files().items():
        (folder / name).write_bytes(content)


@cache
def long_table() -> bytes:
    import random

    rng = random.Random(6)
    lines = [f"r{i},{rng.gauss(0, 1):.4f},{rng.gauss(5, 2):.4f}\n" for i in range(3000)]
    return ("id,a,b\n" + "".join(lines)).encode()


@cache
def kept(name: str) -> Path:
    """A folder that lives as long as this process."""
    import tempfile

    return Path(tempfile.mkdtemp(prefix=f"attack-{name}-"))


@cache
def detector_file() -> bytes:
    """A detector of the long table's columns."""
    here = kept("detector")
    (here / "t.csv").write_bytes(b"".join(long_table().splitlines(keepends=True)[:200]))
    status, _, err = finished(
        ["detect", "t.csv", "--max-models", "3", "--scorer", "model", "-q", "--id", "id", "--save", "m.elect-detector"],
        here,
    )
    assert status == 0, err
    return (here / "m.elect-detector").read_bytes()


def with_environment(**more: str) -> dict[str, str]:
    return {**os.environ, **more}
