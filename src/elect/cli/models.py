"""``elect models``: the candidates."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elect.cli import screen
from elect.cli.options import Json
from elect.errors import InvalidInput
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.core import ModelPool, ModelSpec


def models(
    family: Annotated[str | None, typer.Option(metavar="NAME", help="Only one family, such as LOF.")] = None,
    json: Json = False,
) -> None:
    """List the models."""
    from elect.pool import default_pool

    found = Candidates(default_pool(), family)
    if family is not None and family not in found.families:
        raise InvalidInput(f"--family must be one of {', '.join(found.families)}, got {family!r}.")
    screen.show(found, json=json)


@dataclass(frozen=True)
class Candidates:
    """The models of a pool, or of one family of it."""

    pool: "ModelPool"
    family: str | None

    @property
    def families(self) -> list[str]:
        return list(dict.fromkeys(spec.detector for spec in self.pool))

    def of(self, family: str | None) -> "list[ModelSpec]":
        return [spec for spec in self.pool if family is None or spec.detector == family]

    def document(self) -> dict[str, Any]:
        entries = [
            {"id": spec.id, "detector": spec.detector, "params": dict(spec.params)} for spec in self.of(self.family)
        ]
        return {"count": len(entries), "fingerprint": self.pool.fingerprint, "models": entries}

    def say(self, console: "Console") -> None:
        if self.family is not None:
            for spec in self.of(self.family):
                console.print(spec.id)
            return
        rows = [[name, wording.count(len(self.of(name))), _grid(self.of(name))] for name in self.families]
        screen.grid(console, [("family", False), ("models", True), ("every combination of", False)], rows)
        told = f"{wording.count(len(self.pool), 'model')}, fingerprint {self.pool.fingerprint[:12]}"
        console.print(f"{told}; elect models --family LOF lists one family")


def _grid(specs: "list[ModelSpec]") -> str:
    """The values that each parameter takes."""
    values = {key: dict.fromkeys(spec[key] for spec in specs) for key, _ in specs[0].params}
    return "; ".join(f"{key} {', '.join(map(str, found))}" for key, found in values.items())
