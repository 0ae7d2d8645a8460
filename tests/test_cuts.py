"""Which rows random cuts keep together, and the likeness of rows as a whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect.answers.cuts import N_TREES, SAMPLES, Cuts, add_moves, add_own, add_together, foretelling
from elect.answers.space import RowSpace
from elect.errors import InvalidInput


def table(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def together(cuts: Cuts, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    out = np.zeros((len(some), len(others)))
    each = np.full_like(cuts.worth, 1 / len(cuts.worth))
    add_together(cuts.leaves(some), cuts.leaves(others), each, out)
    return out


def test_a_row_is_always_with_itself_and_others_are_shares() -> None:
    X = table(300, 5)
    shares = together(Cuts.of(X), X, X)
    assert np.diag(shares) == pytest.approx(1.0)
    assert shares == pytest.approx(shares.T)
    assert shares.min() >= 0
    assert shares[~np.eye(300, dtype=bool)].max() < 1


def test_rows_far_out_the_same_way_are_kept_together_however_far_apart() -> None:
    X = table(500, 6)
    out = np.full((3, 6), 0.0)
    out[:, 0] = (12.0, 24.0, -12.0)  # as far from the first: one further out, one on the other side
    near = np.zeros((2, 6))
    near[1, 0] = 2.0
    cuts = Cuts.of(X)
    shares = together(cuts, out, out)
    assert shares[0, 1] == pytest.approx(1.0)
    assert shares[0, 1] > shares[0, 2]
    assert together(cuts, near, near)[0, 1] < shares[0, 1]


def test_a_leaf_says_more_the_fewer_rows_it_holds() -> None:
    X = table(400, 3)
    cuts = Cuts.of(X)
    leaves = cuts.leaves(X)
    for tree in (0, N_TREES, 2 * N_TREES - 1):
        found, held = np.unique(leaves[:, tree], return_counts=True)
        assert held.sum() == 400
        order = np.argsort(held, kind="stable")
        assert (np.diff(cuts.worth[tree, found[order]]) <= 0).all()
        one_in_twenty = cuts.worth[tree, found] * (held / 400 / 0.05) ** 0.25
        assert one_in_twenty == pytest.approx(1.0, rel=1e-5)


def test_what_answers_move_is_what_the_shared_leaves_say() -> None:
    X = table(120, 4)
    cuts = Cuts.of(X)
    leaves = cuts.leaves(X)
    moves = np.random.default_rng(5).normal(size=7)
    covariance, moved, own = np.zeros((120, 7)), np.zeros(120), np.zeros(7)
    add_together(leaves, leaves[:7], cuts.worth, covariance)
    add_moves(leaves, leaves[:7], moves, cuts.worth, moved)
    add_own(leaves[:7], cuts.worth, own)
    assert moved == pytest.approx(covariance @ moves, abs=1e-3)
    assert own == pytest.approx(np.diag(covariance[:7]), rel=1e-5)


def test_trees_that_keep_yes_from_no_count_more() -> None:
    said = np.array([True, True, True, False, False, False])
    apart = np.array([1, 1, 1, 2, 2, 2])
    mixed = np.array([1, 2, 1, 2, 1, 2])
    alone = np.arange(6)
    leaves = np.column_stack([apart, mixed, alone]).astype(np.uint16)
    counts = foretelling(leaves, np.full(6, 0.3), said)
    assert counts.mean() == pytest.approx(1.0)
    assert counts[0] > counts[2] > counts[1]
    assert np.array_equal(counts[::-1], foretelling(leaves[:, ::-1].copy(), np.full(6, 0.3), said))
    turned = np.random.default_rng(0).permutation(6)
    assert foretelling(leaves[turned], np.full(6, 0.3), said[turned]) == pytest.approx(counts)


@pytest.mark.parametrize("n", [0, 1])
def test_one_answer_does_not_tell_trees_apart(n: int) -> None:
    leaves = np.arange(n * 3, dtype=np.uint16).reshape(n, 3)
    assert np.array_equal(foretelling(leaves, np.full(n, 0.3), np.ones(n, dtype=bool)), np.ones(3))


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_a_sure_committee_that_was_wrong_leaves_the_counts_finite(chance: float) -> None:
    leaves = np.zeros((4, 3), dtype=np.uint16)
    leaves[:, 1] = np.arange(4)
    counts = foretelling(leaves, np.full(4, chance), np.full(4, chance == 0))
    assert np.isfinite(counts).all()
    assert counts.mean() == pytest.approx(1.0)


def test_new_rows_fall_where_they_fall_alone() -> None:
    X, new = table(200, 4), table(50, 4, seed=1)
    cuts = Cuts.of(X, seed=3)
    leaves = cuts.leaves(new)
    assert leaves.shape == (50, N_TREES * len(SAMPLES))
    assert np.array_equal(np.vstack([cuts.leaves(new[i : i + 1]) for i in range(50)]), leaves)
    again = Cuts.of(X, seed=3)
    assert np.array_equal(again.leaves(new), leaves)
    assert not np.array_equal(Cuts.of(X, seed=4).leaves(new), leaves)


def test_cuts_are_kept_as_arrays_and_damaged_ones_refused() -> None:
    X = table(150, 3)
    cuts = Cuts.of(X)
    arrays = cuts.to_arrays()
    assert np.array_equal(Cuts.from_arrays(arrays, 3).leaves(X), cuts.leaves(X))
    for name, array in arrays.items():
        for damaged in (None, array[:, :5], array.astype(np.float64) + 0.5, np.full_like(array, 10**6)):
            changed = (
                {**arrays, name: damaged} if damaged is not None else {n: a for n, a in arrays.items() if n != name}
            )
            if name.endswith("thresholds") and damaged is not None and damaged.shape == array.shape:
                continue  # any threshold is as good as another
            with pytest.raises(InvalidInput, match="cannot be read"):
                Cuts.from_arrays(changed, 3)
    with pytest.raises(InvalidInput, match="cannot be read"):
        Cuts.from_arrays(arrays, 2)


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 60), d=st.integers(1, 9), constant=st.booleans(), seed=st.integers(0, 99))
def test_likeness_is_a_covariance(n: int, d: int, constant: bool, seed: int) -> None:
    columns = np.zeros((n, d)) if constant else np.round(table(n, d, seed), 1)
    signals = table(n, 4, seed + 1)
    space = RowSpace.of(columns, signals, seed, n_kinds=2)
    rows = space.place(columns, signals)
    trees = np.random.default_rng(seed).gamma(0.5, size=len(space.cuts.worth))
    heights = space.heights(trees / trees.mean())
    covariance = space.covariance(rows, rows, heights)
    assert covariance == pytest.approx(covariance.T)
    assert np.diag(covariance) == pytest.approx(space.variance(rows, heights), rel=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * np.trace(covariance)
