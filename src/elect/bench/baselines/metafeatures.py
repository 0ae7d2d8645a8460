"""Meta-features of a table, after MetaOD (Zhao, Rossi and Akoglu 2021, appendix B): statistics and landmarkers.

Statistical features summarise the rows, columns and their relations; landmarkers are what four fast detectors
(isolation forest, HBOS, LODA, PCA) look like when fitted: the shape of their trees and histograms, and of the scores
they give. Labels play no part. Everything follows from the table and a seed.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import stats

from elect.support.arrays import FloatArray

MAX_ROWS = 5_000
"""Larger tables are thinned to this many rows: the features are summaries, and their cost stays in seconds."""

MAX_PAIRED_COLUMNS = 300
"""Relations of columns are taken among this many at most, evenly spread over the table."""

_SUMMARY = ("mean", "std", "min", "q25", "median", "q75", "max", "skewness", "kurtosis")
_N_TREES = 50
_N_CUTS = 100
_N_COMPONENTS = 3


def meta_features(X: FloatArray, seed: int = 0) -> dict[str, float]:
    """The meta-features of a table by name, all finite.

    >>> features = meta_features(np.random.default_rng(0).normal(size=(60, 3)))
    >>> features["log_rows"].__round__(2), features["columns_per_row"]
    (4.09, 0.05)
    """
    X = np.asarray(X, dtype=np.float64)
    found: dict[str, float] = {}
    # A column that is constant has no skewness, and a table of one column no correlations: both count as 0.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        rows, columns = X.shape
        rng = np.random.default_rng(seed)
        if rows > MAX_ROWS:
            X = X[np.sort(rng.choice(rows, MAX_ROWS, replace=False))]
        spread = X.std(axis=0)
        Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
        parts = (
            _size(rows, columns),
            _distribution(X, Z),
            _relations(Z),
            _forest(Z, seed),
            _histograms(Z),
            _cuts(Z, rng),
            _components(Z),
        )
        for part in parts:
            found.update(part)
    return {name: _tame(value) for name, value in found.items()}


def _tame(value: Any) -> float:
    """A finite number: what does not exist is 0, and a huge one is huge but no more than that."""
    number = float(value)
    return float(np.clip(number, -1e6, 1e6)) if np.isfinite(number) else 0.0


def _summary(name: str, values: FloatArray) -> Iterator[tuple[str, float]]:
    """The summary of one value a column (a row, a tree, ...)."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        values = np.zeros(1)
    quarters = np.quantile(values, (0.25, 0.5, 0.75))
    found = (
        values.mean(),
        values.std(),
        values.min(),
        quarters[0],
        quarters[1],
        quarters[2],
        values.max(),
        stats.skew(values),
        stats.kurtosis(values),
    )
    yield from zip((f"{name}_{suffix}" for suffix in _SUMMARY), map(float, found), strict=True)


def _size(rows: int, columns: int) -> dict[str, float]:
    return {
        "log_rows": np.log(rows),
        "log_columns": np.log(columns),
        "columns_per_row": columns / rows,
        "log_rows_per_column": np.log(rows / columns),
    }


def _distribution(X: FloatArray, Z: FloatArray) -> dict[str, float]:
    low, q25, median, q75, high = np.quantile(Z, (0.0, 0.25, 0.5, 0.75, 1.0), axis=0)
    q01, q99 = np.quantile(Z, (0.01, 0.99), axis=0)
    reach = q75 - q25
    outside = ((q25 - 1.5 * reach > Z) | (q75 + 1.5 * reach < Z)).mean(axis=0)
    distinct = np.array([len(np.unique(column)) for column in X.T]) / len(X)
    mean_away = np.abs(Z).mean(axis=0)
    # Equal bins over the range of each column; a column that fills them evenly has the largest entropy.
    entropy = np.array([_entropy(np.histogram(column, bins=20)[0]) for column in Z.T])
    found = dict(_summary("skewness", stats.skew(Z, axis=0)))
    for name, values in (
        ("kurtosis", stats.kurtosis(Z, axis=0)),
        ("range", high - low),
        ("quartile_range", reach),
        ("tails", (q99 - q01) / np.where(reach > 0.0, reach, np.nan)),
        ("median", median),
        ("beyond_fences", outside),
        ("distinct", distinct),
        ("mean_deviation", mean_away),
        ("entropy", entropy),
        ("row_norm", np.sqrt((Z**2).mean(axis=1))),
        ("row_largest", np.abs(Z).max(axis=1)),
    ):
        found.update(_summary(name, values))
    found["zeros"] = float((X == 0.0).mean())
    found["columns_with_outliers"] = float((outside > 0.0).mean())
    found["normal_columns"] = float((np.abs(stats.skew(Z, axis=0)) < 0.5).mean())
    return found


def _relations(Z: FloatArray) -> dict[str, float]:
    columns = np.unique(np.linspace(0, Z.shape[1] - 1, min(Z.shape[1], MAX_PAIRED_COLUMNS)).astype(np.intp))
    correlations = np.atleast_2d(np.nan_to_num(Z[:, columns].T @ Z[:, columns] / len(Z)))
    pairs = correlations[np.triu_indices(len(columns), k=1)]
    found = dict(_summary("correlation", pairs))
    found.update(_summary("correlation_size", np.abs(pairs)))
    found["strong_correlations"] = float((np.abs(pairs) > 0.8).mean()) if len(pairs) else 0.0
    return found


