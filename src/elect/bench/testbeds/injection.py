"""Outliers of a known kind, injected into points drawn from a Gaussian mixture.

After Steinbuss and Boehm, "Benchmarking Unsupervised Outlier Detection with Realistic Synthetic Data" (2021): a mixture
fitted to the inliers of a real table generates the normal points, and changing it in one way or another generates
outliers whose kind is known.

- *global*: anywhere. Uniform over the range of each feature, widened about the range's own centre.
- *local*: near a component but not of it. The mixture with every covariance inflated.
- *clustered*: together, elsewhere. The heaviest component, shrunk and moved away from the centre of the data until it
  lies well beyond the outermost normal point.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, IntArray, read_only

Kind = Literal["global", "local", "clustered"]
KINDS: tuple[Kind, ...] = get_args(Kind)

WIDEN = 1.1
"""Global outliers: the range of a feature is stretched by this factor about its centre."""

INFLATE = 5.0
"""Local outliers: covariances are multiplied by this; clustered ones: divided by it, which makes the cluster tight."""

DISPLACE = 1.5
"""Clustered outliers: distance of the cluster from the data's centre, in units of the outermost normal point's."""

MAX_COMPONENTS = 9
"""The most components tried. Nine is what Steinbuss and Boehm's software (mclust) tries by default."""

VARIANCE_FLOOR = 1e-2
"""Added to every variance: on standardised features no component is thinner than a tenth of the feature's spread."""

