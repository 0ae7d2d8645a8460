"""Families of detectors that might join the committee: how well each ranks rows alone, and what it adds to the others.

    python benchmarks/families.py WORK [--corpus build/corpus/corpus.json] [--json]

Alone: mean average precision by kind of task. Added: the expert of unusual rows is grown with the ranks of the
candidates beside its own features, five folds of sources, and judged where it was not grown; the last is what counts.
Candidates that take long are judged alone, on two kinds. Needs ELECT_DATA_HOME; what was scored is kept in WORK.
"""

import argparse
import hashlib
import json
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from elect.bench.rows import MOST_ROWS, described, labelled_rows
from elect.committee.features import feature_names, log_rank
from elect.committee.scorer import leaning
from elect.committee.voices import FAMILIES
from elect.core.metrics import average_precision
from elect.history.row_training import OF_WRONG_VALUES, UNUSUAL_GROWTH, UNUSUAL_WEIGHTS, RowTask, grow, share_log_odds
from elect.paper.folds import group_folds
from elect.pool import PoolScorer
from elect.support.arrays import FloatArray
from elect.support.trees import TreeEnsemble

NAMES = feature_names(FAMILIES)
ALONE = ("wild", "odd")
"""The kinds on which slow candidates are judged."""

_CENTERS = 2_000


def parzen(width: float) -> Callable[[FloatArray], FloatArray]:
    """A kernel density, the limit of OCSVM with a radial kernel as nu goes to 1; its gamma is ``width`` / columns."""

    def scores(Z: FloatArray) -> FloatArray:
        n = len(Z)
        centers = Z if n <= _CENTERS else Z[np.random.default_rng(0).choice(n, _CENTERS, replace=False)]
        apart = np.square(Z).sum(axis=1)[:, None] + np.square(centers).sum(axis=1) - 2 * Z @ centers.T
        density: FloatArray = np.exp(-width / Z.shape[1] * np.maximum(apart, 0.0)).mean(axis=1)
        return -density

    return scores


def pca(Z: FloatArray) -> FloatArray:
    """The sum of squared principal components, each by its variance."""
    centred = Z - Z.mean(axis=0)
    _, s, V = np.linalg.svd(centred, full_matrices=False)
    variance = np.square(s) / len(Z)
    kept = variance > 1e-8 * max(variance[0], 1e-300)
    result: FloatArray = (np.square(centred @ V[kept].T) / variance[kept]).sum(axis=1)
    return result


def extended_forest(Z: FloatArray, trees: int = 100, sample: int = 256) -> FloatArray:
    """An isolation forest that cuts in random directions (Hariri et al., 2019)."""
    rng, n = np.random.default_rng(0), len(Z)
    size = min(sample, n)
    deepest = int(np.ceil(np.log2(max(size, 2))))
    depth = np.zeros(n)

    def usual(k: int) -> float:
        return 0.0 if k <= 1 else 2 * (np.log(k - 1) + 0.5772156649) - 2 * (k - 1) / k

    def cut(own: FloatArray, rows: Any, level: int) -> None:
        if level >= deepest or len(own) <= 1 or len(rows) == 0:
            depth[rows] += level + usual(len(own))
            return
        direction = rng.normal(size=Z.shape[1])
        at = rng.uniform(own.min(axis=0), own.max(axis=0))
        below, side = (own - at) @ direction <= 0, (Z[rows] - at) @ direction <= 0
        cut(own[below], rows[side], level + 1)
        cut(own[~below], rows[~side], level + 1)

    for _ in range(trees):
        cut(Z[rng.choice(n, size, replace=False)], np.arange(n), 0)
    return -depth / trees


def pyod(module: str, name: str, **params: Any) -> Callable[[FloatArray], FloatArray]:
    def scores(Z: FloatArray) -> FloatArray:
        from importlib import import_module

        found = getattr(import_module(f"pyod.models.{module}"), name)(**params).fit(Z)
        return np.asarray(found.decision_scores_, dtype=np.float64)

    return scores


