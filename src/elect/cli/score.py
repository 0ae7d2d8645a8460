"""``elect score``: new rows with a saved detector."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import documents, render, screen
from elect.cli.options import Json, Label, NJobs, Output, Quiet, ScoresOnly, Table, Top, Trust
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.detect.saving import SavedDetector
    from elect.detect.scoring import ScoredTable


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that elect detect --save wrote.")],
    file: Table,
    output: Output = None,
    scores_only: ScoresOnly = False,
    top: Top = 10,
    label: Label = None,
    n_jobs: NJobs = -1,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score new rows with a saved detector."""
    from elect.detect import output as files

    if output is not None:
        files.check_output(output, "--output", files.FORMATS)
        files.check_distinct([model, file], [output])
    from elect.detect.saving import load_saved
    from elect.detect.scoring import score_file

    saved = load_saved(model, trust=trust, n_jobs=n_jobs)
    if not quiet:
        screen.tell(f"scoring {file} with {saved.selection.model_id}")
    found = score_file(saved, file, top=top, label=label)
    if output is not None:
        from elect.detect import opened
        from elect.detect.result_table import write_results
        from elect.tables import iter_batches

        batches = iter_batches(file, opened.ROWS_AT_ONCE)
        said = write_results(output, batches, found, found.top, scores_only=scores_only)
        found = replace(found, notes=(*found.notes, *said))
    screen.show(ScoredFile(file, saved, found, top, output), json=json)


@dataclass(frozen=True, eq=False)
class ScoredFile:
    """The scores of a table, of which ``top`` rows are shown, and where they were written."""

    file: Path
    saved: "SavedDetector"
    found: "ScoredTable"
    top: int
    output: Path | None

    def document(self) -> dict[str, Any]:
        return {
            "model": documents.model(self.saved.selection),
            "read": documents.reading(self.found.reading),
            "n_rows": len(self.found.scores),
            "threshold": self.saved.threshold,
            "n_outliers": int(self.found.labels.sum()),
            "false_alarms": self.found.false_alarms,
            "top": [documents.top_row(row) for row in self.found.top[: self.top]],
            "evaluation": documents.evaluation(self.found.evaluation),
            "notes": list(self.found.notes),
            "output": None if self.output is None else str(self.output),
        }

    def say(self, console: "Console") -> None:
        from elect.detect.threshold import rule_of

        found, saved = self.found, self.saved
        rule = rule_of(saved.threshold, saved.contamination, "model" if saved.committee is None else "committee")
        screen.pairs(
            console,
            [
                ("table", f"{self.file}, {wording.count(len(found.scores), 'row')}"),
                *render.reading(found.reading),
                render.flagged(found.labels, found.false_alarms, rule),
                *([("detector", saved.selection.model_id)] if saved.committee is None else []),
                *render.evaluation(found.evaluation),
                *([] if self.output is None else [("output", str(self.output))]),
            ],
        )
        console.print()
        render.top_rows(console, self.found.top[: self.top], self.found.row_ids.name)
        render.notes(console, self.found.notes)
