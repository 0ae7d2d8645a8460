"""The statistics of the evaluation: pure functions of numbers.

Throughout, rank 1 is the best, ties share their mean rank, performance is better when higher, and every comparison of
two methods is paired by task.
"""

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, IntArray, read_only

Alternative = Literal["two-sided", "less", "greater"]

_DECIMALS = 12  # Differences that agree to this many decimals tie: 0.3 - 0.2 and 0.2 - 0.1 differ in the last bit.


def model_rank(performance: ArrayLike, chosen: int) -> float:
    """The rank of the chosen model among all models of a task: 1 is the best, ties share their mean rank.

    >>> model_rank([0.9, 0.5, 0.5, 0.1], 0)
    1.0
    >>> model_rank([0.9, 0.5, 0.5, 0.1], 2)
    2.5
    """
    row = _finite(performance, "performance")
    if not 0 <= chosen < len(row):
        raise InvalidInput(f"chosen must be the position of one of the {len(row)} models, got {chosen}.")
    return value_rank(np.delete(row, chosen), float(row[chosen]))


def value_rank(others: ArrayLike, value: float) -> float:
    """The rank that a performance would have beside the others: for a method that is not one of the models.

    >>> value_rank([0.9, 0.5, 0.1], 0.6)
    2.0
    >>> value_rank([0.9, 0.5, 0.1], 0.5)
    2.5
    """
    row = _finite(others, "others")
    return float(1 + (row > value).sum() + (row == value).sum() / 2)


def wilcoxon_p(a: ArrayLike, b: ArrayLike, alternative: Alternative = "two-sided") -> float:
    """The p-value of the paired Wilcoxon signed-rank test. Pairs without a difference are left out; 1 if none is left.

    ``"less"`` asks whether ``a`` is smaller than ``b``, ``"greater"`` whether it is larger.

    >>> wilcoxon_p([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12])
    0.03125
    >>> wilcoxon_p([0.5, 0.5], [0.5, 0.5])
    1.0
    """
    from scipy.stats import wilcoxon

    if alternative not in ("two-sided", "less", "greater"):
        raise InvalidInput(f"alternative must be 'two-sided', 'less' or 'greater', got {alternative!r}.")
    first, second = _finite(a, "a"), _finite(b, "b")
    if first.shape != second.shape:
        raise InvalidInput(f"A paired test needs as many values in a as in b, got {len(first)} and {len(second)}.")
    differences = np.round(first - second, _DECIMALS)
    differences = differences[differences != 0]
    if len(differences) == 0:
        return 1.0
    with warnings.catch_warnings():
        # Few pairs with ties make scipy warn that its normal approximation is rough; there is no better one to take.
        warnings.simplefilter("ignore")
        return float(wilcoxon(differences, alternative=alternative).pvalue)


@dataclass(frozen=True)
class QthBest:
    """What ``qth_best`` finds: the ``position`` q, that q as a share of the pool in percent, and the p-value there.

    ``position`` and ``percent`` are None for a method significantly worse than even the worst model of every task.
    """

    position: int | None
    percent: float | None
    p_value: float
    n_models: int
    alpha: float


def qth_best(
    achieved: ArrayLike, performance: ArrayLike, alpha: float = 0.05, alternative: Alternative = "two-sided"
) -> QthBest:
    """The smallest q such that a method is not significantly worse than picking the q-th best model of every task.

    ``achieved`` is the performance of the method on each task, ``performance`` that of every model, tasks x models.
    The rival of rank q is an oracle: on each task it has the q-th largest performance. The method is significantly
    worse than the rival if the paired Wilcoxon test across tasks rejects at ``alpha`` and the method is on the losing
    side. Rivals weaken as q grows, so the smallest q where this no longer holds is the best rival that the method
    keeps up with: the paper's "no difference from the 55-th best model". A smaller q is better.

    The test is two-sided by default, as the paper's table of "no difference" reads; ``alternative="less"`` tests for
    worse alone, which rejects more easily and so gives a larger q. Performances are compared, not ranks; pass the
    negated ranks of both for a comparison of ranks.

    >>> performance = [[0.9, 0.8, 0.1, 0.0]] * 8
    >>> qth_best([0.8] * 8, performance)
    QthBest(position=2, percent=50.0, p_value=1.0, n_models=4, alpha=0.05)
    """
    values = np.asarray(performance, dtype=np.float64)
    mine = _finite(achieved, "achieved")
    if values.ndim != 2 or values.shape[0] != len(mine) or values.shape[1] == 0:
        raise InvalidInput(
            f"performance must be {len(mine)} tasks x models, one row a value of achieved, got {values.shape}."
        )
    if alternative == "greater":
        raise InvalidInput(
            "alternative must be 'two-sided' or 'less' (worse): a rival of rank q is a bound from above."
        )
    best_first = -np.sort(-values, axis=1)
    n_models = values.shape[1]
    p_value = 0.0
    for position in range(1, n_models + 1):
        rival = best_first[:, position - 1]
        p_value = wilcoxon_p(mine, rival, alternative)
        if p_value >= alpha or wilcoxon_p(mine, rival, "less") > 0.5:
            return QthBest(position, 100.0 * position / n_models, p_value, n_models, alpha)
    return QthBest(None, None, p_value, n_models, alpha)


