"""Answers kept in a file beside the table, written after every answer."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from elect.errors import InvalidInput
from elect.support.arrays import IntArray
from elect.support.atomic import write_atomically
from elect.support.formulas import guarded

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


def answered_positions(path: Path) -> tuple[int, ...]:
    """The rows that a file of answers names, by position, whether they are there or not."""
    return tuple(line.position for line in _lines(path)) if path.exists() else ()


class KeptAnswers:
    """The file of answers of one table; ``path`` None keeps nothing. ``row_ids`` are the names of all rows, or of those
    at ``positions``: only they can be answered. ``cells`` are the rows themselves.

    An answer belongs to a row, not to a place: a digest of the row's cells is kept with it. Where the table was sorted
    since, answers follow their rows; those whose row is not there are left out and stay in the file (``left_out``).
    """

    def __init__(
        self,
        path: Path | None,
        row_ids: "pl.Series",
        positions: IntArray | None = None,
        cells: "pl.DataFrame | None" = None,
    ) -> None:
        self.path = path
        self._row_ids = row_ids
        self._positions = positions
        self._place = None if positions is None else {int(p): place for place, p in enumerate(positions)}
        self._cells = cells
        self._absent: list[list[str]] = []

    @property
    def left_out(self) -> int:
        """How many answers of the file are of rows that are not in the table as they were."""
        return len(self._absent)

    def read(self) -> tuple[Given, ...]:
        """The answers of an earlier time. They must be of this table."""
        if self.path is None or not self.path.exists():
            return ()
        found = {line.position: (line, _SAID[line.answer]) for line in _lines(self.path)}
        given: dict[int, bool | None] = {}
        self._absent = []
        for line, said in found.values():
            position = self._position(line)
            if position is not None:
                given[position] = said
            elif line.cells:
                self._absent.append([str(line.position), line.row or "", line.answer, line.cells])
            if position is None and (not line.cells or len(self._absent) == len(found)):
                raise InvalidInput(
                    f"{self.path} holds an answer for row {line.position} that is not in this table: it belongs to "
                    "another one. Move it away, or name another file with --answers."
                )
        return tuple(given.items())

    def write(self, answers: Sequence[Given]) -> None:
        if self.path is None:
            return
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["position", "row", "answer", *(() if self._cells is None else ("cells",))])
        for position, said in answers:
            cells = () if self._cells is None else (self._digest(self._at(position)),)
            writer.writerow([position, guarded(self._name(position)), _WORDS[said], *cells])
        writer.writerows(self._absent)
        write_atomically(self.path, buffer.getvalue().encode(errors="backslashreplace"))

    def _position(self, line: "_Line") -> int | None:
        """Where the row of an answer is now; None where it is not."""
        known = self._knows(line.position)
        if not line.cells or self._cells is None:
            named = known and line.row in (None, self._name(line.position), guarded(self._name(line.position)))
            if named or line.row == str(line.position):
                return line.position if named else None
            return self._named.get(line.row or "")
        if known and self._digest(self._at(line.position)) == line.cells:
            return line.position
        place = self._places.get(line.cells)
        if place is not None:
            return place if self._positions is None else int(self._positions[place])
        # A cell of it was mended since: it is the same row if a name of its own says so.
        names = (self._name(line.position), guarded(self._name(line.position))) if known else ()
        return line.position if line.row != str(line.position) and line.row in names else None

    @cached_property
    def _places(self) -> dict[str, int]:
        """Where rows are that are there once; looked up only where a table has changed."""
        assert self._cells is not None
        digests = [_digest(row) for row in self._cells.iter_rows()]
        times = Counter(digests)
        return {digest: place for place, digest in enumerate(digests) if times[digest] == 1}

    @cached_property
    def _named(self) -> dict[str, int]:
        """Where the row of a name is, as it is and as it is written; names that several rows have are left out."""
        names = [str(name) for name in self._row_ids]
        times = Counter(names)
        at = range(len(names)) if self._positions is None else self._positions.tolist()
        # A row without a name of its own is called by its position, which says nothing once the table has changed.
        own = {name: place for name, place in zip(names, at, strict=True) if name != str(place) and times[name] == 1}
        return own | {guarded(name): place for name, place in own.items()}

    def _digest(self, place: int) -> str:
        assert self._cells is not None
        return _digest(self._cells.row(place))

    def _knows(self, position: int) -> bool:
        return 0 <= position < len(self._row_ids) if self._place is None else position in self._place

    def _at(self, position: int) -> int:
        return position if self._place is None else self._place[position]

    def _name(self, position: int) -> str:
        return str(self._row_ids[self._at(position)])


@dataclass(frozen=True)
class _Line:
    position: int
    row: str | None
    answer: str
    cells: str | None


def _digest(row: tuple[object, ...]) -> str:
    return hashlib.blake2b(repr(row).encode(errors="backslashreplace"), digest_size=8).hexdigest()


def _lines(path: Path) -> list[_Line]:
    """The answers that a file holds, in its order."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            if not {"position", "answer"} <= set(reader.fieldnames or ()):
                raise ValueError
            lines = [
                _Line(int(line["position"]), line.get("row"), line["answer"].strip().lower(), line.get("cells"))
                for line in reader
            ]
        if not {line.answer for line in lines} <= set(_SAID):
            raise ValueError
    except (OSError, KeyError, ValueError, AttributeError, TypeError, csv.Error):
        raise InvalidInput(
            f"{path} must be a CSV file with the columns 'position' (from 0) and 'answer' (yes, no, unknown)."
        ) from None
    return lines
