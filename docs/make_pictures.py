"""Take the pictures of the documentation: the page of the bundled table, and its report, in a real browser.

python docs/make_pictures.py
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

DOCS = Path(__file__).resolve().parent
TABLE = DOCS.parent / "examples" / "payments.csv"
ELECT = (sys.executable, "-c", "from elect.cli import script; script()")
OPTIONS = ("--label", "checked")
SIZE = {"width": 1280, "height": 800}


def page(browser: Any, folder: Path) -> None:
    """The rows with one of them open, the answers after two of them, and the election of the paper."""
    command = [*ELECT, "open", str(folder / TABLE.name), *OPTIONS, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        tab = browser.new_page(viewport=SIZE)
        tab.goto(found[0])
        _ready(tab)
        tab.click("tr[data-index='0'] th")
        _take(tab, "page")
        tab.keyboard.press("Escape")
        tab.click("#tabs a[data-name=answers]")
        for key in "yn":
            name = tab.text_content("main .row-name")
            tab.keyboard.press(key)
            tab.wait_for_selector(f"main .row-name:not(:text-is('{name}'))")
        tab.wait_for_timeout(5000)  # until the toast has gone
        _take(tab, "page-answers")
        tab.click("#tabs a[data-name=models]")
        tab.select_option("#way", "elect")
        tab.wait_for_selector("body:not([data-phase=ready])")
        _ready(tab)
        _take(tab, "page-models")
        server.terminate()


def report(browser: Any, folder: Path) -> None:
    path = folder / "report.html"
    command = [*ELECT, "detect", str(folder / TABLE.name), *OPTIONS, "--report", str(path), "--quiet"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    tab = browser.new_page(viewport={"width": 1200, "height": 900})
    tab.goto(path.as_uri())
    _take(tab, "report")


def _ready(tab: Any) -> None:
    tab.wait_for_selector("body[data-phase=ready]", timeout=120_000)


def _take(tab: Any, name: str) -> None:
    tab.evaluate("document.activeElement.blur()")
    tab.wait_for_timeout(1000)
    path = DOCS / f"{name}.png"
    tab.screenshot(path=path)
    with Image.open(path) as taken:
        small = taken.convert("RGB").quantize(128)
    small.save(path, optimize=True)


def main() -> None:
    with sync_playwright() as driver, tempfile.TemporaryDirectory(prefix="elect-pictures-") as folder:
        shutil.copy(TABLE, folder)
        # The sandbox needs rights that a container often does not have; only our own pages are opened.
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page(browser, Path(folder))
        report(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
