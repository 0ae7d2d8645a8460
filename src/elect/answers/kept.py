"""Answers kept in a file beside the table, written after every answer."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from elect.errors import InvalidInput
from elect.support.arrays import IntArray
from elect.support.atomic import write_atomically

if TYPE_CHECKING:
    import polars as pl

Given = tuple[int, bool | None]
"""The position of a row, and what was said of it (None: the person does not know)."""

_WORDS: dict[bool | None, str] = {True: "yes", False: "no", None: "unknown"}
_SAID = {word: said for said, word in _WORDS.items()}


def beside(table: Path) -> Path:
    """The file of answers of a table, where none is named.

    >>> beside(Path("payments.csv")).name
    'payments.answers.csv'
    """
    return table.with_name(f"{table.stem}.answers.csv")


class KeptAnswers:
    """The file of answers of one table; ``path`` None keeps nothing. ``row_ids`` are the names of all rows, or of those
    at ``positions``: only they can be answered."""

    def __init__(self, path: Path | None, row_ids: "pl.Series", positions: IntArray | None = None) -> None:
        self.path = path
        self._row_ids = row_ids
        self._place = None if positions is None else {int(p): place for place, p in enumerate(positions)}

    def read(self) -> tuple[Given, ...]:
        """The answers of an earlier time. They must be of this table: a row is known by its position and its id."""
        if self.path is None or not self.path.exists():
            return ()
        try:
            with open(self.path, newline="", encoding="utf-8-sig") as file:
                reader = csv.DictReader(file)
                if not {"position", "answer"} <= set(reader.fieldnames or ()):
                    raise ValueError
                lines = list(reader)
            found = {int(line["position"]): (line.get("row"), _SAID[line["answer"].strip().lower()]) for line in lines}
        except (OSError, KeyError, ValueError, AttributeError, TypeError, csv.Error):
            raise InvalidInput(
                f"{self.path} must be a CSV file with the columns 'position' (from 0) and 'answer' (yes, no, unknown)."
            ) from None
        for position, (row, _) in found.items():
            if not self._knows(position) or (row is not None and row != self._name(position)):
                raise InvalidInput(
                    f"{self.path} holds an answer for row {position} that is not in this table: it belongs to another "
                    "one. Move it away, or name another file with --answers."
                )
        return tuple((position, said) for position, (_, said) in found.items())

    def write(self, answers: Sequence[Given]) -> None:
        if self.path is None:
            return
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["position", "row", "answer"])
        writer.writerows([position, self._name(position), _WORDS[said]] for position, said in answers)
        write_atomically(self.path, buffer.getvalue().encode())

    def _knows(self, position: int) -> bool:
        return 0 <= position < len(self._row_ids) if self._place is None else position in self._place

    def _name(self, position: int) -> str:
        return str(self._row_ids[position if self._place is None else self._place[position]])
