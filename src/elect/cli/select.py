"""``elect select``: which detector to keep."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elect.cli import documents, parse, render, screen
from elect.cli.options import (
    Budget,
    Columns,
    Database,
    Drop,
    Id,
    Json,
    Label,
    MaxModels,
    NJobs,
    Quiet,
    Seed,
    Strategy,
    Table,
    Trace,
    Trust,
)

if TYPE_CHECKING:
    from rich.console import Console

    from elect.core import Selection
    from elect.detect.detection import Evaluation
    from elect.detect.opened import OpenedTable
    from elect.tables import ColumnTreatment


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
    trace: Trace = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which detector fits a table, and why."""
    seconds = parse.seconds(budget)
    from elect.cli.searching import searched
    from elect.detect import Options

    options = Options(
        strategy=strategy,
        max_models=max_models,
        max_seconds=seconds,
        seed=seed,
        n_jobs=n_jobs,
        label=label,
        id=id,
    )
    election, stopped = searched(file, options, drop=drop, columns=columns, database=database, trust=trust, quiet=quiet)
    selection = election.selection(stopped)
    found = Selected(election.opened, election.treatment, selection, election.evaluation(selection), trace)
    screen.show(found, json=json)


@dataclass(frozen=True, eq=False)
class Selected:
    """The pick for a table."""

    opened: "OpenedTable"
    treatment: "ColumnTreatment | None"
    selection: "Selection"
    evaluation: "Evaluation | None"
    trace: bool

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self.opened.sample.remarks, *self.selection.notes)

    def document(self) -> dict[str, Any]:
        return {
            **documents.selection(self.selection, trace=self.trace),
            "read": documents.reading(self.opened.sample.reading),
            "n_rows": self.opened.n_rows,
            "columns": documents.columns(self.treatment),
            "evaluation": documents.evaluation(self.evaluation),
            "notes": list(self.notes),
        }

    def say(self, console: "Console") -> None:
        lines = [*render.table(self.opened, self.treatment), *render.pick(self.selection)]
        screen.pairs(console, [*lines, *render.evaluation(self.evaluation)])
        render.notes(console, self.notes)
