"""The page in a real browser: the whole journey, two tabs, keys, the dark and a phone; nothing leaves the machine.

Debian's chromium is driven through playwright. Where either is missing the tests are skipped, and say so.
"""

import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from elect.detect import Options, open_table
from elect.page.product import TableProduct
from elect.tables import read_table
from page_fake import FakeProduct, payments
from page_serving import Served, axe_violations, ready, serving, until

if TYPE_CHECKING:
    from elect.history.database import MetaDatabase

CHROMIUM = shutil.which("chromium")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the page was NOT tested")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium on this machine (apt-get install chromium): the page was NOT tested"
)
expect = playwright.expect
expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        # The sandbox needs rights that a container often does not have; only our own page is opened.
        found = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


class Watched:
    """A tab that notes every request and everything that goes wrong in it."""

    def __init__(self, context: Any, served: Served) -> None:
        self.page = context.new_page()
        self.requests: list[str] = []
        self.errors: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("dialog", self._accept)
        self.served = served

    def _accept(self, dialog: Any) -> None:
        self.dialogs.append(dialog.message)
        dialog.accept()

    def open(self, view: str = "rows") -> Any:
        self.page.goto(self.served.address)
        self.page.wait_for_url(f"http://{self.served.host}/")
        self.page.wait_for_selector("#tabs a")
        if view != "rows":
            self.page.click(f"#tabs a[data-name={view}]")
        return self.page

    def check(self) -> None:
        """Nothing went wrong, and nothing left the machine."""
        assert self.errors == []
        assert [url for url in self.requests if not url.startswith(f"http://{self.served.host}/")] == []


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with serving(FakeProduct(payments(3000)), tmp_path / "payments.answers.csv") as found:
        ready(found.state)
        yield found


@pytest.fixture
def tab(browser: Any, served: Served) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    found = Watched(context, served)
    yield found
    found.check()
    context.close()


