"""The estimator people use: it selects a detector for the table at hand, fits it, and scores."""

import logging
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyod.models.base import BaseDetector
from sklearn.utils.validation import check_is_fitted, validate_data

from elect.committee.scorer import chance_of
from elect.detect.any_rows import AnyRows, FittedRows
from elect.detect.detection import Detection, TopRow, false_alarms_of
from elect.detect.drift import Drift, drift_of
from elect.detect.election import Election
from elect.detect.explaining import Explainer
from elect.detect.findings import findings_of, model_explainer
from elect.detect.opened import OpenedTable, open_array, open_table
from elect.detect.options import Options
from elect.detect.output import check_output, write_whole
from elect.detect.result_table import beside, result_columns
from elect.detect.saving import SavedDetector, kept, load_saved, saved_bytes
from elect.detect.scorers import TableScorer
from elect.errors import ElectWarning, InvalidInput, WrongType, check_word
from elect.history.database import MetaDatabase
from elect.history.shipped import load_database
from elect.support import wording
from elect.support.arrays import FloatArray
from elect.support.meter import Meter, meter
from elect.tables import is_frame, read_table
from elect.tables.cells import cells_of_array, cells_of_frame
from elect.tables.profile import TableProfile

if TYPE_CHECKING:
    from elect.answers import Answer

_LOG = logging.getLogger("elect")

MAX_DENSE_CELLS = 50_000_000
"""Sparse input is made dense up to this many cells (400 MB), and refused above."""

EXPECTED_FAILED_CHECKS = {
    "check_outliers_fit_predict": "labels are PyOD's (1 for an outlier, 0 otherwise), not scikit-learn's (-1 and 1)",
    "check_outliers_train": "labels are PyOD's (1 for an outlier, 0 otherwise), not scikit-learn's (-1 and 1)",
    "check_estimator_sparse_array": "the check takes predict_proba, which PyOD's contract has, for a classifier's",
    "check_estimator_sparse_matrix": "the check takes predict_proba, which PyOD's contract has, for a classifier's",
}
"""The checks of ``sklearn.utils.estimator_checks.check_estimator`` that ElectDetector fails, and why."""


