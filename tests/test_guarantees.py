"""Each promise of docs/guarantees.md names tests that are there; and the one that is about everything."""

import re
import socket
from pathlib import Path

import pytest

from elect.cli import main

ROOT = Path(__file__).parent.parent
PROMISES = [line for line in (ROOT / "docs" / "guarantees.md").read_text().splitlines() if line.startswith("| ")][2:]


@pytest.mark.parametrize("line", PROMISES, ids=lambda line: line[2:60])
def test_a_promise_is_held_by_tests_that_exist(line: str) -> None:
    named = re.findall(r"`(tests/\w+\.py|test_\w+)`", line.rpartition("|")[0].rpartition("|")[2])
    assert named
    sources = [path.read_text() for path in (ROOT / "tests").glob("test_*.py")]
    for name in named:
        if name.startswith("tests/"):
            assert re.search(r"^def test_", (ROOT / name).read_text(), re.MULTILINE), name
        else:
            assert any(re.search(rf"^def {name}\(", source, re.MULTILINE) for source in sources), name


def test_how_to_report_is_said() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    assert "advisory" in text
    assert "docs/guarantees.md" in text


def test_nothing_is_sent_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No connection is opened and no name is looked up by a whole run."""

    def refuse(*args: object, **named: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i % 7}.5,{i * 37 % 11}\n" for i in range(40)))
    model = tmp_path / "m.elect-detector"
    assert main(["detect", str(path), "-q", "--save", str(model), "--report", str(tmp_path / "r.html")]) == 0
    assert main(["score", str(model), str(path), "-q", "-o", str(tmp_path / "o.csv")]) == 0
    page = (tmp_path / "r.html").read_text()
    assert not re.search(r"(src|href)=[\"']?https?://", page)