def test_the_whole_journey(tab: Watched, served: Served, tmp_path: Path) -> None:
    page = tab.open()
    # The token does not stay in the address, nor the history.
    assert page.url.startswith(f"http://{served.host}/")
    assert "token" not in page.url
    expect(page).to_have_title("payments.csv · elect")
    first = page.locator("tr[data-index='0']")
    expect(first).to_contain_text("P-10")
    assert page.locator("tr[data-position] mark").count() > 5
    assert page.locator("tr[data-index]").count() < 80, "only what is seen is drawn"

    first.locator("th").click()
    expect(page.locator("#drawer .row-name")).to_have_text(first.locator("th").inner_text())
    assert page.locator("#drawer svg.histogram .pin").count() >= 3

    position = int(first.get_attribute("data-position"))
    page.keyboard.press("y")
    until(lambda: served.state.moment.said.get(position) is True)
    expect(page.locator("#drawer .say-yes")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(page.locator("#drawer")).to_be_hidden()

    slider = page.locator(".rows input[type=range]")
    slider.focus()
    before = served.state.document()["ranking"]["flagged"]["count"]
    for _ in range(45):
        page.keyboard.press("ArrowLeft")
    until(lambda: served.state.moment.threshold == 0.05)
    flagged = served.state.document()["ranking"]["flagged"]["count"]
    assert flagged > before
    expect(page.locator(".rows .means b")).to_have_text(f"{flagged:,}")
    expect(page.locator("#status")).to_have_text(f"{flagged:,} rows flagged")

    page.click("#tabs a[data-name=save]")
    with page.expect_download() as started:
        page.click("a[data-kind=csv]")
    path = tmp_path / "found.csv"
    started.value.save_as(path)
    assert started.value.suggested_filename == "payments.outliers.csv"
    assert pl.read_csv(path)["elect_outlier"].sum() == flagged
    expect(page.locator("pre code")).to_contain_text("ElectDetector")

    page.click("#end")
    expect(page.locator("#banner")).to_contain_text("The server has ended")
    served.thread.join(10)
    assert not served.thread.is_alive()
    assert (tmp_path / "payments.answers.csv").read_text().count("yes") == 1


def test_questions_by_key_and_by_click_with_undo_and_reload(tab: Watched, served: Served) -> None:
    page = tab.open("answers")
    card = page.locator(".question .row-name")
    asked = []
    for key, said in (("y", True), ("n", False), ("?", None)):
        name = served.state.document()["question"]["row"]
        expect(card).to_have_text(name)
        asked.append(name)
        page.keyboard.press(key)
        until(lambda: len(served.state.moment.answers) == len(asked))
        assert served.state.moment.answers[-1][1] is said
        expect(card).not_to_have_text(name)
    assert len(set(asked)) == 3
    expect(page.locator(".column .card").nth(1)).to_contain_text(asked[2])

    page.keyboard.press("u")
    until(lambda: len(served.state.moment.answers) == 2)
    expect(page.locator(".column .card").nth(1)).to_contain_text("Taken back")
    page.locator(".question .say-no").click()
    until(lambda: len(served.state.moment.answers) == 3)

    page.check("input[name=aim][value=find]")
    until(lambda: served.state.moment.aim == "find")
    page.reload()
    expect(page.locator("input[name=aim][value=find]")).to_be_checked()
    expect(page.locator(".given li")).to_have_count(3)
    expect(page.locator(".badge")).to_have_text("3")


def test_who_types_fast_answers_no_row_twice(tab: Watched, served: Served) -> None:
    page = tab.open("answers")
    asked = served.state.document()["question"]
    card = page.locator(".question .row-name")
    expect(card).to_have_text(asked["row"])
    for key in "ynn":
        page.keyboard.press(key)
    until(lambda: served.state.moment.answers)
    expect(card).not_to_have_text(asked["row"])
    assert dict(served.state.moment.answers)[asked["position"]] is True


def test_any_row_can_be_answered_where_it_stands(tab: Watched, served: Served) -> None:
    page = tab.open()
    line = page.locator("tr[data-index='4']")
    position = int(line.get_attribute("data-position"))
    line.locator("[data-say=n]").click()
    until(lambda: served.state.moment.said == {position: False})
    expect(page.locator("#said")).to_contain_text("fine")
    page.wait_for_timeout(500)  # the answer moves rows
    expect(page.locator("#drawer")).to_be_hidden()
    # With the keyboard alone: down to a row, and y.
    page.locator("[role=grid]").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    position = int(page.locator("tr.active").get_attribute("data-position"))
    page.keyboard.press("y")
    until(lambda: served.state.moment.said.get(position) is True)
    page.keyboard.press("Enter")
    expect(page.locator("#drawer")).to_be_visible()


def test_filter_sort_find_and_reload_show_the_same(tab: Watched, served: Served) -> None:
    page = tab.open()
    page.locator("#filter").fill("> 400")
    page.select_option("select[aria-label='Column to filter by']", "amount")
    large = int((served.state._product.numbers["amount"] > 400).sum())
    expect(page.locator(".counted")).to_have_text(f"{large:,} of 3,000 rows")
    page.get_by_role("button", name="amount").click()
    expect(page.locator("th[aria-sort=descending]")).to_have_text(re.compile("amount"))
    most = page.locator("tr[data-index='0'] td.number").nth(1).inner_text()
    assert float(most) == served.state._product.numbers["amount"].max()
    page.reload()
    expect(page.locator(".counted")).to_have_text(f"{large:,} of 3,000 rows")
    expect(page.locator("#filter")).to_have_value("> 400")

    page.locator("#filter").fill("no such thing")
    expect(page.locator(".empty")).to_contain_text("No row is meant")
    page.get_by_role("button", name="Show all rows").click()
    expect(page.locator(".counted")).to_have_text("")
    # The end of the table is reached at once, and its last row is there; so it is when the rows come anew.
    for _ in range(2):
        page.evaluate("document.querySelector('.scroller').scrollTop = 1e9")
        expect(page.locator("tr[data-index='2999'][data-position]")).to_be_in_viewport()
        served.state.answer(17, True)
        page.wait_for_timeout(300)
    page.locator("#jump").fill("P-102345")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .row-name")).to_have_text("P-102345")
    expect(page.locator("tr[data-position='2345']")).to_be_in_viewport()


def test_two_tabs_stay_in_step(tab: Watched, served: Served) -> None:
    one = tab.open("answers")
    other = Watched(one.context, served)
    other.open("answers")
    name = served.state.document()["question"]["row"]
    for page in (one, other.page):
        expect(page.locator(".question .row-name")).to_have_text(name)
    one.keyboard.press("y")
    expect(other.page.locator(".badge")).to_have_text("1")
    after = served.state.document()["question"]["row"]
    for page in (one, other.page):
        expect(page.locator(".question .row-name")).to_have_text(after)
    other.check()


def test_stop_a_search_that_runs(browser: Any) -> None:
    product = FakeProduct(payments(3000), hold=threading.Event())
    with serving(product) as served:
        until(lambda: served.state.moment.done == 6)
        context = browser.new_context()
        tab = Watched(context, served)
        page = tab.open()
        expect(page.locator("#status")).to_have_text("6 of 24 models")
        expect(page.locator("tr[data-index='0']")).to_contain_text("P-10")
        with page.expect_response("**/api/stop"):
            page.click("#stop")
        product.hold.set()  # only now: a click is no request yet
        expect(page.locator("#status")).to_have_text(re.compile("flagged"))
        expect(page.locator("#stop")).to_be_hidden()
        page.click("#tabs a[data-name=models]")
        expect(page.locator(".models")).to_contain_text("it was stopped from the page")
        tab.check()
        context.close()


def test_a_column_is_left_out_and_the_search_runs_again(tab: Watched, served: Served) -> None:
    page = tab.open("columns")
    switch = page.get_by_role("switch", name="Use the column amount")
    expect(switch).to_be_checked()
    switch.click()
    until(lambda: served.state.moment.left_out == ("amount",) and served.state.moment.phase == "ready")
    expect(switch).not_to_be_checked()
    expect(page.locator("tr.off", has=switch)).to_have_count(1)
    switch.click()
    until(lambda: served.state.moment.left_out == () and served.state.moment.phase == "ready")


def test_the_map_is_linked_with_its_rows_and_a_lasso_filters_the_table(tab: Watched, served: Served) -> None:
    page = tab.open("map")
    expect(page.locator(".short-list button").first).to_be_visible()
    page.locator(".short-list button").first.hover()
    expect(page.locator(".tip")).to_be_visible()
    box = page.locator("canvas").bounding_box()
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.05)]
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()
    heading = page.locator(".beside h2")
    expect(heading).to_contain_text("in the lasso")
    inside = heading.inner_text().split()[0]
    page.get_by_role("button", name="Show them in the table").click()
    expect(page.locator(".counted")).to_have_text(f"{inside} of 3,000 rows")
    page.locator(".chip").click()
    expect(page.locator(".counted")).to_have_text("")
    page.click("#tabs a[data-name=map]")
    page.locator("canvas").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator("#drawer .row-name")).to_be_visible()


