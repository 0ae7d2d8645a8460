"""``elect train``: a database from labelled tables of one's own."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import screen
from elect.cli.options import Json, NJobs, Quiet, Seed
from elect.errors import InvalidInput
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.history.database import MetaDatabase

METRICS = ("ap", "roc", "prn")


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
    """Learn from labelled tables of your own."""
    from elect.detect.output import check_output, write_whole

    check_output(output, "--output")
    if metric not in METRICS:
        raise InvalidInput(f"--metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    for folder in folders:
        if not folder.exists():
            raise InvalidInput(f"{str(folder)!r} does not exist: give a folder of labelled tables, or a JSON manifest.")
    started = time.perf_counter()
    from elect.history import read_corpus
    from elect.history import train as train_database
    from elect.history.store import dumps

    database = train_database(
        [task for folder in folders for task in read_corpus(folder, label)],
        metric=metric,
        seed=seed,
        n_jobs=n_jobs,
        work_dir=work,
        cluster=cluster,
        progress=not quiet,
    )
    content = dumps(database)
    write_whole(output, content)
    screen.show(Trained(output, len(content), database, time.perf_counter() - started), json=json)


@dataclass(frozen=True, eq=False)
class Trained:
    """A database that was written."""

    output: Path
    size: int
    database: "MetaDatabase"
    seconds: float

    def document(self) -> dict[str, Any]:
        from elect.history.database import plain_json

        return {
            "output": str(self.output),
            "bytes": self.size,
            "n_tasks": len(self.database.tasks),
            "n_models": len(self.database.pool),
            "metric": self.database.settings.metric,
            "anchors": list(self.database.anchors),
            "initial_models": list(self.database.initial_models),
            "rows": plain_json((self.database.calibration or {}).get("rows")),
            "seconds": self.seconds,
        }

    def say(self, console: "Console") -> None:
        tasks = wording.count(len(self.database.tasks), "task")
        models = wording.count(len(self.database.pool), "model")
        screen.pairs(
            console,
            [
                ("written", f"{self.output} ({self.size / 1e6:.1f} MB)"),
                ("trained on", f"{tasks} x {models} in {wording.duration(self.seconds)}"),
                *_rows(self.database),
                ("try it", f"elect detect TABLE --database {self.output}"),
            ],
        )


def _rows(database: "MetaDatabase") -> list[tuple[str, str]]:
    """What the own tables added to the ranking of rows."""
    told = (database.calibration or {}).get("rows")
    if told is None:
        return [("ranking rows", "as shipped: tables of three sources or more could lean it")]
    change = f"average precision {told['before']:.3f} -> {told['after']:.3f} on left-out tables (± {told['error']:.3f})"
    if told["kept"]:
        return [("ranking rows", f"leaned towards your tables: {change}")]
    return [("ranking rows", f"as shipped, since leaning towards your tables gains nothing sure: {change}")]
