"""``elect info``: what a database holds."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import screen
from elect.cli.options import Json
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.history.database import MetaDatabase

_MOST_NAMED = 60


def info(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE.elect", help="A database; by default the one shipped.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what a database was made from."""
    from elect.history.database import MetaDatabase

    if file is None:
        from elect.history.shipped import shipped_database

        found = Described("shipped with elect", shipped_database())
    else:
        found = Described(str(file), MetaDatabase.load(file))
    screen.show(found, json=json)


@dataclass(frozen=True, eq=False)
class Described:
    """A database, and where it was read from."""

    where: str
    database: "MetaDatabase"

    @property
    def provenance(self) -> dict[str, Any]:
        from elect.history.database import plain_json

        told: dict[str, Any] = plain_json(self.database.provenance)
        return told

    def document(self) -> dict[str, Any]:
        database, provenance = self.database, self.provenance
        named = [{"name": t, "group": g} for t, g in zip(database.tasks, database.groups, strict=True)]
        return {
            "database": self.where,
            "n_tasks": len(database.tasks),
            "n_groups": len(set(database.groups)),
            "tasks": provenance.get("tasks") or named,
            "n_models": len(database.pool),
            "fingerprint": database.pool.fingerprint,
            "metric": database.settings.metric,
            "measures": list(database.measure_names),
            "anchors": list(database.anchors),
            "initial_models": list(database.initial_models),
            "settings": asdict(database.settings),
            "calibrated": database.calibration is not None,
            "provenance": {key: value for key, value in provenance.items() if key != "tasks"},
        }

    def say(self, console: "Console") -> None:
        database, settings = self.database, self.database.settings
        groups = wording.count(len(set(database.groups)), "group")
        best = int(database.performance.values.mean(axis=0).argmax())
        tasks = wording.count(settings.n_neighbor_tasks, "neighbour task")
        libraries = self.provenance.get("libraries")
        lines = [
            ("database", self.where),
            ("tasks", f"{wording.count(len(database.tasks))} in {groups}: {_tasks(database.tasks)}"),
            ("models", f"{wording.count(len(database.pool))}, fingerprint {database.pool.fingerprint[:12]}"),
            ("metric", settings.metric),
            ("best on average", database.pool.ids[best]),
            ("anchors", ", ".join(database.anchors)),
            ("initial models", ", ".join(database.initial_models)),
            ("search", f"{tasks}, patience {settings.patience}"),
        ]
        if isinstance(libraries, dict):
            lines.append(("made with", ", ".join(f"{name} {version}" for name, version in libraries.items())))
        screen.pairs(console, lines)


def _tasks(names: tuple[str, ...]) -> str:
    """The names of tasks, or of a long history how many there are from each source."""
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    sources = Counter(name.split("/")[0] for name in names)
    return ", ".join(f"{wording.count(count)} {source}" for source, count in sources.most_common())
