"""Write docs/command-line.md from what the commands say about themselves.

    python docs/make_command_line.py

A test compares the page with what this makes. It is made from the help texts, not from the screen, whose layout
is up to the version of typer.
"""

from pathlib import Path
from typing import Any

from typer.main import get_command

from elect.cli.app import app

PAGE = Path(__file__).with_name("command-line.md")
COMMANDS = ("open", "detect", "score", "select", "train", "corpus", "models", "info")
COMMANDS += ("bench wild", "bench controlled", "bench union", "bench errors", "bench odd", "bench answers")

INTRODUCTION = """\
# The command line

*This page is made from the help of the commands: `python docs/make_command_line.py`.*

```sh
elect detect examples/payments.csv --id payment --drop checked -o scores.csv --report report.html
```

Results go to standard output, everything else (progress, complaints) to standard error. With `--json` standard output
holds exactly one JSON object. The exit status is 0 for success, 1 where `elect score --fail-above` says so, 2 for
something you can mend, told in one line, and 130 after Ctrl-C, except during a
search: there Ctrl-C ends the search, and the command goes on with the pick so far.

Files appear whole or not at all. Tables are CSV, TSV, Parquet, Arrow/Feather or (with the extra `excel`) Excel, found
by their content; a file of more than 100,000 rows is learned from a seeded sample and scored in batches, so it may be
larger than memory.

Many files with the same columns are one table: `elect detect 'folder/*.parquet' -o out/`, or a folder. Each is scored
into a file of its own, here, with `--workers N` in so many processes, or with `--cluster ADDRESS` on the workers of a
dask scheduler that see the same folders (`pip install 'elect[cluster]'`). Scores do not depend on how the rows are cut.
A run that was stopped goes on when it is started again; `out/_elect/summary.json` has what was found in all files.

The examples below run as they stand, in a folder with `examples/payments.csv` of the repository and with labelled
tables in `history/`:

```sh
pip install '.[train]'
```

```python
from pathlib import Path

import polars as pl

payments = pl.read_csv("examples/payments.csv")
known = payments.with_columns(label=(pl.col("checked") != "ok").cast(int)).drop("checked", "payment")
Path("history").mkdir()
for branch in range(3):
    known.gather_every(3, branch).write_csv(f"history/branch-{branch}.csv")
```
"""

EXAMPLES = {
    "open": "elect open examples/payments.csv --label checked",
    "detect": "elect detect examples/payments.csv --label checked -o scores.parquet --save our.elect-detector",
    "score": "elect score our.elect-detector examples/payments.csv -o may.csv --fail-above 2%",
    "select": "elect select examples/payments.csv --drop checked,country --budget 10s --json",
    "train": "elect train history -o ours.elect --work work",
    "corpus": "elect corpus history/",
    "models": "elect models --family LOF",
    "info": "elect info ours.elect",
    "bench wild": "elect bench wild --source published --protocol strict --json",
    "bench controlled": "elect bench controlled --methods MetaOD,ISAC --work work/",
    "bench union": "elect bench union --corpus corpus/corpus.json --work work/",
    "bench errors": "elect bench errors --corpus corpus/corpus.json --work work/ --json",
    "bench odd": "elect bench odd --corpus corpus/corpus.json --work work/ --leave-kinds-out --json",
    "bench answers": "elect bench answers --counts 0,5,10,20 --json",
}


def options_of(command: Any) -> list[str]:
    """A line for each argument and option."""
    lines = ["| argument or option | |", "|---|---|"]
    for parameter in command.params:
        is_option = parameter.param_type_name == "option"
        names = ", ".join(sorted(parameter.opts, key=len)) if is_option else parameter.metavar
        value = f" {parameter.metavar}" if is_option and parameter.metavar else ""
        about = str(parameter.help)
        if is_option and parameter.default is not None and parameter.default is not False:
            about += f" By default {parameter.default}."
        elif parameter.required and is_option:
            about += " Required."
        lines.append(f"| `{names}{value}`".replace("|", "\\|").removeprefix("\\").rstrip() + f" | {about} |")
    return lines


def page() -> str:
    """The whole page."""
    group: Any = get_command(app)
    parts = [INTRODUCTION]
    for name in COMMANDS:
        command = group
        for word in name.split():
            command = command.commands[word]
        parts.append(f"\n## elect {name}\n\n{command.help}\n\n```sh\n{EXAMPLES[name]}\n```\n\n")
        parts.append("\n".join(options_of(command)) + "\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
