"""The report: what it computes, that it escapes everything, and that a real browser shows it without complaint."""

import base64
import hashlib
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from elect.core import Candidate, ModelPool, ModelSpec, Neighbor, SearchStep, Selection
from elect.detect.agreement import Agreement, ModelAgreement
from elect.detect.detection import Evaluation, TopRow
from elect.detect.explaining import Reason
from elect.report import ReportSummary, render
from elect.report.markup import embedded, tag
from elect.report.page import static
from elect.report.summary import MOST_POINTS, Histogram, changes_of_pick, histogram, map_points
from elect.tables import ColumnSummary

RNG = np.random.default_rng(5)
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}&amp;\u202e"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


POOL = ModelPool.of([ModelSpec.of("LOF", n_neighbors=5), ModelSpec.of("COF", n_neighbors=3)])


def steps() -> list[SearchStep]:
    first, second = (
        Candidate("LOF(n_neighbors=5)", 0.5, 0.1, (0.4, 0.6)),
        Candidate("COF(n_neighbors=3)", 0.6, 0.1, (0.5, 0.7)),
    )
    near = (Neighbor("wine", 0.9), Neighbor("glass", 0.7))
    return [
        SearchStep(0, "prior", None, None, (), replace(first, on_neighbors=()), (), 0.0),
        SearchStep(1, "anchor", "LOF(n_neighbors=5)", None, (), replace(first, on_neighbors=()), (), 0.1),
        SearchStep(2, "initial", "COF(n_neighbors=3)", None, near, second, (first,), 0.2),
        SearchStep(3, "adaptive", "ABOD(n_neighbors=3)", 0.02, near, second, (first,), 0.3, "ValueError: no"),
        SearchStep(4, "adaptive", "kNN()", 0.01, near, second, (first,), 0.4, None, "the budget is spent"),
    ]


def summary(text: str = "plain") -> ReportSummary:
    """A report about a small table in which everything that comes from the user is ``text``."""
    rng = np.random.default_rng(0)
    X, scores = rng.normal(size=(300, 4)), rng.gamma(2.0, size=300)
    selection = Selection.from_steps(steps(), POOL)
    return ReportSummary(
        title=f"{text}.csv",
        n_rows=300,
        selection=selection,
        threshold=5.0,
        threshold_rule="3.5 robust deviations above the median",
        n_outliers=int((scores > 5).sum()),
        histogram=histogram(scores, 5.0),
        map=map_points(X, scores, 5.0),
        top=(
            TopRow(0, text, 9.0, True, (Reason(text, text, f"median {text}", 0.6),), 0.8),
            TopRow(1, "2", 1.0, False, ()),
            TopRow(2, "10", 4.0, False, ()),
        ),
        cells=((text,), ("1048.4",), ("missing",)),
        id_name=text,
        agreement=Agreement(10, (ModelAgreement("COF(n_neighbors=3)", 1.0, 1.0), ModelAgreement("kNN()", -0.2, 0.1))),
        columns=(ColumnSummary(text, "feature", "number", f"used {text}", text, 0.25),),
        python=f"read_table({text!r})",
        evaluation=Evaluation(0.5, 0.75, 300, 7, text),
        notes=(text,),
        version="0",
    )


