"""Training the pairwise performance predictor on the pairs of models of every historical task, and tuning its trees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from elect.errors import InvalidInput
from elect.measures import PAPER_MEASURES
from elect.paper.folds import group_folds
from elect.paper.predictor import PairwisePredictor, fill_features, predicted_gaps
from elect.paper.similarity import pair_indices
from elect.support.arrays import FloatArray, IntArray, read_only
from elect.support.boosting import Growth, boost
from elect.support.threads import n_threads
from elect.support.trees import MAX_LEAVES, MAX_TREES, TreeEnsemble


@dataclass(frozen=True)
class PredictorParams:
    """How the trees are grown.

    ``min_leaf_share`` is the smallest leaf allowed, as a share of the training rows: unlike a count it means the same
    for all pairs and for a sample of them. The defaults are near the best of cross-validation on the published
    measures (``benchmarks/predictor.py``); fewer rounds err a little less there, but give many pairs no gap at all.
    """

    num_leaves: int = 4
    rounds: int = 25
    learning_rate: float = 0.05
    min_leaf_share: float = 0.01

    def __post_init__(self) -> None:
        if not 2 <= self.num_leaves <= MAX_LEAVES:
            raise InvalidInput(f"num_leaves must lie between 2 and {MAX_LEAVES}, got {self.num_leaves}.")
        if not 1 <= self.rounds <= MAX_TREES:
            raise InvalidInput(f"rounds must lie between 1 and {MAX_TREES}, got {self.rounds}.")
        if self.num_leaves * self.rounds > 200_000:
            raise InvalidInput(
                f"num_leaves x rounds must be at most 200000, got {self.num_leaves} x {self.rounds}: "
                "a larger model could be trained but not stored."
            )
        if not 0.0 < self.learning_rate <= 1.0:
            raise InvalidInput(f"learning_rate must lie in (0, 1], got {self.learning_rate}.")
        if not 0.0 <= self.min_leaf_share < 0.5:
            raise InvalidInput(f"min_leaf_share must lie in [0, 0.5), got {self.min_leaf_share}.")


GRID = tuple(
    PredictorParams(num_leaves=leaves, rounds=rounds, min_leaf_share=share)
    for leaves, share, rounds in product((4, 8, 16, 31), (0.001, 0.01), (10, 25, 50, 100))
)
"""What ``tune_predictor`` tries unless told otherwise.

