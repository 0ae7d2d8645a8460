"""The estimator people use: it selects a detector for the table at hand, fits it, and scores."""

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from pyod.models.base import BaseDetector
from sklearn.utils.validation import check_is_fitted, validate_data

from elect.core import Selection
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.pool import PoolScorer
from elect.pool.detectors import detector_from
from elect.strategies import DEFAULT, STRATEGIES, select
from elect.support.arrays import FloatArray, IntArray
from elect.tables import ColumnTreatment

MAX_ROWS = 10_000
"""Above this many rows the selection, and the fit of the chosen detector, use a seeded sample of so many."""

MAX_DENSE_CELLS = 50_000_000
"""Sparse input is made dense up to this many cells (400 MB), and refused above."""

AUTO_CUTOFF = 3.5

EXPECTED_FAILED_CHECKS = {
    "check_outliers_fit_predict": "labels are PyOD's (1 for an outlier, 0 otherwise), not scikit-learn's (-1 and 1)",
    "check_outliers_train": "labels are PyOD's (1 for an outlier, 0 otherwise), not scikit-learn's (-1 and 1)",
    "check_estimator_sparse_array": "the check takes predict_proba, which PyOD's contract has, for a classifier's",
    "check_estimator_sparse_matrix": "the check takes predict_proba, which PyOD's contract has, for a classifier's",
}
"""The checks of ``sklearn.utils.estimator_checks.check_estimator`` that ElectDetector fails, and why."""


def auto_threshold(scores: FloatArray) -> float:
    """The threshold of ``contamination="auto"``: a modified z-score of 3.5 (Iglewicz and Hoaglin, 1993).

    A score is outlying if it lies more than 3.5 robust standard deviations (the median absolute deviation over 0.6745)
    above the median. Unlike a fixed share it can find no outlier, or many. Where more than half of the scores are
    equal, everything above them is outlying.

    >>> import numpy as np
    >>> round(auto_threshold(np.array([1.0, 2.0, 3.0, 4.0, 50.0])), 2)
    8.19
    """
    middle = float(np.median(scores))
    spread = float(np.median(np.abs(scores - middle))) / 0.6745
    return middle + AUTO_CUTOFF * spread


