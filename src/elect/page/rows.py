"""Which rows are seen, and in which order: sorting, filtering and finding happen here, the browser gets a range."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput
from elect.page._base import Ranking
from elect.support.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl

SHOWN = ("all", "flagged", "answered")
_COMPARISON = re.compile(r"\s*(<=|>=|<|>|=)\s*(\S+)\s*$")
_COLUMN = "column:"


@dataclass(frozen=True)
class Query:
    """What a tab wants to see. ``sort`` is chance, row, kind, or ``column:`` and the name of a column; ``column`` None
    looks for ``text`` in all of them; ``within`` are positions, such as a lasso found."""

    sort: str = "chance"
    descending: bool = True
    column: str | None = None
    text: str = ""
    shown: str = "all"
    kind: str | None = None
    within: tuple[int, ...] | None = None


def ordered(
    query: Query,
    frame: "pl.DataFrame",
    numbers: Mapping[str, FloatArray],
    ranking: Ranking,
    threshold: float,
    answered: Sequence[int],
) -> IntArray:
    """The positions of the rows that a query means, in its order. Equal rows keep the order of the table."""
    keep = np.ones(frame.height, dtype=bool)
    if query.within is not None:
        keep = _at(query.within, frame.height)
    if query.shown == "flagged":
        keep &= ranking.chance >= threshold
    elif query.shown == "answered":
        keep &= _at(answered, frame.height)
    if query.kind is not None:
        keep &= ranking.kind == _place(query.kind, ranking.kinds)
    if query.text.strip():
        keep &= _matches(query.text, query.column, frame, numbers)
    positions = np.flatnonzero(keep)
    return positions[_order(query, frame, numbers, ranking, positions)]


def find(row: str, row_ids: "pl.Series", positions: IntArray) -> int | None:
    """The place of a row in an order, by its id: the same id, else the first that begins with it or contains it."""
    import polars as pl

    names = row_ids.gather(positions).cast(pl.String).fill_null("")
    wanted = row.strip()
    for matches in (names == wanted, names.str.starts_with(wanted), names.str.contains(wanted, literal=True)):
        place = matches.arg_max() if matches.any() else None
        if place is not None:
            return int(place)
    return None


def _at(positions: Sequence[int], n: int) -> NDArray[np.bool_]:
    found = np.zeros(n, dtype=bool)
    places = np.asarray(positions, dtype=np.intp)
    if len(places) and not (places.min() >= 0 and places.max() < n):
        raise InvalidInput(f"Rows are counted from 0 to {n - 1}.")
    found[places] = True
    return found


def _place(kind: str, kinds: tuple[str, ...]) -> int:
    if kind not in kinds:
        raise InvalidInput(f"A kind must be one of {', '.join(kinds)}, got {kind!r}.")
    return kinds.index(kind)


def _matches(
    text: str, column: str | None, frame: "pl.DataFrame", numbers: Mapping[str, FloatArray]
) -> NDArray[np.bool_]:
    import polars as pl

    if column is not None and column not in frame.columns:
        raise InvalidInput(f"There is no column {column!r}.")
    compared = _COMPARISON.match(text)
    if column in numbers and column is not None and compared is not None:
        return _compare(numbers[column], compared[1], compared[2])
    wanted = text.strip().lower()
    names = frame.columns if column is None else [column]
    found = np.zeros(frame.height, dtype=bool)
    for name in names:
        cells = frame[name].cast(pl.String).str.to_lowercase()
        found |= cells.str.contains(wanted, literal=True).fill_null(False).to_numpy()
    return found


def _compare(values: FloatArray, sign: str, bound: str) -> NDArray[np.bool_]:
    try:
        number = float(bound)
    except ValueError:
        raise InvalidInput(f"After {sign} a number is expected, got {bound!r}.") from None
    with np.errstate(invalid="ignore"):
        found: dict[str, NDArray[np.bool_]] = {
            "<": values < number,
            "<=": values <= number,
            ">": values > number,
            ">=": values >= number,
            "=": values == number,
        }
    return found[sign]


def _order(
    query: Query, frame: "pl.DataFrame", numbers: Mapping[str, FloatArray], ranking: Ranking, positions: IntArray
) -> IntArray:
    """Places in ``positions``; what is missing comes last, whichever way it is sorted."""
    if query.sort == "row":
        return np.arange(len(positions))[:: -1 if query.descending else 1]
    if query.sort == "chance":
        return _argsort(ranking.chance[positions], query.descending)
    if query.sort == "kind":
        return np.lexsort((-ranking.chance[positions], ranking.kind[positions] * (-1 if query.descending else 1)))
    name = query.sort.removeprefix(_COLUMN)
    if not query.sort.startswith(_COLUMN) or name not in frame.columns:
        raise InvalidInput(f"Rows cannot be sorted by {query.sort!r}.")
    if name in numbers:
        return _argsort(numbers[name][positions], query.descending)
    import polars as pl

    cells = frame[name].cast(pl.String).gather(positions)
    return cells.arg_sort(descending=query.descending, nulls_last=True).to_numpy().astype(np.intp)


def _argsort(values: FloatArray, descending: bool) -> IntArray:
    # numpy puts NaN last, and a stable sort keeps equal rows in order, in both directions.
    return np.argsort(-values if descending else values, kind="stable")
