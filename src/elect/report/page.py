"""The report as one document: everything in it, nothing from the network, and only our own script may run."""

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files

from elect.report import sections
from elect.report.markup import Html, embedded, tag
from elect.report.summary import ReportSummary
from elect.support import wording


@cache
def static(name: str) -> str:
    """A file that comes with the package."""
    return (files("elect.report") / "static" / name).read_text(encoding="utf-8")


def render(found: ReportSummary) -> str:
    """The report as one HTML document."""
    title = f"Outliers in {found.title}"
    style = "".join(map(static, ("colors.css", "style.css", "report.css")))
    script = static("tables.js")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"elect {found.version}"),
        tag("title", title),
        embedded("style", style),
    )
    parts = (
        sections.rows(found),
        sections.scores(found),
        sections.row_map(found.map),
        sections.pick(found),
        sections.agreement(found.agreement),
        sections.search(found.selection),
        sections.columns(found.columns),
        sections.python(found),
    )
    body = tag(
        "body",
        _header(title, found),
        tag("main", parts),
        tag("footer", tag("p", "A score says how unusual a row is, not that it is wrong. Look before you act.")),
        embedded("script", script),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _header(title: str, found: ReportSummary) -> Html:
    flagged = f"{wording.count(found.n_outliers)} of {wording.count(found.n_rows, 'row')}"
    used = sum(column.role == "feature" for column in found.columns)
    names = ("rows", "scores", "map", "model", "agreement", "search", "columns", "python")
    scored = "Ranked by the committee." if found.by_chance else f"Scored by {found.selection.model_id}."
    notes = [*([] if found.evaluation is None else [str(found.evaluation)]), *found.notes]
    links = [tag("li", tag("a", name.capitalize(), href=f"#{name}")) for name in names]
    return tag(
        "header",
        tag("h1", title),
        tag(
            "p",
            f"{flagged} are flagged ({wording.percent(found.n_outliers / found.n_rows)}){_alarms(found)}.",
            class_="lead",
        ),
        tag(
            "p",
            f"{wording.count(used)} of {wording.count(len(found.columns), 'column')} used. "
            f"{scored} Made by elect {found.version}.",
        ),
        [tag("p", wording.sentence(note)) for note in notes],
        tag("nav", tag("ul", links), aria_label="Sections"),
    )


def _alarms(found: ReportSummary) -> str:
    """How many of the flagged rows are expected to be no outliers."""
    if found.false_alarms is None:
        return ""
    if found.n_outliers == 1:
        return f", a false alarm with a chance of {wording.percent(found.false_alarms)}"
    return f", {wording.roughly(found.false_alarms)} of them expected to be false alarms"


def _policy(style: str, script: str) -> str:
    """Our own style and script by their hashes; whatever else gets into the page, the browser will not run it."""
    return (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(content.encode()).digest()).decode()}"
