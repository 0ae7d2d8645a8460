"""From an opened table to ranked rows: the election, the fit of the pick, every row's score, and reasons."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from elect.core import SearchStep, Selection
from elect.core.metrics import METRICS
from elect.detect.agreement import Agreement, agreement_of
from elect.detect.batches import score_batches
from elect.detect.explaining import Explainer, Reason, explainer_for_fitted
from elect.detect.opened import OpenedTable
from elect.detector import ElectDetector, chosen_strategy, sample_rows
from elect.history.database import MetaDatabase
from elect.pool import PoolScorer
from elect.strategies import STRATEGIES
from elect.support import wording
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnTreatment, Labels, TableError, read_labels

if TYPE_CHECKING:
    import polars as pl

MOST_EXPLAINED = 100
"""Rows found outlying get reasons, the most outlying first, up to so many (or as many as are shown)."""


@dataclass(frozen=True)
class Choices:
    """What the user asks for; the defaults are the command line's."""

    label: str | None = None
    id: str | None = None
    drop: tuple[str, ...] = ()
    columns: tuple[str, ...] | None = None
    contamination: float | Literal["auto"] = "auto"
    strategy: str = "auto"
    max_models: int | None = None
    max_seconds: float | None = None
    seed: int = 0
    n_jobs: int | None = -1


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
            f"({self.meaning}); the labels played no part in the pick"
        )


@dataclass(frozen=True)
class TopRow:
    """A row worth looking at. ``agreeing`` is the share of the evaluated models that rank it among their top rows too,
    None for a row outside of the sample they were evaluated on."""

    position: int
    id: str
    score: float
    is_outlier: bool
    reasons: tuple[Reason, ...]
    agreeing: float | None = None


@dataclass(frozen=True, eq=False)
class Detection:
    """Everything there is to say about a table. ``rows`` (the numeric matrix) and ``row_scores`` are of the whole table
    or, for one too long to be held, of the sample that was fitted."""

    opened: OpenedTable
    detector: ElectDetector
    row_ids: "pl.Series"
    top: tuple[TopRow, ...]
    explainer: Explainer
    agreement: Agreement
    rows: FloatArray
    row_scores: FloatArray
    evaluation: Evaluation | None = None
    notes: tuple[str, ...] = ()

    @property
    def selection(self) -> Selection:
        found: Selection = self.detector.selection_
        return found

    @property
    def treatment(self) -> ColumnTreatment:
        assert self.detector.treatment_ is not None
        return self.detector.treatment_

    @property
    def scores(self) -> FloatArray:
        return np.asarray(self.detector.decision_scores_)

    @property
    def labels(self) -> NDArray[np.intp]:
        return np.asarray(self.detector.labels_)

    @property
    def threshold(self) -> float:
        return float(self.detector.threshold_)


