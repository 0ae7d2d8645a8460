"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")]
Scorer = Annotated[
    str,
    typer.Option(metavar="NAME", help="What ranks the rows: committee, or model for the elected detector alone."),
]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Equal seeds give equal results.")]
Table = Annotated[Path, typer.Argument(metavar="FILE", help="A CSV, TSV, Parquet, Arrow/Feather or Excel table.")]
Tables = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A CSV, TSV, Parquet, Arrow/Feather or Excel table; or many files with the same columns: a folder, or a "
        "pattern in quotes such as 'folder/*.parquet'.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="For many files: score them in so many processes of this machine."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="For many files: the address of a dask scheduler, whose workers see the same folders, such as "
        "tcp://host:8786.",
    ),
]
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
    str | None, typer.Option(metavar="TIME", help="Time for the search and for scoring a long table, such as 10s.")
]
MaxModels = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="How many models may be evaluated; by default as many as needed."),
]
Strategy = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="How to elect: committee (of the quick models the one that ranks the rows most as the committee does), "
        "fixed (the best of the history on average), elect (the paper's search), or auto: committee, and elect where "
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
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where to write the table with its results: .csv, .tsv or .parquet; for many files a folder.",
    ),
]
ScoresOnly = Annotated[
    bool, typer.Option("--scores-only", help="Write the results beside the id alone, without the table's own columns.")
]
Trace = Annotated[bool, typer.Option("--trace", help="Let --json list every model evaluated and every step.")]