@dataclass(frozen=True)
class Interval:
    """A statistic of the values given, and the percentile bootstrap interval around it."""

    estimate: float
    low: float
    high: float
    level: float
    n_resamples: int


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[[FloatArray], float],
    seed: int,
    n: int = 2000,
    level: float = 0.95,
    groups: Sequence[Hashable] | None = None,
) -> Interval:
    """The percentile bootstrap interval of a statistic of one value a task.

    With ``groups``, one name a value, whole groups are drawn with replacement instead of single values: siblings are
    not independent, and an interval that treats them as such is too narrow.

    >>> interval = bootstrap_interval([1, 2, 3, 4, 5], np.mean, seed=0)
    >>> interval.estimate, interval.low < 3 < interval.high
    (3.0, True)
    """
    data = _finite(values, "values")
    if len(data) == 0 or n < 1 or not 0 < level < 1:
        raise InvalidInput(
            f"A bootstrap needs at least one value, n >= 1 and a level between 0 and 1, got {len(data)} values, "
            f"n={n}, level={level}."
        )
    members = _members(groups, len(data))
    rng = np.random.default_rng(seed)
    resampled = np.empty(n)
    for i in range(n):
        drawn = rng.integers(len(members), size=len(members))
        resampled[i] = statistic(data[np.concatenate([members[j] for j in drawn])])
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(statistic(data)), float(low), float(high), level, n)


@dataclass(frozen=True, eq=False)
class RankComparison:
    """Methods compared by their average ranks across tasks: what a critical-difference diagram shows.

    ``mean_ranks`` are among the methods, not among the models of the pool. ``chi_square`` and ``p_value`` are those of
    Friedman's test that all methods are alike. Two methods differ by Nemenyi's test if their average ranks are further
    apart than ``critical_difference``.
    """

    methods: tuple[str, ...]
    mean_ranks: FloatArray
    n_tasks: int
    chi_square: float
    p_value: float
    critical_difference: float
    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean_ranks", read_only(self.mean_ranks))

    @property
    def ordered(self) -> tuple[tuple[str, float], ...]:
        """The methods with their average ranks, best first."""
        order = np.argsort(self.mean_ranks, kind="stable")
        return tuple((self.methods[i], float(self.mean_ranks[i])) for i in order)

    @property
    def cliques(self) -> tuple[tuple[str, ...], ...]:
        """The largest runs of methods, best first, that do not differ: the bars of the diagram.

        A run that lies inside another, and a method alone, get no bar.
        """
        ordered = self.ordered
        runs: list[tuple[str, ...]] = []
        reached = 0
        for start, (_, rank) in enumerate(ordered):
            stop = sum(other - rank <= self.critical_difference for _, other in ordered)
            if stop > reached and stop - start > 1:
                runs.append(tuple(name for name, _ in ordered[start:stop]))
            reached = max(reached, stop)
        return tuple(runs)


def compare_ranks(performance: ArrayLike, methods: Sequence[str], alpha: float = 0.05) -> RankComparison:
    """Average ranks of the methods across tasks, Friedman's test and Nemenyi's critical difference.

    ``performance`` is tasks x methods, higher is better. Friedman's statistic is corrected for ties. After Demsar,
    "Statistical Comparisons of Classifiers over Multiple Data Sets" (2006).

    >>> result = compare_ranks([[0.9, 0.5, 0.1]] * 12, ["good", "fair", "poor"])
    >>> result.mean_ranks, round(result.critical_difference, 3)
    (array([1., 2., 3.]), 0.957)
    >>> result.cliques
    ()
    """
    from scipy.stats import chi2, rankdata, studentized_range

    values = np.asarray(performance, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(methods) or values.shape[0] == 0 or len(methods) < 2:
        raise InvalidInput(
            f"performance must be tasks x methods with one column for each of at least 2 methods, got shape "
            f"{values.shape} for {len(methods)} methods."
        )
    if not np.isfinite(values).all():
        raise InvalidInput("performance must be finite; some values are NaN or infinite.")
    n, k = values.shape
    ranks: FloatArray = rankdata(-np.round(values, _DECIMALS), axis=1)
    mean_ranks = ranks.mean(axis=0)
    # Between methods over the variance that ranks have within a task; without ties the latter is k (k + 1) / 12.
    within = ((ranks - (k + 1) / 2) ** 2).sum() / (n * (k - 1))
    chi_square = float(n * ((mean_ranks - (k + 1) / 2) ** 2).sum() / within) if within > 0 else 0.0
    critical = float(studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)))
    p_value = float(chi2.sf(chi_square, k - 1))
    return RankComparison(tuple(methods), mean_ranks, n, chi_square, p_value, critical, alpha)


def _members(groups: Sequence[Hashable] | None, n: int) -> list[IntArray]:
    """The positions of each group's values, groups in order of appearance; each value alone without groups."""
    if groups is None:
        return [np.array([i]) for i in range(n)]
    if len(groups) != n:
        raise InvalidInput(f"groups must name one group for each of the {n} values, got {len(groups)}.")
    found: dict[Hashable, list[int]] = {}
    for i, group in enumerate(groups):
        found.setdefault(group, []).append(i)
    return [np.array(positions) for positions in found.values()]


def _finite(values: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InvalidInput(f"{name} must be one-dimensional and finite, got shape {array.shape} or a NaN among them.")
    return array
