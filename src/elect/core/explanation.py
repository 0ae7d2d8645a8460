"""Why a model was elected, in words."""

from typing import TYPE_CHECKING

from elect.support import wording

if TYPE_CHECKING:
    from elect.core.selection import Selection

METRIC_NAMES = {"ap": "average precision", "roc": "ROC AUC", "prn": "precision@n"}


def why(selection: "Selection") -> str:
    """Why this model: one sentence, without its capital and its full stop."""
    if selection.reason is not None:
        return selection.reason
    metric = METRIC_NAMES.get(selection.metric, selection.metric)
    at = f"(mean {metric} {selection.pick.mean:.2f})"
    if not selection.neighbors:
        return f"it did best on the whole history {at}; similar tasks were not looked for"
    return f"it did best on the {wording.count(len(selection.neighbors), 'most similar task')} of the history {at}"


def course(selection: "Selection") -> str:
    """How the search went: one sentence, without its capital and its full stop."""
    tried = wording.count(len(selection.evaluated), "model")
    return f"{tried} tried in {wording.duration(selection.seconds)}; it stopped because {selection.stopped_because}"


def explain(selection: "Selection") -> str:
    """What a selection rests on: the pick and why, the search, the similar tasks, what failed, what to know."""
    lines = [
        f"{selection.model_id}, picked by the strategy {selection.strategy!r}",
        f"why: {why(selection)}",
        f"search: {course(selection)}",
    ]
    if selection.expected_rank is not None:
        lines.append(f"expected rank: {selection.expected_rank}")
    if selection.neighbors:
        lines += ["", *_similar_tasks(selection)]
    lines += [f"left out: {model_id}: {failure}" for model_id, failure in selection.failures]
    lines += [f"note: {note}" for note in selection.notes]
    return "\n".join(wording.clean(line) for line in lines)


def _similar_tasks(selection: "Selection") -> list[str]:
    metric = METRIC_NAMES.get(selection.metric, selection.metric)
    shown = (selection.pick, *selection.runners_up)
    width = max(len(neighbor.task) for neighbor in selection.neighbors)
    lines = [
        f"similar tasks of the history, and how the models did there ({metric}):",
        f"  {'':{width}} similarity  " + "  ".join(f"[{i}]".rjust(5) for i in range(len(shown))),
    ]
    for row, neighbor in enumerate(selection.neighbors):
        values = "  ".join(f"{candidate.on_neighbors[row]:5.2f}" for candidate in shown)
        lines.append(f"  {neighbor.task:{width}} {neighbor.similarity:10.2f}  {values}")
    lines.append(f"  {'mean':{width}} {'':10}  " + "  ".join(f"{candidate.mean:5.2f}" for candidate in shown))
    return lines + [f"  [{i}] {candidate.model_id}" for i, candidate in enumerate(shown)]
