"""``elect detect --ask``: questions on the terminal, and answers in a file that a later run goes on from."""

import csv
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.errors import InvalidInput
from elect.support import wording
from elect.support.atomic import write_atomically

if TYPE_CHECKING:
    from elect.answers import Feedback
    from elect.core import Selection
    from elect.detect.election import Election

WORDS: dict[str, bool | None] = {"yes": True, "y": True, "no": False, "n": False, "unknown": None, "d": None}
_SHOWN_COLUMNS = 4


def ask(election: "Election", selection: "Selection", count: int, path: Path | None) -> "Selection":
    """Ask about up to ``count`` rows in all, those answered in ``path`` included; the pick after the answers."""
    from elect.answers import Feedback, open_scores

    scorer = election.scorer
    feedback = Feedback.of(*open_scores(election.database, scorer, np.asarray(scorer.work.Z), selection))
    given = _read(path, election, feedback)
    if given:
        print(f"elect: {wording.count(given, 'answer')} read from {path}", file=sys.stderr)
    while len(feedback.answers) < min(count, feedback.n_rows):
        row = feedback.ask()
        print(_question(election, feedback, row, count), file=sys.stderr, flush=True)
        said = _prompt()
        if said == "q":
            break
        feedback.tell(row, WORDS[said])
        if path is not None:
            write_atomically(path, _file(election, feedback))
        print(f"elect: the pick is now {feedback.selection.model_id}", file=sys.stderr)
    return feedback.selection


def _prompt() -> str:
    """One answer; the end of standard input ends the questions."""
    while True:
        print("an outlier? [y]es, [n]o, [d]on't know, [q]uit: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            print(file=sys.stderr)
            return "q"
        said = line.strip().lower()
        if said in WORDS or said in ("q", "quit"):
            return "q" if said.startswith("q") else said


def _question(election: "Election", feedback: "Feedback", row: int, count: int) -> str:
    """The row with its most unusual columns, and two typical rows to compare with."""
    frame = election.cells
    names = _names(election)
    columns = _unusual(election, row)
    typical = np.argsort(feedback.chance, kind="stable")[:2]
    lines = [f"\nquestion {len(feedback.answers) + 1} of {count}: row {_text(names[row])}"]
    width = max(len(column) for column in columns)
    for column in columns:
        values = frame[column]
        others = " | ".join(_text(values[int(t)]) for t in typical)
        lines.append(f"  {_text(column):{width}}  {_text(values[row]):>16}   typical rows: {others}")
    return "\n".join(lines)


def _unusual(election: "Election", row: int) -> list[str]:
    """The columns in which the row is farthest from the middle of the table, farthest first."""
    assert election.treatment is not None  # a file is a table
    Z = election.scorer.work.Z
    far = np.abs(Z[row] - np.median(Z, axis=0))
    sources = [feature.source for feature in election.treatment.features]
    order = np.argsort(-far, kind="stable")
    return list(dict.fromkeys(sources[i] for i in order))[:_SHOWN_COLUMNS]


def _names(election: "Election") -> Any:
    """What names the rows that may be asked about."""
    assert election.treatment is not None
    return election.treatment.row_ids(election.opened.sample)[election.drawn]


def _text(value: Any) -> str:
    return wording.cell(value, longest=40)


def _file(election: "Election", feedback: "Feedback") -> bytes:
    words = {True: "yes", False: "no", None: "unknown"}
    names = _names(election)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["position", "row", "answer"])
    for answer in feedback.answers:
        writer.writerow([int(election.positions[answer.row]), names[answer.row], words[answer.is_outlier]])
    return buffer.getvalue().encode()


def _read(path: Path | None, election: "Election", feedback: "Feedback") -> int:
    """Take the answers of an earlier run; how many."""
    if path is None or not path.exists():
        return 0
    places = {int(position): row for row, position in enumerate(election.positions)}
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"position", "answer"} <= set(reader.fieldnames or ()):
                raise ValueError
            lines = list(reader)
        answers = [(int(line["position"]), WORDS[line["answer"].strip().lower()]) for line in lines]
    except (OSError, KeyError, ValueError, AttributeError, UnicodeDecodeError, csv.Error):
        raise InvalidInput(
            f"{path} must be a CSV file with the columns 'position' (from 0) and 'answer' (yes, no, unknown)."
        ) from None
    for position, said in answers:
        if position not in places:
            raise InvalidInput(f"{path} answers for row {position}, which is not among the rows the election looks at.")
        feedback.tell(places[position], said)
    return len(answers)
