"""Every measure honours one contract; the published convention reproduces the published values."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import kendalltau, rankdata, spearmanr

from elect.core import ScoreMatrix
from elect.errors import ElectError, InvalidInput, UnknownModel
from elect.measures import (
    Centrality,
    Hits,
    References,
    Select,
    get,
    measure_table,
    published_centrality,
    published_hits,
    published_select,
    rank,
    register,
    registry,
)
from elect.measures.kendall import TauTarget
from elect.measures.select import _mean_over_models

MEASURES = [Centrality(), Select(), Hits()]
VARIANTS = MEASURES + [type(m)(m.name, convention="ascending") for m in MEASURES]

every_measure = pytest.mark.parametrize("measure", VARIANTS, ids=lambda m: f"{m.name}-{m.convention}")


def matrix(values) -> ScoreMatrix:
    values = np.asarray(values, dtype=float)
    return ScoreMatrix(values, tuple(f"m{i}" for i in range(values.shape[1])))


def correlated_scores(n_points=60, n_models=7, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.exponential(size=(n_points, 1))
    scores = truth + rng.uniform(0.05, 2.0, size=n_models) * rng.normal(size=(n_points, n_models))
    scores[:, 2] = np.round(scores[:, 2])  # a column with many ties
    return scores


@st.composite
def score_arrays(draw, max_points=25, max_models=6):
    """Scores with many ties: whole numbers from a short range, or any finite ones."""
    shape = draw(st.tuples(st.integers(1, max_points), st.integers(1, max_models)))
    elements = draw(
        st.sampled_from(
            [st.integers(0, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False), st.sampled_from([-0.0, 0.0])]
        )
    )
    return draw(hnp.arrays(np.float64, shape, elements=elements))


# Ranks


@given(score_arrays())
def test_ranks_equal_scipys(scores):
    np.testing.assert_array_equal(rank(scores, "ascending"), rankdata(scores, axis=0))
    np.testing.assert_array_equal(rank(scores), rankdata(-scores, axis=0))


def test_ranks_do_not_depend_on_memory_layout():
    scores = correlated_scores()
    np.testing.assert_array_equal(rank(np.asfortranarray(scores)), rank(np.ascontiguousarray(scores)))


@pytest.mark.parametrize("bad", [np.array([[np.nan], [1.0]]), np.array([[np.inf], [1.0]]), np.array([1.0, 2.0])])
def test_ranks_refuse_what_cannot_be_ranked(bad):
    with pytest.raises(InvalidInput):
        rank(bad)


def test_ranks_refuse_an_unknown_convention():
    with pytest.raises(InvalidInput, match="descending, ascending"):
        rank(np.ones((2, 1)), "upward")


# Kendall's tau


@settings(max_examples=200)
@given(score_arrays(), st.data())
def test_tau_equals_scipys(scores, data):
    target = data.draw(
        hnp.arrays(np.float64, len(scores), elements=st.integers(0, 4).map(float) | st.floats(-1.0, 1.0))
    )
    expected = [kendalltau(column, target).statistic if len(column) > 1 else 0.0 for column in scores.T]
    taus = TauTarget.of(target).taus(rank(scores))
    np.testing.assert_allclose(taus, np.nan_to_num(expected), atol=1e-12)


def test_tau_equals_scipys_on_many_points():
    rng = np.random.default_rng(1)
    scores = np.column_stack([rng.normal(size=3000), rng.integers(0, 40, 3000), np.arange(3000.0)])
    target = rng.integers(0, 500, 3000) + scores[:, 0]
    expected = [kendalltau(column, target).statistic for column in scores.T]
    np.testing.assert_allclose(TauTarget.of(target).taus(rank(scores)), expected, atol=1e-12)


def test_tau_of_a_ranking_with_itself_is_exactly_one():
    values = np.random.default_rng(2).integers(0, 50, size=(997, 1)).astype(float)
    assert TauTarget.of(values[:, 0]).taus(rank(values))[0] == 1.0


# One suite over all measures


@every_measure
def test_order_of_points_does_not_matter(measure):
    scores = correlated_scores()
    shuffled = scores[np.random.default_rng(3).permutation(len(scores))]
    before = measure.reference(matrix(scores[:, :4])).values(scores)
    after = measure.reference(matrix(shuffled[:, :4])).values(shuffled)
    np.testing.assert_allclose(after, before, atol=1e-12)


@every_measure
def test_order_of_anchors_does_not_matter(measure):
    scores = correlated_scores()
    one = measure.reference(matrix(scores[:, [0, 1, 2, 3, 4]])).values(scores)
    other = measure.reference(matrix(scores[:, [3, 0, 4, 2, 1]])).values(scores)
    np.testing.assert_allclose(other, one, atol=1e-12)


@every_measure
def test_adding_a_model_changes_no_other_value(measure):
    scores = correlated_scores()
    reference = measure.reference(matrix(scores[:, :3]))
    together = reference.values(scores)
    one_by_one = [reference.values(scores[:, [i]])[0] for i in range(scores.shape[1])]
    np.testing.assert_array_equal(together, one_by_one)


@every_measure
def test_only_the_order_of_scores_matters(measure):
    scores = correlated_scores()
    reference = measure.reference(matrix(scores[:, :3]))
    np.testing.assert_array_equal(reference.values(np.exp(scores / 2.0) * 7.0), reference.values(scores))


@every_measure
def test_a_copy_of_an_anchor_has_the_anchors_value(measure):
    scores = correlated_scores()
    reference = measure.reference(matrix(scores[:, :3]))
    values = reference.values(np.column_stack([scores[:, 1], scores[:, 1].copy()]))
    assert values[0] == values[1]


@every_measure
def test_a_model_that_agrees_is_worth_more_than_one_that_opposes(measure):
    truth = np.random.default_rng(4).exponential(size=200)
    anchors = truth[:, np.newaxis] + 0.1 * np.random.default_rng(5).normal(size=(200, 5))
    agrees, noise, opposes = measure.reference(matrix(anchors)).values(
        np.column_stack([truth, np.random.default_rng(6).normal(size=200), -truth])
    )
    assert agrees > noise > opposes


@every_measure
@given(scores=score_arrays(), n_anchors=st.integers(1, 6))
def test_any_scores_give_finite_values(measure, scores, n_anchors):
    values = measure.reference(matrix(scores[:, :n_anchors])).values(scores)
    assert values.shape == (scores.shape[1],)
    assert np.isfinite(values).all()
    # Correlations are bounded. A hub weight is positive, and passes 1 beside anchors that tell no points apart.
    assert (values > 0.0).all() if measure.name == "hits" else (np.abs(values) <= 1.0 + 1e-12).all()


@every_measure
@pytest.mark.parametrize(
    "scores",
    [
        np.ones((5, 3)),
        np.column_stack([np.ones(5), np.arange(5.0), -np.arange(5.0)]),
        np.repeat(np.arange(6.0)[:, np.newaxis], 3, axis=1),
        np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]),
        np.array([[0.3, 0.2, 0.1]]),
        np.zeros((0, 3)),
    ],
    ids=["constant", "constant anchor", "equal columns", "two points", "one point", "no point"],
)
@pytest.mark.parametrize("n_anchors", [1, 3])
def test_degenerate_scores_give_finite_values(measure, scores, n_anchors):
    assert np.isfinite(measure.reference(matrix(scores[:, :n_anchors])).values(scores)).all()


@every_measure
def test_scores_of_other_points_are_refused(measure):
    reference = measure.reference(matrix(correlated_scores(n_points=10)))
    with pytest.raises(InvalidInput, match="10 points"):
        reference.values(np.ones((9, 1)))


@every_measure
def test_no_anchor_is_refused(measure):
    with pytest.raises(InvalidInput, match="at least one anchor"):
        measure.reference(ScoreMatrix(np.zeros((4, 0)), ()))


# What each measure says


def test_centrality_is_the_mean_spearman_correlation():
    scores = correlated_scores()
    expected = [np.mean([spearmanr(scores[:, i], scores[:, a]).statistic for a in range(3)]) for i in range(7)]
    np.testing.assert_allclose(Centrality().reference(matrix(scores[:, :3])).values(scores), expected, atol=1e-12)


@pytest.mark.parametrize("measure", [Centrality(), Select()], ids=lambda m: m.name)
def test_a_constant_model_correlates_with_nothing(measure):
    scores = np.column_stack([np.arange(5.0), np.full(5, 3.0)])
    assert measure.reference(matrix(scores)).values(scores)[1] == 0.0
    np.testing.assert_array_equal(measure.reference(matrix(scores[:, [1]])).values(scores), [0.0, 0.0])


def test_a_constant_anchor_counts_as_a_correlation_of_zero():
    scores = np.column_stack([np.arange(5.0), np.full(5, 3.0)])
    assert Centrality().reference(matrix(scores)).values(scores)[0] == pytest.approx(0.5)


@pytest.mark.parametrize("measure", [Centrality(), Select()], ids=lambda m: m.name)
def test_equal_models_agree_fully(measure):
    scores = np.repeat(np.arange(8.0)[:, np.newaxis], 4, axis=1)
    np.testing.assert_allclose(measure.reference(matrix(scores)).values(scores), np.ones(4), atol=1e-12)


def naive_select(scores, anchors):
    """SELECT as the words of its description say, one tau at a time."""
    inverse = 1.0 / rankdata(-scores, axis=0)
    tau = lambda i, target: kendalltau(inverse[:, i], np.round(target, 12)).statistic  # noqa: E731
    target, waiting, chosen, accepted = inverse[:, anchors].mean(axis=1), list(anchors), [], []
    while waiting:
        closest = max(waiting, key=lambda i: tau(i, target))
        if accepted and tau(closest, target) < np.mean(accepted) - 1e-12:
            break
        accepted.append(tau(closest, target))
        chosen.append(closest)
        waiting.remove(closest)
        target = inverse[:, chosen].mean(axis=1)
    return [tau(i, target) for i in range(scores.shape[1])], tuple(chosen)


@pytest.mark.parametrize("seed", range(5))
def test_select_grows_its_consensus_as_described(seed):
    scores = correlated_scores(seed=seed)
    expected, chosen = naive_select(scores, range(6))
    reference = Select().reference(matrix(scores[:, :6]))
    assert reference.chosen == chosen
    np.testing.assert_allclose(reference.values(scores), expected, atol=1e-9)


def test_select_leaves_out_an_anchor_that_opposes():
    truth = np.arange(30.0)
    reference = Select().reference(matrix(np.column_stack([-truth, truth, truth])))
    assert reference.chosen == (1, 2)


def test_points_with_the_same_ranks_from_different_models_stay_tied():
    # Summed in the order of the models these differ by rounding, which Kendall's tau would take for an order.
    inverse = 1.0 / np.array([np.roll(np.arange(1.0, 12.0), shift) for shift in range(11)])
    assert len(set(inverse.mean(axis=1))) > 1
    assert len(set(_mean_over_models(inverse))) == 1


def test_hits_of_the_anchors_is_the_unit_norm_hub_vector():
    scores = correlated_scores()
    hubs = np.linalg.svd((1.0 / rank(scores)).T)[0][:, 0]
    values = Hits().reference(matrix(scores)).values(scores)
    np.testing.assert_allclose(values, np.abs(hubs), atol=1e-12)


def test_hits_looks_at_the_most_outlying_points():
    anchors = np.arange(100.0)[:, np.newaxis]
    top_swapped, bottom_swapped = np.arange(100.0), np.arange(100.0)
    top_swapped[[0, 1, -2, -1]] = [0.0, 1.0, 99.0, 98.0]
    bottom_swapped[[0, 1]] = [1.0, 0.0]
    scores = np.column_stack([top_swapped, bottom_swapped])
    top, bottom = Hits().reference(matrix(anchors)).values(scores)
    assert top < bottom
    top, bottom = Hits(convention="ascending").reference(matrix(anchors)).values(scores)
    assert top > bottom


# Tables and the registry


def test_table_holds_each_measure_of_each_model():
    scores = matrix(correlated_scores())
    table = measure_table(scores, ["m4", "m0"])
    assert table.shape == (7, 3)
    for column, measure in enumerate(MEASURES):
        np.testing.assert_array_equal(
            table[:, column], measure.reference(scores.subset(["m4", "m0"])).values(scores.values)
        )


def test_table_of_one_column_is_a_row_of_the_whole():
    scores = matrix(correlated_scores())
    references = References.of(scores.subset(["m1", "m2"]))
    whole = references.values(scores.values)
    np.testing.assert_array_equal(references.values(scores.values[:, [5]]), whole[[5]])


def test_table_refuses_an_unknown_anchor():
    with pytest.raises(UnknownModel):
        measure_table(matrix(correlated_scores()), ["nobody"])


def test_unknown_measure_is_named_with_those_there_are():
    with pytest.raises(ElectError, match=r"'centrality'.* mc, select, hits"):
        get("centrality")


@dataclass(frozen=True)
class Spread:
    """A user's measure: the difference between the largest and the smallest score, whatever the anchors."""

    name: str = "test-spread"
    wrong: bool = False

    def reference(self, anchor_scores):
        return self

    def values(self, scores):
        return np.full(3, np.nan) if self.wrong else np.ptp(scores, axis=0)


