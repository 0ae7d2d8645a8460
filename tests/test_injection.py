"""Every kind of injected outlier is what its name says."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from elect.bench.testbeds import KINDS, Mixture, fit_mixture, inject, load_controlled
from elect.bench.testbeds.injection import DISPLACE, INFLATE, MAX_COMPONENTS, VARIANCE_FLOOR, WIDEN, standardize
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray


def nearest(points: FloatArray, among: FloatArray, itself: bool = False) -> FloatArray:
    """The distance from each point to the nearest of others (or, among themselves, to the nearest other one)."""
    found = NearestNeighbors(n_neighbors=2 if itself else 1).fit(among).kneighbors(points)[0]
    return np.asarray(found[:, -1])


def random_mixture(seed: int, d: int, k: int) -> Mixture:
    """Well-formed components of random shapes at random places, far from the origin or not."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, size=k)
    shapes = rng.normal(size=(k, d, d)) / np.sqrt(d)
    covariances = shapes @ shapes.transpose(0, 2, 1) + 0.1 * np.eye(d)
    return Mixture(
        weights / weights.sum(), rng.normal(scale=3, size=(k, d)) + rng.normal(scale=20, size=d), covariances
    )


def mahalanobis(points: FloatArray, mixture: Mixture) -> FloatArray:
    """The squared Mahalanobis distance to the nearest component, divided by the dimension: about 1 inside one."""
    inverses = np.linalg.inv(mixture.covariances)
    centred = points[:, None, :] - mixture.means[None]
    return np.asarray(np.einsum("nki,kij,nkj->nk", centred, inverses, centred).min(axis=1) / points.shape[1])


mixtures = st.builds(random_mixture, seed=st.integers(0, 2**32 - 1), d=st.integers(2, 20), k=st.integers(1, 5))


class TestKinds:
    @settings(max_examples=40, deadline=None)
    @given(mixture=mixtures, seed=st.integers(0, 2**32 - 1))
    def test_global_outliers_are_spread_over_the_widened_range(self, mixture: Mixture, seed: int) -> None:
        rng = np.random.default_rng(seed)
        normal, _ = mixture.sample(400, rng)
        outliers = inject(mixture, normal, "global", 400, rng)
        low, high = normal.min(axis=0), normal.max(axis=0)
        slack = (WIDEN - 1) / 2 * (high - low)
        assert (outliers >= low - slack - 1e-9).all()
        assert (outliers <= high + slack + 1e-9).all()
        # Uniform: the middle of the range is where half of the points are, wherever the origin lies.
        assert np.abs((outliers - (low + high) / 2).mean(axis=0) / (high - low)).max() < 0.1
        assert ((outliers.max(axis=0) - outliers.min(axis=0)) > 0.95 * WIDEN * (high - low)).all()

    @settings(max_examples=40, deadline=None)
    @given(mixture=mixtures, seed=st.integers(0, 2**32 - 1))
    def test_local_outliers_are_around_their_component(self, mixture: Mixture, seed: int) -> None:
        rng = np.random.default_rng(seed)
        normal, _ = mixture.sample(400, rng)
        outliers = inject(mixture, normal, "local", 400, rng)
        # Further out than a normal point, by about the factor of the inflation, but no more than that.
        assert np.median(mahalanobis(outliers, mixture)) > 1.5 * np.median(mahalanobis(normal, mixture))
        assert np.mean(mahalanobis(outliers, mixture)) < 1.5 * INFLATE

    @settings(max_examples=40, deadline=None)
    @given(mixture=mixtures, seed=st.integers(0, 2**32 - 1))
    def test_clustered_outliers_are_together_and_beyond_all_normal_points(self, mixture: Mixture, seed: int) -> None:
        rng = np.random.default_rng(seed)
        normal, _ = mixture.sample(400, rng)
        outliers = inject(mixture, normal, "clustered", 40, rng)
        centre = normal.mean(axis=0)
        reach = np.linalg.norm(normal - centre, axis=1).max()
        middle = outliers.mean(axis=0)
        radius = np.linalg.norm(outliers - middle, axis=1)
        assert np.linalg.norm(middle - centre) > 1.3 * reach
        assert np.linalg.norm(middle - centre) < (DISPLACE + 0.2) * reach
        # The cluster is smaller than the data, and each point of it is nearer to the cluster than to any normal point.
        assert np.median(radius) < 0.6 * reach
        assert np.median(nearest(outliers, outliers, itself=True)) < 0.8 * np.median(nearest(outliers, normal))

    @pytest.mark.parametrize("kind", KINDS)
    def test_moving_the_data_moves_the_outliers(self, kind: str) -> None:
        """The origin means nothing: multiplying ranges or means, as others do, fails this."""
        mixture = random_mixture(0, 4, 3)
        shift = np.array([100.0, -50.0, 0.0, 7.0])
        moved = Mixture(mixture.weights, mixture.means + shift, mixture.covariances)
        outliers = []
        for which in (mixture, moved):
            rng = np.random.default_rng(1)
            normal, _ = which.sample(200, rng)
            outliers.append(inject(which, normal, kind, 20, rng))  # type: ignore[arg-type]
        np.testing.assert_allclose(outliers[1] - shift, outliers[0], atol=1e-9)

    def test_an_unknown_kind_is_refused(self) -> None:
        mixture = random_mixture(0, 2, 1)
        with pytest.raises(InvalidInput, match="global, local, clustered"):
            inject(mixture, np.zeros((3, 2)), "odd", 1, np.random.default_rng(0))  # type: ignore[arg-type]


