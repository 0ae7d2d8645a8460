"""What CONTRIBUTING says of rooms and roads is so."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w/]+\.py):([\w.]+)`", TEXT)))


def test_the_rooms_are_those_of_the_contract() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [layer.split(" | ") for layer in contract["contracts"][0]["layers"]]
    rooms = [
        room.removesuffix("/").removesuffix(".py") for room in re.findall(r"^\| `([\w/.]+)` \|", TEXT, re.MULTILINE)
    ]
    assert len(rooms) == sum(map(len, layers))
    for layer in layers:
        assert {f"elect.{room}" for room in rooms[: len(layer)]} == set(layer)
        rooms = rooms[len(layer) :]


def test_no_road_has_more_than_ten_stations() -> None:
    roads = re.split(r"^`[^`\n]+`[^\n]*:$", TEXT, flags=re.MULTILINE)[1:]
    assert len(roads) == 5
    for road in roads:
        stations = [int(number) for number in re.findall(r"^(\d+)\. ", road, re.MULTILINE)]
        assert stations == list(range(1, len(stations) + 1))
        assert 5 <= len(stations) <= 10


@pytest.mark.parametrize(("file", "name"), NAMED, ids=[f"{file}:{name}" for file, name in NAMED])
def test_every_station_is_there(file: str, name: str) -> None:
    assert (ROOT / "src" / "elect" / file).is_file()
    found = import_module("elect." + file.removesuffix("/__init__.py").removesuffix(".py").replace("/", "."))
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)
    # Where it is defined, not where it is passed on.
    assert found.__module__ == "elect." + file.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
