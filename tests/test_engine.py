"""The engine: one suite over all models of the default pool."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect import ElectError, ModelPool, ModelSpec, PoolScorer, default_pool, score_pool
from elect.errors import InvalidInput, UnknownModel
from elect.pool.families import ocsvm as ocsvm_family
from elect.pool.kernels import ocsvm
from elect.pool.kernels.neighbors import NeighborIndex

RNG = np.random.default_rng(20260101)
NORMAL = np.vstack([RNG.normal(size=(190, 6)), RNG.normal(size=(10, 6)) * 4])

# One model of each kind of shared work: cheap, and enough to see what depends on what.
SAMPLE = default_pool().subset(
    [
        "LODA(n_bins=10, n_random_cuts=30)",
        "LODA(n_bins=25, n_random_cuts=200)",
        "ABOD(n_neighbors=10)",
        "IForest(max_features=0.5, n_estimators=20)",
        "IForest(max_features=0.9, n_estimators=50)",
        "kNN(method=median, n_neighbors=15)",
        "LOF(metric=manhattan, n_neighbors=20)",
        "LOF(metric=minkowski, n_neighbors=100)",
        "HBOS(alpha=0.3, n_bins=20)",
        "OCSVM(kernel=rbf, nu=0.3)",
        "OCSVM(kernel=sigmoid, nu=0.7)",
        "OCSVM(kernel=poly, nu=0.5)",
        "OCSVM(kernel=linear, nu=0.1)",
        "COF(n_neighbors=25)",
    ]
)


@pytest.fixture(scope="module")
def whole() -> Any:
    return score_pool(NORMAL)


@pytest.mark.parametrize("model_id", default_pool().ids)
def test_a_model_alone_scores_as_in_company(whole: Any, model_id: str) -> None:
    alone = PoolScorer(NORMAL, default_pool().subset([model_id])).scores(model_id)
    assert np.array_equal(alone, whole[model_id])


def test_order_of_asking_does_not_matter(whole: Any) -> None:
    scorer = PoolScorer(NORMAL)
    for model_id in np.random.default_rng(1).permutation(default_pool().ids):
        assert np.array_equal(scorer.scores(str(model_id)), whole[str(model_id)])


def test_number_of_threads_does_not_matter() -> None:
    X = np.random.default_rng(2).normal(size=(1300, 5))
    one, two = score_pool(X, SAMPLE, n_jobs=1), score_pool(X, SAMPLE, n_jobs=2)
    assert np.array_equal(one.values, two.values)


def test_the_seed_moves_random_models_only(whole: Any) -> None:
    other = score_pool(NORMAL, SAMPLE, seed=1)
    for model_id in SAMPLE.ids:
        same = np.array_equal(other[model_id], whole[model_id])
        assert same == (SAMPLE[model_id].detector not in ("LODA", "IForest"))
    assert np.array_equal(score_pool(NORMAL, SAMPLE, seed=1).values, other.values)


def test_trials_are_averaged() -> None:
    pool = ModelPool.grid("IForest", n_estimators=[20], max_features=[0.5])
    one = [score_pool(NORMAL, pool, seed=s, trials=1).values[:, 0] for s in range(6)]
    five = [score_pool(NORMAL, pool, seed=s, trials=5).values[:, 0] for s in range(6)]
    # The variance over seeds falls by about the number of trials.
    assert 2.5 < np.var(one, axis=0).mean() / np.var(five, axis=0).mean() < 10


def test_shared_pieces_are_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    query = NeighborIndex.query
    monkeypatch.setattr(
        NeighborIndex,
        "query",
        lambda self, X, k, metric, **o: (asked.append(metric), query(self, X, k, metric, **o))[1],
    )
    scorer = PoolScorer(NORMAL)
    for model_id in default_pool().ids:
        scorer.scores(model_id)
    assert sorted(asked) == ["euclidean", "manhattan"]


DEGENERATE = {
    "two rows": [[0.0, 1.0], [3.0, 1.0]],
    "two equal rows": [[1.0, 1.0], [1.0, 1.0]],
    "three rows": [[0.0], [1.0], [5.0]],
    "fewer rows than neighbours": np.random.default_rng(3).normal(size=(7, 3)),
    "one column": np.random.default_rng(4).normal(size=(150, 1)),
    "all constant": np.full((120, 3), 0.1),
    "a constant column": np.column_stack([np.full(150, 0.1), np.random.default_rng(5).normal(size=150)]),
    "many duplicates": np.repeat(np.random.default_rng(6).normal(size=(4, 2)), 60, axis=0),
    "a pile and a stray": np.vstack([np.zeros((300, 2)), [[1.0, 1.0]]]),
    "whole numbers with ties": np.random.default_rng(7).integers(0, 3, size=(300, 4)),
    "more columns than rows": np.random.default_rng(8).normal(size=(20, 60)),
    "huge values": np.random.default_rng(9).normal(size=(60, 2)) * 1e300,
    "tiny values": np.random.default_rng(10).normal(size=(60, 2)) * 1e-300,
    "one enormous value": np.vstack([np.random.default_rng(11).normal(size=(99, 2)), [[1e200, 0.0]]]),
    "booleans": np.random.default_rng(12).integers(0, 2, size=(80, 3)).astype(bool),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_scores_are_finite_whatever_the_table(name: str) -> None:
    scores = score_pool(DEGENERATE[name])
    assert np.isfinite(scores.values).all()
    again = score_pool(DEGENERATE[name])
    assert np.array_equal(scores.values, again.values)


def test_the_stray_row_stands_out_from_a_pile() -> None:
    scores = score_pool(DEGENERATE["a pile and a stray"])
    for model_id in (
        "kNN(method=largest, n_neighbors=5)",
        "LOF(metric=euclidean, n_neighbors=20)",
        "COF(n_neighbors=5)",
    ):
        assert scores[model_id].argmax() == 300, model_id


def test_all_equal_rows_score_equally() -> None:
    values = score_pool(DEGENERATE["all constant"]).values
    assert np.allclose(values, values[0])


def test_too_many_neighbours_are_capped_and_said() -> None:
    X = np.random.default_rng(3).normal(size=(7, 3))
    scores = score_pool(X)
    assert np.array_equal(scores["kNN(method=mean, n_neighbors=10)"], scores["kNN(method=mean, n_neighbors=100)"])
    assert "6 used instead" in scores.notes["kNN(method=mean, n_neighbors=10)"]
    assert "kNN(method=mean, n_neighbors=5)" not in scores.notes


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 50), st.floats(-100, 100))
def test_scores_do_not_depend_on_the_units_of_a_column(seed: int, factor: float, shift: float) -> None:
    X = np.random.default_rng(seed).normal(size=(60, 3))
    moved = X.copy()
    moved[:, 1] = moved[:, 1] * factor + shift
    pool = SAMPLE.subset(["kNN(method=median, n_neighbors=15)", "ABOD(n_neighbors=10)", "COF(n_neighbors=25)"])
    assert np.allclose(score_pool(X, pool).values, score_pool(moved, pool).values, rtol=1e-6, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_scores_follow_the_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, order = rng.normal(size=(80, 4)), rng.permutation(80)
    pool = ModelPool.of(
        s for s in SAMPLE if s.detector in ("kNN", "LOF", "ABOD", "COF", "HBOS")
    )  # the others draw rows or start from the first ones
    assert np.allclose(score_pool(X, pool).values[order], score_pool(X[order], pool).values, rtol=1e-9)


def test_large_tables_fit_ocsvm_on_a_sample_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ModelPool.grid("OCSVM", kernel=["rbf"], nu=[0.1, 0.5])
    X = np.vstack([np.random.default_rng(0).normal(size=(900, 3)), [[8.0, 8.0, 8.0]]])
    exact = score_pool(X, pool)
    assert not exact.notes
    monkeypatch.setattr(ocsvm_family, "MAX_ROWS", 400)
    sampled = score_pool(X, pool)
    assert set(sampled.notes) == set(pool.ids)
    assert "seeded sample of 400 of the 901 rows" in sampled.notes[pool.ids[0]]
    assert np.array_equal(sampled.values, score_pool(X, pool).values)
    assert not np.array_equal(sampled.values, score_pool(X, pool, seed=1).values)
    for column in range(2):
        assert np.corrcoef(exact.values[:, column], sampled.values[:, column])[0, 1] > 0.9
        assert sampled.values[:, column].argmax() == 900


def test_an_ocsvm_that_does_not_converge_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ModelPool.grid("OCSVM", kernel=["poly"], nu=[0.1, 0.2])
    assert not score_pool(NORMAL, pool).notes
    monkeypatch.setattr(ocsvm, "most_iterations", lambda n: 9)
    assert set(score_pool(NORMAL, pool).notes.values()) == {"stopped after 9 iterations"}


def test_the_gradient_of_an_ocsvm_is_kept_in_double_precision() -> None:
    """Extreme rows give kernel values so large that their differences, rounded to single precision, add up."""
    rng = np.random.default_rng(2)
    Z = rng.standard_t(2, size=(300, 4))
    kernel = ocsvm.KernelMatrix.of(Z, "poly")
    nu = 0.1
    solution = ocsvm.OneClass.solve(kernel, nu, ocsvm.start_gradients(kernel, (nu,))[0])
    exact = solution.offset - kernel.values[:, : len(Z)].astype(float) @ solution.weights
    assert solution.converged
    assert np.allclose(solution.fitted_scores, exact, rtol=0.0, atol=1e-6)


BAD = {
    "NaN": ([[0.0, np.nan], [1.0, 2.0]], "nan in row 0, column 1"),
    "infinity": ([[0.0, np.inf], [1.0, 2.0]], "inf in row 0, column 1"),
    "text": ([["a", "b"], ["c", "d"]], "numbers only"),
    "mixed": (np.array([[1.0, "x"], [2.0, "y"]], dtype=object), "numbers only"),
    "dates": (np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]"), "numbers only"),
    "complex": (np.ones((3, 2)) * 1j, "numbers only"),
    "ragged": ([[1.0, 2.0], [3.0]], "rectangular"),
    "empty": (np.zeros((0, 3)), "at least 2 rows"),
    "one row": ([[1.0, 2.0]], "at least 2 rows"),
    "no columns": (np.zeros((5, 0)), "at least one column"),
    "one dimension": ([1.0, 2.0, 3.0], "reshape"),
    "three dimensions": (np.zeros((2, 2, 2)), "two dimensions"),
    "nothing": (None, "numbers only"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables_are_refused_with_a_remedy(name: str) -> None:
    table, message = BAD[name]
    with pytest.raises(ElectError, match=message):
        score_pool(table)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="ModelPool"):
        score_pool(NORMAL, ["LOF"])  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="seed"):
        score_pool(NORMAL, seed=-1)
    with pytest.raises(InvalidInput, match="trials"):
        score_pool(NORMAL, trials=0)
    with pytest.raises(InvalidInput, match="n_jobs"):
        score_pool(NORMAL, n_jobs=0)
    with pytest.raises(UnknownModel, match="LOF"):
        PoolScorer(NORMAL).scores("LOF(n_neighbors=20)")
    with pytest.raises(UnknownModel, match="Unknown detector"):
        score_pool(NORMAL, ModelPool.grid("Prophet", k=[1]))


def test_sparse_tables_are_refused_with_a_remedy() -> None:
    from scipy.sparse import csr_matrix

    with pytest.raises(InvalidInput, match="toarray"):
        score_pool(csr_matrix(np.eye(4)))


class Broken:
    """A detector that gives no finite scores."""

    def __init__(self, size: int = 1) -> None:
        self.size = size

    def fit(self, X: Any) -> "Broken":
        if self.size > 1:
            raise RuntimeError("too large")
        self.decision_scores_ = np.full(len(X), np.nan)
        return self

    def decision_function(self, X: Any) -> Any:
        return np.zeros(len(X))


def test_any_pyod_class_can_be_in_a_pool() -> None:
    from pyod.models.ecod import ECOD
    from pyod.models.pca import PCA

    pool = (
        ModelPool.of([ModelSpec.of(ECOD)])
        + ModelPool.grid(PCA, n_components=[2, 3])
        + ModelPool.grid("LOF", metric=["euclidean"], n_neighbors=[7])
        + ModelPool.grid("LOF", metric=["cosine"], n_neighbors=[20])  # no shared work for this metric
    )
    scores = score_pool(NORMAL, pool)
    Z = (NORMAL - NORMAL.mean(axis=0)) / NORMAL.std(axis=0)
    assert np.allclose(scores["pyod.models.ecod:ECOD()"], ECOD().fit(Z).decision_scores_)
    assert np.allclose(scores["pyod.models.pca:PCA(n_components=2)"], PCA(n_components=2).fit(Z).decision_scores_)
    from pyod.models.lof import LOF

    expected = LOF(n_neighbors=20, metric="cosine").fit(Z).decision_scores_
    assert np.allclose(scores["LOF(metric=cosine, n_neighbors=20)"], expected)
    assert ModelSpec("pyod.models.ecod:ECOD").detector_class is ECOD


def test_a_broken_detector_is_named() -> None:
    with pytest.raises(InvalidInput, match=r"Broken\(\) gave scores that are not finite"):
        score_pool(NORMAL, ModelPool.of([ModelSpec.of(Broken)]))
    with pytest.raises(InvalidInput, match="RuntimeError: too large"):
        score_pool(NORMAL, ModelPool.of([ModelSpec.of(Broken, size=2)]))


def test_importing_loads_nothing_heavy() -> None:
    code = (
        "import sys, elect; elect.default_pool();"
        "heavy = {'numba', 'sklearn', 'pyod', 'lightgbm', 'pandas', 'scipy', 'polars'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_compiled_kernels_are_kept_across_processes(tmp_path: Any) -> None:
    code = (
        "import numpy as np, elect; elect.score_pool(np.eye(4), elect.ModelPool.grid('HBOS', n_bins=[5], alpha=[0.1]))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert "compiling kernels" in said[0].stderr
    assert said[0].stdout == ""
    assert said[1].stderr == ""