class TestMixture:
    def test_samples_have_the_moments_of_their_component(self) -> None:
        mixture = Mixture([0.25, 0.75], [[0.0, 0.0], [50.0, 0.0]], [np.eye(2), [[4.0, 1.0], [1.0, 1.0]]])
        points, component = mixture.sample(20_000, np.random.default_rng(0))
        assert (component == 1).mean() == pytest.approx(0.75, abs=0.02)
        np.testing.assert_allclose(points[component == 1].mean(axis=0), [50, 0], atol=0.1)
        np.testing.assert_allclose(np.cov(points[component == 1].T), [[4, 1], [1, 1]], atol=0.15)

    def test_arrays_are_read_only_and_shapes_checked(self) -> None:
        mixture = random_mixture(0, 3, 2)
        with pytest.raises(ValueError):
            mixture.means[0, 0] = 1.0
        with pytest.raises(InvalidInput, match="2 weights"):
            Mixture(np.ones(3) / 3, mixture.means, mixture.covariances)

    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_bic_finds_components_that_are_apart(self, k: int) -> None:
        truth = Mixture(np.full(k, 1 / k), np.arange(k)[:, None] * np.full(3, 12.0), np.stack([np.eye(3)] * k))
        points, _ = truth.sample(900, np.random.default_rng(0))
        fitted = fit_mixture(points)
        assert fitted.n_components == k
        np.testing.assert_allclose(np.sort(fitted.means[:, 0]), truth.means[:, 0], atol=0.5)

    def test_more_columns_than_points_and_exact_combinations(self) -> None:
        rng = np.random.default_rng(0)
        wide = standardize(rng.normal(size=(30, 80)))
        flat = rng.normal(size=(200, 2))
        flat = standardize(np.column_stack([flat, flat.sum(axis=1), np.where(flat[:, 0] > 0, 1.0, 0.0)]))
        for points in (wide, flat):
            mixture = fit_mixture(points)
            eigenvalues = np.linalg.eigvalsh(mixture.covariances)
            assert eigenvalues.min() >= 0.99 * VARIANCE_FLOOR
            normal, _ = mixture.sample(100, rng)
            for kind in KINDS:
                assert np.isfinite(inject(mixture, normal, kind, 10, rng)).all()

    def test_stray_inliers_get_no_component(self) -> None:
        rng = np.random.default_rng(0)
        points = np.vstack([rng.normal(size=(500, 2)), np.full((3, 2), 40.0) + rng.normal(scale=0.1, size=(3, 2))])
        mixture = fit_mixture(points)
        assert np.linalg.norm(mixture.means, axis=1).max() < 5
        assert mixture.weights.sum() == pytest.approx(1)

    def test_few_points(self) -> None:
        assert fit_mixture(np.array([[0.0], [1.0]])).n_components == 1
        with pytest.raises(InvalidInput, match="at least 2 points"):
            fit_mixture(np.zeros((1, 2)))

    def test_the_same_bits_on_repeat(self) -> None:
        points = random_mixture(3, 5, 3).sample(300, np.random.default_rng(0))[0]
        first, second = fit_mixture(points, seed=4), fit_mixture(points, seed=4)
        assert first.n_components <= MAX_COMPONENTS
        assert first.means.tobytes() == second.means.tobytes()
        assert first.covariances.tobytes() == second.covariances.tobytes()

    def test_constant_columns(self) -> None:
        X = np.column_stack([np.arange(5.0), np.full(5, 0.1 + 0.2), np.full(5, 1e9 / 3)])
        assert standardize(X).shape == (5, 1)
        with pytest.raises(InvalidInput, match="every column is constant"):
            standardize(X[:, 1:])


@pytest.fixture(scope="module")
def controlled(data_home: Path) -> dict[str, LabeledTask]:
    return {task.name: task for task in load_controlled(data_home)}


class TestControlledTestbed:
    """The same on the thirty tasks themselves, in the distances that detectors see."""

    def test_thirty_tasks_of_ten_groups(self, controlled: dict[str, LabeledTask]) -> None:
        assert len(controlled) == 30
        assert len({task.group for task in controlled.values()}) == 10
        for task in controlled.values():
            assert task.n_rows < 2200
            assert 0.04 < task.y.mean() < 0.07
            assert np.isfinite(task.X).all()

    def test_every_kind_in_nearest_neighbour_distances(self, controlled: dict[str, LabeledTask]) -> None:
        for name, task in controlled.items():
            normal, outliers = task.X[task.y == 0], task.X[task.y == 1]
            usual = np.median(nearest(normal, normal, itself=True))
            away = np.median(nearest(outliers, normal)) / usual
            apart = np.median(nearest(outliers, outliers, itself=True)) / usual
            if name.endswith("+global"):
                assert away > 1.8, name
                assert apart > 2, name
            elif name.endswith("+local"):
                assert 1.4 < away < 3.5, name
            else:
                assert away > 2, name
                assert apart < 0.8, name
                assert nearest(outliers, normal).min() > nearest(outliers, outliers, itself=True).max(), name

    def test_local_outliers_are_nearer_than_global_ones(self, controlled: dict[str, LabeledTask]) -> None:
        def away(name: str) -> float:
            task = controlled[name]
            return float(np.median(nearest(task.X[task.y == 1], task.X[task.y == 0])))

        mothersets = {name.partition("+")[0] for name in controlled}
        assert all(away(f"{name}+local") < away(f"{name}+global") for name in mothersets)
