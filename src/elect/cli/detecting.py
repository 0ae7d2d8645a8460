"""``elect select`` and ``elect detect``."""

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from elect.cli import live, parse, screen
from elect.errors import PoolMismatch

if TYPE_CHECKING:
    from elect.detect.election import Election
    from elect.history.database import MetaDatabase


@dataclass(frozen=True)
class Request:
    """What both commands are asked."""

    file: Path
    label: str | None
    id: str | None
    drop: list[str] | None
    columns: list[str] | None
    budget: str | None
    strategy: str
    max_models: int | None
    seed: int
    database: Path | None
    n_jobs: int
    trust: bool
    quiet: bool


def select(request: Request, *, json: bool) -> None:
    """Search, and say what was found."""
    election, stopped = _search(request, "auto")
    selection = election.selection(stopped or "the caller stopped")
    evaluation = election.evaluation(selection)
    from elect.cli import documents, render

    if json:
        screen.print_json(
            {
                **documents.selection_document(selection),
                "n_rows": election.opened.n_rows,
                "columns": documents.columns_document(election.treatment),
                "evaluation": documents.evaluation_document(evaluation),
            }
        )
    else:
        render.selection(election.opened, election.treatment, selection, evaluation)


def detect(
    request: Request,
    *,
    output: Path | None,
    report: Path | None,
    save: Path | None,
    contamination: str,
    ask: int = 0,
    answers: Path | None = None,
    top: int,
    json: bool,
) -> None:
    """Search, fit, score, explain; then write what was asked for."""
    from elect.detect import output as files

    share = parse.contamination(contamination)
    for path, option, suffixes in (
        (output, "--output", files.FORMATS),
        (report, "--report", (".html", ".htm")),
        (save, "--save", ()),
        (answers, "--answers", (".csv",)),
    ):
        if path is not None:
            files.check_output(path, option, suffixes)
    read = [path for path in (request.file, request.database) if path is not None]
    files.check_distinct(read, [path for path in (output, report, save) if path is not None])
    election, stopped = _search(request, share)
    selection = election.selection(stopped or "the caller stopped")
    if stopped and not request.quiet:
        print(f"elect: {stopped}; going on with the pick so far, {selection.model_id}.", file=sys.stderr)
    if ask or answers is not None:
        from elect.cli.asking import ask as ask_about

        selection = ask_about(election, selection, ask, answers)
    from elect.detect import findings_of

    detection = election.detect(selection)
    findings = findings_of(election, detection, top)
    # Everything is made before anything is written: what fails then leaves no file behind.
    contents: list[tuple[Path, bytes]] = []
    if save is not None:
        from elect.detect.saving import kept, saved_bytes

        contents.append((save, saved_bytes(kept(detection, findings.explainer), trust=request.trust)))
    if report is not None:
        from elect.report.reporting import report_of

        contents.append((report, report_of(detection, findings, top, saved_as=save).encode()))
    if output is not None:
        contents.append((output, files.table_bytes(files.scores_frame(detection, findings.top), output.suffix.lower())))
    for path, content in contents:
        files.write_whole(path, content)
    from elect.cli import documents, render

    written = {
        name: None if path is None else str(path)
        for name, path in (("output", output), ("report", report), ("saved", save))
    }
    if json:
        screen.print_json(documents.detection_document(detection, findings, top, written))
    else:
        render.detection(detection, findings, top, written)


def _search(request: Request, contamination: "float | str") -> "tuple[Election, str | None]":
    budget = parse.seconds(request.budget)
    from elect.detect import Election, Options, open_table

    # What is wrong with the options is said before a table is read; names of columns need its header.
    options = Options(
        contamination=contamination,  # type: ignore[arg-type]
        strategy=request.strategy,
        max_models=request.max_models,
        max_seconds=budget,
        seed=request.seed,
        n_jobs=request.n_jobs,
        label=request.label,
        id=request.id,
    )
    if not request.quiet:
        print(f"elect: reading {request.file}", file=sys.stderr, flush=True)
    opened = open_table(request.file, request.seed)
    known = opened.sample.columns
    options = replace(
        options,
        drop=parse.names(request.drop or (), known),
        columns=None if not request.columns else parse.names(request.columns, known),
    )
    election = Election(opened, load_database(request.database, request.trust), options)
    return election, live.run(election, quiet=request.quiet)


def load_database(path: Path | None, trust: bool) -> "MetaDatabase":
    """The shipped database, or the user's. One with models of its own would import their classes by name."""
    if path is None:
        from elect.history.shipped import shipped_database

        return shipped_database()
    from elect.history.database import MetaDatabase
    from elect.pool import default_pool

    try:
        return MetaDatabase.load(path, None if trust else default_pool())
    except PoolMismatch as error:
        raise PoolMismatch(f"{error} If you made it yourself, --trust uses it with its own models.") from None
