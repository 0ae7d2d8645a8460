"""The commands, a file each. What they do is imported when they run, so that help comes at once."""

from typing import Annotated

import typer

from elect.cli.bench import app as bench
from elect.cli.corpus import corpus
from elect.cli.detect import detect
from elect.cli.info import info
from elect.cli.models import models
from elect.cli.open import open_page
from elect.cli.score import score
from elect.cli.select import select
from elect.cli.train import train

app = typer.Typer(
    help="Say which rows of a table are odd, why, and which detector to keep.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
# In the order in which people need them, each in so few words that none is cut.
app.command("open", short_help="Look at a table in the browser.")(open_page)
app.command(short_help="Find the odd rows of a table, and say why.")(detect)
app.command(short_help="Score new rows with a saved detector; tell drift.")(score)
app.command(short_help="Say which detector fits a table, and why.")(select)
app.command(short_help="Add labelled tables of your own to the history.")(train)
app.command(short_help="Build labelled tables from public data.")(corpus)
app.command(short_help="List the models.")(models)
app.command(short_help="Say what a database was made from.")(info)
app.add_typer(bench, name="bench")


@app.callback(invoke_without_command=True)
def elect(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Say which rows of a table are odd, why, and which detector to keep."""
    if version:
        from elect import __version__

        typer.echo(f"elect {__version__}")
        raise typer.Exit()
