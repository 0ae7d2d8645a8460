"""What the page shows, as plain JSON values. Pure functions of what the product found."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.core import SearchStep, Selection
from elect.detect.agreement import FamilyAgreement
from elect.page._base import Ranking
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.tables import values

if TYPE_CHECKING:
    import polars as pl

BINS = 24
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


def changes(before: Ranking, after: Ranking, threshold: tuple[float, float], names: "pl.Series", told: int) -> View:
    """What an answer changed: rows flagged and no longer flagged, those that moved farthest near the top, and how many
    outliers are still expected among the rows nobody was asked about."""
    was, now = places(before.chance), places(after.chance)
    above = before.chance >= threshold[0], after.chance >= threshold[1]
    # A row far down may move by thousands of places, and nobody would ever see it: the scale is logarithmic.
    moved = np.log(was) - np.log(now)
    near = np.argsort(-np.abs(moved), kind="stable")[: MOST_MOVED + 1]
    rows = [
        {"position": int(row), "row": cut(str(names[int(row)]), 80), "was": int(was[row]), "now": int(now[row])}
        for row in near
        if was[row] != now[row] and row != told
    ]
    return {
        "rows": rows[:MOST_MOVED],
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


def number_bins(values: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Edges of equal width over the middle of a column, and the bin of each value (-1 where there is none). What lies
    beyond is counted at the border, so that one far value does not press all others into one bar."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return np.array([0.0, 1.0]), np.full(len(values), -1)
    low, high = np.percentile(known, [1, 99])
    margin = 0.25 * (high - low)
    low, high = max(float(known.min()), low - margin), min(float(known.max()), high + margin)
    if not high > low:
        low, high = float(known.min()), float(known.max())
    if not high > low:
        width = max(0.5, 0.01 * abs(low))
        low, high = low - width, high + width
    edges = np.linspace(low, high, BINS + 1)
    place = np.clip(np.where(np.isfinite(values), values, low), low, high) - low
    bins = np.minimum((place / (high - low) * BINS).astype(np.intp), BINS - 1)
    return edges, np.where(np.isfinite(values), bins, -1)


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
    """A column cut into bins: of numbers by ``edges``, of words by ``names``; ``place`` is the bin of each row."""

    place: NDArray[np.intp]
    edges: FloatArray | None = None
    names: list[str] | None = None
    distinct: int = 0

    @classmethod
    def of(cls, cells: "pl.Series", numbers: FloatArray | None) -> "Bins":
        if numbers is not None:
            edges, place = number_bins(numbers)
            return cls(place, edges)
        names, place, distinct = word_bins(cells)
        return cls(place, None, names, distinct)


def bars(bins: Bins, above: NDArray[np.bool_], written: Callable[[float], str]) -> View:
    """A histogram of a column, with the flagged rows apart."""
    edges, names = bins.edges, bins.names
    n = len(names) if names is not None else max(1, 0 if edges is None else len(edges) - 1)
    known = bins.place >= 0
    return {
        "edges": None if edges is None else [float(edge) for edge in edges],
        "ends": None if edges is None else [written(float(edges[0])), written(float(edges[-1]))],
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


def agreement_view(agreement: FamilyAgreement) -> View:
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
    return [{"column": r.column, "usual": r.usual, "share": round(float(r.share), 4)} for r in reasons]
