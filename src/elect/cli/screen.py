"""Where words go: results to standard output, everything else to standard error."""

import json
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 120
"""Of output that does not go to a terminal."""


class Result(Protocol):
    """What a command found out: told as one JSON object, or said to a person."""

    def document(self) -> dict[str, Any]: ...

    def say(self, console: "Console") -> None: ...


def show(result: Result, *, json: bool) -> None:
    """A result on standard output, the one way or the other."""
    if json:
        print_json(result.document())
    else:
        result.say(stdout())


def tell(text: str) -> None:
    """A line on standard error. No file name and no model can give orders to the terminal with it."""
    print(f"elect: {wording.clean(text)}", file=sys.stderr, flush=True)


def print_json(content: Any) -> None:
    """One JSON object on standard output."""
    json.dump(plain(content), sys.stdout, ensure_ascii=False, allow_nan=False, indent=2)
    sys.stdout.write("\n")


def plain(value: Any) -> Any:
    """JSON has no NaN and no infinity: null stands for both."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def stdout() -> "Console":
    """The screen for results. Nothing in them is markup: what comes from a table is shown as it is."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # rich would end the process; whoever called knows what is left to do

    width = None if sys.stdout.isatty() else WIDTH
    return Screen(width=width, highlight=False, markup=False, emoji=False)


def stderr() -> "Console":
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False, emoji=False)


def pairs(console: "Console", lines: Sequence[tuple[str, str]]) -> None:
    """Named facts, one below the other."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in lines:
        table.add_row(Text(name), Text(wording.clean(fact)))
    _print(console, table)


def grid(console: "Console", heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]) -> None:
    """A table; a head says its name and whether its column holds numbers."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, is_number in heads:
        table.add_column(name, justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
    for row in rows:
        table.add_row(*(Text(wording.clean(cell)) for cell in row))
    _print(console, table)


def _print(console: "Console", table: Any) -> None:
    """A table without the blanks that fill its last column up."""
    with console.capture() as captured:
        console.print(table)
    # Written through the console again, so that colours survive on a terminal.
    for line in captured.get().splitlines():
        console.file.write(line.rstrip() + "\n")
