"""The page itself: arranges a summary, computes nothing. No script, nothing from the network."""

from collections.abc import Sequence
from typing import Any

from elect.report import charts
from elect.report.markup import Html, join, tag
from elect.report.style import CSS
from elect.report.summary import ReportSummary, RowView, TraceStep

MOST_COLUMNS = 300
"""A page is to be read: of a wider table only so many columns are listed."""

# The page runs nothing; should anything ever slip through, the browser will not run it either.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def render(found: ReportSummary) -> str:
    """The report as one HTML document."""
    title = f"Outliers in {found.title}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="generator", content=f"elect {found.version}"),
        tag("title", title),
        Html(f"<style>{CSS}</style>"),
    )
    body = tag(
        "body",
        tag(
            "header",
            tag("h1", title),
            tag("p", f"{found.n_rows:,} rows, {found.n_used} of {found.n_columns} columns used. Made by elect."),
        ),
        tag(
            "main",
            _pick(found),
            _rows(found),
            _scores(found),
            _map(found),
            _search(found),
            _agreement(found),
            _columns(found),
            _python(found),
        ),
        tag(
            "footer",
            tag("p", "A score says how unusual a row is, not that it is wrong. Look at a row before acting on it."),
        ),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _pick(found: ReportSummary) -> Html:
    chosen = found.selection
    figures = [
        ("rows above the threshold", f"{found.n_outliers:,} ({found.n_outliers / found.n_rows:.1%})"),
        ("models evaluated", str(len(chosen.evaluated))),
        ("seconds searched", f"{chosen.seconds:.1f}"),
    ]
    if chosen.expected_rank is not None:
        rank = chosen.expected_rank
        figures.append(("expected rank", f"{rank.expected:.0f} ({rank.low:.0f} to {rank.high:.0f})"))
    notes = [*([] if found.labels is None else [found.labels]), *found.notes]
    return _section(
        "The pick, and why",
        tag("p", chosen.model_id, class_="pick"),
        tag("p", _why(found)),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in figures], class_="figures"),
        _neighbors(found) if chosen.neighbors else None,
        tag("ul", [tag("li", note) for note in notes]) if notes else None,
    )


def _why(found: ReportSummary) -> str:
    chosen = found.selection
    if chosen.reason is not None:
        return f"{chosen.reason[:1].upper()}{chosen.reason[1:]}."
    if not chosen.neighbors:
        return (
            f"No similar task was looked for: this model did best on the whole history ({chosen.metric} "
            f"{chosen.pick.mean:.2f} on average). The search stopped because {chosen.stopped_because}."
        )
    return (
        f"The scores of {len(chosen.evaluated)} models on this table resemble those on {len(chosen.neighbors)} "
        f"labelled tasks of the history. There this model did best: {chosen.metric} {chosen.pick.mean:.2f} on average. "
        f"The search stopped because {chosen.stopped_because}."
    )


def _neighbors(found: ReportSummary) -> Html:
    chosen = found.selection
    shown = (chosen.pick, *chosen.runners_up[:2])
    heads = [("task", False), ("similarity", True), *((candidate.model_id, True) for candidate in shown)]
    body = [
        [
            _row_head(neighbor.task),
            _cell(f"{neighbor.similarity:.2f}", "similarity", num=True),
            *(_cell(f"{c.on_neighbors[place]:.2f}", c.model_id, num=True) for c in shown),
        ]
        for place, neighbor in enumerate(chosen.neighbors)
    ]
    mean = [_row_head("mean"), _cell("", "", num=True), *(_cell(f"{c.mean:.2f}", c.model_id, num=True) for c in shown)]
    return _details(
        "The similar tasks, and how the pick and the next models did there",
        _table(f"{chosen.metric} on the similar tasks", heads, [*body, mean]),
    )


def _rows(found: ReportSummary) -> Html:
    heads = [
        (found.id_name, False),
        ("score", True),
        ("outlier", False),
        ("models agreeing", True),
        ("what makes it unusual", False),
    ]
    return _section(
        "The most outlying rows",
        _table(
            "The share says how much of what is unusual about the row would go if the column held a typical value. "
            f"Models agreeing: how many of the evaluated ones have the row among their top {found.agreement_top}.",
            heads,
            [_row(row) for row in found.top],
            stack=True,
        ),
    )


def _row(row: RowView) -> list[Html]:
    reasons = [
        tag(
            "li",
            charts.share_bar(reason.share),
            tag("b", reason.column),
            f" = {reason.value} ",
            tag("span", f"({reason.usual}) " if reason.usual else "", class_="usual"),
            f"{reason.share:.0%}",
        )
        for reason in row.reasons
    ]
    return [
        _row_head(row.id),
        _cell(f"{row.score:.4g}", "score", num=True),
        tag("td", "yes" if row.is_outlier else "no", class_="yes" if row.is_outlier else "dim", data_name="outlier"),
        _cell("" if row.agreeing is None else f"{row.agreeing:.0%}", "models agreeing", num=True),
        tag("td", tag("ul", reasons) if reasons else "no single column", class_="long", data_name="reasons"),
    ]


def _scores(found: ReportSummary) -> Html:
    return _section(
        "The scores",
        tag(
            "p",
            f"{found.n_outliers:,} of {found.n_rows:,} rows score above the threshold of {found.threshold:.4g} "
            f"({found.threshold_rule}). The scale of the rows is logarithmic.",
        ),
        charts.score_histogram(found.histogram, found.threshold),
    )


