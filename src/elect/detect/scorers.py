"""How rows are scored: by the committee, or by the elected model alone."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elect.committee.committee import FittedCommittee
from elect.committee.scorer import RowScorer
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.support.arrays import FloatArray
from elect.tables import ColumnTreatment
from elect.tables.cells import Cells, cells_of_array, cells_of_frame

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class TableScorer:
    """Scores rows that are not of the fitted ones. Without a committee the elected detector scores them."""

    detector: Any
    treatment: ColumnTreatment | None
    committee: FittedCommittee | None

    def __call__(self, rows: FloatArray, frame: "pl.DataFrame | None") -> FloatArray:
        """The scores of rows, given as the numeric matrix and as the user has them (None for an array)."""
        if self.committee is not None:
            return self.committee.log_odds(rows, cells_of(self.treatment, rows, frame))
        scores: FloatArray = self.detector.decision_function(rows)
        return scores


def cells_of(treatment: ColumnTreatment | None, rows: FloatArray, frame: "pl.DataFrame | None") -> Cells:
    """The cells of rows as the committee judges them."""
    if treatment is None or frame is None:
        return cells_of_array(rows)
    return cells_of_frame(treatment, frame)


def row_scorer_of(database: MetaDatabase) -> RowScorer:
    """What the committee ranks rows by: the database's own, or the one that comes with the package."""
    if database.row_scorer is not None:
        return database.row_scorer
    from elect.history.shipped import shipped_database

    shipped = shipped_database().row_scorer
    if shipped is None:
        raise InvalidInput("This copy of elect has no row scorer: use scorer='model', or train a database with one.")
    return shipped
