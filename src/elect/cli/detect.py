"""``elect detect``: the outliers of a table."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import documents, parse, render, screen
from elect.cli.options import (
    Budget,
    Cluster,
    Columns,
    Database,
    Drop,
    Id,
    Json,
    Label,
    MaxModels,
    NJobs,
    Output,
    Quiet,
    Scorer,
    ScoresOnly,
    Seed,
    Strategy,
    Tables,
    Top,
    Trace,
    Trust,
    Workers,
)

if TYPE_CHECKING:
    from rich.console import Console

    from elect.detect import Detection, Findings


def detect(
    file: Tables,
    output: Output = None,
    scores_only: ScoresOnly = False,
    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write a report: an .html file.")] = None,
    save: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to save the fitted detector, by custom NAME.elect-detector."),
    ] = None,
    contamination: Annotated[
        str,
        typer.Option(metavar="SHARE", help="The share of rows to label as outliers, or auto: a chance above 50%."),
    ] = "auto",
    ask: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Ask about up to N rows on the terminal; the answers sharpen the ranking."
        ),
    ] = 0,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Where answers are kept and read from again; by default beside the table, as NAME.answers.csv.",
        ),
    ] = None,
    aim: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What questions are for. learn: what tells most; find: the likeliest outlier not yet asked about.",
        ),
    ] = "learn",
    top: Top = 10,
    label: Label = None,
    id: Id = None,
    drop: Drop = None,
    columns: Columns = None,
    scorer: Scorer = "committee",
    budget: Budget = None,
    strategy: Strategy = "auto",
    max_models: MaxModels = None,
    seed: Seed = 0,
    database: Database = None,
    n_jobs: NJobs = -1,
    workers: Workers = None,
    cluster: Cluster = None,
    trust: Trust = False,
    trace: Trace = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the odd rows of a table, and say why."""
    share, seconds = parse.contamination(contamination), parse.seconds(budget)
    wanted = parse.aim(aim)
    from elect.cli.many import Asked, detect_many, is_for_many

    many = is_for_many(file, workers, cluster)
    targets = Targets(output, report, save, scores_only)
    if not many:
        targets.check(read=[path for path in (file, database) if path is not None], answers=answers)
    from elect.cli.searching import metered, searched
    from elect.detect import Options, findings_of

    options = Options(
        contamination=share,
        scorer=scorer,  # type: ignore[arg-type]
        strategy=strategy,
        max_models=max_models,
        max_seconds=seconds,
        seed=seed,
        n_jobs=n_jobs,
        label=label,
        id=id,
    )
    if many:
        refused = {"--report": report, "--ask": ask, "--answers": answers, "--trace": trace, "--label": label}
        run = {"workers": workers, "cluster": cluster, "n_jobs": n_jobs, "trust": trust, "quiet": quiet}
        asked = Asked.of(file, output, refused, top=top, scores_only=scores_only, **run)
        screen.show(detect_many(asked, options, drop=drop, columns=columns, database=database, save=save), json=json)
        return
    election, stopped = searched(
        file, options, drop=drop, columns=columns, database=database, trust=trust, quiet=quiet, rows=True
    )
    selection = election.selection(stopped)
    if stopped and not quiet:
        screen.tell(f"{stopped}; going on with the pick so far, {selection.model_id}.")
    feedback = others = None
    if ask or answers is not None:
        from elect.answers.kept import beside
        from elect.cli.asking import ask as ask_about

        feedback, others = ask_about(election, selection, ask, answers or beside(file), wanted, quiet=quiet)
        selection = feedback.selection
    with metered(election, quiet=quiet):
        detection = election.detect(selection, feedback, others)
    found = Detected(detection, findings_of(election, detection, top), top, targets, trace)
    said = targets.write(found, database=database, trust=trust)
    screen.show(replace(found, said=said), json=json)