def _map(found: ReportSummary) -> Html:
    shades = (("k0", "ordinary half"), ("k2", "unusual"), ("k4", "top 2%"), ("kh", "above the threshold"))
    drawn, total = len(found.map.points), found.map.n_rows
    which = f"{drawn:,} rows" if drawn == total else f"{drawn:,} of {total:,} rows"
    return _section(
        "The table in two dimensions",
        tag(
            "p",
            f"{which} along the two directions in which the table varies most ({found.map.shown_variance:.0%} of its "
            "variance). A row that looks ordinary here can be unusual in what the picture does not show.",
        ),
        charts.row_map(found.map),
        tag("ul", [tag("li", tag("span", class_=shade), name) for shade, name in shades], class_="key"),
    )


def _search(found: ReportSummary) -> Html:
    heads = [
        ("step", True),
        ("phase", False),
        ("model evaluated", False),
        ("similarity", True),
        ("expected improvement", True),
        ("pick after it", False),
    ]
    if all(step.phase in ("prior", "pool") for step in found.trace):
        said = f"{len(found.selection.evaluated)} models were scored, and the pick was made from all of their scores."
        return _section("The search", tag("p", said))
    return _section(
        "The search",
        tag(
            "p",
            "A model is evaluated at every step, and the similar tasks are estimated anew. The dots between the curves "
            "are the steps at which the pick changed.",
        ),
        charts.trace_chart(found.trace),
        _details("Every step", _table("The steps of the search", heads, [_step(step) for step in found.trace])),
    )


def _step(step: TraceStep) -> list[Html]:
    gain = step.expected_improvement
    return [
        tag("th", str(step.index), scope="row", class_="num"),
        _cell(step.phase, "phase"),
        tag(
            "td", step.evaluated or "", tag("span", f" failed: {step.failure}", class_="yes") if step.failure else None
        ),
        _cell("" if step.similarity is None else f"{step.similarity:.3f}", "similarity", num=True),
        _cell("" if gain is None else f"{gain:.3g}", "expected improvement", num=True),
        tag("td", tag("b", step.pick) if step.is_new_pick else step.pick),
    ]


def _agreement(found: ReportSummary) -> Html:
    if not found.agreement:
        return _section(
            "Do the models agree?", tag("p", "No other model was evaluated, so there is nothing to compare.")
        )
    middle = sorted(view.correlation for view in found.agreement)[len(found.agreement) // 2]
    heads = [
        ("model", False),
        ("rank correlation with the pick", True),
        (f"shared of the top {found.agreement_top}", True),
    ]
    body = [
        [
            _row_head(view.model_id),
            tag(
                "td",
                charts.share_bar(view.correlation),
                f"{view.correlation:.2f}",
                class_="num",
                data_name="correlation",
            ),
            _cell(f"{view.shared_top:.0%}", "shared top", num=True),
        ]
        for view in sorted(found.agreement, key=lambda view: -view.correlation)
    ]
    return _section(
        "Do the models agree?",
        tag(
            "p",
            f"The rank correlation of the {len(found.agreement)} evaluated models with the pick has a median of "
            f"{middle:.2f}. "
            "Where models disagree, the choice matters more, and so does a look at the rows.",
        ),
        _details("Every evaluated model", _table("Agreement with the pick", heads, body)),
    )


def _columns(found: ReportSummary) -> Html:
    heads = [("column", False), ("role", False), ("kind", False), ("missing", True), ("what was done", False)]
    body = [
        [
            _row_head(view.column),
            _cell(view.role, "role"),
            _cell(view.kind, "kind"),
            _cell(f"{view.missing:.1%}" if view.missing else "", "missing", num=True),
            tag("td", view.done, " ", tag("span", f"({view.why})", class_="dim"), data_name="done", class_="long"),
        ]
        for view in found.columns[:MOST_COLUMNS]
    ]
    hidden = len(found.columns) - len(body)
    return _section(
        "What was done with each column",
        _table("The columns of the table", heads, body, stack=True),
        tag("p", f"and {hidden:,} more, which elect detect --json lists.") if hidden else None,
    )


def _python(found: ReportSummary) -> Html:
    if found.saved_as is not None:
        lines = [
            "from elect import load_detector",
            "",
            f"detector = load_detector({found.saved_as!r})",
            "detector.decision_function(table)  # higher is more outlying",
            "detector.predict(table)            # 1 for an outlier",
        ]
    else:
        lines = [
            "import pandas",
            "from elect import ElectDetector",
            "",
            f"table = pandas.read_csv({found.title!r})",
            'detector = ElectDetector("auto").fit(table)',
            "detector.decision_scores_          # higher is more outlying",
            "detector.selection_.explain()",
        ]
    return _section(
        "The same in Python",
        tag("pre", tag("code", "\n".join(lines))),
        None
        if found.saved_as is not None
        else tag("p", "With --save model.elect-detector the very detector of this report is kept, for new rows too."),
    )


def _section(title: str, *children: Any) -> Html:
    return tag("section", tag("h2", title), *children)


def _details(title: str, *children: Any) -> Html:
    return tag("details", tag("summary", title), *children)


def _table(
    caption: str, heads: Sequence[tuple[str, bool]], rows: Sequence[Sequence[Html]], *, stack: bool = False
) -> Html:
    """A table in a box that scrolls, reachable by keyboard; with ``stack`` its rows become cards on a phone."""
    head = tag("tr", [tag("th", name, scope="col", class_="num" if number else None) for name, number in heads])
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", head),
            tag("tbody", [tag("tr", join(*row)) for row in rows]),
            class_="stack" if stack else None,
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def _row_head(text: str) -> Html:
    return tag("th", text, scope="row")


def _cell(text: str, name: str, *, num: bool = False) -> Html:
    return tag("td", text, class_="num" if num else None, data_name=name)
