"""Fit the coefficients of elect.pool.costs: CPU seconds of each shared piece on generated tables.

python benchmarks/costs.py [--json]
"""

import argparse
import json
import time
from typing import Any

import numpy as np
from scipy.optimize import nnls

from elect import PoolScorer, default_pool
from elect.pool.costs import COEFFICIENTS

SIZES = [(500, 5), (500, 40), (1500, 10), (3000, 5), (3000, 30), (6000, 8), (6000, 20)]
FIRST = {
    "graph": "kNN(method=largest, n_neighbors=1)",
    "geometry": "ABOD(n_neighbors=3)",
    "kNN": "kNN(method=mean, n_neighbors=50)",
    "LOF": "LOF(metric=euclidean, n_neighbors=20)",
    "ABOD": "ABOD(n_neighbors=20)",
    "COF": "COF(n_neighbors=20)",
    "HBOS": "HBOS(alpha=0.1, n_bins=50)",
    "LODA": "LODA(n_bins=10, n_random_cuts=100)",
    "IForest": "IForest(max_features=0.5, n_estimators=100)",
    "OCSVM": "OCSVM(kernel=rbf, nu=0.5)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    PoolScorer(np.random.default_rng(0).normal(size=(200, 4)), default_pool(), trials=1)
    rows: list[list[float]] = []
    seconds: dict[str, list[float]] = {piece: [] for piece in FIRST}
    for n, d in SIZES:
        scorer = PoolScorer(np.random.default_rng(n).normal(size=(n, d)), trials=1)
        rows.append([1.0, n, n * d, n**2, n**2 * d])
        for piece, model_id in FIRST.items():  # in this order each model adds one piece to those before it
            started = time.process_time()
            scorer.scores(model_id)
            seconds[piece].append(time.process_time() - started)
    design = np.array(rows)
    found: dict[str, dict[str, Any]] = {}
    for piece, values in seconds.items():
        # Relative errors: a small table matters as much as a large one. Only the powers a piece can have are fitted.
        allowed = [i for i, c in enumerate(COEFFICIENTS[piece]) if c > 0]
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
        print(f'    "{piece}": {tuple(entry["coefficients"])},  # {entry["median_relative_error"]:.0%}')


if __name__ == "__main__":
    main()