class Reader(HTMLParser):
    """What a document is made of, and what it says."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(document)

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        self.open.append(name)

    def handle_startendtag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name: str) -> None:
        assert self.open.pop() == name

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)

    def attributes(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for element, attributes in self.elements if element == name]


def test_it_says_everything() -> None:
    text = " ".join(Reader(render(summary())).text)
    for words in (
        "COF(n_neighbors=3)",
        "wine",
        "the budget is spent",
        "expected improvement",
        "threshold",
        "two dimensions",
        "The most outlying rows",
        "Do the models agree?",
        "What was done with each column",
        "read_table('plain')",
        "Average precision 0.500, ROC AUC 0.750 on 300 labelled rows with 7 outliers",
        "failed: ValueError: no",
    ):
        assert words in text


def test_a_pick_from_the_whole_pool_is_told_as_one() -> None:
    """There is no search to show: every model was scored, and the pick made at the end."""
    first, second = (replace(step.pick, on_neighbors=()) for step in (steps()[0], steps()[2]))
    near = (Neighbor("wine", 0.9),)
    reason = "of all 2 models, it fits best what they agree on"
    trace = [
        SearchStep(0, "prior", None, None, (), first, (second,), 0.0),
        SearchStep(1, "pool", "LOF(n_neighbors=5)", None, (), first, (second,), 0.1),
        SearchStep(
            *(2, "pool", "COF(n_neighbors=3)", None, near, replace(second, on_neighbors=(0.7,))),
            *((replace(first, on_neighbors=(0.6,)),), 0.2, None, "the whole pool was scored"),
            reason=reason,
        ),
    ]
    selection = Selection.from_steps(trace, POOL, strategy="consensus")
    text = " ".join(Reader(render(replace(summary(), selection=selection))).text)
    assert reason[1:] in text
    assert "wine" in text
    assert "2 models were scored, and the pick was made from all of their scores" in text
    assert "expected improvement" not in text


def test_nothing_from_the_table_becomes_markup() -> None:
    plain, hostile = Reader(render(summary())), Reader(render(summary(HOSTILE)))
    assert [name for name, _ in plain.elements] == [name for name, _ in hostile.elements]
    assert "<script>alert(1)</script>" in " ".join(hostile.text)
    for _, attributes in hostile.elements:
        assert not any(name.startswith("on") for name in attributes)
    assert "\u202e" not in render(summary(HOSTILE))  # what reverses the text around it is shown as unreadable


def test_nothing_comes_from_the_network_and_only_our_script_runs() -> None:
    document = render(summary(HOSTILE))
    reader = Reader(document)
    names = [name for name, _ in reader.elements]
    assert not set(names) & {"link", "iframe", "img", "object", "embed", "form", "base"}
    assert names.count("script") == names.count("style") == 1
    assert not any("style" in attributes for _, attributes in reader.elements)  # the policy would refuse it
    assert not re.search(r"url\(|@import|https?://", document)
    (policy,) = [a.get("content") or "" for a in reader.attributes("meta") if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for name in ("style", "script"):
        content = document.split(f"<{name}>")[1].split(f"</{name}>")[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy


def test_what_is_embedded_cannot_end_its_element() -> None:
    with pytest.raises(ValueError, match="would end before its end"):
        embedded("script", "x = '</script>'")


def test_the_script_is_small_and_makes_no_markup() -> None:
    script = static("tables.js")
    assert len(script) < 6000
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|fetch|XMLHttp", script)


def test_a_screen_reader_finds_its_way() -> None:
    reader = Reader(render(summary()))
    assert reader.attributes("html") == [{"lang": "en"}]
    assert len(reader.attributes("h1")) == 1
    assert len(reader.attributes("h2")) == len(reader.attributes("section")) == 8
    assert all(head.get("scope") in ("row", "col") for head in reader.attributes("th"))
    assert len(reader.attributes("caption")) == len(reader.attributes("table"))
    for picture in reader.attributes("svg"):
        assert picture.get("aria-hidden") == "true" or (picture.get("role") == "img" and picture.get("aria-label"))
    assert all(box.get("tabindex") == "0" for box in reader.attributes("div") if box.get("class") == "scroll")


def test_it_follows_the_readers_device() -> None:
    document = render(summary())
    for words in ("prefers-color-scheme: dark", "max-width: 42rem", "@media print", "width=device-width"):
        assert words in document


def test_every_change_of_the_pick_is_marked() -> None:
    assert changes_of_pick(Selection.from_steps(steps(), POOL)) == (0, 2)


@pytest.mark.parametrize("scores", [np.zeros(5), np.array([1e300, -1e300]), np.array([0.0, 5e-324]), np.arange(9.0)])
def test_a_histogram_of_any_scores(scores: np.ndarray) -> None:
    found = histogram(scores, float(scores[0]))
    assert isinstance(found, Histogram)
    assert sum(found.counts) == len(scores)
    assert np.isfinite(found.edges).all()


@pytest.mark.parametrize("shape", [(2, 1), (3, 50), (50, 3), (30, 1), (9000, 4)])
def test_a_map_of_any_table(shape: tuple[int, int]) -> None:
    X = RNG.normal(size=shape)
    scores = RNG.normal(size=shape[0])
    found = map_points(X, scores, float(np.sort(scores)[-2]))
    assert len(found.points) == min(shape[0], MOST_POINTS)
    assert sum(point.is_outlier for point in found.points) == 1
    assert all(0 <= point.x <= 1 and 0 <= point.y <= 1 for point in found.points)
    assert 0 <= found.shown_variance <= 1 + 1e-9


def test_a_table_of_equal_rows_has_a_map_too() -> None:
    found = map_points(np.ones((10, 2)), np.zeros(10), 1.0)
    assert {(point.x, point.y) for point in found.points} == {(0.5, 0.5)}


def test_markup_escapes_attributes() -> None:
    assert tag("p", "a&b", title='"><script>') == '<p title="&quot;&gt;&lt;script&gt;">a&amp;b</p>'


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: apt-get install chromium")
@pytest.mark.parametrize("text", ["plain", HOSTILE], ids=["plain", "hostile"])
def test_a_browser_shows_it_without_complaint(tmp_path: Path, text: str) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(summary(text)), encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                str(CHROMIUM),
                *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
                *("--disable-component-update", "--disable-sync", f"--user-data-dir={profile}"),
                *("--enable-logging=stderr", "--log-level=0", "--dump-dom", page.as_uri()),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert done.returncode == 0, done.stderr
    assert "The most outlying rows" in done.stdout
    assert "COF(n_neighbors=3)" in done.stdout
    # What a page does wrong is logged as CONSOLE; what a browser without a desktop misses is not the page's doing.
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert done.stdout.count("<script") == 1
    # The script has run: heads are buttons, the controls are uncovered.
    assert '<th scope="col" class="num" aria-sort="descending"><button type="button">score</button></th>' in done.stdout
    assert '<output class="dim" role="status" data-all="3 rows">3 rows</output>' in done.stdout
    assert 'id="find-rows" class="tools" role="search" aria-label="Find rows" data-first="10">' in done.stdout