class ElectDetector(BaseDetector):  # type: ignore[misc]
    """Elects an outlier detector for a table without labels, fits it and scores with it.

    It honours PyOD's contract (labels are 1 for an outlier, 0 otherwise; higher scores are more outlying) and
    scikit-learn's. After ``fit`` it has ``selection_`` (what was elected and why) and ``detector_``, a fitted PyOD
    detector of its own.

    Parameters
    ----------
    contamination : float or "auto"
        The share of rows to label as outliers, or ``"auto"``, as on the command line: see
        ``elect.detect.threshold``.
    scorer : "committee" or "model"
        What ranks the rows: the committee, whose scores are log-odds (``chance_`` has the chances), or the elected
        model alone.
    database : None, path or MetaDatabase
        The history to elect from; None is the one that comes with the package.
    strategy : "auto", "committee", "fixed" or "elect"
        How to elect: see ``elect.strategies``. ``"auto"`` is ``"committee"``, which scores the quick models, or
        ``"elect"``, the paper's search, where ``max_models`` sets it a budget.
    max_models : int or None
        The budget in evaluated models. None is all quick models, and for ``"elect"`` the paper's 50, of which its
        patience may leave some.
    max_seconds : float or None
        The budget in seconds, for the search and, where a table has more than 100,000 rows, for scoring them: the
        committee is then made smaller if it must be, and ``selection_.notes`` says so.
    random_state : int
        Equal states give equal results. None is 0: a selection should not change from call to call.
    n_jobs : int or None
        Threads to use, as in joblib.
    verbose : bool
        Show progress while fitting, in a terminal or a notebook. What was done is logged, too, by the logger ``elect``.

    Numeric arrays must be finite, and are taken as they are. Frames (pandas, polars) are treated column by column as
    ``elect.tables`` says and as the command line does: text, dates and missing values become numbers, columns that name
    the rows or repeat another are left out. New rows are treated the same way, their columns found by name. Sparse
    input is made dense where it fits. Above 10,000 rows the selection and the fit use a seeded sample of so many, and
    every row is scored in chunks.

    >>> X = np.vstack([np.random.default_rng(0).normal(size=(200, 3)), [[8.0, 8.0, 8.0]]])
    >>> detector = ElectDetector(max_models=5).fit(X)
    >>> int(detector.decision_scores_.argmax())
    200
    """

    def __init__(
        self,
        contamination: Any = "auto",
        *,
        scorer: str = "committee",
        database: Any = None,
        strategy: str = "auto",
        max_seconds: float | None = None,
        max_models: int | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        # scikit-learn's contract: only assign here, validate in fit. PyOD's base would validate.
        self.contamination = contamination
        self.scorer = scorer
        self.database = database
        self.strategy = strategy
        self.max_seconds = max_seconds
        self.max_models = max_models
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, *, answers: "Mapping[int, bool | None] | Iterable[Answer] | None" = None
    ) -> "ElectDetector":
        """Elect a detector, fit it and score the rows of X. ``y`` is ignored.

        ``answers`` are what a person said of rows of X: ``Feedback.answers``, or True, False or None (not known) by the
        position of the row. They count for all rows, those of X and new ones, elect again, and are saved along.

        A table that cannot tell much (two rows, all rows alike) is fitted with an ``ElectWarning``.
        """
        options = self._options()
        with meter(bool(self.verbose)) as bar:
            bar.stage("reading the table", 1)
            opened = self._open(X, options.seed)
            election = Election(opened, self._load_database(), options)
            _LOG.info("%s: %s", opened.source, wording.count(opened.n_rows, "row"))
            if options.max_seconds is not None:
                election.plan()
            bar.stage("electing a detector", election.most_models or 1)
            for _ in election.steps():
                bar.advance()
            selection = election.selection()
            _LOG.info("elected %s: %s", selection.model_id, selection.course)
            bar.stage("scoring all rows", opened.n_rows)
            election.meter = bar
            feedback = others = None
            if answers is not None:
                from elect.detect.asked import answered_session

                feedback, others = answered_session(election, selection, answers)
                selection = feedback.selection
            detection = election.detect(selection, feedback, others)
            election.meter = Meter()
        for doubt in detection.doubts:
            warnings.warn(doubt, ElectWarning, stacklevel=2)
        flagged = wording.count(int(detection.labels.sum()))
        _LOG.info("%s of %s flagged", flagged, wording.count(len(detection.scores), "row"))
        self._adopt(kept(detection, profiled=False))
        self._fit: tuple[Election, Detection] | None = (election, detection)
        return self

    def _adopt(self, found: SavedDetector) -> "ElectDetector":
        """Take over what was found, or what a file holds."""
        self._set_n_classes(None)
        self.selection_ = found.selection
        self.detector_ = found.detector
        self.committee_ = found.committee
        self._answers = found.answers
        self.treatment_ = found.treatment
        self.decision_scores_ = np.array(found.scores)
        self.chance_ = None if found.committee is None else chance_of(self.decision_scores_)
        self.threshold_ = found.threshold
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        self._mu, self._sigma = found.mean_score, found.spread_of_scores
        self._explainer: Explainer | None = found.explainer
        self._profile = found.profile
        self._fit = None
        return self

    def __getstate__(self) -> Any:
        # A copy is for new rows: the table that was fitted is not taken along.
        state = super().__getstate__()
        return {**state, "_fit": None, "_profile": self._spread()} if "_fit" in state else state

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of rows, seen or not; higher is more outlying."""
        check_is_fitted(self, ["decision_scores_"])
        scorer = self._scorer()
        if self.treatment_ is None:
            return scorer(self._numeric(X, reset=False), None)
        table = read_table(self._named(X))
        return scorer(self.treatment_.transform(table), table.frame)

    def score_partition(self, frame: Any) -> Any:
        """A frame (pandas or polars) with what is said of each row in further columns, as ``elect score`` writes them:
        ``elect_score``, ``elect_chance``, ``elect_outlier``; and ``elect_kind`` and ``elect_reasons`` of flagged rows.

        A row says the same alone and in any partition, on any machine: made for ``map_partitions`` of dask and
        ``mapInPandas`` of Spark. Rows that were fitted are taken as new ones. An empty frame gets its columns too.

        >>> import polars as pl
        >>> frame = pl.DataFrame({"a": [*range(50), 900], "b": [x % 7 for x in range(51)]})
        >>> scored = ElectDetector(strategy="fixed").fit(frame).score_partition(frame[40:])
        >>> scored.columns[:4], int(scored["elect_score"].arg_max())
        (['a', 'b', 'elect_score', 'elect_chance'], 10)
        """
        check_is_fitted(self, ["decision_scores_"])
        if not is_frame(frame) or isinstance(frame, Mapping):
            raise WrongType(f"score_partition takes a pandas or polars frame, got {type(frame).__name__}.")
        told: tuple[TopRow, ...] = ()
        scores: FloatArray = np.empty(0)
        if len(frame):
            scores = self.decision_function(frame)
            flagged = np.flatnonzero(scores > self.threshold_)
            if len(flagged):
                table = read_table(frame)
                rows = table.frame[flagged]
                matrix = rows.to_numpy() if self.treatment_ is None else self.treatment_.transform(rows)
                known = AnyRows(self._scorer(), self.threshold_, None, self._reasons_of_model())
                told = known.explain(np.ascontiguousarray(matrix, dtype=np.float64), rows, table.row_ids[flagged])
        kinds: list[str | None] = [None] * len(scores)
        whys = list(kinds)
        for at, row in zip(np.flatnonzero(scores > self.threshold_), told, strict=True):
            kinds[at], whys[at] = row.kind, row.why
        results = result_columns(scores, self.threshold_, self.committee_ is not None, kinds, whys)
        return beside(frame, results)

    def explain(self, X: Any, rows: Any = None) -> tuple[TopRow, ...]:
        """What speaks for rows of X, seen or new: one record each, with ``position`` in X, ``id``, ``score``,
        ``chance``, ``kind`` and ``reasons`` (column, value, what is usual, share); as text it is one line.

        ``rows`` are positions in X, all rows without. A row that was fitted is judged as it was then.

        >>> X = np.vstack([np.random.default_rng(0).normal(size=(200, 3)).round(2), [[0.1, 9.0, 0.2]]])
        >>> detector = ElectDetector(max_models=5).fit(X)
        >>> found = detector.explain(X, [200])[0]
        >>> found.reasons[0].column, bool(found.chance == detector.chance_[200])
        ('x1', True)
        """
        check_is_fitted(self, ["decision_scores_"])
        table = read_table(self._numeric(X, reset=False) if self.treatment_ is None else self._named(X))
        ids = table.row_ids if self.treatment_ is None else self.treatment_.row_ids(table)
        at = _positions(rows, table.n_rows)
        frame = table.frame[at]
        matrix = frame.to_numpy() if self.treatment_ is None else self.treatment_.transform(frame)
        known = AnyRows(self._scorer(), self.threshold_, self._seen(), self._reasons_of_model())
        return tuple(
            replace(found, position=int(place))
            for place, found in zip(at, known.explain(np.ascontiguousarray(matrix), frame, ids[at]), strict=True)
        )

    def drift(self, X: Any) -> Drift:
        """Whether new rows still come from the world the detector was made in: which columns moved, and whether more
        rows are flagged than were then. As text it is one sentence; it is true where something changed.

        >>> X = np.random.default_rng(0).normal(size=(400, 2)).round(2)
        >>> detector = ElectDetector(max_models=5).fit(X)
        >>> bool(detector.drift(X[:200])), [moved.column for moved in detector.drift(X[:200] + [0.0, 3.0]).columns]
        (False, ['x1'])
        """
        scores, before = self.decision_function(X), self._spread()
        if self.treatment_ is None:
            cells = cells_of_array(self._numeric(X, reset=False))
        else:
            cells = cells_of_frame(self.treatment_, read_table(self._named(X)).frame)
        after = None if before is None else before.count(cells)
        return drift_of(before, after, self.decision_scores_, scores, self.threshold_)

    def _spread(self) -> TableProfile | None:
        """How the columns were spread; None where the detector comes from a file that does not say so."""
        return self._profile if self._fit is None else self._fit[1].profile

    def report(self, path: str | PathLike[str], *, top: int = 10) -> None:
        """Write the report about the table that was fitted, one HTML file, of which ``top`` rows are shown at once."""
        check_is_fitted(self, ["decision_scores_"])
        if self._fit is None:
            raise InvalidInput(
                "A detector that was loaded or copied has no table to report on: fit one, or run elect detect --report."
            )
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise InvalidInput(f"top must be a whole number of at least 1, got {top!r}.")
        if not isinstance(path, str | PathLike):
            raise WrongType(f"path must be a text or a path, got {type(path).__name__}.")
        check_output(path, "path", (".html", ".htm"))
        from elect.report.reporting import report_of

        election, detection = self._fit
        write_whole(path, report_of(detection, findings_of(election, detection, top), top).encode())

    def _repr_html_(self) -> str:
        """What a notebook shows: the flagged rows with their reasons, and the pick."""
        if not hasattr(self, "decision_scores_"):
            return f"<pre>{escape(repr(self))}</pre>"
        from elect.report.notebook import detector_html

        top = () if self._fit is None else findings_of(*self._fit, top=10).top[:10]
        alarms = false_alarms_of(self.chance_, self.labels_)
        id_name = "row" if self._fit is None else self._fit[1].id_name
        return detector_html(len(self.labels_), int(self.labels_.sum()), alarms, top, self.selection_, id_name)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _scorer(self) -> TableScorer:
        return TableScorer(self.detector_, self.treatment_, self.committee_, self._answers)

    def _seen(self) -> FittedRows | None:
        return None if self._fit is None else FittedRows.of(self._fit[1])

    def _reasons_of_model(self) -> Explainer | None:
        if self.committee_ is None and self._explainer is None and self._fit is not None:
            self._explainer = model_explainer(*self._fit)
        return self._explainer

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """1 for rows above the threshold, 0 otherwise."""
        labels = (self.decision_function(X) > self.threshold_).astype(int)
        return (labels, self.predict_confidence(X)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """The chance of being normal and of being an outlier: the committee's, or a model's by PyOD's conversions."""
        check_is_fitted(self, ["decision_scores_"])
        if self.committee_ is not None:
            chance = chance_of(self.decision_function(X))
            both = np.column_stack([1.0 - chance, chance])
            return (both, self.predict_confidence(X)) if return_confidence else both
        check_word("method", method, ("linear", "unify"))
        # PyOD asks for the shape of what it is given.
        rows = self._numeric(X, reset=False) if self.treatment_ is None else read_table(self._named(X)).frame
        if np.ptp(self.decision_scores_) == 0 and method == "unify":
            return np.tile([1.0, 0.0], (rows.shape[0], 1))
        return super().predict_proba(rows, method=method, return_confidence=return_confidence)

    def predict_confidence(self, X: Any) -> FloatArray:
        """How sure a label is, by PyOD's measure of stability; with ``"auto"`` at the share of outliers found."""
        if self.contamination != "auto":
            confidence: FloatArray = super().predict_confidence(X)
            return confidence
        found = min(max(float(self.labels_.mean()), 1.0 / len(self.labels_)), 0.5)
        fixed = ElectDetector(contamination=found, scorer=self.scorer)
        fixed.__dict__.update({**self.__dict__, "contamination": found})
        return fixed.predict_confidence(X)

    def _open(self, X: Any, seed: int) -> OpenedTable:
        """A frame is a table whose columns are treated, as on the command line; an array is taken as it is."""
        X = _dense(X)
        if isinstance(X, str | PathLike):
            raise WrongType(
                f"X must be a table, got the name of one: fit(elect.tables.read_table({str(X)!r})) reads it."
            )
        if not is_frame(X):
            return open_array(self._numeric(X, reset=True))
        table = read_table(X)
        self._name_columns(table.columns)
        return open_table(table, seed)

    def _name_columns(self, names: Sequence[str]) -> None:
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)

    def _named(self, X: Any) -> Any:
        """A table with the names of the columns that were fitted: an array has them by position, all else its own."""
        X = _dense(X)
        if not isinstance(X, np.ndarray) or X.dtype.names is not None:
            return X
        table = read_table(X)
        if table.n_columns != self.n_features_in_:
            raise InvalidInput(
                f"X must have the {self.n_features_in_} columns that were fitted, got {table.n_columns}."
            )
        return replace(table, frame=table.frame.rename(dict(zip(table.columns, self.feature_names_in_, strict=True))))

    def _numeric(self, X: Any, *, reset: bool) -> FloatArray:
        """A finite array, checked and refused in scikit-learn's words; but missing values and text have a remedy."""
        if np.ma.isMaskedArray(X):
            X = np.ma.filled(X.astype(np.float64), np.nan)
        try:
            rows = validate_data(
                self,
                _dense(X),
                dtype=np.float64,
                reset=reset,
                ensure_min_samples=2 if reset else 1,
                order=None,
            )
        except (ValueError, TypeError) as error:
            if "contains NaN" in str(error):
                raise InvalidInput(
                    "Input X contains NaN, and an array is taken as it is: give a pandas or polars frame, whose "
                    "missing values are treated, or fill them."
                ) from None
            if "could not convert string" in str(error):
                raise InvalidInput(
                    f"{error}. Input X holds text, and an array is taken as numbers: give a pandas or polars frame, "
                    "whose text, dates and missing values are treated."
                ) from None
            raise (WrongType if isinstance(error, TypeError) else InvalidInput)(str(error)) from None
        return np.asarray(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _seed(self) -> int:
        state = self.random_state
        if state is None:
            return 0
        if isinstance(state, np.random.RandomState):
            return int(state.randint(2**31 - 1))
        if isinstance(state, bool) or not isinstance(state, int | np.integer) or state < 0:
            raise InvalidInput(
                f"random_state must be None, a whole number of at least 0 or a RandomState, got {state!r}."
            )
        return int(state)

    def _options(self) -> Options:
        return Options(
            contamination=self.contamination,
            scorer=self.scorer,  # type: ignore[arg-type]
            strategy=self.strategy,
            max_models=self.max_models,
            max_seconds=self.max_seconds,
            seed=self._seed(),
            n_jobs=self.n_jobs,
        )

    def _load_database(self) -> MetaDatabase:
        if isinstance(self.database, MetaDatabase):
            return self.database
        if self.database is None or isinstance(self.database, str | PathLike):
            database = load_database(self.database)
            if any(spec.is_custom for spec in database.pool):
                # Fitting such a model would import whatever class the file names.
                raise InvalidInput(
                    f"{self.database} names detector classes of its own: use MetaDatabase.load(path, pool=...), "
                    "the pool holding those classes, and pass the database itself."
                )
            return database
        raise InvalidInput(f"database must be None, a path or a MetaDatabase, got {type(self.database).__name__}.")


def save_detector(detector: ElectDetector, path: str | PathLike[str], *, trust: bool = False) -> None:
    """Write a fitted ``ElectDetector`` to a file (by custom ``*.elect-detector``), whole or not at all."""
    if not hasattr(detector, "detector_"):
        raise InvalidInput("Only a fitted detector can be saved: call fit first.")
    saved = SavedDetector(
        selection=detector.selection_,
        detector=detector.detector_,
        treatment=detector.treatment_,
        contamination=detector.contamination,
        threshold=float(detector.threshold_),
        scores=detector.decision_scores_,
        mean_score=float(detector._mu),
        spread_of_scores=float(detector._sigma),
        committee=detector.committee_,
        answers=detector._answers,
        profile=detector._spread(),
    )
    write_whole(path, saved_bytes(saved, trust=trust))


def load_detector(path: str | PathLike[str], *, trust: bool = False, n_jobs: int | None = None) -> ElectDetector:
    """The detector in a file, ready for ``decision_function`` and ``predict`` on new rows. Nothing is executed."""
    saved = load_saved(path, trust=trust, n_jobs=n_jobs)
    scorer = "model" if saved.committee is None else "committee"
    detector = ElectDetector(saved.contamination, scorer=scorer)._adopt(saved)
    if saved.treatment is None:
        detector.n_features_in_ = saved.detector.n_features_in_
    else:
        detector._name_columns([summary.column for summary in saved.treatment.summary()])
    return detector


def _positions(rows: Any, n: int) -> NDArray[np.intp]:
    """Positions in a table of ``n`` rows, given as such or as truth values; all where none are given."""
    if rows is None:
        return np.arange(n)
    at = np.atleast_1d(np.asarray(rows))
    if at.dtype == bool and at.shape == (n,):
        return np.flatnonzero(at)
    if at.ndim != 1 or not (at.size == 0 or np.issubdtype(at.dtype, np.integer)) or (np.abs(at + 0.5) > n).any():
        raise InvalidInput(f"rows must be positions from 0 to {n - 1}, or a truth value for each row, got {rows!r}.")
    return at.astype(np.intp) % n


def _dense(X: Any) -> Any:
    if not (hasattr(X, "toarray") and hasattr(X, "nnz")):
        return X
    cells = int(np.prod(X.shape))
    if cells > MAX_DENSE_CELLS:
        raise InvalidInput(
            f"Sparse input is made dense, which must be at most {MAX_DENSE_CELLS:,} cells; got {cells:,}: "
            "reduce its columns first, for instance with TruncatedSVD."
        )
    return X.toarray()
