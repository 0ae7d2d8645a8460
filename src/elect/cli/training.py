"""``elect train`` and ``elect corpus``: long runs over labelled tables."""

import time
from pathlib import Path

from elect.cli import parse, screen
from elect.errors import InvalidInput

METRICS = ("ap", "roc", "prn")


def train(
    folders: list[Path],
    output: Path,
    *,
    work: Path | None,
    cluster: str | None,
    label: str | None,
    metric: str,
    seed: int,
    n_jobs: int,
    json: bool,
    quiet: bool,
) -> None:
    """Train a database and write it."""
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
    seconds = time.perf_counter() - started
    if json:
        screen.print_json(
            {
                "output": str(output),
                "bytes": len(content),
                "n_tasks": len(database.tasks),
                "n_models": len(database.pool),
                "metric": database.settings.metric,
                "anchors": list(database.anchors),
                "initial_models": list(database.initial_models),
                "seconds": seconds,
            }
        )
        return
    screen.pairs(
        screen.stdout(),
        [
            ("written", f"{output} ({len(content) / 1e6:.1f} MB)"),
            ("trained on", f"{len(database.tasks)} tasks x {len(database.pool)} models in {seconds:.0f} s"),
            ("try it", f"elect detect TABLE --database {output}"),
        ],
    )


def corpus(folder: Path, *, kinds: list[str] | None, seed: int, json: bool, quiet: bool) -> None:
    """Build the tables of a wider history and write them."""
    from collections import Counter

    from elect.bench.testbeds.history import BUILDERS, USUAL_KINDS, check_kinds, write_corpus
    from elect.core import LabeledTask
    from elect.support.meter import meter

    wanted = check_kinds(parse.names(kinds or (), ()) or USUAL_KINDS)
    started = time.perf_counter()
    tasks: list[LabeledTask] = []
    with meter(not quiet) as bar:
        for kind in wanted:
            bar.stage(f"building {kind}", 1)
            tasks += BUILDERS[kind](seed)
            bar.advance()
        manifest = write_corpus(tasks, folder)
    found = Counter(task.name.split("/")[0] for task in tasks)
    groups = len({task.group for task in tasks})
    seconds = time.perf_counter() - started
    if json:
        screen.print_json(
            {"manifest": str(manifest), "n_tasks": len(tasks), "n_groups": groups, "kinds": wanted, "seconds": seconds}
        )
        return
    screen.pairs(
        screen.stdout(),
        [
            ("written", f"{len(tasks)} tasks of {groups} sources in {seconds:.0f} s: {manifest}"),
            ("of these", ", ".join(f"{count} {name}" for name, count in found.items())),
            ("train on it", f"elect train {manifest} -o ours.elect"),
        ],
    )
