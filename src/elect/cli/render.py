"""Results for people."""

from typing import TYPE_CHECKING

from elect.cli import screen
from elect.support import wording

if TYPE_CHECKING:
    from elect.core import Selection
    from elect.detect.detection import Detection, Evaluation, TopRow
    from elect.detect.findings import Findings
    from elect.detect.opened import OpenedTable
    from elect.tables import ColumnTreatment

_SHOWN_TASKS = 5


def selection(
    opened: "OpenedTable", treatment: "ColumnTreatment | None", found: "Selection", evaluation: "Evaluation | None"
) -> None:
    console = screen.stdout()
    screen.pairs(console, [_table(opened, treatment), *_pick(found), *evaluation_lines(evaluation)])
    notes(found.notes)


def detection(found: "Detection", findings: "Findings", top: int, written: dict[str, str | None]) -> None:
    from elect.detect.threshold import CUTOFF

    console = screen.stdout()
    outliers, n = int(found.labels.sum()), len(found.scores)
    share = found.options.contamination
    how = (
        f"{CUTOFF} robust deviations above the median" if share == "auto" else f"contamination {wording.percent(share)}"
    )
    threshold = f"{wording.number(found.threshold)} ({how}); {above(outliers, n)}"
    screen.pairs(
        console,
        [
            _table(found.opened, found.treatment),
            *_pick(found.selection),
            ("threshold", threshold),
            *evaluation_lines(found.evaluation),
        ],
    )
    console.print()
    top_rows(findings.top[:top], found.row_ids.name)
    if any(path is not None for path in written.values()):
        console.print()
        screen.pairs(console, [(name, path) for name, path in written.items() if path is not None])
    notes((*found.selection.notes, *found.notes))


def above(outliers: int, n: int) -> str:
    """How many rows lie above a threshold."""
    rows = f"{wording.count(outliers)} of {wording.count(n, 'row')}"
    return f"{rows} above it ({wording.percent(outliers / n)})"


def top_rows(rows: "tuple[TopRow, ...]", id_name: str) -> None:
    """The most outlying rows, with their reasons."""
    agreeing = any(row.agreeing is not None for row in rows)
    heads = [(wording.clean(id_name), False), ("score", True), ("outlier", False)]
    heads += [("models agreeing", True)] if agreeing else []
    screen.grid(
        screen.stdout(),
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


def _table(opened: "OpenedTable", treatment: "ColumnTreatment | None") -> tuple[str, str]:
    assert treatment is not None  # a file is a table
    used, columns = len(treatment.sources), opened.n_columns
    gone = [s.column for s in treatment.summary() if s.role == "dropped"]
    left_out = f"; left out: {wording.listed(gone)}" if gone else ""
    rows, used_of = wording.count(opened.n_rows, "row"), f"{wording.count(used)} of {wording.count(columns, 'column')}"
    return "table", f"{opened.source}, {rows}, {used_of} used{left_out}"


def _pick(found: "Selection") -> list[tuple[str, str]]:
    lines = [("pick", found.model_id), ("why", found.why)]
    if found.runners_up:
        lines.append(("next best", found.runners_up[0].model_id))
    if found.neighbors:
        similar = ", ".join(f"{n.task} ({n.similarity:.2f})" for n in found.neighbors[:_SHOWN_TASKS])
        lines.append(("similar tasks", similar))
    if found.expected_rank is not None:
        lines.append(("expected rank", str(found.expected_rank)))
    return [*lines, ("search", found.course)]


def evaluation_lines(found: "Evaluation | None") -> list[tuple[str, str]]:
    return [] if found is None else [("labels", str(found))]


def notes(found: tuple[str, ...]) -> None:
    console = screen.stdout()
    for note in found:
        console.print(f"note: {wording.clean(note)}")
