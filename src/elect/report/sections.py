"""The sections of the report. Each arranges records and computes nothing."""

from typing import Any

from elect.core import Candidate, Neighbor, SearchStep, Selection
from elect.core.explanation import METRIC_NAMES
from elect.detect.agreement import Agreement, ModelAgreement
from elect.detect.detection import TopRow
from elect.detect.explaining import Reason
from elect.report import charts
from elect.report.markup import Html, join, tag
from elect.report.summary import ReportSummary, ScoreMap, changes_of_pick
from elect.report.tables import Head, cell, controls, number, row, row_head, table
from elect.support import wording
from elect.tables import ColumnSummary

MOST_COLUMNS = 300
"""A page is to be read: of a wider table only so many columns are listed."""


def section(name: str, title: str, *children: Any) -> Html:
    return tag("section", tag("h2", title), *children, id=name, class_="card")


def details(title: str, *children: Any, of: str | None = None) -> Html:
    """Something to open; ``of`` tells one of many apart for those who hear it."""
    return tag("details", tag("summary", title, aria_label=f"{title} of {of}" if of else None), *children)


# Rows


def rows(found: ReportSummary) -> Html:
    by_chance = found.by_chance
    heads = [
        Head(found.id_name),
        Head("chance" if by_chance else "score", number=True, descending=True),
        Head("flagged"),
        Head("kind") if by_chance else Head("models agreeing", number=True),
        Head("what is unusual about it"),
    ]
    said = (
        "Chance: how often rows like this one were outliers in labelled tables of the past. The bars beside the "
        "reasons say how much of what speaks for the row lies in that cell."
        if by_chance
        else "A row is flagged where its score lies above the threshold. The bars say how much of what is unusual "
        "about a row would be gone if the column held a typical value. Models agreeing: the share of the models tried "
        f"that have the row among their top {wording.count(found.agreement.top)}."
    )
    kinds = list(dict.fromkeys(one.kind for one in found.top if one.kind))
    names = [column.column for column in found.columns]
    cells = [dict(zip(names, values, strict=False)) for values in found.cells]
    return section(
        "rows",
        "The most outlying rows",
        controls("find-rows", len(found.top), found.first, outliers=True, kinds=kinds),
        table(said, heads, list(map(_top_row, found.top, cells)), stack=True, tools="find-rows"),
    )


def _usual(reason: Reason) -> Html | None:
    return tag("span", f" ({reason.usual})", class_="dim") if reason.usual else None


def _top_row(found: TopRow, cells: dict[str, str]) -> Html:
    named = {reason.column for reason in found.reasons}
    values = [_value(column, value, column in named) for column, value in cells.items()]
    reasons = [
        tag(
            "li",
            charts.share_bar(reason.share),
            tag("span", wording.percent(reason.share), class_="num"),
            tag("span", tag("b", reason.column), f" = {reason.value}", _usual(reason)),
        )
        for reason in found.reasons
    ]
    agreeing = "" if found.agreeing is None else wording.percent(found.agreeing)
    by_chance = found.chance is not None
    return row(
        row_head(found.id),
        number(found.score, wording.number(found.score), "score")
        if found.chance is None
        else number(
            found.score, wording.chance(found.chance), "chance", charts.share_bar(found.chance, hot=found.is_outlier)
        ),
        tag(
            "td",
            "yes" if found.is_outlier else "no",
            class_="hot" if found.is_outlier else "dim",
            data_name="flagged",
        ),
        cell(found.kind or "", "kind") if by_chance else number(found.agreeing, agreeing, "models agreeing"),
        tag(
            "td",
            tag("ul", reasons, class_="reasons") if reasons else "no single column",
            details("all values", tag("dl", values, class_="cells"), of=found.id),
            class_="long",
        ),
        data_outlier=found.is_outlier,
        data_kind=found.kind or None,
    )


def _value(column: str, value: str, is_named: bool) -> Html:
    return join(tag("dt", column), tag("dd", tag("b", value) if is_named else value))


def scores(found: ReportSummary) -> Html:
    flagged = f"{wording.count(found.n_outliers)} of {wording.count(found.n_rows, 'row')}"
    return section(
        "scores",
        "The scores",
        tag(
            "p",
            f"{flagged} are flagged; the rule: {found.threshold_rule}. "
            + ("Chances are drawn on the scale of their odds. " if found.by_chance else "")
            + "The rows are counted on a logarithmic scale, so that a few can be seen beside thousands.",
        ),
        charts.score_histogram(found.histogram, found.threshold, by_chance=found.by_chance),
    )


def row_map(found: ScoreMap) -> Html:
    shades = (("d0", "the ordinary half"), ("d2", "less usual"), ("d4", "top 2%"), ("hot", "above the threshold"))
    drawn, total = len(found.points), found.n_rows
    which = wording.count(drawn, "row")
    which = which if drawn == total else f"{wording.count(drawn)} of {wording.count(total, 'row')}"
    return section(
        "map",
        "The table in two dimensions",
        tag(
            "p",
            f"{which} along the two directions in which the table varies most. They show "
            f"{wording.percent(found.shown_variance)} of its variance: a row that looks ordinary here can be unusual "
            "in what is not shown.",
        ),
        charts.row_map(found),
        tag("ul", [tag("li", charts.dot(shade), name) for shade, name in shades], class_="key"),
    )


# The model