@pytest.fixture
def own_registry(monkeypatch):
    """A registry that forgets after the test what was registered in it."""
    monkeypatch.setattr(registry, "_MEASURES", dict(registry._MEASURES))


@pytest.mark.usefixtures("own_registry")
def test_a_users_measure_joins_the_others():
    register(Spread())
    register(Spread())  # the same one again, as when a notebook cell is run twice
    scores = matrix(correlated_scores())
    table = measure_table(scores, ["m0"], names=["mc", "test-spread"])
    np.testing.assert_array_equal(table[:, 1], np.ptp(scores.values, axis=0))


def test_a_name_is_given_once():
    with pytest.raises(ElectError, match="'mc' is registered already"):
        register(Centrality("mc", convention="ascending"))
    assert get("mc") == Centrality()


@pytest.mark.usefixtures("own_registry")
def test_a_users_measure_that_is_not_finite_is_refused():
    register(Spread("test-wrong", wrong=True))
    with pytest.raises(ElectError, match="'test-wrong' must give one finite value"):
        measure_table(matrix(np.eye(3)), ["m0"], names=["test-wrong"])


def test_importing_elect_compiles_nothing():
    code = "import elect, sys; sys.exit('numba' in sys.modules or 'elect.support.compiled' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# The published values


@pytest.mark.parametrize(
    ("key", "measure"),
    [("mc_spearman", published_centrality), ("select", published_select), ("hits", published_hits)],
)
def test_published_values_are_reproduced(data_home, key, measure):
    if not (data_home / "reference").is_dir():
        pytest.skip(f"{data_home} holds no folder 'reference' with the published values")
    published = np.load(data_home / "reference" / "measures.npz", allow_pickle=False)
    row_of = {str(task): row for row, task in enumerate(published["tasks"])}
    compared = 0
    for path in sorted((data_home / "reference" / "scores").glob("*.npz")):
        expected = published[key][row_of[path.stem.replace("_", "/", 1)]]
        if np.isnan(expected).any():
            continue
        scores = ScoreMatrix(np.load(path, allow_pickle=False)["scores"], tuple(map(str, published["models"])))
        np.testing.assert_allclose(measure(scores), expected, atol=1e-4, rtol=0.0, err_msg=path.stem)
        compared += 1
    assert compared >= 3


def test_published_centrality_counts_no_model_with_itself():
    scores = np.column_stack([np.arange(4.0), np.arange(4.0), np.full(4, 2.0)])
    np.testing.assert_allclose(published_centrality(matrix(scores)), [1 / 3, 1 / 3, 0.0], atol=1e-12)
