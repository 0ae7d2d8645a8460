"""Which rows random cuts keep together, and the likeness of rows as a whole."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect.answers.cuts import N_TREES, SAMPLES, Cuts, add_together
from elect.answers.space import RowSpace
from elect.errors import InvalidInput


def table(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def together(cuts: Cuts, some: np.ndarray, others: np.ndarray) -> np.ndarray:
    out = np.zeros((len(some), len(others)))
    add_together(cuts.leaves(some), cuts.leaves(others), 1.0, out)
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
    assert shares[0, 1] == 1.0
    assert shares[0, 1] > shares[0, 2]
    assert together(cuts, near, near)[0, 1] < shares[0, 1]


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
    covariance = space.covariance(rows, rows)
    assert covariance == pytest.approx(covariance.T)
    assert np.diag(covariance) == pytest.approx(space.variance(rows), rel=1e-6)
    assert np.linalg.eigvalsh(covariance).min() > -1e-6 * np.trace(covariance)
