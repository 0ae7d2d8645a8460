"""``elect detect`` and ``elect score`` over many files: here, on processes of this machine, or on a cluster."""

import hashlib
import json as json_text
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elect.cli import documents, live, parse, render, screen
from elect.cli.searching import load_database
from elect.errors import InvalidInput
from elect.support import wording
from elect.support.meter import Meter, meter
from elect.support.threads import n_cores

if TYPE_CHECKING:
    from rich.console import Console

    from elect.detect import Options
    from elect.detect.drift import Drift
    from elect.detect.parts import Part
    from elect.detect.run_folder import RunFolder
    from elect.detect.saving import SavedDetector
    from elect.detect.scored_parts import Told

_WORKERS_A_CORE = 4


@dataclass(frozen=True)
class Asked:
    """What a user asks of a run over many files."""

    source: Path
    output: Path
    top: int
    scores_only: bool
    workers: int | None
    cluster: str | None
    n_jobs: int
    trust: bool
    quiet: bool

    @classmethod
    def of(cls, source: Path, output: Path | None, refused: dict[str, Any], **asked: Any) -> "Asked":
        """Checked: ``refused`` are options that make no sense for many files."""
        for option, value in refused.items():
            if value:
                what = "is a directory" if source.is_dir() else "stands for many"
                raise InvalidInput(f"{option} is for a single file, and {str(source)!r} {what}: leave it out.")
        if output is None:
            raise InvalidInput("--output must name a folder for the results: many files are scored into as many.")
        found = cls(source, output, **asked)
        if found.workers is not None and found.cluster is not None:
            raise InvalidInput("--workers starts processes here and --cluster names a scheduler: give one of them.")
        return found


def is_for_many(source: Path, workers: int | None, cluster: str | None) -> bool:
    """Whether many files are meant."""
    from elect.detect.parts import is_many

    return workers is not None or cluster is not None or is_many(source)


def detect_many(
    asked: Asked,
    options: "Options",
    *,
    drop: Sequence[str] | None,
    columns: Sequence[str] | None,
    database: Path | None,
    save: Path | None,
) -> "ManyFiles":
    """Learn from rows of all files, score every file."""
    from elect.detect.many import keep_learned
    from elect.detect.output import check_output, write_whole
    from elect.detect.parts import counted, open_parts, part_files
    from elect.detect.run_folder import RunFolder

    if save is not None:
        check_output(save, "--save")
    files = part_files(asked.source)
    wanted = {**asdict(replace(options, n_jobs=1)), "drop": drop, "columns": columns, "database": _stamp(database)}
    folder = RunFolder.open(asked.output, files, {**wanted, **_common(asked)})
    with folder.tried(), _running(asked, folder) as run:
        with run.metered():
            parts = counted(files, run)
        before = folder.learned
        if before is None:
            from elect.detect import Election

            with run.metered():
                opened = open_parts(str(asked.source), parts, options.seed, run)
                known = opened.sample.columns
                chosen = replace(
                    options,
                    drop=parse.names(drop or (), known),
                    columns=None if not columns else parse.names(columns, known),
                )
                election = Election(opened, load_database(database, asked.trust), chosen)
                election.plan(run.workers)  # what surveys all rows has a bar of its own
            selection = election.selection(live.run(election, quiet=asked.quiet))
            keep_learned(folder, election, selection, trust=asked.trust)
        found = _scored(asked, folder, parts, run)
    told = folder.learned or {}
    if save is not None:
        write_whole(save, folder.detector.read_bytes())
    result = replace(found, notes=(*told.get("notes", ()), *found.notes), saved_as=save)
    folder.summarize(json_text.dumps(screen.plain(result.document()), indent=2).encode())
    return result


def score_many(asked: Asked, model: Path, allowed: float | None) -> "ManyFiles":
    """Score every file with a saved detector."""
    from elect.detect.drift import drift_of_counts
    from elect.detect.parts import counted, part_files
    from elect.detect.run_folder import RunFolder
    from elect.detect.saving import load_saved
    from elect.detect.scoring import NO_NAMES

    saved = load_saved(model, trust=asked.trust, n_jobs=asked.n_jobs)
    if saved.treatment is None:
        raise InvalidInput(NO_NAMES)
    files = part_files(asked.source)
    folder = RunFolder.open(asked.output, files, {"model": _stamp(model), **_common(asked)})
    with folder.tried(), _running(asked, folder) as run:
        with run.metered():
            parts = counted(files, run)
        if folder.learned is None:
            folder.keep(model.read_bytes(), None, {})
        found = _scored(asked, folder, parts, run)
    were = int((saved.scores > saved.threshold).sum()), len(saved.scores)
    drift = drift_of_counts(saved.profile, found.told.profile, were, (found.told.flagged, found.told.rows))
    result = replace(found, drift=drift, allowed=allowed)
    folder.summarize(json_text.dumps(screen.plain(result.document()), indent=2).encode())
    return result