def _forest(Z: FloatArray, seed: int) -> dict[str, float]:
    from sklearn.ensemble import IsolationForest

    fitted = IsolationForest(n_estimators=_N_TREES, max_samples=min(256, len(Z)), random_state=seed, n_jobs=1).fit(Z)
    trees = [tree.tree_ for tree in fitted.estimators_]
    used = np.zeros(Z.shape[1])
    for tree in trees:
        features = tree.feature[tree.feature >= 0]
        used += np.bincount(features, minlength=Z.shape[1])
    found = dict(_summary("forest_depth", np.array([tree.max_depth for tree in trees], dtype=np.float64)))
    found.update(_summary("forest_leaves", np.array([tree.n_leaves for tree in trees], dtype=np.float64)))
    found.update(_summary("forest_use", used / max(used.sum(), 1.0) * len(used)))
    found.update(_scores("forest", -fitted.score_samples(Z)))
    return found


def _histograms(Z: FloatArray, bins: int = 10) -> dict[str, float]:
    low, span = Z.min(axis=0), np.ptp(Z, axis=0)
    place = np.clip(((Z - low) / np.where(span > 0.0, span, 1.0) * bins).astype(np.intp), 0, bins - 1)
    counts = np.stack([(place == b).mean(axis=0) for b in range(bins)])
    found = dict(_summary("hbos_fullest_bin", counts.max(axis=0)))
    found.update(_summary("hbos_empty_bins", (counts == 0.0).mean(axis=0)))
    logs = -np.log(counts + 0.1 / bins)
    found.update(_scores("hbos", np.take_along_axis(logs, place, axis=0).mean(axis=1)))
    return found


def _cuts(Z: FloatArray, rng: np.random.Generator, bins: int = 10) -> dict[str, float]:
    d = Z.shape[1]
    kept = max(1, round(np.sqrt(d)))
    weights = rng.normal(size=(d, _N_CUTS))
    # LODA's projections are sparse: each sees about the root of the number of columns.
    seen = rng.random((d, _N_CUTS)).argsort(axis=0) < kept
    projected = Z @ (weights * seen)
    low, span = projected.min(axis=0), np.ptp(projected, axis=0)
    place = np.clip(((projected - low) / np.where(span > 0.0, span, 1.0) * bins).astype(np.intp), 0, bins - 1)
    counts = np.stack([(place == b).mean(axis=0) for b in range(bins)])
    found = dict(_summary("loda_fullest_bin", counts.max(axis=0)))
    found.update(_summary("loda_cut_kurtosis", stats.kurtosis(projected, axis=0)))
    scores = -np.log(np.take_along_axis(counts, place, axis=0) + 1e-6).mean(axis=1)
    found.update(_scores("loda", scores))
    return found


def _components(Z: FloatArray) -> dict[str, float]:
    # The smaller Gram matrix has the same spectrum; a wide table has more columns than rows.
    wide = Z.shape[1] > Z.shape[0]
    values, vectors = np.linalg.eigh(Z @ Z.T if wide else Z.T @ Z)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    shares = values / max(values.sum(), 1e-12)
    found: dict[str, float] = {}
    for i in range(_N_COMPONENTS):
        found[f"pca_share_{i + 1}"] = float(shares[i]) if i < len(shares) else 0.0
        found[f"pca_deviation_{i + 1}"] = float(np.sqrt(values[i] / len(Z))) if i < len(values) else 0.0
    found["pca_effective"] = float(np.exp(-(shares * np.log(shares + 1e-300)).sum())) / max(len(shares), 1)
    found["pca_for_90_percent"] = float((np.cumsum(shares) < 0.9).sum() + 1) / max(len(shares), 1)
    kept = values > 1e-9 * max(values.max(initial=0.0), 1e-12)
    projected = vectors[:, kept] * np.sqrt(values[kept]) if wide else Z @ vectors[:, kept]
    scores = (projected**2 / np.where(values[kept] > 0.0, values[kept], 1.0)).sum(axis=1) * len(Z)
    found.update(_scores("pca", scores))
    return found


def _scores(name: str, scores: FloatArray) -> dict[str, float]:
    """The shape of a detector's scores: how far the top stands out, and how heavy its tail is."""
    spread = scores.std()
    Z = (scores - scores.mean()) / (spread if spread > 0.0 else 1.0)
    top = np.sort(Z)[::-1]
    few = max(1, len(Z) // 100)
    return {
        f"{name}_scores_skewness": float(stats.skew(Z)),
        f"{name}_scores_kurtosis": float(stats.kurtosis(Z)),
        f"{name}_scores_highest": float(top[0]),
        f"{name}_scores_top_percent": float(top[:few].mean()),
        f"{name}_scores_top_tenth": float(top[: max(1, len(Z) // 10)].mean()),
        f"{name}_scores_beyond_3": float((Z > 3.0).mean()),
    }


def _entropy(counts: Any) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