def gmm(Z: FloatArray) -> FloatArray:
    """Up to five Gaussians, so that each has ten rows a column."""
    from sklearn.mixture import GaussianMixture

    parts = min(5, max(1, len(Z) // (10 * Z.shape[1])))
    mixture = GaussianMixture(parts, reg_covar=1e-3, random_state=0, max_iter=30)
    return -np.asarray(mixture.fit(Z).score_samples(Z), dtype=np.float64)


QUICK: dict[str, Callable[[FloatArray], FloatArray]] = {
    "kde1": parzen(1.0),
    "kde03": parzen(0.3),
    "kde3": parzen(3.0),
    "pca": pca,
    "ecod": pyod("ecod", "ECOD"),
    "copod": pyod("copod", "COPOD"),
    "inne": pyod("inne", "INNE", random_state=0, n_estimators=100),
    "eif": extended_forest,
}
# MCD is not among them: a wide table takes it minutes, more than a voice of the committee may.
SLOW = {"gmm": gmm, "cblof": pyod("cblof", "CBLOF", random_state=0, check_estimator=False)}
POOLED = {
    "kNN": tuple(f"kNN(method=mean, n_neighbors={k})" for k in (5, 10, 25)),
    "LOF": tuple(f"LOF(metric=euclidean, n_neighbors={k})" for k in (10, 20, 50)),
    "HBOS": ("HBOS(alpha=0.1, n_bins=10)", "HBOS(alpha=0.1, n_bins=30)"),
    "LODA": ("LODA(n_bins=10, n_random_cuts=100)",),
}
TITLES = {
    "kde1": "kernel density, gamma 1 / columns",
    "kde03": "kernel density, gamma 0.3 / columns",
    "kde3": "kernel density, gamma 3 / columns",
    "pca": "PCA, all components",
    "ecod": "ECOD",
    "copod": "COPOD",
    "inne": "INNE",
    "eif": "extended isolation forest",
    "gmm": "Gaussian mixture",
    "cblof": "CBLOF",
    "rank IForest": "IForest (in the committee)",
    "rank Extremes": "Extremes (in the committee)",
    "rank Core": "Core (in the committee)",
}


def ranks_of(task: Any, work: Path) -> dict[str, FloatArray]:
    """The rank of every row by each candidate."""
    path = work / (hashlib.blake2b(task.name.encode(), digest_size=12).hexdigest() + ".npz")
    found: dict[str, Any] = dict(np.load(path)) if path.exists() else {}
    wanted = QUICK | (SLOW if task.kind in ALONE else {})
    missing = [name for name in (*wanted, *POOLED) if name not in found]
    if missing:
        data = task.data
        if len(data) > MOST_ROWS:
            data = data[np.sort(np.random.default_rng(0).choice(len(data), MOST_ROWS, replace=False))]
        scorer = PoolScorer(data, n_jobs=1)
        for name in missing:
            if name in POOLED:
                said = [scorer.scores(model_id) for model_id in POOLED[name]]
            else:
                said = [_tried(wanted[name], np.asarray(scorer.work.Z))]
            found[name] = np.mean([log_rank(np.sort(s), s) for s in said], axis=0).astype(np.float32)
        np.savez(path, **found)
    return found


def _tried(candidate: Callable[[FloatArray], FloatArray], Z: FloatArray) -> FloatArray:
    """Its scores; all the same where it gives up on a table, as CBLOF does where it finds no clusters."""
    try:
        return np.nan_to_num(candidate(Z), nan=0.0, posinf=1e300, neginf=-1e300)
    except ValueError:
        return np.zeros(len(Z))


def ap(scores: Any, y: Any) -> float:
    return float(average_precision(np.asarray(scores, dtype=np.float64)[:, None], y)[0])


def means(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    by_kind = defaultdict(list)
    for kind, value in pairs:
        by_kind[kind].append(value)
    return {kind: round(float(np.mean(values)), 4) for kind, values in by_kind.items()}


def added(tasks: Sequence[RowTask], ranks: Sequence[dict[str, FloatArray]], names: Sequence[str]) -> dict[str, float]:
    """The expert of unusual rows with these candidates beside its features, on folds of sources left out."""
    wider = [
        replace(task, features=np.column_stack([task.features, *(own[name] for name in names)]).astype(np.float32))
        for task, own in zip(tasks, ranks, strict=True)
    ]
    growth = replace(UNUSUAL_GROWTH, rising=(*UNUSUAL_GROWTH.rising, *(1 for _ in names)))
    fold_of = group_folds([task.group for task in tasks], 5)
    found = []
    for fold in np.unique(fold_of):
        others = [task for task, f in zip(wider, fold_of, strict=True) if f != fold]
        text = grow(others, UNUSUAL_WEIGHTS, growth, 0, start=[share_log_odds(task) for task in others])
        trees = TreeEnsemble.from_lightgbm_text(text)
        for task in (task for task, f in zip(wider, fold_of, strict=True) if f == fold):
            features = task.features.astype(np.float64)
            said = leaning(trees.predict(features), features[:, : len(NAMES)], NAMES)
            found.append((task.kind, ap(said, task.y)))
    return means(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path)
    parser.add_argument("--corpus", type=Path, action="append", default=[])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    arguments.work.mkdir(parents=True, exist_ok=True)
    rows = [task for task in labelled_rows(None, arguments.corpus) if task.kind not in OF_WRONG_VALUES]
    tasks = described(rows, arguments.work)
    ranks = [ranks_of(task, arguments.work) for task in rows]
    heard = ("rank IForest", "rank Extremes", "rank Core")
    alone = {
        name: means((task.kind, ap(own[name], task.y)) for task, own in zip(tasks, ranks, strict=True) if name in own)
        for name in (*QUICK, *POOLED, *SLOW)
    }
    for name in heard:
        alone[name] = means((task.kind, ap(task.features[:, NAMES.index(name)], task.y)) for task in tasks)
    sets = {
        "none": (),
        "kde1": ("kde1",),
        "near": ("kNN", "LOF"),
        "four": ("kde1", "kde03", "pca", "eif"),
        "all": (*QUICK, *POOLED),
    }
    result: dict[str, Any] = {
        "tasks": {kind: sum(task.kind == kind for task in tasks) for kind in alone["pca"]},
        "alone": [{"name": TITLES.get(name, name), **found} for name, found in alone.items()],
        "added": [
            {"name": ", ".join(TITLES.get(n, n) for n in names) or "none", **added(tasks, ranks, names)}
            for names in sets.values()
        ],
    }
    if arguments.json:
        print(json.dumps(result, indent=1))
        return 0
    for part in ("alone", "added"):
        for row in result[part]:
            print(f"{row['name'][:60]:60}", *(f"{k} {v:.4f}" for k, v in row.items() if k != "name"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