From 4 leaves, which see one or two measures at a time, to LightGBM's default of 31; at a fixed learning rate, which
trades off against the rounds; with leaves of at least a thousandth or a hundredth of the rows.
"""


def train_predictor(
    performance: FloatArray,
    measures: FloatArray,
    *,
    params: PredictorParams | None = None,
    pairs_per_task: int | None = None,
    seed: int = 0,
    measure_names: Sequence[str] = PAPER_MEASURES,
) -> PairwisePredictor:
    """Train on the pairs of models of every task: performance (tasks x models), measures (tasks x models x measures).

    ``pairs_per_task`` samples that many pairs of each task; None takes all. Each pair is shown in both directions.
    LightGBM runs in one thread: with several its sums, and so its trees, depend on how many there are. Equal
    arguments give an equal predictor, to the last bit of its text.
    """
    performance, measures = _checked_history(performance, measures)
    if len(measure_names) != measures.shape[2]:
        raise InvalidInput(f"measure_names must name each of the {measures.shape[2]} measures, got {measure_names}.")
    rows, gaps = _training_rows(performance, measures, _checked_pairs(pairs_per_task), seed)
    return PairwisePredictor(grow(rows, gaps, params or PredictorParams(), seed), tuple(measure_names))


@dataclass(frozen=True, eq=False)
class TuningResult:
    """The scores of each candidate under grouped cross-validation.

    ``errors`` (candidates x tasks) are root mean squared errors of the predicted gaps of each task while its fold was
    held out; ``zero_errors`` (tasks) those of predicting no gap at all; ``folds`` says which fold held a task out.
    """

    candidates: tuple[PredictorParams, ...]
    errors: FloatArray
    zero_errors: FloatArray
    folds: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "errors", read_only(self.errors))
        object.__setattr__(self, "zero_errors", read_only(self.zero_errors))

    @cached_property
    def mean_errors(self) -> FloatArray:
        """The mean error over tasks of each candidate."""
        means: FloatArray = read_only(self.errors.mean(axis=1))
        return means

    @property
    def best(self) -> PredictorParams:
        """The candidate of smallest mean error; of equal ones, the first."""
        return self.candidates[int(np.argmin(self.mean_errors))]


def tune_predictor(
    performance: FloatArray,
    measures: FloatArray,
    groups: Sequence[str],
    *,
    candidates: Sequence[PredictorParams] = GRID,
    n_folds: int = 5,
    pairs_per_task: int | None = None,
    evaluation_pairs: int | None = 4_000,
    seed: int = 0,
    n_jobs: int | None = 1,
) -> TuningResult:
    """Score candidates by cross-validation over tasks, siblings (tasks of one group) always in the same fold.

    ``pairs_per_task`` is for training (by default ``tuning_pairs``), ``evaluation_pairs`` (a sample of pairs of models,
    the same on every task) for the errors, where None means all pairs. Candidates that differ in their rounds alone are
    trained once. The result does not depend on ``n_jobs``.
    """
    from joblib import Parallel, delayed

    performance, measures = _checked_history(performance, measures)
    if not candidates:
        raise InvalidInput("candidates must hold at least one PredictorParams, got none.")
    fold_of = group_folds(groups, n_folds)
    if len(fold_of) != len(performance):
        raise InvalidInput(f"groups must name a group for each of {len(performance)} tasks, got {len(fold_of)}.")
    pairs_per_task = _checked_pairs(pairs_per_task) or tuning_pairs(len(performance))
    first, second = _sampled_pairs(
        performance.shape[1], _checked_pairs(evaluation_pairs), np.random.default_rng([seed, len(performance)])
    )
    # Boosting for fewer rounds is a beginning of boosting for more.
    shapes = list(dict.fromkeys(replace(candidate, rounds=1) for candidate in candidates))
    truth = performance[:, first] - performance[:, second]
    errors = np.empty((len(candidates), len(performance)))

    def score(shape: PredictorParams, fold: int) -> None:
        rounds = [(row, c.rounds) for row, c in enumerate(candidates) if replace(c, rounds=1) == shape]
        longest = replace(shape, rounds=max(count for _, count in rounds))
        inside, held_out = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        rows, gaps = _training_rows(performance[inside], measures[inside], pairs_per_task, seed)
        trees = TreeEnsemble.from_lightgbm_text(grow(rows, gaps, longest, seed))
        for row, count in rounds:
            begun = trees.first(min(count, trees.n_trees))
            for task in held_out:
                predicted = predicted_gaps(begun, measures[task, first], measures[task, second])
                errors[row, task] = np.sqrt(np.mean((predicted - truth[task]) ** 2))

    Parallel(n_jobs=n_threads(n_jobs), backend="threading")(
        delayed(score)(shape, fold) for shape in shapes for fold in np.unique(fold_of)
    )
    zero_errors = np.sqrt(np.mean(truth**2, axis=1))
    return TuningResult(tuple(candidates), errors, zero_errors, tuple(fold_of.tolist()))


def tuning_pairs(n_tasks: int) -> int:
    """How many pairs of each task to compare settings on: 2,000, and fewer where there are more tasks than forty.

    >>> tuning_pairs(38), tuning_pairs(400)
    (2000, 200)
    """
    return min(2_000, max(80_000 // n_tasks, 100))


def _training_rows(
    performance: FloatArray, measures: FloatArray, pairs_per_task: int | None, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Features and gaps of the pairs of every task, each pair in both directions, task after task."""
    n_tasks, n_models, k = measures.shape
    n_pairs = n_models * (n_models - 1) // 2
    n = n_pairs if pairs_per_task is None else min(pairs_per_task, n_pairs)
    rows, gaps = np.empty((n_tasks * 2 * n, 3 * k)), np.empty(n_tasks * 2 * n)
    for task in range(n_tasks):
        first, second = _sampled_pairs(n_models, pairs_per_task, np.random.default_rng([seed, task]))
        start, middle, end = 2 * n * task, 2 * n * task + n, 2 * n * (task + 1)
        fill_features(rows[start:middle], measures[task, first], measures[task, second])
        fill_features(rows[middle:end], measures[task, second], measures[task, first])
        gaps[start:middle] = performance[task, first] - performance[task, second]
        gaps[middle:end] = -gaps[start:middle]
    return rows, gaps


def _sampled_pairs(n_models: int, count: int | None, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    first, second = pair_indices(n_models)
    if count is None or count >= len(first):
        return first, second
    chosen = rng.choice(len(first), count, replace=False)
    return first[chosen], second[chosen]


def grow(rows: FloatArray, gaps: FloatArray, params: PredictorParams, seed: int) -> str:
    """The text of the trees for these rows."""
    smallest = max(1, round(params.min_leaf_share * len(rows)))
    return boost(rows, gaps, Growth(params.num_leaves, params.rounds, params.learning_rate, smallest), seed)


def _checked_history(performance: FloatArray, measures: FloatArray) -> tuple[FloatArray, FloatArray]:
    performance = np.asarray(performance, dtype=np.float64)
    measures = np.asarray(measures, dtype=np.float64)
    if performance.ndim != 2 or performance.shape[0] < 1 or performance.shape[1] < 2:
        raise InvalidInput(f"performance must be tasks x models with at least 2 models, got {performance.shape}.")
    if measures.ndim != 3 or measures.shape[:2] != performance.shape or measures.shape[2] < 1:
        raise InvalidInput(
            f"measures must be tasks x models x measures with the {performance.shape[0]} tasks and "
            f"{performance.shape[1]} models of performance, got {measures.shape}."
        )
    for name, values in (("performance", performance), ("measures", measures)):
        if not np.isfinite(values).all():
            raise InvalidInput(f"{name} must be finite; leave out the tasks with missing values.")
    return performance, measures


def _checked_pairs(count: int | None) -> int | None:
    if count is not None and count < 1:
        raise InvalidInput(f"The number of pairs must be at least 1, or None for all, got {count}.")
    return count
