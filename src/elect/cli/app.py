"""The commands and their options. What they do is imported when they run, so that help comes at once."""

from pathlib import Path
from typing import Annotated

import typer

from elect.cli.bench import app as bench
from elect.cli.options import Json, Quiet, Seed

app = typer.Typer(
    help="Pick an outlier detector for a table without labels, and run it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
app.add_typer(bench, name="bench")

Table = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, TSV, Parquet, Arrow/Feather or Excel table.")]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="A column of known outliers: kept out of the features, only used to report AP and ROC AUC.",
    ),
]
Id = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="The column that names the rows; kept out of the features.")
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns to leave out; repeat it, or separate names by commas."),
]
Columns = Annotated[list[str] | None, typer.Option(metavar="COLUMNS", help="The columns to use, instead of all.")]
Budget = Annotated[
    str | None, typer.Option(metavar="TIME", help="Time for the search, such as 10s or 2m; it may end earlier.")
]
MaxModels = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="How many models may be evaluated; by default as many as needed."),
]
Strategy = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How to elect: learned (the whole pool, by forecast rank), consensus (the whole pool, without history), "
        "fixed (the best of the history on average), elect (the paper's search), or auto: learned, and elect where "
        "--max-models is given.",
    ),
]
Database = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A .elect file of your own history, instead of the one shipped.")
]
NJobs = Annotated[int, typer.Option(metavar="N", help="Threads to use; -1 for every core.")]
Top = Annotated[int, typer.Option(min=1, metavar="N", help="How many rows to show.")]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Allow files that import or unpickle code: only for those you made yourself."),
]


@app.callback(invoke_without_command=True)
def elect(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Pick an outlier detector for a table without labels, and run it."""
    if version:
        from elect import __version__

        typer.echo(f"elect {__version__}")
        raise typer.Exit()


@app.command()
def select(
    file: Table,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    budget: Budget = None,
    strategy: Strategy = "auto",
    max_models: MaxModels = None,
    seed: Seed = 0,
    database: Database = None,
    n_jobs: NJobs = -1,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which detector to run on a table, with which hyperparameters, and why."""
    from elect.cli import detecting

    request = detecting.Request(
        file, label, id, drop, columns, budget, strategy, max_models, seed, database, n_jobs, trust, quiet
    )
    detecting.select(request, json=json)


@app.command()
def detect(
    file: Table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write scores: a .csv, .tsv or .parquet file."),
    ] = None,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write a report: an .html file.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to save the fitted detector, by custom NAME.elect-detector."),
    ] = None,
    contamination: Annotated[
        str,
        typer.Option(metavar="SHARE", help="The share of rows to label as outliers, or auto: 3.5 robust deviations."),
    ] = "auto",
    ask: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Ask about up to N rows on the terminal; the answers sharpen the pick."),
    ] = 0,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Where answers are kept and read from again: columns position, row, answer."
        ),
    ] = None,
    top: Top = 10,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    budget: Budget = None,
    strategy: Strategy = "auto",
    max_models: MaxModels = None,
    seed: Seed = 0,
    database: Database = None,
    n_jobs: NJobs = -1,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the outliers of a table: elect a detector, fit it, score every row, explain the top rows."""
    from elect.cli import detecting

    request = detecting.Request(
        file, label, id, drop, columns, budget, strategy, max_models, seed, database, n_jobs, trust, quiet
    )
    detecting.detect(
        request,
        output=output,
        report=report,
        save=save,
        contamination=contamination,
        ask=ask,
        answers=answers,
        top=top,
        json=json,
    )


@app.command()
def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that elect detect --save wrote.")],
    file: Table,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write scores: a .csv, .tsv or .parquet file."),
    ] = None,
    top: Top = 10,
    label: Label = None,
    n_jobs: NJobs = -1,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score the rows of another table with a saved detector, in batches."""
    from elect.cli import scoring

    scoring.score(model, file, output=output, top=top, label=label, n_jobs=n_jobs, trust=trust, json=json, quiet=quiet)


@app.command()
def train(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="DIR...", help="Folders of labelled tables, or JSON manifests that list them."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The database to write, by custom NAME.elect.")
    ],
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder that keeps finished pieces: a run that was stopped goes on there."),
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="The address of a dask scheduler to score the tables on.")
    ] = None,
    label: Annotated[str | None, typer.Option(metavar="COLUMN", help="The label column of the tables.")] = None,
    metric: Annotated[str, typer.Option(metavar="NAME", help="What a good model is: ap, roc or prn.")] = "ap",
    seed: Seed = 0,
    n_jobs: NJobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train a database on labelled tables of your own, for better picks in your domain."""
    from elect.cli import training

    training.train(
        folders,
        output,
        work=work,
        cluster=cluster,
        label=label,
        metric=metric,
        seed=seed,
        n_jobs=n_jobs,
        json=json,
        quiet=quiet,
    )


@app.command()
def corpus(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write the tables and their list into.")],
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Some of keel, injected, images, simulated (by default these) and texts (with the extra texts).",
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build labelled tables of many kinds from public data, to train a database on (with the extra corpus)."""
    from elect.cli import training

    training.corpus(folder, kinds=kinds, seed=seed, json=json, quiet=quiet)


@app.command()
def models(
    family: Annotated[str | None, typer.Option(metavar="NAME", help="Only one family, such as LOF.")] = None,
    json: Json = False,
) -> None:
    """List the candidate models."""
    from elect.cli import listing

    listing.models(family, json=json)


@app.command()
def info(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE.elect", help="A database; by default the one shipped.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what a database was made from, and how a search with it proceeds."""
    from elect.cli import listing

    listing.info(file, json=json)