def test_models_are_compared_and_elected_in_another_way(tab: Watched, served: Served) -> None:
    page = tab.open("models")
    expect(page.locator(".heat tbody tr")).to_have_count(8)
    expect(page.locator(".trace svg")).to_be_visible()
    # Electing in another way is a new search; the page keeps what was chosen.
    assert page.locator("#way").input_value() == "elect"
    page.select_option("#way", "fixed")
    until(lambda: served.state.moment.strategy == "fixed" and served.state.moment.phase == "ready")
    expect(page.locator("#way")).to_have_value("fixed")
    page.select_option("#one", index=0)
    page.select_option("#other", index=3)
    expect(page.locator(".three h3")).to_have_count(3)
    page.locator(".three button").first.click()
    expect(page.locator("#drawer")).to_be_visible()


def test_a_real_table_from_the_first_row_to_the_file(
    browser: Any, small_database: "MetaDatabase", tmp_path: Path
) -> None:
    path = tmp_path / "payments.csv"
    payments(400).write_csv(path)
    product = TableProduct(path, open_table(read_table(path)), small_database, Options(id="payment", n_jobs=1))
    with serving(product, tmp_path / "payments.answers.csv") as served:
        context = browser.new_context(accept_downloads=True)
        tab = Watched(context, served)
        page = tab.open()
        expect(page.locator("tr[data-index='0'] mark").first).to_be_visible(timeout=120_000)
        until(lambda: served.state.moment.phase == "ready", 120)
        flagged = served.state.document()["ranking"]["flagged"]["count"]
        assert flagged > 0
        page.locator("tr[data-index='0'] [data-say=n]").click()
        until(lambda: len(served.state.moment.answers) == 1)
        page.click("#tabs a[data-name=models]")
        expect(page.locator(".heat tbody tr").first).to_be_visible()
        page.click("#tabs a[data-name=save]")
        with page.expect_download() as started:
            page.click("a[data-kind=parquet]")
        started.value.save_as(tmp_path / "found.parquet")
        found = pl.read_parquet(tmp_path / "found.parquet")
        assert found["elect_outlier"].sum() == served.state.document()["ranking"]["flagged"]["count"]
        tab.check()
        context.close()


