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
    alone: Annotated[
        bool,
        typer.Option("--alone", help="Learn from these tables alone, without the history that comes with elect."),
    ] = False,
    metric: Annotated[str, typer.Option(metavar="NAME", help="What a good model is: ap, roc or prn.")] = "ap",
    seed: Seed = 0,
    n_jobs: NJobs = -1,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Add labelled tables of your own to the history that comes with elect, and say what they add."""
    from elect.detect.output import check_output, write_whole

    check_output(output, "--output")
    if metric not in METRICS:
        raise InvalidInput(f"--metric must be one of {', '.join(METRICS)}, got {metric!r}.")
    for folder in folders:
        if not folder.exists():
            raise InvalidInput(f"{str(folder)!r} does not exist: give a folder of labelled tables, or a JSON manifest.")
    started = time.perf_counter()
    if metric != "ap" and not alone:
        raise InvalidInput(f"The history that comes with elect is of ap, not of {metric}: train with --alone.")
    from elect.history import read_corpus
    from elect.history import train as train_database
    from elect.history.shipped import load_database
    from elect.history.store import dumps

    database = train_database(
        [task for folder in folders for task in read_corpus(folder, label)],
        metric=metric,
        seed=seed,
        n_jobs=n_jobs,
        work_dir=work,
        cluster=cluster,
        progress=not quiet,
        start=None if alone else load_database(),
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
        return {
            "output": str(self.output),
            "bytes": self.size,
            "n_tasks": len(self.database.tasks),
            "n_models": len(self.database.pool),
            "metric": self.database.settings.metric,
            "anchors": list(self.database.anchors),
            "initial_models": list(self.database.initial_models),
            "added": self.told("added"),
            "rows": self.told("rows"),
            "seconds": self.seconds,
        }

    def told(self, name: str) -> Any:
        """What the calibration of the database says under a name."""
        from elect.history.database import plain_json

        return plain_json((self.database.calibration or {}).get(name))

    def say(self, console: "Console") -> None:
        tasks = wording.count(len(self.database.tasks), "task")
        models = wording.count(len(self.database.pool), "model")
        screen.pairs(
            console,
            [
                ("written", f"{self.output} ({self.size / 1e6:.1f} MB)"),
                ("holds", f"{tasks} x {models}; made in {wording.duration(self.seconds)}"),
                *_added(self.told("added"), self.database.settings.metric),
                _rows(self.told("rows")),
                ("try it", f"elect detect TABLE --database {self.output}"),
            ],
        )


def _added(told: Any, metric: str) -> list[tuple[str, str]]:
    """What the own tables added to the history, for the choice of a model."""
    if told is None:
        return []
    tables = f"{wording.count(told['tasks'], 'table')} of {wording.count(told['groups'], 'source')}"
    added = [("added", f"{tables} to the history that comes with elect")]
    if told["before"] is None:
        return [
            *added,
            ("best model", "nothing could be left out to judge by: tables of two sources or more are needed"),
        ]
    return [*added, ("best model", f"of the whole history, on own tables that were left out: {_change(told, metric)}")]


def _rows(told: Any) -> tuple[str, str]:
    """What the own tables added to the ranking of rows."""
    if told is None:
        return "ranking rows", "as shipped: tables of three sources or more could lean it"
    change = f"on own tables that were left out: {_change(told, 'ap')}"
    if told["kept"]:
        return "ranking rows", f"leaned towards your tables, {change}"
    return "ranking rows", f"as shipped, since leaning towards your tables gains nothing sure, {change}"


def _change(told: Any, metric: str) -> str:
    from elect.core.explanation import METRIC_NAMES

    gain = told["after"] - told["before"]
    name = METRIC_NAMES.get(metric, metric)
    return f"{name} {told['before']:.3f} -> {told['after']:.3f} (gain {gain:+.3f} ± {told['error']:.3f})"
