"""One command in this process, with everything watched that it may do: its words, its status, its files."""

import hashlib
import json
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attack.verdict import REFUSED, RESULT, Verdict, wrong

LONGEST = 2500
"""Characters of an error message."""


@dataclass(frozen=True)
class Ran:
    status: int | None
    out: str
    err: str


def files_in(folder: Path) -> dict[str, str]:
    """Every file below a folder with a digest of what it holds."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = os.fsencode(path.relative_to(folder)).decode(errors="backslashreplace")
        if path.is_symlink():
            found[name] = "link to " + os.readlink(path)
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@contextmanager
def _streams(folder: Path, stdin: bytes) -> Iterator[Callable[[], tuple[str, str]]]:
    """Standard streams to and from files, also for what libraries print past Python."""
    places = [folder / "stdin", folder / "stdout", folder / "stderr"]
    places[0].write_bytes(stdin)
    saved = [os.dup(number) for number in range(3)]
    before = sys.stdin, sys.stdout, sys.stderr
    opened = [os.open(places[0], os.O_RDONLY)]
    opened += [os.open(place, os.O_RDWR | os.O_CREAT | os.O_TRUNC) for place in places[1:]]
    try:
        for number, descriptor in enumerate(opened):
            os.dup2(descriptor, number)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False, encoding="utf-8")  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False, encoding="utf-8", errors="backslashreplace")  # noqa: SIM115

        def told() -> tuple[str, str]:
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()
            return places[1].read_text(errors="replace"), places[2].read_text(errors="replace")

        yield told
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
        for number, descriptor in enumerate(saved):
            os.dup2(descriptor, number)
            os.close(descriptor)
        for descriptor in opened:
            os.close(descriptor)


def command(args: Sequence[str], streams: Path, stdin: bytes = b"") -> Ran:
    """Run ``elect`` with these arguments in the folder the process is in."""
    from elect.cli import main

    with _streams(streams, stdin) as told:
        try:
            status: int | None = main([*args])
        except BaseException:
            traceback.print_exc()
            status = None
        return Ran(status, *told())


def judged(
    ran: Ran,
    before: dict[str, str],
    after: dict[str, str],
    outputs: Sequence[str],
    *,
    json_asked: bool = False,
    quiet: bool = True,
) -> Verdict:
    """The property that every command has, whatever it was given."""
    said = ran.out + ran.err
    if ran.status is None or "Traceback (most recent call last)" in said or "panicked at" in said:
        return Verdict("traceback", ran.err[-3000:])
    if ran.status not in (0, 2):
        return wrong(f"status {ran.status}: {ran.err[-500:]}")
    if any(char in said for char in "\x1b\x07\x9b"):
        return wrong(f"escapes for the terminal: {said[:300]!r}")
    if any(name.endswith(".part") for name in after):
        return wrong(f"half-written files: {[name for name in after if name.endswith('.part')]}")
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if ran.status == 2:
        lines = ran.err.strip("\n").splitlines()
        if ran.out:
            return wrong(f"status 2 with output: {ran.out[:300]!r}")
        if not lines or not lines[-1].startswith("elect: ") or (quiet and len(_without_progress(lines)) != 1):
            return wrong(f"status 2 and not one line: {ran.err[-500:]!r}")
        if len(lines[-1]) > LONGEST:
            return wrong(f"a message of {len(lines[-1])} characters")
        return wrong(f"refused, but changed {sorted(changed)}") if changed else REFUSED
    if stray := changed - {*outputs}:
        return wrong(f"changed {sorted(stray)}, which it was not asked for")
    if missing := [name for name in outputs if name not in after]:
        return wrong(f"did not write {missing}")
    if json_asked and (broken := _broken_json(ran.out)):
        return wrong(broken)
    return RESULT


def _without_progress(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("elect: compiling kernels")]


def _broken_json(text: str) -> str | None:
    def refuse(constant: str) -> Any:
        raise ValueError(constant)

    try:
        found = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return f"--json printed no JSON ({error}): {text[:200]!r}"
    return None if isinstance(found, dict) else "--json printed no object"
