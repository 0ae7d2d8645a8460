"""Parts of results for people."""

from typing import TYPE_CHECKING

from elect.cli import screen
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.core import Selection
    from elect.detect.detection import Evaluation, TopRow
    from elect.detect.opened import OpenedTable
    from elect.tables import ColumnTreatment, Reading

Lines = list[tuple[str, str]]
_SHOWN_TASKS = 5


def table(opened: "OpenedTable", treatment: "ColumnTreatment | None") -> Lines:
    """What was read, and how."""
    columns = opened.n_columns
    used = columns if treatment is None else len(treatment.sources)
    gone = [] if treatment is None else [s.column for s in treatment.summary() if s.role == "dropped"]
    left_out = f"; left out: {wording.listed(gone)}" if gone else ""
    rows, used_of = wording.count(opened.n_rows, "row"), f"{wording.count(used)} of {wording.count(columns, 'column')}"
    lines = [("table", f"{opened.source}, {rows}, {used_of} used{left_out}")]
    return [*lines, *reading(opened.sample.reading)]


def reading(found: "Reading | None") -> Lines:
    """How it was read: whether there was a header, and what else was found out."""
    return [] if found is None else [("read as", str(found))]


def pick(found: "Selection") -> Lines:
    """The pick and how it came about."""
    lines = [("pick", found.model_id), ("why", found.why)]
    if found.runners_up:
        lines.append(("next best", found.runners_up[0].model_id))
    if found.neighbors:
        similar = ", ".join(f"{n.task} ({n.similarity:.2f})" for n in found.neighbors[:_SHOWN_TASKS])
        lines.append(("similar tasks", similar))
    if found.expected_rank is not None:
        lines.append(("expected rank", str(found.expected_rank)))
    return [*lines, ("search", found.course)]


def above(outliers: int, n: int) -> str:
    """How many rows lie above a threshold."""
    rows = f"{wording.count(outliers)} of {wording.count(n, 'row')}"
    return f"{rows} above it ({wording.percent(outliers / n)})"


def evaluation(found: "Evaluation | None") -> Lines:
    return [] if found is None else [("labels", str(found))]


def top_rows(console: "Console", rows: "tuple[TopRow, ...]", id_name: str) -> None:
    """The most outlying rows, with their reasons."""
    agreeing = any(row.agreeing is not None for row in rows)
    heads = [(wording.clean(id_name), False), ("score", True), ("outlier", False)]
    heads += [("models agreeing", True)] if agreeing else []
    screen.grid(
        console,
        [*heads, ("reasons (share of the score a typical value would take away)", False)],
        [
            [
                row.id,
                wording.number(row.score),
                "yes" if row.is_outlier else "no",
                *([] if not agreeing else ["" if row.agreeing is None else wording.percent(row.agreeing)]),
                "; ".join(str(reason) for reason in row.reasons) or "no single column",
            ]
            for row in rows
        ],
    )


def notes(console: "Console", found: tuple[str, ...]) -> None:
    for note in found:
        console.print(f"note: {wording.clean(note)}")
