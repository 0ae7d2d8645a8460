"""What a report says, as plain frozen values. Everything is computed here; the page only arranges it."""

from dataclasses import dataclass

import numpy as np

from elect.core import Selection
from elect.detect.agreement import Agreement
from elect.detect.detection import Evaluation, TopRow
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnSummary

MOST_POINTS = 1200
BINS = 40


@dataclass(frozen=True)
class Histogram:
    """How many rows score in each bin; one more edge than bins."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class MapPoint:
    """A row in two dimensions, both from 0 to 1. ``level`` is its rank among all rows, 0 to 1."""

    x: float
    y: float
    level: float
    is_outlier: bool


@dataclass(frozen=True)
class ScoreMap:
    """The table's two directions of largest variance, and the share of the variance they show."""

    points: tuple[MapPoint, ...]
    shown_variance: float
    n_rows: int


@dataclass(frozen=True)
class ReportSummary:
    """Everything a report says: the records of a detection, and what is computed to be drawn. Of the ``top`` rows the
    ``first`` are shown at once; ``cells`` are their values in the ``columns``, of a wide table in the first of them;
    ``python`` is the code that does the same again."""

    title: str
    n_rows: int
    selection: Selection
    threshold: float
    threshold_rule: str
    n_outliers: int
    histogram: Histogram
    map: ScoreMap
    top: tuple[TopRow, ...]
    cells: tuple[tuple[str, ...], ...]
    id_name: str
    agreement: Agreement
    columns: tuple[ColumnSummary, ...]
    python: str
    false_alarms: float | None = None
    first: int = 10
    evaluation: Evaluation | None = None
    notes: tuple[str, ...] = ()
    version: str = ""

    @property
    def by_chance(self) -> bool:
        """Whether a committee ranked the rows, which gives them chances."""
        return any(row.chance is not None for row in self.top)


def changes_of_pick(selection: Selection) -> tuple[int, ...]:
    """The steps at which the pick changed, the first one among them."""
    picks = [None, *(step.pick.model_id for step in selection.steps)]
    return tuple(
        step.index for step, before in zip(selection.steps, picks, strict=False) if step.pick.model_id != before
    )


def histogram(scores: FloatArray, threshold: float) -> Histogram:
    """Bins of equal width over the scores and the threshold, so that it can be drawn among them.

    >>> histogram(np.array([0.0, 1.0, 4.0]), 2.0).counts[0]
    1
    """
    low, high = float(min(scores.min(), threshold)), float(max(scores.max(), threshold))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    # Bins are counted on a scale of 0 to 1: numpy refuses ranges it cannot divide.
    counts, edges = np.histogram((scores - low) / (high - low), bins=BINS, range=(0.0, 1.0))
    return Histogram(tuple((low + edges * (high - low)).tolist()), tuple(int(count) for count in counts))


def map_points(X: FloatArray, scores: FloatArray, threshold: float, seed: int = 0) -> ScoreMap:
    """The rows along the two principal directions: all up to 1200, above that the most outlying and a sample.

    >>> found = map_points(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.1]]), np.array([0.0, 1.0, 2.0]), 1.5)
    >>> len(found.points), found.points[2].is_outlier
    (3, True)
    """
    placed, shown = plane(X, seed)
    levels = scores.argsort(kind="stable").argsort(kind="stable") / max(1, len(scores) - 1)
    points = tuple(
        MapPoint(float(placed[i, 0]), float(placed[i, 1]), float(levels[i]), bool(scores[i] > threshold))
        for i in rows_to_draw(scores, seed)
    )
    return ScoreMap(points, shown, len(scores))


def plane(X: FloatArray, seed: int = 0) -> tuple[FloatArray, float]:
    """Every row along the two principal directions, both from 0 to 1, and the share of the variance they hold.

    Values are cut at the 0.5th and 99.5th percentiles of each direction, so that one far row does not press all others
    into a corner; it is then drawn at the border.
    """
    # The picture does not depend on the scale; products of the largest numbers there are would be infinite.
    largest = float(np.abs(X).max(initial=0.0))
    X = X / largest if largest > 1e100 else X
    centered = X - X.mean(axis=0)
    along, shown = _principal(centered, seed)
    span_low, span_high = np.percentile(along, [0.5, 99.5], axis=0)
    margin = 0.15 * (span_high - span_low)
    low, high = span_low - margin, span_high + margin
    width = np.where(high > low, high - low, 1.0)
    placed = np.clip((along - low) / width, 0.0, 1.0)
    placed[:, high <= low] = 0.5
    return placed, shown


def _principal(centered: FloatArray, seed: int) -> tuple[FloatArray, float]:
    """Coordinates along the two directions of largest variance, and the share of the variance they hold."""
    n, d = centered.shape
    rows = centered if n <= 5000 else centered[np.random.default_rng(seed).choice(n, 5000, replace=False)]
    # Of the two ways to the same directions, the one with the smaller matrix.
    if d <= len(rows):
        values, vectors = np.linalg.eigh(rows.T @ rows)
        directions = vectors[:, ::-1][:, :2]
    else:
        values, vectors = np.linalg.eigh(rows @ rows.T)
        directions = rows.T @ vectors[:, ::-1][:, :2]
        directions /= np.maximum(np.linalg.norm(directions, axis=0), np.finfo(float).tiny)
    if directions.shape[1] < 2:
        directions = np.hstack([directions, np.zeros((d, 1))])
    # The sign of a direction is arbitrary: the largest component points up, so that equal tables give equal maps.
    signs = np.sign(directions[np.abs(directions).argmax(axis=0), [0, 1]])
    total = float(values.sum())
    return centered @ (directions * np.where(signs == 0, 1.0, signs)), float(
        values[-2:].sum()
    ) / total if total else 0.0


def rows_to_draw(scores: FloatArray, seed: int, most: int = MOST_POINTS) -> IntArray:
    """The rows to draw, ordinary ones first so that outlying ones come on top."""
    order = np.argsort(scores, kind="stable")
    if len(order) <= most:
        return order
    rest = np.random.default_rng(seed).choice(len(order) - most // 4, most - most // 4, replace=False)
    return np.concatenate([order[np.sort(rest)], order[-(most // 4) :]])
