"""``elect open``: the page of a table, on this machine."""

import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from elect.cli import parse, screen
from elect.cli.options import Columns, Database, Drop, Id, Json, Label, NJobs, Seed, Strategy, Table, Trust
from elect.support import wording


def open_page(
    file: Table,
    answers: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Where answers are kept and found again; by default beside the table."),
    ] = None,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, metavar="N", help="The port; 0, the default, is a free one.", show_default=False
        ),
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    strategy: Strategy = "auto",
    seed: Seed = 0,
    database: Database = None,
    n_jobs: NJobs = -1,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Look at a table in the browser: odd rows, why, questions, a threshold, files. On this machine only."""
    from elect.answers.kept import KeptAnswers, beside
    from elect.cli.compiling import compile_ahead
    from elect.cli.searching import load_database
    from elect.detect import Options, open_table
    from elect.detect.output import check_distinct, check_output
    from elect.page.product import TableProduct
    from elect.page.server import PageServer
    from elect.page.state import PageState
    from elect.tables import read_table
    from elect.tables.errors import unknown_column

    kept = beside(file) if answers is None else answers
    check_output(kept, "--answers", (".csv",))
    check_distinct([file], [kept])
    table = read_table(file)
    compile_ahead()
    left_out, used = parse.names(drop or (), table.columns), parse.names(columns or (), table.columns)
    named = (("--label", label), ("--id", id), *(("--drop", n) for n in left_out), *(("--columns", n) for n in used))
    for option, name in named:
        if name is not None and name not in table.columns:
            raise unknown_column(name, option, table.columns, table.notes)
    options = Options(
        label=label, id=id, drop=left_out, columns=used or None, strategy=strategy, seed=seed, n_jobs=n_jobs
    )
    history = None if database is None else load_database(database, trust)
    product = TableProduct(file, open_table(table, seed), history, options, database)
    state = PageState(product, KeptAnswers(kept, product.row_ids, cells=product.frame))
    server = PageServer(state, port)
    if json:
        screen.print_json({"address": server.address, "port": server.port, "answers": str(kept)})
    else:
        print(f"elect: {wording.clean(file.name)} is open at {server.address}")
    sys.stdout.flush()
    state.search()
    if browser:
        threading.Thread(target=_show, args=(server.address,), daemon=True).start()
    server.run()


def _show(address: str) -> None:
    """Open the address in a browser with windows; one in the terminal would take the terminal over."""
    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return
    if type(found) is not webbrowser.GenericBrowser:
        found.open(address)
