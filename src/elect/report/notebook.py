"""A selection, a detector or a session of questions as a notebook shows it: what its text says, as a small table."""

from collections.abc import Sequence

import numpy as np

from elect.answers import Feedback
from elect.core import Selection
from elect.core.explanation import METRIC_NAMES
from elect.detect.detection import TopRow
from elect.report.markup import tag
from elect.support import wording

_SAID = {True: "yes", False: "no", None: "don't know"}


def selection_html(found: Selection) -> str:
    """The pick and why, the search, the similar tasks, what failed, what to know."""
    notes = [f"left out: {model_id}: {failure}" for model_id, failure in found.failures] + list(found.notes)
    if found.expected_rank is not None:
        notes.insert(0, f"expected rank: {found.expected_rank}")
    return tag(
        "div",
        tag("p", tag("b", found.model_id), f", picked by the strategy {found.strategy!r}"),
        tag("p", wording.sentence(found.why)),
        tag("p", wording.sentence(found.course)),
        _similar(found) if found.neighbors else None,
        tag("ul", [tag("li", note) for note in notes]) if notes else None,
    )


def detector_html(
    n_rows: int,
    n_outliers: int,
    false_alarms: float | None,
    top: Sequence[TopRow],
    found: Selection,
    id_name: str,
) -> str:
    """How many rows are flagged, the most outlying ones with their reasons, and the pick."""
    said = f"{wording.count(n_outliers)} of {wording.count(n_rows, 'row')} flagged"
    alarms = "" if false_alarms is None else f", {wording.roughly(false_alarms)} of them false alarms"
    heads = (id_name, "score" if false_alarms is None else "chance", "flagged", "kind", "reasons")
    body = [
        _row(
            row.id,
            wording.number(row.score) if row.chance is None else wording.chance(row.chance),
            "yes" if row.is_outlier else "no",
            row.kind or "",
            row.why or "no single column",
        )
        for row in top
    ]
    return tag(
        "div",
        tag("p", tag("b", said), alarms),
        tag(
            "table",
            tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
            tag("tbody", body),
        )
        if top
        else None,
        tag("p", f"The single detector to keep: {found.model_id}. ", wording.sentence(found.why)),
    )


def feedback_html(session: Feedback, top: int = 10) -> str:
    """What was answered, how much may be left, and the rows most likely to be outliers."""
    said = {answer.row: _SAID[answer.is_outlier] for answer in session.answers}
    chance, flagged = session.chance, session.flagged
    first = np.argsort(-chance, kind="stable")[:top].tolist()
    counts = ", ".join(f"{list(said.values()).count(word)} {word}" for word in _SAID.values())
    told = f"{wording.count(len(said), 'answer')} ({counts})" if said else "No answers yet"
    heads = ("row", "chance", "flagged", "answer")
    return tag(
        "div",
        tag("p", tag("b", told), f"; outliers left among the other rows: {session.left}"),
        tag(
            "table",
            tag(
                "caption", f"Of {wording.count(session.n_rows, 'row')}, {int(flagged.sum()):,} flagged; the likeliest:"
            ),
            tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
            tag(
                "tbody",
                [
                    _row(str(row), wording.chance(chance[row]), "yes" if flagged[row] else "no", said.get(row, ""))
                    for row in first
                ],
            ),
        ),
    )


def _similar(found: Selection) -> str:
    shown = (found.pick, *found.runners_up)
    heads = ("task", "similarity", *(candidate.model_id for candidate in shown))
    metric = METRIC_NAMES.get(found.metric, found.metric)
    return tag(
        "table",
        tag("caption", f"Similar tasks of the history, and {metric} there"),
        tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
        tag(
            "tbody",
            [
                _row(near.task, f"{near.similarity:.2f}", *(f"{candidate.on_neighbors[i]:.2f}" for candidate in shown))
                for i, near in enumerate(found.neighbors)
            ],
            _row("mean", "", *(f"{candidate.mean:.2f}" for candidate in shown)),
        ),
    )


def _row(name: str, *cells: str) -> str:
    return tag("tr", tag("th", name, scope="row"), [tag("td", cell) for cell in cells])
