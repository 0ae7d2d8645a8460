"""Tables of the report: headed, captioned, reachable by keyboard, sortable where a browser runs the script."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elect.report.markup import Html, join, tag
from elect.support import wording


@dataclass(frozen=True)
class Head:
    """The name of a column, whether it holds numbers, and whether the rows come sorted by it, largest first."""

    name: str
    number: bool = False
    descending: bool = False


def table(
    caption: str,
    heads: Sequence[Head],
    rows: Sequence[Html],
    *,
    stack: bool = False,
    tools: str | None = None,
) -> Html:
    """A table in a box that scrolls. With ``stack`` its rows become cards on a phone; ``tools`` is the id of its
    controls, which ``controls`` makes."""
    head = tag("tr", [_head(h) for h in heads])
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", head),
            tag("tbody", list(rows)),
            class_="stack" if stack else None,
            data_sort=tools or "",
        ),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=caption,
    )


def controls(name: str, n_rows: int, first: int, *, outliers: bool = False, kinds: Sequence[str] = ()) -> Html:
    """A search field, a choice of kinds, a choice of order for narrow screens, and how many rows fit. The script
    uncovers them, and then shows the ``first`` rows until more are asked for."""
    all_rows = wording.count(n_rows, "row")
    only = tag("label", tag("input", type="checkbox"), "outliers only") if outliers else None
    return tag(
        "div",
        tag("label", "Find", tag("input", type="search", placeholder="an id, a column, a value"), class_="wide"),
        only,
        _kinds(kinds) if len(kinds) > 1 else None,
        tag("label", "Sort by", tag("select", name_="order"), class_="narrow"),
        tag("output", all_rows, class_="dim", role="status", data_all=all_rows),
        id=name,
        class_="tools",
        role="search",
        aria_label="Find rows",
        data_first=first,
        hidden=True,
    )


def _kinds(kinds: Sequence[str]) -> Html:
    options = [tag("option", "any", value=""), *(tag("option", kind, value=kind) for kind in kinds)]
    return tag("label", "Kind", tag("select", options, name_="kind"))


def _head(head: Head) -> Html:
    sort = "descending" if head.descending else None
    return tag("th", head.name, scope="col", class_="num" if head.number else None, aria_sort=sort)


def row(*cells: Html, **attributes: Any) -> Html:
    return tag("tr", join(*cells), **attributes)


def row_head(text: str, *, number: bool = False) -> Html:
    return tag("th", text, scope="row", class_="num" if number else None)


def cell(text: str, name: str) -> Html:
    """A text; on a phone its column's ``name`` stands before it."""
    return tag("td", text, data_name=name)


def number(value: float | None, text: str, name: str, *before: Html) -> Html:
    """A number as people write it, with the value it is sorted by."""
    return tag(
        "td",
        *before,
        "" if value is None else text,
        class_="num",
        data_name=name,
        data_value="" if value is None else repr(float(value)),
    )
