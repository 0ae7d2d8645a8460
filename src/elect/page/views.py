"""What the page shows, as plain JSON values. Pure functions of what the product found."""

from collections.abc import Callable, Container, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.core import SearchStep, Selection
from elect.page._base import Ranking
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.tables import values

if TYPE_CHECKING:
    import polars as pl

    from elect.detect.agreement import FamilyAgreement

BINS = 24
MOST_WHOLE_BINS = 32
_WHOLE = 1e9
"""Beyond this, whole numbers are cut like any others."""

MOST_VALUES = 8
"""Of a column of words, so many values are drawn; the others are one bar."""

MOST_MOVED = 5
MOST_COMPARED = 50
_LONG = 2000

View = dict[str, Any]


def texts(cells: "pl.Series", longest: int = _LONG) -> list[str | None]:
    """Cells as text, long ones cut."""
    import polars as pl

    return [cut(text, longest) for text in cells.cast(pl.String).to_list()]


def cut(text: str | None, longest: int) -> str | None:
    return text if text is None or len(text) <= longest else text[: longest - 1] + "…"


def curve(chance: FloatArray) -> View:
    """For a threshold of 0, 1, ... 100 %: how many rows are flagged, and how many of these are expected to be normal.

    >>> found = curve(np.array([0.9, 0.5, 0.1]))
    >>> found["count"][50], round(found["false_alarms"][50], 2)
    (2, 0.6)
    """
    ordered = np.sort(chance)[::-1]
    wrong = np.concatenate([[0.0], np.cumsum(1.0 - ordered)])
    counts = np.searchsorted(-ordered, -np.arange(101) / 100, side="right")
    return {"count": counts.tolist(), "false_alarms": np.round(wrong[counts], 3).tolist()}


def flagged(chance: FloatArray, threshold: float) -> View:
    """How many rows lie above a threshold, how many of them are expected to be normal, and how many outliers below."""
    above = chance >= threshold
    return {
        "count": int(above.sum()),
        "false_alarms": float((1.0 - chance[above]).sum()),
        "missed": float(chance[~above].sum()),
    }


def kinds(ranking: Ranking, threshold: float) -> list[View]:
    """How many flagged rows there are of each kind."""
    counts = np.bincount(ranking.kind[ranking.chance >= threshold], minlength=len(ranking.kinds))
    return [{"kind": kind, "count": int(count)} for kind, count in zip(ranking.kinds, counts, strict=True) if kind]


def changes(
    before: Ranking, after: Ranking, threshold: tuple[float, float], names: "pl.Series", told: Container[int]
) -> View:
    """What an answer changed: rows flagged and no longer flagged, and those that moved farthest near the top. Rows that
    were ``told`` about stand where their answers put them: they are not shown as moved."""
    was, now = places(before.chance), places(after.chance)
    above = before.chance >= threshold[0], after.chance >= threshold[1]
    # A row far down may move by thousands of places, and nobody would ever see it: the scale is logarithmic.
    moved = np.log(was) - np.log(now)
    open_rows = (int(row) for row in np.argsort(-np.abs(moved), kind="stable") if int(row) not in told)
    near = [row for row in islice(open_rows, MOST_MOVED) if was[row] != now[row]]
    return {
        "rows": [
            {"position": row, "row": cut(str(names[row]), 80), "was": int(was[row]), "now": int(now[row])}
            for row in near
        ],
        "moved": int((was != now).sum()),
        "added": int((above[1] & ~above[0]).sum()),
        "removed": int((above[0] & ~above[1]).sum()),
        "pick": None if before.pick == after.pick else after.pick,
        "kind": _learned(before, after),
    }


def places(chance: FloatArray) -> IntArray:
    """The place of each row in the ranking, from 1."""
    found = np.empty(len(chance), dtype=np.intp)
    found[np.argsort(-chance, kind="stable")] = np.arange(1, len(chance) + 1)
    return found


def _learned(before: Ranking, after: Ranking) -> str | None:
    """The kind whose rows became likelier, if one did by far the most."""
    if before.kinds != after.kinds or len(before.kinds) < 2:
        return None
    n = len(before.kinds)
    risen = np.bincount(after.kind, after.chance - before.chance, n)
    best = int(np.argmax(risen))
    total = float(np.abs(risen).sum())
    return after.kinds[best] or None if total > 0 and risen[best] > 0.6 * total else None


@dataclass(frozen=True, eq=False)
class NumberBins:
    """A column of numbers cut into bins of equal width. ``place`` is the bin of each value (-1 where there is none);
    ``ends`` are the numbers to write at both ends, and ``beyond`` says whether there are values outside of them."""

    edges: FloatArray
    place: NDArray[np.intp]
    ends: tuple[float, float]
    beyond: tuple[bool, bool]


