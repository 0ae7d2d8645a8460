"""The report: what it computes, that it escapes everything, and that a real browser shows it without complaint."""

import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from elect.core import Candidate, Neighbor, SearchStep, Selection
from elect.report import (
    AgreementView,
    ColumnView,
    ReasonView,
    ReportSummary,
    RowView,
    histogram,
    map_points,
    render,
    trace_of,
)
from elect.report.markup import tag
from elect.report.summary import MOST_POINTS, Histogram

RNG = np.random.default_rng(5)
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{7*7}}&amp;\u202e"
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


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
    selection = Selection.from_steps(steps())
    return ReportSummary(
        title=f"{text}.csv",
        n_rows=300,
        n_columns=5,
        n_used=4,
        selection=selection,
        trace=trace_of(selection),
        threshold=5.0,
        threshold_rule="3.5 robust deviations above the median",
        n_outliers=int((scores > 5).sum()),
        histogram=histogram(scores, 5.0),
        map=map_points(X, scores, 5.0),
        top=(
            RowView(text, 9.0, True, 0.8, (ReasonView(text, text, f"median {text}", 0.6),)),
            RowView("2", 1.0, False, None, ()),
        ),
        id_name=text,
        agreement_top=10,
        agreement=(AgreementView("COF(n_neighbors=3)", 1.0, 1.0), AgreementView("kNN()", -0.2, 0.1)),
        columns=(ColumnView(text, "feature", "number", f"used {text}", text, 0.25),),
        labels=text,
        notes=(text,),
        saved_as=f"{text}.elect-detector",
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
        if "style" not in self.open:
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
        "load_detector('plain.elect-detector')",
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
    selection = Selection.from_steps(trace, strategy="consensus")
    text = " ".join(Reader(render(replace(summary(), selection=selection, trace=trace_of(selection)))).text)
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


def test_nothing_comes_from_the_network_and_nothing_runs() -> None:
    document = render(summary())
    reader = Reader(document)
    names = {name for name, _ in reader.elements}
    assert not names & {"script", "link", "iframe", "img", "object", "embed", "form", "base"}
    assert not re.search(r"url\(|@import|https?://", document)
    policy = [a.get("content") or "" for a in reader.attributes("meta") if a.get("http-equiv")]
    assert "default-src 'none'" in policy[0]


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
    for words in ("prefers-color-scheme:dark", "max-width:40rem", "@media print", "width=device-width"):
        assert words in document


def test_the_trace_marks_every_change_of_the_pick() -> None:
    trace = trace_of(Selection.from_steps(steps()))
    assert [step.is_new_pick for step in trace] == [True, False, True, False, False]
    assert trace[2].similarity == pytest.approx(0.8)
    assert trace[3].expected_improvement == 0.02


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
    assert "<script" not in done.stdout
