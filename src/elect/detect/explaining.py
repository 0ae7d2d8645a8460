"""Reasons in the user's terms: the column, what the row holds there, and what is usual."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.core.models import ModelSpec
from elect.detect.reasons import ScoreRows, column_drops, typical_values
from elect.pool.families import family_of
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnTreatment, values
from elect.tables.encoders import (
    BooleanEncoder,
    CategoryEncoder,
    FrequencyEncoder,
    NumberEncoder,
    TextEncoder,
    TimeEncoder,
)
from elect.tables.features import ColumnStep

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Reason:
    """A column that makes a row unusual: what the row holds, what is usual, and the share of the score it explains."""

    column: str
    value: str
    usual: str
    share: float

    def __str__(self) -> str:
        usual = f" ({self.usual})" if self.usual else ""
        return f"{self.column} = {self.value}{usual}"


@dataclass(frozen=True, eq=False)
class Explainer:
    """What reasons are made from: a score, typical values of every feature, and the score of an ordinary row."""

    score: ScoreRows
    typical: FloatArray
    ordinary: float
    treatment: ColumnTreatment

    def reasons(self, rows: FloatArray, cells: "pl.DataFrame") -> tuple[tuple[Reason, ...], ...]:
        """Reasons for each row; ``cells`` are the same rows as the user has them."""
        if len(rows) == 0:
            return ()
        drops = column_drops(self.score, rows, self.typical, feature_groups(self.treatment), ordinary=self.ordinary)
        steps = self.treatment.steps
        return tuple(
            tuple(
                Reason(steps[drop.column].column, *describe(steps[drop.column], cells, place), min(drop.share, 1.0))
                for drop in found
            )
            for place, found in enumerate(drops)
        )


def feature_groups(treatment: ColumnTreatment) -> list[IntArray]:
    """For each used input column, the positions of its features."""
    ends = np.cumsum([len(step.features) for step in treatment.steps])
    return [np.arange(end - len(step.features), end) for step, end in zip(treatment.steps, ends, strict=True)]


def explainer_for_fitted(
    detector: Any, spec: ModelSpec, X: FloatArray, explained: Sequence[int], treatment: ColumnTreatment
) -> Explainer:
    """Reasons for rows that the detector was fitted on.

    Detectors that look at neighbours are fitted again on the other rows: a row would otherwise be its own neighbour,
    and look ordinary wherever it is moved a little.
    """
    typical = typical_values(X, detector.decision_scores_, feature_groups(treatment))
    others = np.setdiff1d(np.arange(len(X)), np.asarray(explained, dtype=np.intp))
    family = family_of(spec)
    if family is not None and family.looks_at_neighbors and 2 <= len(others) < len(X):
        from elect.pool.detectors import new_detector

        detector = new_detector(
            spec, seed=detector.seed, trials=detector.trials, n_jobs=detector.n_threads, standardize=False
        ).fit(X[others])
    return Explainer(detector.decision_function, typical, float(np.median(detector.decision_scores_)), treatment)


def describe(step: ColumnStep, cells: "pl.DataFrame", place: int) -> tuple[str, str]:
    """What a row holds in a column, and what is usual there."""
    return cell_text(cells[step.column], place), _usual(step, cells[step.column][place : place + 1])


def cell_text(series: "pl.Series", place: int) -> str:
    """What a cell holds, as people write it."""
    return wording.cell(values.words(series[place : place + 1])[0])


def _usual(step: ColumnStep, cell: "pl.Series") -> str:
    encoder = step.encoder
    if isinstance(encoder, NumberEncoder):
        return f"median {wording.cell(encoder.fill)}"
    if isinstance(encoder, BooleanEncoder):
        return f"mostly {'true' if encoder.fill else 'false'}"
    if isinstance(encoder, TimeEncoder):
        return f"median {_moment(encoder)}"
    if isinstance(encoder, FrequencyEncoder):
        count = round(encoder.rows / float(np.exp(encoder.encode(cell)[0, 0])))
        return f"seen {wording.count(count, 'time')} in {wording.count(encoder.rows, 'row')}"
    if isinstance(encoder, TextEncoder):
        return f"median {wording.count(round(float(np.expm1(encoder.fill[0]))), 'character')}"
    if isinstance(encoder, CategoryEncoder):
        return _share(step, encoder, cell)
    return ""


def _share(step: ColumnStep, encoder: CategoryEncoder, cell: "pl.Series") -> str:
    """The share of rows with the row's category: the centre of a 0/1 feature is its mean.

    Rare categories share a feature: what is known is how many rows have one of them.
    """
    encoded = encoder.encode(cell)[0, list(step.kept)]
    shares = [feature.center for value, feature in zip(encoded, step.features, strict=True) if value == 1.0]
    if not shares and len(encoder.outputs) == 1:
        shares = [1.0 - step.features[0].center]
    if not shares:
        return ""
    category = values.words(cell)[0]
    pooled = encoder.rare and category is not None and category not in encoder.categories
    together = "rare values, together " if pooled else ""
    return f"{together}{wording.percent(shares[0])} of rows"


def _moment(encoder: TimeEncoder) -> str:
    if encoder.clock:
        return f"{int(encoder.fill // 3600):02d}:{int(encoder.fill // 60 % 60):02d}"
    try:
        when = datetime.fromtimestamp(encoder.fill, UTC)
    except (OverflowError, OSError, ValueError):
        return wording.number(encoder.fill)
    return when.strftime("%Y-%m-%d %H:%M" if encoder.fill % 86400 else "%Y-%m-%d")
