"""What was found in a table."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from elect.committee.scorer import chance_of
from elect.core import Selection
from elect.core.metrics import METRICS
from elect.detect.explaining import Reason
from elect.detect.opened import OpenedTable
from elect.detect.options import Options
from elect.detect.scorers import TableScorer
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnTreatment, Labels, Table
from elect.tables.cells import cells_of_array, cells_of_frame
from elect.tables.profile import TableProfile

if TYPE_CHECKING:
    import polars as pl


FEW_ROWS = 20
"""Of shorter tables little can be said."""


@dataclass(frozen=True)
class Evaluation:
    """How well the pick did, where the outliers are known: average precision and ROC AUC on the labelled rows."""

    ap: float
    roc_auc: float
    rows: int
    outliers: int
    meaning: str

    def __str__(self) -> str:
        return (
            f"average precision {self.ap:.3f}, ROC AUC {self.roc_auc:.3f} on "
            f"{wording.count(self.rows, 'labelled row')} with {wording.count(self.outliers, 'outlier')} "
            f"({self.meaning}); the labels played no other part"
        )


@dataclass(frozen=True)
class TopRow:
    """A row worth looking at. ``chance`` and ``kind`` are what the committee says of it. ``agreeing`` is the share of
    the evaluated models that rank it among their top rows too, None for a row outside of the sample they were evaluated
    on."""

    position: int
    id: str
    score: float
    is_outlier: bool
    reasons: tuple[Reason, ...]
    agreeing: float | None = None
    chance: float | None = None
    kind: str | None = None

    @property
    def why(self) -> str | None:
        """The reasons in one line; None where no single column speaks for the row."""
        return "; ".join(map(str, self.reasons)) or None

    def __str__(self) -> str:
        """The row in one line.

        >>> why = (Reason("items", "36", "next highest 9", 0.8),)
        >>> print(TopRow(3, "P7", 2.0, True, why, chance=0.88, kind="wrong value"))
        P7: chance 88%, wrong value: items = 36 (next highest 9)
        """
        how = f"score {wording.number(self.score)}" if self.chance is None else f"chance {wording.chance(self.chance)}"
        return f"{self.id}: {how}{f', {self.kind}' if self.kind else ''}: {self.why or 'no single column'}"


@dataclass(frozen=True, eq=False)
class Detection:
    """What was found: the pick, and every row's score.

    ``scores`` are the log-odds of the committee, or the scores of the elected model. ``detector`` is a fitted PyOD
    detector, made by ``fit_pick`` on first need; it is fitted on the rows at ``fitted``, and ``scorer`` scores others.
    ``heard`` is what the voices of the committee said of the fitted rows. ``treatment`` is what was done with the
    columns, None for an array. ``rows`` is the numeric matrix of the whole table, or of the fitted rows of a table that
    is learned from in part; ``row_scores`` are their scores.
    """

    opened: OpenedTable
    options: Options
    selection: Selection
    fit_pick: Callable[[], Any]
    treatment: ColumnTreatment | None
    scores: FloatArray
    threshold: float
    fitted: IntArray
    rows: FloatArray
    scorer: TableScorer
    heard: FloatArray | None = None
    evaluation: Evaluation | None = None
    notes: tuple[str, ...] = ()

    @property
    def by_chance(self) -> bool:
        """Whether scores are log-odds, from which chances are made; a model alone has none."""
        return self.scorer.committee is not None

    @cached_property
    def detector(self) -> Any:
        return self.fit_pick()

    @cached_property
    def labels(self) -> NDArray[np.int8]:
        """1 for an outlier, a row above the threshold; 0 otherwise."""
        return (self.scores > self.threshold).astype(np.int8)

    @cached_property
    def chance(self) -> FloatArray | None:
        """The calibrated chance of each row to be an outlier; a model alone has none."""
        return chance_of(self.scores) if self.by_chance else None

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why this table cannot tell much, if so."""
        return doubts_of(self.rows)

    @property
    def false_alarms(self) -> float | None:
        """The share of the flagged rows that is expected to be no outliers."""
        return alarms_above(self.scores, self.threshold) if self.by_chance else None

    @property
    def row_scores(self) -> FloatArray:
        return self.scores if len(self.rows) == len(self.scores) else self.scores[self.fitted]

    @cached_property
    def profile(self) -> TableProfile:
        """How the values of the columns are spread in the rows that were learned from."""
        if self.treatment is None:
            return TableProfile.fit(cells_of_array(self.rows))
        return TableProfile.fit(cells_of_frame(self.treatment, self.opened.sample.frame))

    def names(self, rows: Table) -> "pl.Series":
        """What names rows of the table."""
        return rows.row_ids if self.treatment is None else self.treatment.row_ids(rows)

    @property
    def id_name(self) -> str:
        """What the names of rows are called."""
        return "row" if self.treatment is None else self.names(self.opened.sample.slice(0, 1)).name


def doubts_of(rows: FloatArray) -> tuple[str, ...]:
    """Why a table, given by its numbers (rows x features), cannot tell much.

    >>> doubts_of(np.ones((2, 1)))
    ('2 rows are too few to tell what is usual: give at least 20', 'all rows are alike: none of them can be odd')
    """
    few = f"{wording.count(len(rows), 'row')} are too few to tell what is usual: give at least {FEW_ROWS}"
    alike = "all rows are alike: none of them can be odd"
    found = ((len(rows) < FEW_ROWS, few), (bool((rows == rows[:1]).all()), alike))
    return tuple(said for is_so, said in found if is_so)


def false_alarms_of(chance: FloatArray | None, labels: NDArray[np.intp]) -> float | None:
    """The share of the flagged rows that is expected to be no outliers; None where it is not known, or none is flagged.

    >>> false_alarms_of(np.array([0.75, 0.2, 0.5]), np.array([1, 0, 1]))
    0.375
    """
    if chance is None or not labels.any():
        return None
    return float(1.0 - chance[labels == 1].mean())


def alarms_above(scores: FloatArray, threshold: float) -> float | None:
    """The same from log-odds and their threshold."""
    flagged = scores[scores > threshold]
    return None if len(flagged) == 0 else float(1.0 - chance_of(flagged).mean())


def evaluate(scores: FloatArray, labels: Labels) -> Evaluation | None:
    """How well scores rank the known outliers; None where only one kind is known.

    >>> evaluate(np.array([3.0, 1.0, 2.0]), Labels(np.array([1, 0, 0], np.int8), np.ones(3, bool), "")).ap
    1.0
    """
    y = labels.y[labels.known]
    if len(y) == 0 or y.min() == y.max():
        return None
    column = np.asarray(scores)[labels.known][:, None]
    ap, roc = (float(METRICS[name](column, y)[0]) for name in ("ap", "roc"))
    return Evaluation(ap, roc, len(y), int(y.sum()), labels.meaning)