def test_of_a_wide_table_only_the_columns_in_sight_are_drawn(browser: Any) -> None:
    with serving(FakeProduct(payments(200, extra=60))) as served:
        ready(served.state)
        context = browser.new_context(viewport={"width": 1000, "height": 600})
        tab = Watched(context, served)
        page = tab.open()
        line = page.locator("tr[data-index='3']")
        expect(line).to_contain_text("P-10")
        assert line.locator("> *").count() < 40
        page.evaluate("document.querySelector('.scroller').scrollLeft = 1e9")
        last = line.locator("td").last
        value = served.state._product.frame["measure_60"][int(line.get_attribute("data-position"))]
        expect(last).to_have_text(str(value))
        # It stands under its head, and the name of the row is still in sight.
        head, cell = page.locator("thead th").last.bounding_box(), last.bounding_box()
        assert (head["x"], head["width"]) == (cell["x"], cell["width"])
        expect(line.locator("th")).to_be_in_viewport()
        tab.check()
        context.close()


HOSTILE = "<script>window.hit=1</script><img src=x onerror=window.hit=1>"


def test_a_hostile_table_is_text(browser: Any) -> None:
    frame = payments(60).with_columns(
        pl.Series(HOSTILE, [HOSTILE if i % 2 else '=HYPERLINK("http://evil.example")' for i in range(60)]),
        pl.Series("payment", [f"{HOSTILE}{i}" for i in range(60)]),
        pl.Series("a\u202eb", ["\u202egnp.exe", "javascript:window.hit=1"] * 30),
    )
    with serving(FakeProduct(frame, name=f"{HOSTILE}.csv")) as served:
        ready(served.state)
        context = browser.new_context()
        tab = Watched(context, served)
        page = tab.open()
        page.locator("tr[data-index='0'] th").click()
        expect(page.locator("#drawer .row-name")).to_contain_text("<script>")
        page.keyboard.press("y")
        until(lambda: served.state.moment.answers)
        for view in ("map", "answers", "columns", "models", "save", "rows"):
            page.click(f"#tabs a[data-name={view}]")
            page.wait_for_timeout(250)
            assert page.evaluate("window.hit === undefined && !document.querySelector('main img, main script')")
        expect(page.locator("#file")).to_contain_text("<script>")
        # Whatever a script tried, the browser itself would refuse to make markup from text.
        with pytest.raises(playwright.Error, match="TrustedHTML"):
            page.evaluate("document.body.innerHTML = '<b>x</b>'")
        tab.errors.clear()
        tab.check()
        context.close()


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    browser: Any, served: Served, scheme: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 760}, color_scheme=scheme, bypass_csp=True)
    tab = Watched(context, served)
    page = tab.open()
    served.state.answer(3, True)
    served.state.answer(4, False)
    expect(page.locator("tr[data-index='0']")).to_be_visible()
    for view in ("rows", "row", "map", "answers", "columns", "models", "save"):
        if view == "row":
            page.locator("tr[data-index='1'] th").click()
            expect(page.locator("#drawer .values")).to_be_visible()
        else:
            page.evaluate("name => { location.hash = name; }", view)
        page.wait_for_timeout(500)
        assert axe_violations(page) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
        tabs = page.locator("#tabs")
        assert tabs.evaluate("nav => nav.scrollWidth <= nav.clientWidth"), "a tab is out of sight"
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(20, 23, 26)") is (scheme == "dark")
    tab.check()
    context.close()


def test_the_page_is_small_and_readable() -> None:
    folder = Path(__file__).parent.parent / "src/elect/page/static"
    scripts = list(folder.glob("*.js"))
    assert sum(script.stat().st_size for script in scripts) <= 80_000
    index = (folder / "index.html").read_text(encoding="utf-8")
    assert all(f'href="/static/{script.name}"' in index for script in scripts if script.name != "app.js"), (
        "fetched late"
    )
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8")
        assert "innerHTML" not in text, file
        assert "http://" not in text.replace("http://www.w3.org/", ""), file
        assert "https://" not in text, file