def pick(found: ReportSummary) -> Html:
    chosen = found.selection
    facts = [
        ("models tried", wording.count(len(chosen.evaluated))),
        ("time for the search", wording.duration(chosen.seconds)),
        *([] if chosen.expected_rank is None else [("expected rank", str(chosen.expected_rank))]),
    ]
    return section(
        "model",
        "The single detector to keep, and why" if found.by_chance else "The model, and why",
        tag(
            "p",
            "The rows above are ranked by a committee of models and signals of single cells. To keep one detector, "
            "a PyOD object, this is the one elected:",
        )
        if found.by_chance
        else None,
        tag("p", chosen.model_id, class_="pick"),
        tag("p", wording.sentence(chosen.why), " ", f"The search stopped because {chosen.stopped_because}."),
        tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts], class_="facts"),
        _similar_tasks(chosen) if chosen.neighbors else None,
    )


def _similar_tasks(chosen: Selection) -> Html:
    shown = (chosen.pick, *chosen.runners_up[:2])
    heads = [Head("task"), Head("similarity", number=True), *(Head(c.model_id, number=True) for c in shown)]
    metric = METRIC_NAMES.get(chosen.metric, chosen.metric)
    body = [_task(place, near, shown) for place, near in enumerate(chosen.neighbors)]
    return details(
        "The similar tasks, and how the pick and the next models did there",
        table(f"How the models did on the similar tasks ({metric})", heads, body),
    )


def _task(place: int, near: Neighbor, shown: tuple[Candidate, ...]) -> Html:
    on = ((candidate.on_neighbors[place], candidate.model_id) for candidate in shown)
    return row(
        row_head(near.task),
        number(near.similarity, f"{near.similarity:.2f}", "similarity"),
        *(number(value, f"{value:.2f}", model_id) for value, model_id in on),
    )


def search(chosen: Selection) -> Html:
    if all(step.phase in ("prior", "pool") for step in chosen.steps):
        tried = wording.count(len(chosen.evaluated), "model")
        said = f"{tried} were scored, and the pick was made from all of their scores." if chosen.evaluated else None
        return section("search", "The search", tag("p", said or "No model had to be scored for this pick."))
    changes = changes_of_pick(chosen)
    heads = [
        Head("step", number=True),
        Head("phase"),
        Head("model tried"),
        Head("similarity", number=True),
        Head("expected improvement", number=True),
        Head("pick after it"),
    ]
    return section(
        "search",
        "The search",
        tag(
            "p",
            "At every step one model is tried, and the similar tasks are looked for again. "
            "The dots between the curves are the steps at which the pick changed.",
        ),
        charts.trace_chart(chosen.steps, changes),
        details(
            "Every step",
            table("The steps of the search", heads, [_step(step, step.index in changes) for step in chosen.steps]),
        ),
    )


def _step(step: SearchStep, is_new: bool) -> Html:
    similar, gain = step.mean_similarity, step.acquisition_value
    failed = tag("span", f" failed: {step.failure}", class_="hot") if step.failure else None
    return row(
        row_head(str(step.index), number=True),
        cell(step.phase, "phase"),
        tag("td", step.evaluated or "", failed),
        number(similar, "" if similar is None else f"{similar:.3f}", "similarity"),
        number(gain, "" if gain is None else wording.number(gain, 3), "expected improvement"),
        tag("td", tag("b", step.pick.model_id) if is_new else step.pick.model_id),
    )


def agreement(found: Agreement) -> Html:
    title = "Do the models agree?"
    if not found.models:
        return section("agreement", title, tag("p", "No other model was tried, so there is nothing to compare."))
    ordered = sorted(found.models, key=lambda model: -model.correlation)
    middle = ordered[len(ordered) // 2].correlation
    heads = [
        Head("model"),
        Head("rank correlation with the pick", number=True),
        Head(f"shared of the top {found.top}", number=True),
    ]
    return section(
        "agreement",
        title,
        tag(
            "p",
            f"Half of the {wording.count(len(ordered), 'model')} tried have a rank correlation with the pick of "
            f"{middle:.2f} or more. Where models disagree the choice matters more: look at the rows.",
        ),
        details("Every model tried", table("Agreement with the pick", heads, [_model(model) for model in ordered])),
    )


def _model(found: ModelAgreement) -> Html:
    return row(
        row_head(found.model_id),
        number(found.correlation, f"{found.correlation:.2f}", "correlation", charts.share_bar(found.correlation)),
        number(found.shared_top, wording.percent(found.shared_top), "shared top"),
    )


# The table


def columns(found: tuple[ColumnSummary, ...]) -> Html:
    heads = [Head("column"), Head("role"), Head("kind"), Head("missing", number=True), Head("what was done")]
    shown = found[:MOST_COLUMNS]
    hidden = len(found) - len(shown)
    return section(
        "columns",
        "What was done with each column",
        table("The columns of the table", heads, [_column(summary) for summary in shown], stack=True),
        tag("p", f"And {wording.count(hidden)} more, which elect detect --json lists.") if hidden else None,
    )


def _column(found: ColumnSummary) -> Html:
    return row(
        row_head(found.column),
        cell("id" if found.kind == "id" else found.role, "role"),
        cell(found.kind, "kind"),
        number(found.missing, wording.percent(found.missing) if found.missing else "", "missing"),
        tag("td", found.done, " ", tag("span", f"({found.why})", class_="dim"), class_="long"),
    )


def python(found: ReportSummary) -> Html:
    return section("python", "The same in Python", tag("pre", tag("code", found.python), tabindex="0"))
