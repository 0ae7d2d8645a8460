"""The wheel alone: what it holds, that it detects, that its types serve, and that README and docs run as they stand."""

import re
import subprocess
import sys
import tarfile
import zipfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

import elect
import wheel_env

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.name != "notebook.md")]


def runner() -> Any:
    spec = spec_from_file_location("run_blocks", ROOT / "docs" / "run_blocks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["run_blocks"] = module
    spec.loader.exec_module(module)
    return module


blocks = runner()
NEEDS = sorted({blocks.needs_of(page.read_text(encoding="utf-8")) for page in PAGES})


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_env.build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheel_env.make(tmp_path_factory.mktemp("plain"), wheel)


def run(python: Path, *args: object, home: Path) -> subprocess.CompletedProcess[str]:
    command = [str(python), *map(str, args)]
    return subprocess.run(
        command, cwd=home, env=wheel_env.environment(home), capture_output=True, text=True, check=False
    )


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as stored:
        names = stored.namelist()
        told = stored.read(next(n for n in names if n.endswith("METADATA"))).decode()
    assert {name.split("/")[0] for name in names} == {"elect", f"elect-{elect.__version__}.dist-info"}
    for needed in ("elect/py.typed", "elect/history/data/shipped.elect", "elect/page/static/index.html"):
        assert needed in names
    assert not [name for name in names if name.endswith((".nbi", ".nbc", ".pyc"))]
    assert f"Version: {elect.__version__}" in told
    assert "Author: The elect developers" in told
    assert "License-Expression: BSD-3-Clause" in told
    assert "Typing :: Typed" in told


def test_the_source_archive_has_what_its_tests_need(tmp_path: Path) -> None:
    with tarfile.open(wheel_env.build("sdist", tmp_path)) as stored:
        names = {name.partition("/")[2] for name in stored.getnames()}
    wanted = {"pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "Makefile", "mkdocs.yml", "tests/test_wheel.py"}
    assert wanted <= names
    assert {"examples/payments.csv", "docs/index.md", "docs/run_blocks.py"} <= names


def test_version_and_changelog_agree() -> None:
    newest = re.search(
        r"^## (\S+) - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert newest is not None
    assert newest[1] == elect.__version__


def test_it_detects_with_nothing_but_what_it_asks_for(python: Path, tmp_path: Path) -> None:
    assert run(python, "-m", "elect.cli", "--version", home=tmp_path).stdout == f"elect {elect.__version__}\n"
    lines = ["amount,country"] + [f"{10 + i % 7}.{i % 10},{'DE' if i % 3 else 'FR'}" for i in range(200)] + ["9999,DE"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    found = run(python, "-m", "elect.cli", "detect", "t.csv", "-o", "out.csv", "--report", "r.html", home=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "amount = 9999" in found.stdout
    assert (tmp_path / "out.csv").read_text().splitlines()[0].endswith("elect_kind,elect_reasons")
    for missing in ("lightgbm", "pandas", "fastexcel", "distributed"):
        assert run(python, "-c", f"import {missing}", home=tmp_path).returncode == 1
    (tmp_path / "h").mkdir()
    for name in "abc":
        body = "\n".join(f"{i % 9},{i % 7},{int(i > 60)}" for i in range(66))
        (tmp_path / "h" / f"{name}.csv").write_text(f"u,v,label\n{body}\n")
    refused = run(python, "-m", "elect.cli", "train", "h", "-o", "x.elect", "-q", home=tmp_path)
    assert refused.returncode == 2
    assert "pip install 'elect[train]'" in refused.stderr
    assert refused.stderr.count("\n") == 1


CLIENT = """
from pathlib import Path

import numpy as np

from elect import ElectDetector, Feedback, ScoreMatrix, Selection
from elect import load_database, load_detector, save_detector, score_pool


def look(path: Path) -> list[str]:
    X = np.zeros((40, 2))
    detector: ElectDetector = ElectDetector(contamination="auto", verbose=True).fit(X)
    selection: Selection = detector.selection_
    save_detector(detector, path)
    moved = load_detector(path).drift(X).columns or ()
    scores: ScoreMatrix = score_pool(X)
    session = Feedback(X, aim="find")
    row: int = session.ask()
    wrong: str = session.ask()  # type: ignore[assignment]
    said: str = session.tell(row, True)
    rows = [found.why or "" for found in detector.explain(X, [0])]
    tasks: tuple[str, ...] = load_database().tasks
    return [selection.model_id, said, wrong, *rows, *tasks, *(m.column for m in moved), str(scores.shape[0] + 1)]
"""


@pytest.mark.wheel
def test_a_strictly_typed_program_can_use_it(python: Path, tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(python), "--no-incremental"]
    command += ["--config-file", "", "client.py"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    # Were the package untyped, the mistake in the program would be none, and what ignores it be refused.
    assert found.returncode == 0, found.stdout


@pytest.mark.wheel
@pytest.mark.parametrize("needs", NEEDS, ids=lambda needs: ",".join(needs) or "wheel alone")
def test_readme_and_docs_run_as_they_stand(needs: tuple[str, ...], wheel: Path, tmp_path: Path) -> None:
    pages = [page for page in PAGES if blocks.needs_of(page.read_text(encoding="utf-8")) == needs]
    python = wheel_env.make(tmp_path / "env", wheel, needs)
    found = run(python, ROOT / "docs" / "run_blocks.py", *pages, home=tmp_path)
    assert found.returncode == 0, found.stderr[-3000:]
    assert found.stderr.count("ran ") == len(pages)


def test_blocks_are_found_in_every_form(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint(6 * 7)\n```\n\n```text\nold\n```\n\n```sh\nelect models --nothing  # status 2\n```\n"
    )
    assert blocks.run_page(page) == page.read_text().replace("old", "42")
    page.write_text("```sh\nelect bench errors --limit 3\n```\n")
    assert blocks.run_page(page) == page.read_text()
    for wrong in ("elect detect nowhere.csv", "make nothing", "rm -rf x", "elect bench errors --limits 3"):
        page.write_text(f"```sh\n{wrong}\n```\n")
        with pytest.raises(blocks.Failed):
            blocks.run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_command_stands_where_it_is_not_run(page: Path) -> None:
    """Commands stand in ```sh blocks, not in indented ones."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^    (?:elect|pip|make|python|from|import) .*", text, re.MULTILINE) == []
