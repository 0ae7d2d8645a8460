"""``elect score``: new rows with a saved detector."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import documents, parse, render, screen
from elect.cli.options import Cluster, Json, Label, NJobs, Output, Quiet, ScoresOnly, Tables, Top, Trust, Workers
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.detect.saving import SavedDetector
    from elect.detect.scoring import ScoredTable


def score(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that elect detect --save wrote.")],
    file: Tables,
    output: Output = None,
    scores_only: ScoresOnly = False,
    top: Top = 10,
    label: Label = None,
    fail_above: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="End with status 1 where more rows than this are flagged, such as 1%."),
    ] = None,
    n_jobs: NJobs = -1,
    workers: Workers = None,
    cluster: Cluster = None,
    trust: Trust = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score new rows with a saved detector, and tell what changed since it was made."""
    allowed = parse.limit(fail_above)
    from elect.cli.many import Asked, is_for_many, score_many

    if is_for_many(file, workers, cluster):
        run = {"workers": workers, "cluster": cluster, "n_jobs": n_jobs, "trust": trust, "quiet": quiet}
        asked = Asked.of(file, output, {"--label": label}, top=top, scores_only=scores_only, **run)
        scored = score_many(asked, model, allowed)
        screen.show(scored, json=json)
        if scored.failed:
            raise typer.Exit(1)
        return
    from elect.detect import output as files

    if output is not None:
        files.check_output(output, "--output", files.FORMATS)
        files.check_distinct([model, file], [output])
    from elect.cli.searching import metered_file
    from elect.detect.saving import load_saved
    from elect.detect.scoring import score_file

    saved = load_saved(model, trust=trust, n_jobs=n_jobs)
    if not quiet:
        screen.tell(f"scoring {file} with {saved.selection.model_id if saved.committee is None else 'the committee'}")
    with metered_file(file, quiet=quiet) as bar:
        found = score_file(saved, file, top=top, label=label, meter=bar)
    if output is not None:
        from elect.detect import opened
        from elect.detect.result_table import write_results
        from elect.tables import iter_batches

        batches = iter_batches(file, opened.ROWS_AT_ONCE)
        said = write_results(output, batches, found, found.top, scores_only=scores_only)
        found = replace(found, notes=(*found.notes, *said))
    result = ScoredFile(file, saved, found, top, output, allowed)
    screen.show(result, json=json)
    if result.failed:
        raise typer.Exit(1)


@dataclass(frozen=True, eq=False)
class ScoredFile:
    """The scores of a table, of which ``top`` rows are shown, and where they were written."""

    file: Path
    saved: "SavedDetector"
    found: "ScoredTable"
    top: int
    output: Path | None
    allowed: float | None = None

    @property
    def failed(self) -> bool:
        """Whether more rows are flagged than is fine."""
        return self.allowed is not None and float(self.found.labels.mean()) > self.allowed

    def document(self) -> dict[str, Any]:
        return {
            "model": documents.model(self.saved.selection),
            "read": documents.reading(self.found.reading),
            "n_rows": len(self.found.scores),
            "threshold": self.saved.threshold,
            "n_outliers": int(self.found.labels.sum()),
            "false_alarms": self.found.false_alarms,
            "top": [documents.top_row(row) for row in self.found.top[: self.top]],
            "drift": documents.drift(self.found.drift),
            "fail_above": self.allowed,
            "failed": self.failed,
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
                render.flagged(int(found.labels.sum()), len(found.labels), found.false_alarms, rule),
                *([("detector", saved.selection.model_id)] if saved.committee is None else []),
                *render.drift(found.drift),
                *render.evaluation(found.evaluation),
                *([] if self.output is None else [("output", str(self.output))]),
            ],
        )
        console.print()
        render.top_rows(console, self.found.top[: self.top], self.found.id_name)
        render.notes(console, self.found.notes)
        if self.allowed is not None and self.failed:
            share = wording.percent(float(found.labels.mean()))
            console.print(f"failed: {share} of the rows are flagged, more than {wording.percent(self.allowed)}")