class Running:
    """Runs jobs, in this process or on the workers of a client, and shows how far it has got."""

    def __init__(self, client: Any, run: str, show: bool) -> None:
        self._client, self._run, self._show = client, run, show
        self._meter = Meter()

    @property
    def workers(self) -> int | None:
        """How many jobs run at the same time; None in this process."""
        return None if self._client is None else max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))

    @contextmanager
    def metered(self) -> Iterator[None]:
        with meter(self._show) as bar:
            self._meter = bar
            yield
            self._meter = Meter()

    def __call__(self, work: Callable[[Any], Any], jobs: Sequence[Any], stage: str) -> Iterator[tuple[Any, Any]]:
        self._meter.stage(stage, sum(map(_size, jobs)) or 1.0)
        for job, result in self._finished(work, jobs, stage):
            self._meter.advance(_size(job))
            yield job, result

    def _finished(self, work: Callable[[Any], Any], jobs: Sequence[Any], stage: str) -> Iterator[tuple[Any, Any]]:
        if self._client is None:
            for job in jobs:
                yield job, work(job)
            return
        from elect.support.cluster import finished

        place = {id(job): number for number, job in enumerate(jobs)}
        yield from finished(
            self._client,
            work,
            jobs,
            key=lambda job: f"elect-{self._run}-{stage.replace(' ', '-')}-{place[id(job)]}",
            name=lambda job: str(getattr(getattr(job, "part", job), "path", job)),
        )


def _size(job: Any) -> float:
    return float(getattr(getattr(job, "part", job), "rows", 1))


@contextmanager
def _running(asked: Asked, folder: "RunFolder") -> Iterator[Running]:
    from elect.support.cluster import connected, local_workers

    if asked.workers is None and asked.cluster is None:
        yield Running(None, folder.run, not asked.quiet)
        return
    if asked.workers is not None:
        # More of them than files, or than cores can run, would only take memory.
        place = local_workers(min(asked.workers, len(folder.names), _WORKERS_A_CORE * n_cores()))
    else:
        place = connected(asked.cluster)
    with place as client:
        yield Running(client, folder.run, not asked.quiet)


def _scored(asked: Asked, folder: "RunFolder", parts: "tuple[Part, ...]", run: Running) -> "ManyFiles":
    """Score what is not scored yet, and tell what was found in all parts."""
    from elect.detect.many import jobs_of
    from elect.detect.saving import load_saved
    from elect.detect.scored_parts import done, score_part, seconds_a_row, seconds_of, together
    from elect.support.threads import n_threads

    saved = load_saved(folder.detector, trust=asked.trust, n_jobs=1)
    threads = 1 if run.workers else asked.n_jobs
    how = {"scores_only": asked.scores_only, "top": asked.top, "n_jobs": threads, "trust": asked.trust}
    jobs = jobs_of(folder, parts, saved, **how)
    left = folder.left(jobs)
    rows = sum(job.part.rows for job in left)
    at_once = run.workers or n_threads(asked.n_jobs)
    expected, workers = 0.0, run.workers or 1
    if left:
        with run.metered():
            costs = [cost for _, cost in run(seconds_a_row, left[:workers], "measuring")]
        expected = seconds_of([job.part for job in left], costs, workers)
    started = time.perf_counter()
    if not asked.quiet:
        screen.tell(_plan(len(jobs), len(left), rows, at_once, run.workers is not None, expected))
    with run.metered():
        for _ in run(score_part, left, "scoring"):
            pass
    told = [found for found in map(done, jobs) if found is not None]
    if len(told) < len(jobs):
        raise InvalidInput(f"Some results are not in {str(asked.output)!r}: do the workers write to the same folder?")
    seconds = time.perf_counter() - started
    return ManyFiles(asked, saved, parts, together(told, asked.top), folder, len(left), expected, seconds)


