"""The tables of a report, used as a reader uses them: sorted and filtered, by mouse and by keyboard, from a file."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elect.detect.detection import TopRow
from elect.detect.explaining import Reason
from elect.report import render
from page_serving import axe_violations
from test_report import CHROMIUM, HOSTILE, summary

playwright = pytest.importorskip("playwright.sync_api", reason="no playwright here: pip install playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")

TOP = tuple(
    TopRow(
        place,
        f"N{100 - place}" if place else HOSTILE,
        score,
        score > 5,
        (Reason("wind" if place % 2 else "visibility", "1048.4", "median 10.4", 0.9),),
        None if place == 3 else place / 20,
        kind="wrong value" if place in (2, 7) else "far from all others",
    )
    for place, score in enumerate([9.0, 8.0, 7.5, 6.25, 4.0, 3.0, 2.5, 2.0, 1.0, 0.5, 0.25, -1.0, -20.0])
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    path = tmp_path / "report.html"
    path.write_text(render(replace(summary(), top=TOP, cells=(("1",),) * len(TOP))), encoding="utf-8")
    context = browser.new_context(offline=True)
    found = context.new_page()
    complaints: list[str] = []
    found.on("console", lambda message: complaints.append(message.text))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(path.as_uri())
    yield found
    context.close()
    assert complaints == []


def shown(page: Any) -> list[str]:
    """The ids of the rows that can be seen, in order."""
    rows = page.locator("#rows tbody tr:visible th")
    return [str(text) for text in rows.all_text_contents()]


def test_the_first_ten_rows_and_then_all(page: Any) -> None:
    assert len(shown(page)) == 10
    page.get_by_role("button", name="Show all 13").click()
    assert len(shown(page)) == 13
    assert page.locator("#rows button.more").is_hidden()


def test_sorting_by_a_head(page: Any) -> None:
    head = page.get_by_role("columnheader", name="score")
    assert head.get_attribute("aria-sort") == "descending"
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown(page)[:3] == ["N88", "N89", "N90"]
    page.get_by_role("columnheader", name="models agreeing").get_by_role("button").click()
    assert shown(page)[0] == "N88"
    assert head.get_attribute("aria-sort") is None
    page.get_by_role("button", name="Show all").click()
    assert shown(page)[-1] == "N97"  # what has no value comes last


def test_sorting_by_keyboard(page: Any) -> None:
    page.get_by_role("columnheader", name="score").get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert shown(page)[0] == "N88"


def test_finding_rows(page: Any) -> None:
    box = page.get_by_role("searchbox", name="Find")
    box.fill("WIND 1048")
    assert len(shown(page)) == 6
    assert page.get_by_role("status").text_content() == "6 of 13 rows"
    page.get_by_label("outliers only").check()
    assert shown(page) == ["N99", "N97"]
    page.get_by_label("outliers only").uncheck()
    box.fill("")
    page.get_by_label("Kind").select_option("wrong value")
    assert shown(page) == ["N98", "N93"]
    page.get_by_label("Kind").select_option("any")
    box.fill("no such thing")
    assert shown(page) == []
    box.fill("<script>")
    assert len(shown(page)) == 1


def test_the_other_tables_can_be_sorted_too(page: Any) -> None:
    page.get_by_text("Every model tried").click()
    page.locator("#agreement th", has_text="model").first.get_by_role("button").click()
    models = page.locator("#agreement tbody th").all_text_contents()
    assert models == sorted(models, key=str.lower)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_it_without_scrolling_sideways(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.get_by_label("Sort by").select_option(label="models agreeing")
    assert shown(page)[0] == "N88"


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page: Any, browser: Any, scheme: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, bypass_csp=True)
    seen = context.new_page()
    seen.goto(page.url)
    for closed in seen.locator("details:not([open]) > summary").all()[:3]:
        closed.click()
    assert axe_violations(seen) == []
    context.close()