SMALLEST_WEIGHT = 0.02
"""Components lighter than this are dropped: they explain a few stray inliers, which are no model of normal points."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture: ``weights`` (k), ``means`` (k x d), ``covariances`` (k x d x d).

    >>> import numpy as np
    >>> two = Mixture([0.5, 0.5], [[0.0], [9.0]], [[[1.0]], [[1.0]]])
    >>> points, component = two.sample(4, np.random.default_rng(0))
    >>> points.shape, component.shape
    ((4, 1), (4,))
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    def __post_init__(self) -> None:
        for name in ("weights", "means", "covariances"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        k, d = self.means.shape
        if self.weights.shape != (k,) or self.covariances.shape != (k, d, d):
            raise InvalidInput(
                f"A mixture of {k} components in {d} dimensions must have {k} weights and covariances of shape "
                f"{(k, d, d)}, got {self.weights.shape} and {self.covariances.shape}."
            )

    @property
    def n_components(self) -> int:
        return int(self.means.shape[0])

    def inflated(self, factor: float) -> "Mixture":
        """The same mixture with every covariance multiplied by a factor."""
        return Mixture(self.weights, self.means, self.covariances * factor)

    def sample(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, IntArray]:
        """``n`` points, and the component each was drawn from."""
        component = rng.choice(self.n_components, size=n, p=self.weights)
        noise = rng.standard_normal((n, self.means.shape[1]))
        points = self.means[component]
        for k, factor in enumerate(np.linalg.cholesky(self.covariances)):
            points[component == k] += noise[component == k] @ factor.T
        return points, component


def standardize(X: FloatArray) -> FloatArray:
    """Columns with mean 0 and variance 1; constant columns are dropped, since no mixture can be fitted to them.

    >>> standardize([[1.0, 7.0], [3.0, 7.0]])
    array([[-1.],
           [ 1.]])
    """
    X = np.asarray(X, dtype=np.float64)
    spread = X.std(axis=0)
    # Rounding leaves a constant column of large numbers with a spread that is small but not zero.
    varies = spread > 1e-12 * np.maximum(1.0, np.abs(X).max(axis=0, initial=0.0))
    if not varies.any():
        raise InvalidInput("The inliers must vary in at least one column; every column is constant.")
    kept: FloatArray = (X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies]
    return kept


def fit_mixture(Z: FloatArray, seed: int = 0, max_components: int = MAX_COMPONENTS) -> Mixture:
    """The Gaussian mixture of smallest BIC for standardised points.

    Numbers of components from 1 to ``max_components`` and two shapes of covariance, full and diagonal, are tried. A
    full covariance is tried only where each component would have at least twice as many points as columns, since with
    fewer it is singular; with more columns than points only diagonal ones remain. ``VARIANCE_FLOOR`` is added to every
    variance, so that columns that are constant within a component, or exact combinations of each other, do no harm.
    Components below ``SMALLEST_WEIGHT`` are dropped afterwards.
    """
    from sklearn.mixture import GaussianMixture

    Z = np.asarray(Z, dtype=np.float64)
    n, d = Z.shape
    if n < 2:
        raise InvalidInput(f"A mixture must be fitted to at least 2 points, got {n}.")
    best: Any = None
    best_bic = np.inf
    for shape in ("full", "diag"):
        for k in range(1, min(max_components, n // 2) + 1):
            if shape == "full" and n < 2 * d * k:
                break
            # k-means++ rather than a k-means run, which sums in parallel, in an order that changes from run to run.
            fitted = GaussianMixture(
                k,
                covariance_type=shape,
                reg_covar=VARIANCE_FLOOR,
                init_params="k-means++",
                max_iter=200,
                random_state=seed,
            )
            bic = _quietly_fit(fitted, Z).bic(Z)
            if bic < best_bic:
                best, best_bic = fitted, bic
    covariances = best.covariances_
    if best.covariance_type == "diag":
        covariances = np.stack([np.diag(variances) for variances in covariances])
    # At least one component passes: the heaviest of k has a weight of 1 / k or more.
    heavy = best.weights_ >= min(SMALLEST_WEIGHT, best.weights_.max())
    weights = best.weights_[heavy] / best.weights_[heavy].sum()
    return Mixture(weights, best.means_[heavy], covariances[heavy])


def inject(mixture: Mixture, normal: FloatArray, kind: Kind, n_outliers: int, rng: np.random.Generator) -> FloatArray:
    """``n_outliers`` outliers of a kind, for normal points drawn from the mixture.

    >>> import numpy as np
    >>> one = Mixture([1.0], [[0.0, 0.0]], [np.eye(2)])
    >>> rng = np.random.default_rng(0)
    >>> normal, _ = one.sample(100, rng)
    >>> inject(one, normal, "clustered", 3, rng).shape
    (3, 2)
    """
    if kind == "global":
        return _global_outliers(normal, n_outliers, rng)
    if kind == "local":
        return mixture.inflated(INFLATE).sample(n_outliers, rng)[0]
    if kind == "clustered":
        return _clustered_outliers(mixture, normal, n_outliers, rng)
    raise InvalidInput(f"The kind of outliers must be one of {', '.join(KINDS)}, got {kind!r}.")


def _global_outliers(normal: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    low, high = normal.min(axis=0), normal.max(axis=0)
    # About the centre of the range: multiplying both ends, as is sometimes done, narrows a range that excludes zero.
    centre, half = (low + high) / 2, WIDEN * (high - low) / 2
    return rng.uniform(centre - half, centre + half, size=(n, normal.shape[1]))


def _clustered_outliers(mixture: Mixture, normal: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    centre = normal.mean(axis=0)
    # The direction of a point of the data, not any direction: the cluster keeps to the subspace the data lie in.
    toward = mixture.sample(1, rng)[0][0] - centre
    # Relative to the centre and the spread of the data: multiplying a mean leaves one that lies near zero where it is.
    reach = np.linalg.norm(normal - centre, axis=1).max()
    mean = centre + DISPLACE * reach * toward / np.linalg.norm(toward)
    # The heaviest component is what a typical normal point is like; a light one may be a wide background.
    heaviest = int(mixture.weights.argmax())
    moved = Mixture(np.ones(1), mean[None], mixture.covariances[heaviest][None] / INFLATE)
    return moved.sample(n, rng)[0]


def _quietly_fit(fitted: Any, Z: FloatArray) -> Any:
    """Fit without the warning that EM has not converged: the BIC of what it reached decides all the same."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fitted.fit(Z)