def _plan(n: int, left: int, rows: int, at_once: int, processes: bool, expected: float) -> str:
    where = wording.count(at_once, "worker" if processes else "thread")
    if left == 0:
        return f"all {wording.count(n, 'file')} were scored before"
    rest = "" if left == n else f" ({n - left} of {wording.count(n)} were scored before)"
    return (
        f"scoring {wording.count(rows, 'row')} in {wording.count(left, 'file')}{rest} with {where}, "
        f"about {wording.duration(expected)}"
    )


def _common(asked: Asked) -> dict[str, Any]:
    from elect import __version__

    return {"scores_only": asked.scores_only, "top": asked.top, "version": __version__}


def _stamp(path: Path | None) -> str | None:
    """What tells a file from another one."""
    if path is None:
        return None
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be read ({error.strerror}).") from None


@dataclass(frozen=True, eq=False)
class ManyFiles:
    """What was found in many files, and where it was written. ``scored`` files were scored now, the others before."""

    asked: Asked
    saved: "SavedDetector"
    parts: "tuple[Part, ...]"
    told: "Told"
    folder: "RunFolder"
    scored: int
    expected: float
    seconds: float
    notes: tuple[str, ...] = ()
    saved_as: Path | None = None
    drift: "Drift | None" = None
    allowed: float | None = None

    @property
    def failed(self) -> bool:
        """Whether more rows are flagged than is fine."""
        from elect.detect.many import share_flagged

        return self.allowed is not None and share_flagged(self.told) > self.allowed

    @property
    def false_alarms(self) -> float | None:
        return None if self.saved.committee is None else self.told.false_alarms

    @property
    def all_notes(self) -> tuple[str, ...]:
        treatment = self.saved.treatment
        assert treatment is not None
        return (*self.notes, *treatment.surprises(self.told.unread, self.told.rows))

    def document(self) -> dict[str, Any]:
        from elect.detect.many import place_of

        told, treatment = self.told, self.saved.treatment
        return {
            "model": documents.model(self.saved.selection),
            "strategy": self.saved.selection.strategy,
            "scorer": "model" if self.saved.committee is None else "committee",
            "n_files": len(self.parts),
            "n_rows": told.rows,
            "threshold": self.saved.threshold,
            "contamination": self.saved.contamination,
            "n_outliers": told.flagged,
            "false_alarms": self.false_alarms,
            "top": [{**documents.top_row(row), **asdict(place_of(self.parts, row))} for row in told.top],
            "columns": documents.columns(treatment),
            "drift": documents.drift(self.drift),
            "notes": list(self.all_notes),
            "files": [
                {"file": part.path, "rows": part.rows, "output": str(self.folder.folder / self.folder.names[part.path])}
                for part in self.parts
            ],
            "files_scored": self.scored,
            "seconds_expected": self.expected,
            "seconds": self.seconds,
            "output": str(self.asked.output),
            "saved": None if self.saved_as is None else str(self.saved_as),
        }

    def say(self, console: "Console") -> None:
        from elect.detect.many import place_of
        from elect.detect.threshold import rule_of

        told, saved = self.told, self.saved
        assert saved.treatment is not None
        rule = rule_of(saved.threshold, saved.contamination, "model" if saved.committee is None else "committee")
        files = wording.count(len(self.parts), "file")
        table = f"{self.asked.source}, {files}, {wording.count(told.rows, 'row')}"
        before = "" if self.scored == len(self.parts) else f", {len(self.parts) - self.scored} of them before"
        screen.pairs(
            console,
            [
                ("table", f"{table}, {wording.count(len(saved.treatment.sources), 'column')} used"),
                render.flagged(told.flagged, told.rows, self.false_alarms, rule),
                *([("detector", saved.selection.model_id)] if saved.committee is None else []),
                *render.drift(self.drift),
                ("scored", f"{files}{before}; in {wording.duration(self.seconds)}"),
                ("output", f"{self.asked.output}, a file each"),
                *([] if self.saved_as is None else [("saved", str(self.saved_as))]),
            ],
        )
        console.print()
        named = saved.treatment.named_by
        places = [place_of(self.parts, row) for row in told.top]
        rows = (
            told.top
            if named
            else tuple(
                replace(row, id=f"{Path(place.file).name} row {place.row}")
                for row, place in zip(told.top, places, strict=True)
            )
        )
        render.top_rows(console, rows, named or "row")
        render.notes(console, self.all_notes)