class ElectDetector(BaseDetector):  # type: ignore[misc]
    """Elects an outlier detector for a table without labels, fits it and scores with it.

    It honours PyOD's contract (labels are 1 for an outlier, 0 otherwise; higher scores are more outlying) and
    scikit-learn's. After ``fit`` it has ``selection_`` (what was elected and why) and ``detector_``, a fitted PyOD
    detector of its own.

    Parameters
    ----------
    contamination : float or "auto"
        The share of rows to label as outliers, or ``"auto"``: see ``auto_threshold``.
    database : None, path or MetaDatabase
        The history to elect from; None is the one that comes with the package.
    strategy : "auto", "learned", "consensus", "fixed" or "elect"
        How to elect: see ``elect.strategies``. ``"auto"`` is ``"learned"``, which scores the whole pool, or
        ``"elect"``, the paper's search, where ``max_models`` sets it a budget.
    max_models : int or None
        The budget in evaluated models. None is the whole pool, and for ``"elect"`` the paper's 50, of which its
        patience may leave some.
    max_seconds : float or None
        The budget in seconds.
    random_state : int
        Equal states give equal results. None is 0: a selection should not change from call to call.
    n_jobs : threads to use, as in joblib.

    Numeric arrays must be finite. Frames (pandas, polars) with text, dates or missing values are treated column by
    column as ``elect.tables`` says, and new rows the same way. Sparse input is made dense where it fits. Above 10,000
    rows the selection and the fit use a seeded sample of so many, and every row is scored in chunks.

    >>> X = np.vstack([np.random.default_rng(0).normal(size=(200, 3)), [[8.0, 8.0, 8.0]]])
    >>> detector = ElectDetector(max_models=5).fit(X)
    >>> int(detector.decision_scores_.argmax())
    200
    """

    def __init__(
        self,
        contamination: Any = 0.1,
        *,
        database: Any = None,
        strategy: str = "auto",
        max_seconds: float | None = None,
        max_models: int | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        # scikit-learn's contract: only assign here, validate in fit. PyOD's base would validate.
        self.contamination = contamination
        self.database = database
        self.strategy = strategy
        self.max_seconds = max_seconds
        self.max_models = max_models
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "ElectDetector":
        """Elect a detector, fit it and score the rows of X. ``y`` is ignored."""
        self._check_params()
        rows, treatment = self._learn(X)
        database = self._load_database()
        seed = self._seed()
        sample = sample_rows(len(rows), seed)
        scorer = PoolScorer(
            rows if sample is None else rows[sample],
            database.pool,
            seed=seed,
            n_jobs=self.n_jobs,
            standardize=treatment is None,
        )
        selection = select(
            database,
            scorer,
            strategy=chosen_strategy(self.strategy, self.max_models),
            max_models=self.max_models,
            max_seconds=self.max_seconds,
            seed=seed,
        )
        return self._adopt(scorer, selection, rows, sample, treatment)

    def _adopt(
        self,
        scorer: PoolScorer,
        selection: Selection,
        rows: FloatArray,
        sample: IntArray | None,
        treatment: ColumnTreatment | None,
    ) -> "ElectDetector":
        """Take over an election: fit the pick, score every row, set the threshold."""
        share = self.contamination if isinstance(self.contamination, float) else 0.1
        self.detector_ = detector_from(scorer, selection.model_id, contamination=share)
        note = scorer.note(selection.model_id)
        notes = [] if note is None else [note]
        self._set_n_classes(None)
        if sample is None:
            self.decision_scores_ = np.array(self.detector_.decision_scores_)
        else:
            notes.append(f"elected and fitted on a seeded sample of {len(sample):,} of the {len(rows):,} rows")
            # Rows that were fitted keep their training scores, in which a row is not its own neighbour.
            self.decision_scores_ = self.detector_.decision_function(rows)
            self.decision_scores_[sample] = self.detector_.decision_scores_
        self.selection_ = replace(selection, notes=(*selection.notes, *notes))
        self.treatment_ = treatment
        if treatment is not None:
            self.n_features_in_ = len(treatment.sources)
        self._process_decision_scores()
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Scores of rows, seen or not; higher is more outlying."""
        check_is_fitted(self, ["decision_scores_"])
        rows = self._numeric(X, reset=False) if self.treatment_ is None else self.treatment_.transform(X)
        scores: FloatArray = self.detector_.decision_function(rows)
        return scores

    def predict(self, X: Any, return_confidence: bool = False) -> Any:
        """1 for rows above the threshold, 0 otherwise."""
        labels = (self.decision_function(X) > self.threshold_).astype(int)
        return (labels, self.predict_confidence(X)) if return_confidence else labels

    def predict_proba(self, X: Any, method: str = "linear", return_confidence: bool = False) -> Any:
        """The chance of being normal and of being an outlier, by PyOD's conversions."""
        check_is_fitted(self, ["decision_scores_"])
        rows = X if hasattr(X, "shape") else np.asarray(X)
        if np.ptp(self.decision_scores_) == 0 and method == "unify":
            return np.tile([1.0, 0.0], (rows.shape[0], 1))
        return super().predict_proba(rows, method=method, return_confidence=return_confidence)

    def _process_decision_scores(self) -> "ElectDetector":
        if self.contamination == "auto":
            self.threshold_ = auto_threshold(self.decision_scores_)
        else:
            self.threshold_ = float(np.percentile(self.decision_scores_, 100 * (1 - self.contamination)))
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        self._mu, self._sigma = np.mean(self.decision_scores_), np.std(self.decision_scores_)
        return self

    def predict_confidence(self, X: Any) -> FloatArray:
        """How sure a label is, by PyOD's measure of stability; with ``"auto"`` at the share of outliers found."""
        if self.contamination != "auto":
            confidence: FloatArray = super().predict_confidence(X)
            return confidence
        found = min(max(float(self.labels_.mean()), 1.0 / len(self.labels_)), 0.5)
        fixed = ElectDetector(contamination=found)
        fixed.__dict__.update({**self.__dict__, "contamination": found})
        return fixed.predict_confidence(X)

    def _learn(self, X: Any) -> tuple[FloatArray, ColumnTreatment | None]:
        """The numeric rows of X, and the treatment of its columns if it needed one."""
        X = _dense(X)
        if _is_frame(X) and not _is_numeric(X):
            treatment, rows = ColumnTreatment.fit_transform(X)
            return rows, treatment
        return self._numeric(X, reset=True), None

    def _numeric(self, X: Any, *, reset: bool) -> FloatArray:
        """A finite array, checked and refused in scikit-learn's words."""
        try:
            rows = validate_data(
                self, _dense(X), dtype=np.float64, reset=reset, ensure_min_samples=2 if reset else 1, order=None
            )
        except ValueError as error:
            raise InvalidInput(str(error)) from None
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
        return int(state)

    def _check_params(self) -> None:
        share = self.contamination
        number = isinstance(share, float | int) and not isinstance(share, bool) and 0 < share <= 0.5
        if not number and share != "auto":
            raise InvalidInput(f"contamination must be 'auto' or a number in (0, 0.5], got {share!r}.")
        chosen_strategy(self.strategy, self.max_models)

    def _load_database(self) -> MetaDatabase:
        if self.database is None:
            from elect.history.shipped import shipped_database

            return shipped_database()
        if isinstance(self.database, MetaDatabase):
            return self.database
        if isinstance(self.database, str | PathLike):
            database = MetaDatabase.load(self.database)
            if any(spec.is_custom for spec in database.pool):
                # Fitting such a model would import whatever class the file names.
                raise InvalidInput(
                    f"{self.database} names detector classes of its own: use MetaDatabase.load(path, pool=...), "
                    "the pool holding those classes, and pass the database itself."
                )
            return database
        raise InvalidInput(f"database must be None, a path or a MetaDatabase, got {type(self.database).__name__}.")


def chosen_strategy(strategy: str, max_models: int | None) -> str:
    """What ``"auto"`` stands for: a budget of models is what the paper's search is made for."""
    if strategy == "auto":
        return DEFAULT if max_models is None else "elect"
    if strategy not in STRATEGIES:
        raise InvalidInput(f"strategy must be auto or one of {', '.join(STRATEGIES)}, got {strategy!r}.")
    return strategy


def sample_rows(n: int, seed: int) -> IntArray | None:
    """The rows to elect and fit on: all (None) up to 10,000, a seeded sample of so many above."""
    if n <= MAX_ROWS:
        return None
    return np.sort(np.random.default_rng([seed, n]).choice(n, MAX_ROWS, replace=False))


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


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray)


def _is_numeric(frame: Any) -> bool:
    try:
        values = np.asarray(frame.to_numpy())
    except Exception:
        return False
    return values.dtype.kind in "fiub" and bool(np.isfinite(values).all())
