"""``elect detect --ask``: questions on the terminal, and answers in a file that a later run goes on from."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from elect.support import wording

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from elect.answers import Feedback
    from elect.core import Selection
    from elect.detect.election import Election
    from elect.support.arrays import FloatArray
    from elect.tables.features import ColumnStep

SAID: dict[str, bool | None] = {"y": True, "n": False, "?": None}
_KEYS = "an outlier?  y yes   n no   ? don't know   u undo   q enough: "
MOST_COLUMNS = 60
"""Of a wider table the columns in which the row stands out most are shown."""


def ask(
    election: "Election", selection: "Selection", count: int, path: Path, aim: Literal["learn", "find"] = "learn"
) -> "Feedback":
    """Ask about up to ``count`` rows in all, those answered in ``path`` included; the session with the answers."""
    from elect.answers import Answer
    from elect.answers.kept import KeptAnswers

    treatment = election.treatment
    assert treatment is not None  # a file is a table
    names = treatment.row_ids(election.opened.sample)[election.drawn]
    kept = KeptAnswers(path, names, election.positions, election.cells)
    place = {int(position): row for row, position in enumerate(election.positions)}
    earlier = kept.read()
    feedback = election.feedback(selection, aim)
    feedback.resume(Answer(place[position], said) for position, said in earlier)
    if earlier:
        _say(f"elect: {wording.count(len(earlier), 'answer')} read from {path}")
    if kept.left_out:
        _say(f"elect: {wording.count(kept.left_out, 'more answer')} there left out: their rows are not as they were")
    question = Question(election, names)
    try:
        with _every_key():
            for _ in _dialogue(feedback, question, count):
                kept.write([(int(election.positions[answer.row]), answer.is_outlier) for answer in feedback.answers])
    except KeyboardInterrupt:
        _say("\nelect: stopped; going on with the answers so far")
    if feedback.answers:
        _say(f"elect: {wording.count(len(feedback.answers), 'answer')} kept in {path}; {feedback.left}")
    return feedback


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
                _say(f"{note} {feedback.left}, the pick is {feedback.selection.model_id}".strip())
                break
        yield


class Question:
    """A row as it is shown: every value, where it stands in its column, and what is usual there."""

    def __init__(self, election: "Election", names: "pl.Series") -> None:
        assert election.treatment is not None
        self._frame, self._names, self._Z = election.cells, names, election.scorer.work.Z
        self._steps: dict[str, ColumnStep] = {step.column: step for step in election.treatment.steps}
        self._read: dict[str, FloatArray | None] = {}
        self._frequent: dict[str, str] = {}
        self._middles: dict[str, str] = {}
        self._sources = [feature.source for feature in election.treatment.features]

    def name(self, row: int) -> str:
        return wording.cell(self._names[row], longest=40)

    def text(self, row: int, title: str, chance: Any) -> str:
        from elect.detect.explaining import describe

        lines = [f"\n{title}: row {self.name(row)}, chance {wording.percent(float(chance[row]))}"]
        shown = self._by_unusual(row)
        width = min(max(len(wording.clean(column)) for column in shown), 30)
        for column in shown[:MOST_COLUMNS]:
            value, usual, numbers = wording.cell(self._frame[column][row], longest=40), "", None
            if column in self._steps:
                value, usual = describe(self._steps[column], self._frame, row)
                value, numbers = wording.short(value, 40), self._numbers(column)
                if numbers is not None and self._steps[column].encoder.kind == "number":
                    usual = ", ".join(filter(None, (usual, self._middle(column, numbers))))
            if numbers is None and not self._is_text(column):
                usual = self._most_frequent(column)
            facts = ", ".join(fact for fact in (standing(self._frame[column], row, numbers), usual) if fact)
            lines.append(f"  {wording.short(column, 30):{width}}  {value:<20}  {facts}".rstrip())
        if len(shown) > MOST_COLUMNS:
            lines.append(f"  and {wording.count(len(shown) - MOST_COLUMNS, 'column')} that stand out less")
        return "\n".join(lines)

    def _numbers(self, column: str) -> "FloatArray | None":
        """The values of a column of numbers or times, read once."""
        if column not in self._read:
            encoder = self._steps[column].encoder
            ordered = encoder.kind in ("number", "time")
            self._read[column] = encoder.encode(self._frame[column])[:, 0] if ordered else None
        return self._read[column]

    def _middle(self, column: str, numbers: "FloatArray") -> str:
        """Between what most values of a column lie, read once."""
        if column not in self._middles:
            self._middles[column] = middle(numbers[~self._frame[column].is_null().to_numpy()])
        return self._middles[column]

    def _is_text(self, column: str) -> bool:
        return column in self._steps and self._steps[column].encoder.kind == "text"

    def _most_frequent(self, column: str) -> str:
        """What is usual in a column of words, read once."""
        if column not in self._frequent:
            self._frequent[column] = most_frequent(self._frame[column])
        return self._frequent[column]

    def _by_unusual(self, row: int) -> list[str]:
        """All columns, those in which the row is farthest from the middle first, those without a part last."""
        far = np.abs(self._Z[row] - np.median(self._Z, axis=0))
        used = [self._sources[i] for i in np.argsort(-far, kind="stable")]
        return list(dict.fromkeys([*used, *self._frame.columns]))


def standing(column: "pl.Series", row: int, numbers: "FloatArray | None" = None) -> str:
    """Where a value stands in its column; ``numbers`` are its values where it holds numbers or times.

    >>> import polars as pl
    >>> column = pl.Series(["1", "2", "3", "90", None])
    >>> numbers = np.array([1.0, 2.0, 3.0, 90.0, 2.5])
    >>> [standing(column, row, numbers) for row in (0, 2, 3, 4)]
    ['the lowest', 'higher than 50% of rows', 'the highest', 'as in no other row']
    >>> standing(pl.Series(["0", "0", "5"]), 0, np.array([0.0, 0.0, 5.0]))
    'the lowest, as in 67% of rows'
    >>> standing(pl.Series(["a", "b", "b"]), 1)
    'as in 67% of rows'
    """
    missing = column.is_null().to_numpy()
    if numbers is None or missing[row]:
        return _alike(missing if missing[row] else (column == column[row]).fill_null(False).to_numpy())
    known, value = numbers[~missing], numbers[row]
    below, above = float((known < value).mean()), float((known > value).mean())
    if not below and not above:
        return "as in all rows"
    if not above or not below:
        end = "the highest" if not above else "the lowest"
        same = ~missing & (numbers == value)
        return f"{end}, {_alike(same)}" if same.sum() > 1 else end
    word, share = ("higher", below) if below >= above else ("lower", above)
    return f"{word} than {wording.percent(share)} of rows"


def _alike(same: "NDArray[np.bool_]") -> str:
    """How many rows hold the same value, the row itself among them."""
    return f"as in {wording.percent(float(same.mean()))} of rows" if same.sum() > 1 else "as in no other row"


def middle(known: "FloatArray") -> str:
    """Between which of its values nine in ten rows of a column lie.

    >>> middle(np.arange(101.0)), middle(np.array([7.0, 7.0]))
    ('mostly 5 to 95', 'mostly 7')
    """
    if not len(known):
        return ""
    low, high = (wording.number(value) for value in np.quantile(known, (0.05, 0.95), method="nearest"))
    return f"mostly {low} to {high}" if low != high else f"mostly {low}"


def most_frequent(column: "pl.Series") -> str:
    """The value that most rows of a column hold, the first of equals; nothing where no value stands twice.

    >>> import polars as pl
    >>> [most_frequent(pl.Series(values)) for values in (["a", "b", "b"], ["b", "a", "a", "b", "c"], ["a", None, None])]
    ['mostly b', 'most often a, 40%', '']
    """
    known = column.drop_nulls()
    if known.n_unique() == len(known):
        return ""
    value = known.mode().sort()[0]
    share = float((known == value).sum()) / len(column)
    shown = wording.cell(value, longest=40)
    return f"mostly {shown}" if share > 0.5 else f"most often {shown}, {wording.percent(share)}"


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
