"""Why a model was elected, in words, in numbers and as a small page."""

from dataclasses import dataclass
from html import escape

from elect.core.selection import Candidate, Neighbor, RankInterval, Selection


@dataclass(frozen=True)
class Explanation:
    """What a selection rests on. ``str()`` gives it as text; a notebook shows it as a table."""

    model_id: str
    strategy: str
    metric: str
    neighbors: tuple[Neighbor, ...]
    pick: Candidate
    runners_up: tuple[Candidate, ...]
    evaluated: tuple[str, ...]
    failures: tuple[tuple[str, str], ...]
    stopped_because: str
    seconds: float
    notes: tuple[str, ...]
    expected_rank: RankInterval | None = None
    why: str = ""

    def __str__(self) -> str:
        lines = [f"{self.model_id}, elected by {self.strategy!r} after {len(self.evaluated)} evaluated models"]
        lines += [self.why, f"stopped because {self.stopped_because}, {self.seconds:.1f} s"]
        if self.expected_rank is not None:
            rank = self.expected_rank
            lines.append(
                f"expected rank among all models {rank.expected:.0f}, {rank.level:.0%} between "
                f"{rank.low:.0f} and {rank.high:.0f}"
            )
        if self.neighbors:
            lines += ["", f"similar tasks of the history, and how the models did there ({self.metric}):"]
            width = max(len(neighbor.task) for neighbor in self.neighbors)
            shown = (self.pick, *self.runners_up)
            lines.append(f"  {'':{width}} similarity  " + "  ".join(f"[{i}]".rjust(5) for i in range(len(shown))))
            for row, neighbor in enumerate(self.neighbors):
                values = "  ".join(f"{candidate.on_neighbors[row]:5.2f}" for candidate in shown)
                lines.append(f"  {neighbor.task:{width}} {neighbor.similarity:10.2f}  {values}")
            lines.append(f"  {'mean':{width}} {'':10}  " + "  ".join(f"{candidate.mean:5.2f}" for candidate in shown))
            lines += [f"  [{i}] {c.model_id}" for i, c in enumerate(shown)]
        else:
            lines.append("no similar task was looked for")
        lines += [f"left out: {model_id}: {why}" for model_id, why in self.failures]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        shown = (self.pick, *self.runners_up)
        head = "".join(f"<th scope='col'>{escape(candidate.model_id)}</th>" for candidate in shown)
        rows = "".join(
            f"<tr><th scope='row'>{escape(neighbor.task)}</th><td>{neighbor.similarity:.2f}</td>"
            + "".join(f"<td>{candidate.on_neighbors[row]:.2f}</td>" for candidate in shown)
            + "</tr>"
            for row, neighbor in enumerate(self.neighbors)
        )
        mean = "".join(f"<td>{candidate.mean:.2f}</td>" for candidate in shown)
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        notes += "".join(f"<li>left out: {escape(m)}: {escape(why)}</li>" for m, why in self.failures)
        return (
            f"<div><p><b>{escape(self.model_id)}</b>, elected by {escape(self.strategy)} after "
            f"{len(self.evaluated)} evaluated models; stopped because {escape(self.stopped_because)} "
            f"({self.seconds:.1f} s).</p><p>{escape(self.why)}</p>"
            f"<table><caption>Similar tasks of the history and {escape(self.metric)} there</caption>"
            f"<thead><tr><th scope='col'>task</th><th scope='col'>similarity</th>{head}</tr></thead>"
            f"<tbody>{rows}<tr><th scope='row'>mean</th><td></td>{mean}</tr></tbody></table>"
            + (f"<ul>{notes}</ul>" if notes else "")
            + "</div>"
        )


def explain(selection: Selection) -> Explanation:
    """What a selection rests on."""
    return Explanation(
        model_id=selection.model_id,
        strategy=selection.strategy,
        metric=selection.metric,
        neighbors=selection.neighbors,
        pick=selection.pick,
        runners_up=selection.runners_up,
        evaluated=selection.evaluated,
        failures=selection.failures,
        stopped_because=selection.stopped_because,
        seconds=selection.seconds,
        notes=selection.notes,
        expected_rank=selection.expected_rank,
        why=selection.why,
    )