@dataclass(frozen=True)
class Targets:
    """The files to write."""

    output: Path | None
    report: Path | None
    save: Path | None
    scores_only: bool

    @property
    def named(self) -> dict[str, Path | None]:
        return {"output": self.output, "report": self.report, "saved": self.save}

    def check(self, *, read: list[Path], answers: Path | None) -> None:
        """Say before the work begins what could not be written."""
        from elect.detect import output as files

        for path, option, suffixes in (
            (self.output, "--output", files.FORMATS),
            (self.report, "--report", (".html", ".htm")),
            (self.save, "--save", ()),
            (answers, "--answers", (".csv",)),
        ):
            if path is not None:
                files.check_output(path, option, suffixes)
        kept = [] if answers is None else [answers]
        files.check_distinct(read, [*kept, *(path for path in self.named.values() if path is not None)])

    def write(self, found: "Detected", *, database: Path | None, trust: bool) -> tuple[str, ...]:
        """Write the files; what must be said about them. The detector and the report are made, and the table is
        written, before either of them is: what fails leaves no file behind."""
        from elect.detect import output as files

        contents: list[tuple[Path, bytes]] = []
        if self.save is not None:
            from elect.detect.saving import kept, saved_bytes

            contents.append((self.save, saved_bytes(kept(found.detection, found.findings.explainer), trust=trust)))
        if self.report is not None:
            from elect.report.reporting import report_of

            page = report_of(found.detection, found.findings, found.top, database=database, saved_as=self.save)
            contents.append((self.report, page.encode(errors="replace")))
        said: tuple[str, ...] = ()
        if self.output is not None:
            from elect.detect.result_table import write_results

            rows, top = found.detection.opened.batches(), found.findings.top
            said = write_results(self.output, rows, found.detection, top, scores_only=self.scores_only)
        for path, content in contents:
            files.write_whole(path, content)
        return said


@dataclass(frozen=True, eq=False)
class Detected:
    """What was found in a table, of which ``top`` rows are shown, and where it was written."""

    detection: "Detection"
    findings: "Findings"
    top: int
    targets: Targets
    trace: bool
    said: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        found = self.detection
        return (
            *found.opened.sample.remarks,
            *found.selection.notes,
            *found.notes,
            *self.findings.notes,
            *self.said,
        )

    def document(self) -> dict[str, Any]:
        found = self.detection
        return {
            **documents.selection(found.selection, trace=self.trace),
            "scorer": found.options.scorer,
            "read": documents.reading(found.opened.sample.reading),
            "n_rows": len(found.scores),
            "threshold": found.threshold,
            "contamination": found.options.contamination,
            "n_outliers": int(found.labels.sum()),
            "false_alarms": found.false_alarms,
            "top": [documents.top_row(row) for row in self.findings.top[: self.top]],
            "evaluation": documents.evaluation(found.evaluation),
            "columns": documents.columns(found.treatment),
            "notes": list(self.notes),
            **{name: None if path is None else str(path) for name, path in self.targets.named.items()},
        }

    def say(self, console: "Console") -> None:
        from elect.detect.threshold import rule_of

        found = self.detection
        rule = rule_of(found.threshold, found.options.contamination, found.options.scorer)
        flagged = render.flagged(int(found.labels.sum()), len(found.labels), found.false_alarms, rule)
        by_model = found.options.scorer == "model"
        pick = render.pick(found.selection, brief=not by_model)
        # The pick comes first where it ranks the rows.
        first = [*render.table(found.opened, found.treatment), *(pick if by_model else []), flagged]
        screen.pairs(console, [*first, *render.evaluation(found.evaluation)])
        console.print()
        render.top_rows(console, self.findings.top[: self.top], found.id_name)
        written = [(name, str(path)) for name, path in self.targets.named.items() if path is not None]
        if last := [*([] if by_model else pick), *written]:
            console.print()
            screen.pairs(console, last)
        render.notes(console, self.notes)