def number_bins(values: FloatArray) -> NumberBins:
    """Bins over the middle of a column. What lies beyond is counted at the border, so that one far value does not press
    all others into one bar. Whole numbers are never cut apart: each bin holds the same number of them.

    >>> number_bins(np.array([1.0, 2.0, 2.0, 4.0])).edges.tolist()
    [0.5, 1.5, 2.5, 3.5, 4.5]
    """
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return NumberBins(np.array([0.0, 1.0]), np.full(len(values), -1), (0.0, 1.0), (False, False))
    least, most = float(known.min()), float(known.max())
    low, high = np.percentile(known, [1, 99])
    margin = 0.25 * (high - low)
    low, high = max(least, float(low - margin)), min(most, float(high + margin))
    if not high > low:
        low, high = least, most
    ends = low, high
    if not high > low:
        width = max(0.5, 0.01 * abs(low))
        low, high = low - width, high + width
    edges = np.linspace(low, high, BINS + 1)
    if most > least and np.abs(ends).max() < _WHOLE and not np.any(known % 1):
        low, high = float(np.floor(low)), float(np.ceil(high))
        width = max(1.0, float(np.ceil((high - low + 1) / MOST_WHOLE_BINS)))
        edges = np.arange(low - 0.5, high + 0.5 + width, width)[: int((high - low) // width) + 2]
        ends = low, high
    inside = np.clip(np.where(np.isfinite(values), values, low), edges[0], edges[-1]) - edges[0]
    place = np.minimum((inside / (edges[-1] - edges[0]) * (len(edges) - 1)).astype(np.intp), len(edges) - 2)
    beyond = bool(least < min(ends[0], edges[0])), bool(most > max(ends[1], edges[-1]))
    return NumberBins(edges, np.where(np.isfinite(values), place, -1), ends, beyond)


def word_bins(cells: "pl.Series") -> tuple[list[str], NDArray[np.intp], int]:
    """The commonest values, all others as one; the bin of each row (-1 where the cell is empty); how many differ."""
    words = values.words(cells).alias("word")
    counted = words.drop_nulls().value_counts(sort=True, name="n").sort(["n", "word"], descending=[True, False])
    names: list[str] = counted["word"][:MOST_VALUES].to_list()
    others = counted.height > len(names)
    bins = words.replace_strict({name: place for place, name in enumerate(names)}, default=len(names)).to_numpy()
    found = np.where(words.is_null().to_numpy(), -1, bins).astype(np.intp)
    return [*(str(cut(name, 40)) for name in names), *(["others"] if others else [])], found, counted.height


@dataclass(frozen=True, eq=False)
class Bins:
    """A column cut into bins: of ``numbers``, or of words by ``names``; ``place`` is the bin of each row."""

    place: NDArray[np.intp]
    numbers: NumberBins | None = None
    names: list[str] | None = None
    distinct: int = 0

    @classmethod
    def of(cls, cells: "pl.Series", numbers: FloatArray | None) -> "Bins":
        if numbers is not None:
            cut = number_bins(numbers)
            return cls(cut.place, cut)
        names, place, distinct = word_bins(cells)
        return cls(place, None, names, distinct)


def bars(bins: Bins, above: NDArray[np.bool_], written: Callable[[float], str]) -> View:
    """A histogram of a column, with the flagged rows apart."""
    cut, names = bins.numbers, bins.names
    n = max(1, len(names or ()) if cut is None else len(cut.edges) - 1)
    known = bins.place >= 0
    signs = ("≤ ", "≥ ")
    return {
        "edges": None if cut is None else [float(edge) for edge in cut.edges],
        "ends": None
        if cut is None
        else [(sign if far else "") + written(end) for sign, far, end in zip(signs, cut.beyond, cut.ends, strict=True)],
        "names": names,
        "distinct": bins.distinct,
        "counts": np.bincount(bins.place[known], minlength=n).tolist(),
        "flagged": np.bincount(bins.place[known & above], minlength=n).tolist(),
        "missing": int((~known).sum()),
    }


def step_view(step: SearchStep) -> View:
    return {
        "index": step.index,
        "phase": step.phase,
        "evaluated": step.evaluated,
        "expected_improvement": _finite(step.acquisition_value),
        "similarity": _finite(step.mean_similarity),
        "pick": step.pick.model_id,
        "failure": step.failure,
        "seconds": step.seconds,
    }


def selection_view(selection: Selection) -> View:
    return {
        "pick": selection.model_id,
        "why": wording.sentence(selection.why),
        "strategy": selection.strategy,
        "metric": selection.metric,
        "mean": _finite(selection.pick.mean),
        "stopped_because": selection.stopped_because,
        "seconds": selection.seconds,
        "expected_rank": None if selection.expected_rank is None else asdict(selection.expected_rank),
        "neighbors": [{"task": n.task, "similarity": _finite(n.similarity)} for n in selection.neighbors],
        "candidates": [
            {"id": c.model_id, "mean": _finite(c.mean), "on_neighbors": [_finite(v) for v in c.on_neighbors]}
            for c in (selection.pick, *selection.runners_up)
        ],
        "evaluated": list(selection.evaluated),
        "failures": [{"id": model_id, "why": why} for model_id, why in selection.failures],
    }


def agreement_view(agreement: "FamilyAgreement") -> View:
    return {
        "families": list(agreement.families),
        "correlation": [[_finite(float(v)) for v in row] for row in agreement.correlation],
    }


def compare(one: FloatArray, other: FloatArray, count: int) -> dict[str, IntArray]:
    """The top rows of two models: those of both, and those that only one of them has. The most outlying first."""
    tops = [np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:count] for scores in (one, other)]
    shared = np.isin(tops[0], tops[1])
    return {"both": tops[0][shared], "one": tops[0][~shared], "other": tops[1][~np.isin(tops[1], tops[0])]}


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def reasons_view(reasons: Sequence[Any]) -> list[View]:
    return [
        {"column": r.column, "value": r.value, "usual": r.usual, "share": round(float(r.share), 4)} for r in reasons
    ]
