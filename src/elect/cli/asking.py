"""``elect detect --ask``: questions on the terminal, and answers in a file that a later run goes on from."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from elect.support import wording

if TYPE_CHECKING:
    from elect.answers import Feedback
    from elect.cli.question import Question
    from elect.core import Selection
    from elect.detect.asked import Others
    from elect.detect.election import Election

SAID: dict[str, bool | None] = {"y": True, "n": False, "?": None}
_KEYS = "an outlier?  y yes   n no   ? don't know   u undo   q enough: "


def ask(
    election: "Election",
    selection: "Selection",
    count: int,
    path: Path,
    aim: Literal["learn", "find"] = "learn",
    *,
    quiet: bool = False,
) -> "tuple[Feedback, Others | None]":
    """Ask about up to ``count`` rows in all, those answered in ``path`` included; the session with the answers, and the
    rows that it is about beyond those that the models are scored on."""
    from elect.answers import Answer
    from elect.answers.kept import KeptAnswers, answered_positions
    from elect.cli.question import Question
    from elect.cli.searching import metered
    from elect.detect.asked import likely_others

    with metered(election, quiet=quiet):
        others = likely_others(election, answered_positions(path))
    feedback = election.feedback(selection, aim, others)
    question = Question(election, others)
    kept = KeptAnswers(path, question.names, question.positions, question.cells)
    place = {int(position): row for row, position in enumerate(question.positions)}
    earlier = kept.read()
    feedback.resume(Answer(place[position], said) for position, said in earlier)
    if earlier:
        _say(f"elect: {wording.count(len(earlier), 'answer')} read from {path}")
    if kept.left_out:
        _say(f"elect: {wording.count(kept.left_out, 'more answer')} there left out: their rows are not as they were")
    try:
        with _every_key():
            for _ in _dialogue(feedback, question, count):
                kept.write([(int(question.positions[answer.row]), answer.is_outlier) for answer in feedback.answers])
    except KeyboardInterrupt:
        _say("\nelect: stopped; going on with the answers so far")
    if feedback.answers:
        kept_in = f"elect: {wording.count(len(feedback.answers), 'answer')} kept in {path}"
        _say("; ".join([kept_in, *_left(feedback, question)]))
    return feedback, others


def _dialogue(feedback: "Feedback", question: "Question", count: int) -> Iterator[None]:
    """Ask until there are so many answers, or enough; yields after every change of the answers."""
    while len(feedback.answers) < min(count, feedback.n_rows):
        row = feedback.ask()
        title = f"question {len(feedback.answers) + 1} of {count}"
        if row == feedback.doubted:
            title = "once more, since all else speaks for it"
        _say(question.text(row, title, feedback.chance))
        while True:
            key = _key()
            if key == "q":
                return
            if key == "u" and not feedback.answers:
                _say("There is no answer to take back.")
            elif key == "u":
                _say(f"The answer about row {question.name(feedback.undo())} is taken back.")
                break
            elif key in SAID:
                note = feedback.tell(row, SAID[key])
                now = ", ".join([*_left(feedback, question), f"the pick is {feedback.selection.model_id}"])
                _say(f"{note} {now}".strip())
                break
        yield


def _left(feedback: "Feedback", question: "Question") -> tuple[str, ...]:
    """How many outliers are left, where the session is about all rows of the table."""
    return (str(feedback.left),) if question.of_all else ()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _key() -> str:
    """One key of a terminal, or the first letter of a line; the end of the input is enough."""
    while True:
        print(_KEYS, end="", file=sys.stderr, flush=True)
        if sys.stdin.isatty():
            key = sys.stdin.read(1)
            _say(key if key.isprintable() else "")
        else:
            line = sys.stdin.readline()
            key = line.strip()[:1] or ("\n" if line else "")
        if key in ("", "\x04"):
            return "q"
        if key.lower() in (*SAID, "u", "q"):
            return key.lower()


@contextmanager
def _every_key() -> Iterator[None]:
    """A terminal gives every key at once; Ctrl-C stays what it is. Where that cannot be, Enter ends an answer."""
    try:
        import termios
        import tty
    except ImportError:  # not a POSIX system
        yield
        return
    if not sys.stdin.isatty():
        yield
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
