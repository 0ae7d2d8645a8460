"""A search on the screen: what was tried, the pick so far, the similar tasks; and Ctrl-C as its stop button."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from elect.cli.screen import stderr, tell
from elect.detect.threshold import threshold_of
from elect.support import wording

if TYPE_CHECKING:
    from elect.core import SearchStep
    from elect.detect.election import Election

INTERRUPTED = "it was interrupted (Ctrl-C)"


class Interrupt:
    """Whether the user pressed Ctrl-C. The second time it interrupts as usual."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def catching_interrupts() -> Iterator[Interrupt]:
    """Ctrl-C is noted instead of raised, so that a search can end with what it has."""
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt  # signals cannot be handled elsewhere
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


def run(election: "Election", *, quiet: bool, rows: bool = False) -> str | None:
    """Run a search to its end, or until Ctrl-C. Returns why it was stopped, if it was. With ``rows`` the most outlying
    rows are said as soon as they are known: that is before the search, and on a first call while kernels compile."""
    with catching_interrupts() as interrupt, _display(election, quiet) as show:
        for step in election.steps():
            show(step)
            if rows and step.index == 0 and not quiet and (said := first_rows(election)):
                tell(said)
            if interrupt.asked and step.stopped_because is None:
                return INTERRUPTED
    return None


@contextmanager
def _display(election: "Election", quiet: bool) -> Iterator[Any]:
    if quiet:
        yield lambda step: None
    elif sys.stderr.isatty():
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        spinner = Spinner("dots", Text("starting the search"))
        say = _Account(election.most_models)
        with Live(spinner, console=stderr(), transient=True, refresh_per_second=8):
            yield lambda step: spinner.update(text=Text(say(step)))
    else:
        yield _Lines(_Account(election.most_models))


def first_rows(election: "Election") -> str | None:
    """What the committee says at first look of the rows that are learned from; None where no committee is asked."""
    said = election.first_look
    if said is None:
        return None
    sample, treatment = election.opened.sample, election.treatment
    names = (sample.row_ids if treatment is None else treatment.row_ids(sample))[election.drawn]
    odd = int((said.scores > threshold_of(said.scores, "auto", "committee")).sum())
    first = said.scores.argsort()[::-1][: min(max(odd, 1), 3)]
    rows = ", ".join(wording.short(str(names[int(at)]), 30) for at in first)
    return f"at first look {wording.count(odd)} of {wording.count(len(names), 'row')} odd, most of all {rows}"


class _Account:
    """Where a search stands, in a sentence."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._tried: set[str] = set()

    def __call__(self, step: "SearchStep") -> str:
        if step.evaluated is not None:
            self._tried.add(step.evaluated)
        return sentence(step, len(self._tried), self._most)


class _Lines:
    """For a log: a line at the start and at the end, and between them, once a second at most, when the pick changed."""

    def __init__(self, say: _Account) -> None:
        self._say = say
        self._pick: str | None = None
        self._next = 0.0

    def __call__(self, step: "SearchStep") -> None:
        line = self._say(step)
        changed = step.pick.model_id != self._pick and step.seconds >= self._next
        if changed or step.stopped_because is not None:
            tell(line)
            self._pick, self._next = step.pick.model_id, step.seconds + 1.0


def sentence(step: "SearchStep", tried: int, most: int | None) -> str:
    """Where a search stands after so many models."""
    of = "" if most is None else f" of at most {most}"
    similar = ", ".join(neighbor.task for neighbor in step.neighbors[:3])
    done = f"{wording.count(tried, 'model')}{of} tried in {wording.duration(step.seconds)}"
    return f"{done}; pick {step.pick.model_id}" + (f"; similar to {similar}" if similar else "")