class Election:
    """A search on one table. Whoever consumes ``steps`` may stop after any of them, and gets the pick so far."""

    def __init__(self, opened: OpenedTable, database: MetaDatabase, choices: Choices) -> None:
        self.opened = opened
        self.database = database
        self.choices = choices
        self.detector = ElectDetector(
            choices.contamination,
            database=database,
            strategy=choices.strategy,
            max_models=choices.max_models,
            max_seconds=choices.max_seconds,
            random_state=choices.seed,
            n_jobs=choices.n_jobs,
        )
        self.detector._check_params()
        self.strategy = chosen_strategy(choices.strategy, choices.max_models)
        table = opened.sample
        self.treatment, rows = ColumnTreatment.fit_transform(
            table, label=choices.label, id=choices.id, drop=choices.drop, columns=choices.columns
        )
        # A label that cannot be used is said before the search, not after it.
        self.labels = None if opened.is_streamed else self.treatment.labels(table)
        sample = sample_rows(len(rows), choices.seed)
        self.fitted: IntArray = np.arange(len(rows)) if sample is None else sample
        self.scorer = PoolScorer(
            rows[self.fitted] if sample is not None else rows,
            database.pool,
            seed=choices.seed,
            n_jobs=choices.n_jobs,
            standardize=False,
        )
        self._rows = rows
        self._steps: list[SearchStep] = []

    @property
    def most_models(self) -> int | None:
        """How many models may be evaluated, if that is set."""
        if self.choices.max_models is None and self.strategy != "elect":
            return len(self.database.pool)
        return self.choices.max_models

    def steps(self) -> Iterator[SearchStep]:
        """One step for each evaluated model."""
        choices = self.choices
        for step in STRATEGIES[self.strategy](
            self.database,
            self.scorer,
            max_models=choices.max_models,
            max_seconds=choices.max_seconds,
            seed=choices.seed,
        ):
            self._steps.append(step)
            yield step

    def selection(self, stopped_because: str = "the caller stopped") -> Selection:
        """The pick after the steps consumed so far."""
        chosen = Selection.from_steps(
            self._steps,
            strategy=self.strategy,
            metric=self.database.settings.metric,
            stopped_because=stopped_because,
        )
        note = self.scorer.note(chosen.model_id)
        return chosen if note is None else replace(chosen, notes=(*chosen.notes, note))

    def evaluation(self, selection: Selection) -> Evaluation | None:
        """How well the pick did on the rows it was elected on, where their labels are known."""
        if self.labels is None:
            return None
        kept = Labels(self.labels.y[self.fitted], self.labels.known[self.fitted], self.labels.meaning)
        return evaluate(self.scorer.scores(selection.model_id), kept)

    def detect(self, selection: Selection, top: int = 10) -> Detection:
        """Fit the pick, score every row and explain the most outlying ones."""
        detector, opened = self.detector, self.opened
        own = self.scorer.note(selection.model_id)  # ``_adopt`` adds it again
        plain = replace(selection, notes=tuple(note for note in selection.notes if note != own))
        if opened.positions is None:
            sample = None if len(self.fitted) == len(self._rows) else self.fitted
            detector._adopt(self.scorer, plain, self._rows, sample, self.treatment)
            everything = _Everything(opened.sample, self._rows, detector.decision_scores_)
            labels, rows = self.labels, self._rows
        else:
            detector._adopt(self.scorer, plain, self._rows[self.fitted], None, self.treatment)
            everything = self._score_batches(opened.positions[self.fitted], top)
            labels, rows = everything.labels, self._rows[self.fitted]
            note = f"elected and fitted on a seeded sample of {len(rows):,} of the {opened.n_rows:,} rows"
            detector.selection_ = replace(detector.selection_, notes=(*detector.selection_.notes, note))
        row_scores = np.array(detector.decision_scores_)
        if everything.scores is not None:
            detector.decision_scores_ = everything.scores
            detector._process_decision_scores()
        shown = self._places(top)
        agreement = agreement_of(self.scorer, selection, int(detector.labels_.sum()))
        tops, explainer = self._explain(everything, shown, agreement)
        return Detection(
            opened=opened,
            detector=detector,
            row_ids=everything.row_ids(self.treatment),
            top=tops,
            explainer=explainer,
            agreement=agreement,
            rows=rows,
            row_scores=row_scores,
            evaluation=None if labels is None else evaluate(detector.decision_scores_, labels),
            notes=everything.notes,
        )

    def _places(self, top: int) -> IntArray:
        """The rows to explain, most outlying first."""
        outliers = int(self.detector.labels_.sum())
        count = max(top, min(outliers, MOST_EXPLAINED))
        return np.argsort(-self.detector.decision_scores_, kind="stable")[:count]

    def _explain(
        self, everything: "_Everything", shown: IntArray, agreement: Agreement
    ) -> tuple[tuple[TopRow, ...], Explainer]:
        fitted = self.fitted if self.opened.positions is None else self.opened.positions[self.fitted]
        place_of = {int(position): place for place, position in enumerate(fitted)}
        explained = [place_of[int(position)] for position in shown if int(position) in place_of]
        explainer = explainer_for_fitted(
            self.detector.detector_,
            self.database.pool[self.detector.selection_.model_id],
            self._rows[self.fitted],
            explained,
            self.treatment,
        )
        rows, cells, ids = everything.at(shown, self.treatment)
        reasons = explainer.reasons(rows, cells)
        tops = tuple(
            TopRow(
                position=int(position),
                id=ids[place],
                score=float(self.detector.decision_scores_[position]),
                is_outlier=bool(self.detector.labels_[position]),
                reasons=reasons[place],
                agreeing=agreement.of_row(place_of.get(int(position))),
            )
            for place, position in enumerate(shown)
        )
        return tops, explainer

    def _score_batches(self, fitted: IntArray, top: int) -> "_Everything":
        keep = max(top, MOST_EXPLAINED)
        found = score_batches(self.opened.batches(), self.detector, keep=keep, fitted=fitted, label=self.choices.label)
        labels, notes = None, found.notes
        if found.label is not None:
            try:
                labels = read_labels(found.label)
            except TableError as error:
                notes = (*notes, str(error))
        return _Everything(
            self.opened.sample, found.top_rows, found.scores, labels, notes, found.positions, found.top, found.ids
        )


@dataclass(frozen=True, eq=False)
class _Everything:
    """All scores of a table, and of its top rows the matrix and the cells."""

    table: Any
    matrix: FloatArray
    scores: FloatArray | None
    labels: Labels | None = None
    notes: tuple[str, ...] = ()
    positions: IntArray | None = None
    cells: "pl.DataFrame | None" = None
    ids: "pl.Series | None" = None

    def row_ids(self, treatment: ColumnTreatment) -> "pl.Series":
        return treatment.row_ids(self.table) if self.ids is None else self.ids

    def at(self, shown: IntArray, treatment: ColumnTreatment) -> tuple[FloatArray, "pl.DataFrame", list[str]]:
        """The matrix, the cells and the ids of some rows."""
        ids = [wording.short(str(name)) for name in self.row_ids(treatment)[shown]]
        if self.positions is None or self.cells is None:
            return self.matrix[shown], self.table.frame[shown], ids
        held = {int(position): place for place, position in enumerate(self.positions)}
        places = np.array([held[int(position)] for position in shown], dtype=np.intp)
        return self.matrix[places], self.cells[places], ids


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
