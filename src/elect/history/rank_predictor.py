"""The learned pick: where every model stands on a table, forecast from the signals of the whole pool.

A ranker forecasts the rank of each model as a share of the pool (0 the best). Its best model is picked only where a
gate, trained on tasks that the ranker had not seen, forecasts that this gains on the consensus pick: a history answers
well where it holds something similar and misleads where it does not. ``outcomes`` says how far forecasts came true on
tasks that were left out, which is what the expected rank of a new pick is read from.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from elect.core import RankInterval
from elect.errors import InvalidInput, StoreError
from elect.history.rank_signals import Grid, Signals
from elect.support.arrays import FloatArray, read_only
from elect.support.trees import TreeEnsemble

MARGIN = 0.1
"""The gain, as a share of the pool, that the gate must forecast before the history overrules the consensus.

Chosen among five on development tasks; the part of ``docs/results.md`` about strategies shows all five."""

NEAREST = 80
"""The expected rank is read from so many left-out tasks with the nearest forecasts."""


@dataclass(frozen=True)
class LearnedPick:
    """A model by its place in the pool, the share of the pool forecast to be better, and whether the gate opened.

    ``shares`` are the forecasts of all models, ``best`` and ``common`` the ranker's pick and that of the consensus.
    """

    model: int
    share: float
    from_history: bool
    gain: float
    best: int
    common: int
    shares: FloatArray = field(compare=False, repr=False)


@dataclass(frozen=True, eq=False)
class RankPredictor:
    """The text of the ranker's and the gate's trees, the historical mean rank of each model, and the outcomes."""

    ranker: str
    gate: str
    prior: FloatArray  # (models,) mean rank share over the history, smoothed over neighbouring parameters
    outcomes: FloatArray  # (tasks, 2) the forecast share of the pick and its true one, on tasks left out

    def __post_init__(self) -> None:
        prior, outcomes = read_only(self.prior), read_only(self.outcomes, order="C")
        if prior.ndim != 1 or not ((prior >= 0) & (prior <= 1)).all():
            raise InvalidInput("The prior of a rank predictor must hold a share of the pool for each model.")
        if outcomes.ndim != 2 or outcomes.shape[1] != 2 or not np.isfinite(outcomes).all():
            raise InvalidInput("The outcomes of a rank predictor must be tasks x 2 finite numbers.")
        if not ((outcomes[:, 1] >= 0) & (outcomes[:, 1] <= 1)).all():
            raise InvalidInput("The outcomes of a rank predictor must tell true ranks as a share of the pool.")
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "outcomes", outcomes)
        models = len(prior)
        if not models or self._trees[0].n_features < 2 or self._trees[1].n_features < 2:
            raise StoreError("A rank predictor must have models, and trees over several signals.")

    def __reduce__(self) -> Any:
        return (RankPredictor, (self.ranker, self.gate, self.prior, self.outcomes))

    @cached_property
    def _trees(self) -> tuple[TreeEnsemble, TreeEnsemble]:
        return TreeEnsemble.from_lightgbm_text(self.ranker), TreeEnsemble.from_lightgbm_text(self.gate)

    def shares(self, signals: Signals) -> FloatArray:
        """The forecast rank of each model as a share of the pool: 0 is the best."""
        rows = ranker_rows(signals, self.prior)
        self._check(rows, self._trees[0])
        return self._trees[0].predict(rows) + self.prior

    def pick(self, signals: Signals, grid: Grid) -> LearnedPick:
        """The ranker's best model, or the consensus pick where the gate stays shut."""
        shares = self.shares(signals)
        best, common = int(np.argmin(shares)), int(np.argmax(signals.consensus))
        rows = gate_row(signals, shares, best, common, grid)[None, :]
        self._check(rows, self._trees[1])
        gain = float(self._trees[1].predict(rows)[0])
        opened = gain > MARGIN and best != common
        model = best if opened else common
        return LearnedPick(model, float(shares[model]), opened, gain, best, common, shares)

    def expected_rank(self, share: float) -> RankInterval | None:
        """Where a pick with this forecast is expected to stand, with a 90 % interval.

        The left-out tasks whose forecasts were nearest stand for the new one (split conformal prediction within them);
        with fewer than twenty tasks there is nothing to say.
        """
        return rank_interval(self.outcomes, share, len(self.prior))

    def _check(self, rows: FloatArray, trees: TreeEnsemble) -> None:
        if rows.shape[1] != trees.n_features:
            raise InvalidInput(
                f"The rank predictor was trained on {trees.n_features} signals, got {rows.shape[1]}: train it again."
            )


def rank_interval(outcomes: FloatArray, share: float, n_models: int) -> RankInterval | None:
    """The mean and the central 90 % of the true ranks of the left-out tasks with the nearest forecasts.

    >>> outcomes = np.column_stack([np.linspace(0, 1, 101), np.linspace(0, 1, 101)])
    >>> interval = rank_interval(outcomes, 0.0, 297)
    >>> interval.low < interval.expected < interval.high < 297
    True
    """
    nearest = np.argsort(np.abs(outcomes[:, 0] - share), kind="stable")[:NEAREST]
    # A share of 0 is rank 1, a share of 1 the last rank.
    return RankInterval.of(1.0 + outcomes[nearest, 1] * (n_models - 1))


def ranker_rows(signals: Signals, prior: FloatArray) -> FloatArray:
    """What the ranker sees: the signals of each model and its historical mean rank."""
    return np.hstack([signals.models, prior[:, None]])


def gate_row(signals: Signals, shares: FloatArray, best: int, common: int, grid: Grid) -> FloatArray:
    """What the gate sees: the table, both candidates, and what the ranker says of them."""
    skip = 2 * grid.n_families  # agreement with single families says little about a pick
    row: FloatArray = np.r_[
        signals.table,
        shares[common] - shares[best],
        shares[best],
        shares[common],
        shares.std(),
        signals.models[best, skip:],
        signals.models[common, skip:],
    ]
    return row
