"""Documentation that is made from the program is what the program says."""

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs").glob("*.md"))


def script(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_the_command_line_is_up_to_date() -> None:
    maker = script(ROOT / "docs" / "make_command_line.py")
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(), "run python docs/make_command_line.py"


def names_of(group: Any, before: str = "") -> list[str]:
    """The commands of a group, those of its own groups as two words."""
    found = []
    for name, command in group.commands.items():
        inside = hasattr(command, "commands")
        found += names_of(command, f"{before}{name} ") if inside else [before + name]
    return found


def test_every_command_is_documented() -> None:
    from typer.main import get_command

    from elect.cli.app import app

    maker = script(ROOT / "docs" / "make_command_line.py")
    assert sorted(names_of(get_command(app))) == sorted(maker.COMMANDS)
    assert sorted(maker.EXAMPLES) == sorted(maker.COMMANDS)


def test_the_bundled_table_is_what_its_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = script(ROOT / "examples" / "make_payments.py")
    monkeypatch.setattr("sys.argv", ["make_payments.py", str(tmp_path / "payments.csv")])
    maker.main()
    made, bundled = (tmp_path / "payments.csv").read_bytes(), (ROOT / "examples" / "payments.csv").read_bytes()
    assert made == bundled, "run python examples/make_payments.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ["python.md"])
def test_python_in_the_documentation_is_python(page: str) -> None:
    for block in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.DOTALL):
        code = compile(block, page, "exec")
        for module, names in re.findall(r"^from (elect[\w.]*) import (.+)$", block, re.MULTILINE):
            found = __import__(module, fromlist=["x"])
            for name in names.split(", "):
                assert hasattr(found, name), f"{module}.{name}"
        assert code is not None
