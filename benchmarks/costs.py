"""Fit the costs of the families: CPU seconds of each piece of work on generated tables.

python benchmarks/costs.py [--json]
"""

import argparse
import json
import time
from typing import Any

import numpy as np
from scipy.optimize import nnls

from elect import ModelPool, PoolScorer
from elect.pool.families import FAMILIES
from elect.pool.families._base import Cost

SIZES = [(500, 5), (500, 40), (1500, 10), (3000, 5), (3000, 30), (6000, 8), (6000, 20)]
# In this order each model adds one piece of work to those before it.
FIRST = (
    "kNN(method=largest, n_neighbors=1)",
    "ABOD(n_neighbors=3)",
    "kNN(method=mean, n_neighbors=50)",
    "LOF(metric=euclidean, n_neighbors=20)",
    "ABOD(n_neighbors=20)",
    "COF(n_neighbors=20)",
    "HBOS(alpha=0.1, n_bins=50)",
    "LODA(n_bins=10, n_random_cuts=100)",
    "IForest(max_features=0.5, n_estimators=100)",
    "OCSVM(kernel=rbf, nu=0.5)",
    "ECOD()",
)
POOL = ModelPool.of(spec for family in FAMILIES.values() for spec in family.pool())
POWERS = ("constant", "rows", "cells", "pairs", "pair_columns")


def first_pieces() -> dict[str, tuple[str, Cost]]:
    """For each kind of piece the model that needs it first, and what it is said to cost."""
    found: dict[str, tuple[str, Cost]] = {}
    for model_id in FIRST:
        spec = POOL[model_id]
        family = FAMILIES[spec.detector]
        new = next(piece for piece in family.pieces(family.params_of(spec)) if piece.kind not in found)
        found[new.kind] = model_id, new.cost
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    PoolScorer(np.random.default_rng(0).normal(size=(200, 4)), POOL, trials=1)
    rows: list[list[float]] = []
    pieces = first_pieces()
    seconds: dict[str, list[float]] = {piece: [] for piece in pieces}
    for n, d in SIZES:
        scorer = PoolScorer(np.random.default_rng(n).normal(size=(n, d)), POOL, trials=1)
        rows.append([1.0, n, n * d, n**2, n**2 * d])
        for piece, (model_id, _) in pieces.items():
            started = time.process_time()
            scorer.scores(model_id)
            seconds[piece].append(time.process_time() - started)
    design = np.array(rows)
    found: dict[str, dict[str, Any]] = {}
    for piece, values in seconds.items():
        # Relative errors: a small table matters as much as a large one. Only the powers a piece can have are fitted.
        allowed = [i for i, c in enumerate(getattr(pieces[piece][1], p) for p in POWERS) if c > 0]
        weight = 1.0 / np.maximum(np.array(values), 1e-4)
        fitted, _ = nnls(design[:, allowed] * weight[:, None], np.array(values) * weight)
        full = np.zeros(design.shape[1])
        full[allowed] = fitted
        error = float(np.median(np.abs(design @ full - values) * weight))
        found[piece] = {"coefficients": [float(f"{c:.2g}") for c in full], "median_relative_error": round(error, 3)}
    if as_json:
        print(json.dumps(found))
        return
    for piece, entry in found.items():
        print(
            f"{piece}: {dict(zip(POWERS, entry['coefficients'], strict=True))}  # {entry['median_relative_error']:.0%}"
        )


if __name__ == "__main__":
    main()
