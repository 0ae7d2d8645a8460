"""How far models agree, against the plain way to say it."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from elect import PoolScorer
from elect.detect.agreement import agreement_of, n_top, row_shares

IDS = (
    "kNN(method=mean, n_neighbors=10)",
    "HBOS(alpha=0.1, n_bins=5)",
    "LOF(metric=euclidean, n_neighbors=5)",
)


def chosen(scorer: Any) -> Any:
    return SimpleNamespace(model_id=IDS[0], evaluated=IDS)


def test_correlations_and_shared_rows_are_those_of_the_plain_way() -> None:
    scorer = PoolScorer(np.random.default_rng(1).integers(0, 4, size=(150, 3)).astype(float))  # many equal scores
    found = agreement_of(scorer, chosen(scorer), 12)
    assert found.top == n_top(scorer, 12) == 12
    tops = {m: set(np.argsort(-scorer.scores(m), kind="stable")[:12].tolist()) for m in IDS}
    for model in found.models:
        plain = spearmanr(scorer.scores(IDS[0]), scorer.scores(model.model_id)).statistic
        np.testing.assert_allclose(model.correlation, plain)
        assert model.shared_top == len(tops[model.model_id] & tops[IDS[0]]) / 12
    votes = [sum(row in top for top in tops.values()) / len(IDS) for row in range(150)]
    np.testing.assert_array_equal(row_shares(scorer, chosen(scorer), 12), votes)


def test_models_that_cannot_tell_rows_apart_take_no_part() -> None:
    scorer = PoolScorer(np.ones((40, 2)))
    assert agreement_of(scorer, chosen(scorer), 3).models == ()
    assert row_shares(scorer, chosen(scorer), 3) is None
