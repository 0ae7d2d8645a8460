"""A predictor trained without the pairs of models that are as good as equal: one of the things that were examined."""

import numpy as np

from elect.bench.baselines import History
from elect.paper.predictor import PairwisePredictor
from elect.paper.predictor_training import PredictorParams, grow
from elect.paper.similarity import pair_indices


def train_on_clear_pairs(
    history: History, min_gap: float, pairs_per_task: int | None, params: PredictorParams, seed: int
) -> PairwisePredictor:
    """As ``train_predictor``, on pairs whose performances differ by at least ``min_gap``."""
    first, second = pair_indices(len(history.pool))
    rows, gaps = [], []
    for task, (performance, measures) in enumerate(zip(history.values, history.measures, strict=True)):
        difference = performance[first] - performance[second]
        clear = np.flatnonzero(np.abs(difference) >= min_gap)
        if pairs_per_task is not None and len(clear) > pairs_per_task:
            clear = np.random.default_rng([seed, task]).choice(clear, pairs_per_task, replace=False)
        a, b = measures[first[clear]], measures[second[clear]]
        rows += [np.hstack([a, b, a - b]), np.hstack([b, a, b - a])]
        gaps += [difference[clear], -difference[clear]]
    text = grow(np.vstack(rows), np.concatenate(gaps), params, seed)
    return PairwisePredictor(text, history.measure_names)
