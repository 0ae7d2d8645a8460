"""Run the commands and the Python of pages as they stand there, and renew the output that is shown below them.

    python docs/run_blocks.py README.md docs/index.md           # run; the first failure ends it
    python docs/run_blocks.py --write README.md docs/*.md       # and renew every ```text block below a block

A page is run in an empty folder with ``examples/`` in it, its blocks in order: ```sh, a command a line, and ```python,
which share their names. ``pip install`` says what a page needs; ``# status 1`` that a command ends so. An output that
ends with a line ``...`` is cut where it was. ``elect open`` is opened and ended, ``make`` must name a target. A block
```py is Python that needs what no environment of ours has (Spark): it is only compiled.
"""

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(sh|python|py|text)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WIDTH = 90
"""Of output that is shown: a page of the site is not wider."""

LONG = ("elect bench", "elect corpus")
"""Hours of work: only their options are checked."""


@dataclass(frozen=True)
class Block:
    kind: str
    text: str
    start: int
    end: int


def blocks_of(page: str) -> list[Block]:
    return [Block(found[1], found[2], found.start(2), found.end(2)) for found in FENCE.finditer(page)]


def needs_of(page: str) -> tuple[str, ...]:
    """What a page says must be installed, extras as ``elect[name]``."""
    found: list[str] = []
    for block in blocks_of(page):
        for line in block.text.splitlines() if block.kind == "sh" else ():
            if line.startswith("pip install "):
                words = shlex.split(line.partition("#")[0])[2:]
                found += [word.replace(".[", "elect[") for word in words if word != "." and not word.endswith(".whl")]
    return tuple(sorted(set(found)))


class Failed(Exception):
    """What went wrong in which block."""


def run_page(path: Path) -> str:
    """The page with the output of its blocks as it is now."""
    page = path.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": "__main__"}
    said, parts, last = "", [], 0
    with _empty_folder():
        for block in blocks_of(page):
            parts.append(page[last : block.start])
            last = block.end
            if block.kind == "text":
                parts.append(_shown(said, block.text))
                said = ""
                continue
            parts.append(block.text)
            if block.kind == "py":
                compile(block.text, path.name, "exec")
                continue
            try:
                said = _shell(block.text) if block.kind == "sh" else _python(block.text, names)
            except BaseException as error:
                told = "" if isinstance(error, Failed) else traceback.format_exc(limit=-3)
                raise Failed(f"{path.name}:\n{block.text}\n{error}\n{told}") from None
    return "".join([*parts, page[last:]])


def _shown(said: str, before: str) -> str:
    if not said.strip():
        return before
    lines = [line.rstrip() for line in said.strip("\n").splitlines()]
    kept = before.splitlines()
    if len(kept) > 1 and kept[-1] == "..." and len(lines) > len(kept) - 1:
        lines = [*lines[: len(kept) - 1], "..."]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="elect-docs-") as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _python(code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, "page", "exec"), names)
    return out.getvalue()


def _shell(text: str) -> str:
    return "".join(_command(line) for line in text.splitlines() if line.strip() and not line.startswith("#"))


def _command(line: str) -> str:
    wanted = re.search(r"# status (\d+)", line)
    words = shlex.split(line, comments=True)
    if words[:2] == ["pip", "install"] or words[0] == "cd":
        return ""
    if words[0] == "make":
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
        if words[1] not in targets:
            raise Failed(f"the Makefile has no target {words[1]}")
        return ""
    if words[0] != "elect":
        raise Failed(f"only elect, make and pip are run, got {words[0]}")
    if words[1] == "open":
        return _opened(words[1:])
    status, said = _elect([*words[1:], "--help"] if line.startswith(LONG) else words[1:])
    if status != (int(wanted[1]) if wanted else 0):
        raise Failed(f"status {status}: {said}")
    if line.startswith(LONG):
        _check_options(words[1:], said)
        return ""
    return said


def _elect(args: list[str]) -> tuple[int, str]:
    from elect.cli import main, screen

    screen.WIDTH = WIDTH
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(args)
    return status, out.getvalue() if status in (0, 1) else err.getvalue()


def _check_options(args: list[str], told: str) -> None:
    for word in args:
        if word.startswith("-") and word.split("=")[0] not in re.findall(r"-{1,2}[\w-]+", told):
            raise Failed(f"{' '.join(args[:2])} has no option {word}")


def _opened(args: list[str]) -> str:
    """Open the page, ask it for its first answer, and end it."""
    from http.cookiejar import CookieJar
    from urllib.request import HTTPCookieProcessor, build_opener

    command = [sys.executable, "-m", "elect.cli", *args, "--no-browser", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            told, _ = json.JSONDecoder().raw_decode("".join(_until_object(process.stdout)))
            with build_opener(HTTPCookieProcessor(CookieJar())).open(told["address"], timeout=60) as answer:
                if answer.status != 200:
                    raise Failed(f"the page answered {answer.status}")
        finally:
            process.terminate()
    return ""


def _until_object(lines: Any) -> Iterator[str]:
    for line in lines:
        yield line
        if line.rstrip() in ("}",) or (line.startswith("{") and line.rstrip().endswith("}")):
            return


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the blocks of pages.")
    parser.add_argument("pages", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="Renew the output shown below blocks.")
    given = parser.parse_args()
    for path in given.pages:
        path = path.resolve()
        try:
            page = run_page(path)
        except Failed as error:
            print(f"failed: {error}", file=sys.stderr)
            return 1
        print(f"ran {path.name}", file=sys.stderr)
        if given.write:
            path.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
