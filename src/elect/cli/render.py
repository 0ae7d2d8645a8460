"""Parts of results for people."""

from typing import TYPE_CHECKING

from elect.cli import screen
from elect.support import wording

if TYPE_CHECKING:
    from rich.console import Console

    from elect.core import Selection
    from elect.detect.detection import Evaluation, TopRow
    from elect.detect.drift import Drift
    from elect.detect.opened import OpenedTable
    from elect.tables import ColumnTreatment, Reading

Lines = list[tuple[str, str]]
_SHOWN_TASKS = 5
_SHOWN_MOVED = 5


def table(opened: "OpenedTable", treatment: "ColumnTreatment | None") -> Lines:
    """What was read, and how."""
    columns = opened.n_columns
    used = columns if treatment is None else len(treatment.sources)
    gone = [] if treatment is None else [s.column for s in treatment.summary() if s.role == "dropped"]
    name = None if treatment is None else treatment.named_by
    named = "" if name is None else f"; rows named by {wording.clean(name)}"
    gone = [column for column in gone if column != name]
    left_out = f"; left out: {wording.listed(gone)}" if gone else ""
    rows, used_of = wording.count(opened.n_rows, "row"), f"{wording.count(used)} of {wording.count(columns, 'column')}"
    lines = [("table", f"{opened.source}, {rows}, {used_of} used{named}{left_out}")]
    return [*lines, *reading(opened.sample.reading)]


def reading(found: "Reading | None") -> Lines:
    """How it was read: whether there was a header, and what else was found out."""
    return [] if found is None else [("read as", str(found))]


def pick(found: "Selection", *, brief: bool = False) -> Lines:
    """The pick and how it came about; ``brief`` where it is a detector to keep and does not rank the rows."""
    if brief:
        return [("pick", f"{found.model_id}, the single detector to keep"), ("why", found.why)]
    lines = [("pick", found.model_id), ("why", found.why)]
    if found.runners_up:
        lines.append(("next best", found.runners_up[0].model_id))
    if found.neighbors:
        similar = ", ".join(f"{n.task} ({n.similarity:.2f})" for n in found.neighbors[:_SHOWN_TASKS])
        lines.append(("similar tasks", similar))
    if found.expected_rank is not None:
        lines.append(("expected rank", str(found.expected_rank)))
    return [*lines, ("search", found.course)]


def flagged(found: int, n: int, false_alarms: float | None, rule: str) -> tuple[str, str]:
    """How many rows are flagged by which rule, and how many of them for nothing.

    >>> flagged(2, 4, 0.3, "a chance above 50%")
    ('flagged', '2 of 4 rows (50%), about a third of them false alarms; the rule: a chance above 50%')
    """
    said = f"{wording.count(found)} of {wording.count(n, 'row')} ({wording.percent(found / n)})"
    if false_alarms is not None and found == 1:
        said += f", a false alarm with a chance of {wording.percent(false_alarms)}"
    elif false_alarms is not None:
        said += f", {wording.roughly(false_alarms)} of them false alarms"
    return "flagged", f"{said}; the rule: {rule}"


def drift(found: "Drift | None") -> Lines:
    """What changed since the detector was made, and what to do about it."""
    if found is None:
        return []
    moved = found.columns or ()
    more = [f"and {wording.count(len(moved) - _SHOWN_MOVED)} more"] if len(moved) > _SHOWN_MOVED else []
    lines = [str(found), *map(str, moved[:_SHOWN_MOVED]), *more, *map(wording.sentence, found.advice)]
    return [("drift" if place == 0 else "", line) for place, line in enumerate(lines)]


def evaluation(found: "Evaluation | None") -> Lines:
    return [] if found is None else [("labels", str(found))]


def top_rows(console: "Console", rows: "tuple[TopRow, ...]", id_name: str) -> None:
    """The most outlying rows: their chance and kind where a committee speaks, else their score, and their reasons."""
    by_chance = all(row.chance is not None for row in rows)
    heads = [(wording.clean(id_name), False), *([("chance", True)] if by_chance else [("score", True)])]
    heads += [("flagged", False), *([("kind", False)] if by_chance else []), ("reasons", False)]
    screen.grid(
        console,
        heads,
        [
            [
                row.id,
                wording.number(row.score) if row.chance is None else wording.chance(row.chance),
                "yes" if row.is_outlier else "no",
                *([row.kind or ""] if by_chance else []),
                row.why or "no single column",
            ]
            for row in rows
        ],
    )


def notes(console: "Console", found: tuple[str, ...]) -> None:
    for note in found:
        console.print(f"note: {wording.clean(note)}")
