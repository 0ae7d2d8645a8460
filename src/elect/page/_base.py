"""What the page needs of the product: a table, a search that can be stopped after any step, and what it found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from elect.core import SearchStep, Selection
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    import polars as pl

    from elect.detect.agreement import FamilyAgreement

Aim = Literal["learn", "find"]
AIMS: tuple[Aim, ...] = ("learn", "find")

ElectedBy = Literal["committee", "elect", "fixed"]
ELECTED_BY: tuple[ElectedBy, ...] = ("committee", "elect", "fixed")
"""The strategies a person may choose from on the page."""

DownloadKind = Literal["csv", "parquet", "report", "detector"]
DOWNLOADS: tuple[DownloadKind, ...] = ("csv", "parquet", "report", "detector")


@dataclass(frozen=True, eq=False)
class Ranking:
    """What is known of every row at one moment. ``kind`` holds places in ``kinds``, an empty one where none is known;
    ``threshold`` is a chance, the one the product would set; ``left`` says how many outliers are expected among the
    rows not asked about."""

    chance: FloatArray
    kind: NDArray[np.int8]
    kinds: tuple[str, ...]
    threshold: float
    pick: str | None = None
    left: str | None = None


@dataclass(frozen=True)
class Reason:
    """A column that makes a row odd, the row's value there, what is usual, and the share of the oddity it explains."""

    column: str
    value: str
    usual: str
    share: float

    def __str__(self) -> str:
        return f"{self.column} = {self.value}{f' ({self.usual})' if self.usual else ''}"


@dataclass(frozen=True)
class ColumnFacts:
    """What was done with an input column, and why."""

    column: str
    role: str
    kind: str
    done: str
    why: str
    missing: float


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows in the plane: their positions in the table, and x and y from 0 to 1."""

    positions: NDArray[np.intp]
    xy: FloatArray
    note: str


@dataclass(frozen=True)
class Download:
    """A file to leave with."""

    name: str
    media_type: str
    content: bytes


class Found(Protocol):
    """What was found, and what answers do to it. ``tell`` and ``undo`` are called from one thread; all else only
    reads."""

    @property
    def selection(self) -> Selection | None:
        """The elected model; None while there is none."""
        ...

    @property
    def columns(self) -> Sequence[ColumnFacts]: ...
    @property
    def agreement(self) -> "FamilyAgreement": ...
    @property
    def notes(self) -> Sequence[str]: ...

    def ranking(self) -> Ranking:
        """The rows, after the answers so far."""
        ...

    def reasons(self, positions: Sequence[int]) -> Sequence[Sequence[Reason]]:
        """Why these rows are odd, the weightiest reason first."""
        ...

    def placed(self) -> Placed:
        """A sample of the rows in the plane."""
        ...

    def ordinary_like(self, position: int) -> int | None:
        """The ordinary row nearest to a row."""
        ...

    def model_scores(self, model_id: str) -> FloatArray:
        """What an evaluated model says of every row (NaN where it did not look)."""
        ...

    def ask(self, aim: Aim) -> int | None:
        """The row to ask about next; None when there is none left."""
        ...

    def tell(self, position: int, said: bool | None) -> str:
        """Take an answer; what is worth knowing about it, as a sentence that is mostly empty."""
        ...

    def undo(self) -> None: ...

    def download(self, kind: DownloadKind, ranking: Ranking, threshold: float) -> Download:
        """The rows, the report or the detector, with the threshold of the page."""
        ...

    def snippet(self, threshold: float) -> str:
        """The same in Python."""
        ...


@dataclass(frozen=True, eq=False)
class Progress:
    """A moment of a search: ``done`` of ``total`` models, or of rows while the others of a long table are ranked
    (None: it is not known how many). ``found`` is what is known of the rows already, where that changed."""

    done: int
    total: int | None
    doing: str
    step: SearchStep | None = None
    found: Found | None = None


class Search(Protocol):
    """A search on the table. Whoever consumes ``steps`` may stop after any of them; ``found`` is what is known then. It
    may be what a step gave already, and then has heard the answers given since."""

    def steps(self) -> Iterator[Progress]: ...
    def found(self, stopped_because: str | None = None) -> Found: ...


class Product(Protocol):
    """One opened table."""

    @property
    def name(self) -> str: ...
    @property
    def frame(self) -> "pl.DataFrame": ...
    @property
    def row_ids(self) -> "pl.Series": ...
    @property
    def numbers(self) -> Mapping[str, FloatArray]:
        """The columns that hold numbers or moments, as numbers (NaN where there is none)."""
        ...

    def written(self, column: str, number: float) -> str:
        """A number of a column as people write it: a date where it stands for one."""
        ...

    @property
    def strategy(self) -> str:
        """How a model is elected, unless the page says otherwise."""
        ...

    def search(self, left_out: Sequence[str], strategy: str) -> Search:
        """A search that has not begun, without some of the columns."""
        ...
