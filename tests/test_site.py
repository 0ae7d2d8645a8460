"""The documentation as a site: it builds without a warning, every link leads somewhere, nothing is loaded from
elsewhere; the notebook runs from top to bottom."""

import importlib.util
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import nbformat
import pytest

import elect
from test_report import CHROMIUM

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    built = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Page(HTMLParser):
    """The places in a page and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.ids.add(given["id"])
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif given.get("src"):
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev") and given.get("href"):
            self.loaded.append(given["href"])


def test_every_link_leads_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 20
    broken = []
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # its links are from the root of a server
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("mailto:"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                broken.append(f"{path.relative_to(site)}: {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                broken.append(f"{path.relative_to(site)}: {link} (no such place)")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        away = [link for link in Page(path.read_text(encoding="utf-8")).loaded if re.match(r"(?:https?:)?//", link)]
        assert away == [], path.name
    for style in site.rglob("*.css"):
        assert not re.search(r"url\((?:\"|')?(?:https?:)?//", style.read_text(encoding="utf-8")), style.name


def test_the_reference_has_every_public_name(site: Path) -> None:
    ids = Page((site / "api.html").read_text(encoding="utf-8")).ids
    assert [name for name in elect.__all__ if f"elect.{name}" not in ids] == []


def test_the_notebook_runs_and_shows_what_it_shows() -> None:
    folder = ROOT / "docs" / "tutorial"
    spec = importlib.util.spec_from_file_location("make_notebook", folder / "make_notebook.py")
    assert spec is not None
    assert spec.loader is not None
    maker: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(maker)
    made = maker.run()  # a cell that fails raises
    kept = nbformat.read(maker.NOTEBOOK, as_version=4)
    assert [cell["source"] for cell in kept.cells] == [cell["source"] for cell in made.cells], (
        "run python docs/tutorial/make_notebook.py"
    )
    shown = [len(cell["outputs"]) for cell in made.cells if cell["cell_type"] == "code"]
    assert all(shown)
    assert maker.PAGE.read_text(encoding="utf-8") == maker.page(kept), "run python docs/tutorial/make_notebook.py"


@pytest.mark.parametrize("width", [1280, 375])
def test_the_site_is_read_and_searched_from_a_folder(site: Path, width: int) -> None:
    """Without a server and without network: no page is wider than the screen, and search finds what it should."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no playwright here: pip install playwright")
    if CHROMIUM is None:
        pytest.skip("no chromium here: apt-get install chromium")
    complaints: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(offline=True, viewport={"width": width, "height": 800}).new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        for name in ("api", "gallery", "results", "tutorial/notebook", "tutorial/errors"):
            page.goto((site / f"{name}.html").as_uri())
            beyond = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(beyond) == 0, name
        if width < 1000:
            page.click("label[for=__search].md-header__button")
        page.locator("input.md-search__input").press_sequentially("contamination")
        page.wait_for_selector(".md-search-result__item")
        assert "Choose the threshold" in page.locator(".md-search-result__list").inner_text()
        browser.close()
    assert complaints == []
