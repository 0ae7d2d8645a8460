"""What a model would cost on a table, given the shared pieces that are built already.

Each piece's CPU seconds are a sum of a few powers of the table's size. The coefficients were fitted by
``benchmarks/costs.py`` on generated tables; only their proportions matter to the search.
"""

from collections.abc import Mapping
from typing import Any

from elect.core.models import ModelSpec

# CPU seconds: constant, per row, per cell, per pair of rows, per pair of rows and column (pairs of fitted rows for
# OCSVM), for one trial.
COEFFICIENTS: dict[str, tuple[float, float, float, float, float]] = {
    "graph": (0.0, 6.5e-06, 0.0, 1.3e-09, 4.1e-11),
    "geometry": (0.0022, 4.8e-06, 4.6e-08, 0.0, 0.0),
    "kNN": (0.0002, 1e-07, 0.0, 0.0, 0.0),
    "LOF": (0.00033, 1.5e-06, 0.0, 0.0, 0.0),
    "ABOD": (9.7e-05, 1.3e-08, 0.0, 0.0, 0.0),
    "COF": (0.0001, 1.1e-07, 0.0, 0.0, 0.0),
    "HBOS": (0.00028, 0.0, 1.5e-08, 0.0, 0.0),
    "LODA": (0.0029, 1.1e-06, 0.0, 0.0, 0.0),
    "IForest": (0.0052, 1.1e-06, 0.0, 0.0, 0.0),
    "OCSVM": (0.0043, 0.0, 0.0, 6.9e-09, 0.0),
}
# Measuring a new model's scores and updating the neighbours.
BASE = (3e-4, 5e-8)


def pieces_of(spec: ModelSpec, params: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """The pieces a model needs, each with what tells it from others of its kind.

    >>> pieces_of(ModelSpec.of("COF", n_neighbors=5), {"n_neighbors": 5})
    (('graph', 'euclidean'), ('geometry', 'euclidean'), ('COF', 5))
    """
    if spec.detector in ("kNN", "LOF"):
        metric = "manhattan" if params["metric"] == "manhattan" else "euclidean"
        one = (params["method"], params["n_neighbors"]) if spec.detector == "kNN" else metric
        return (("graph", metric), (spec.detector, one))
    if spec.detector in ("ABOD", "COF"):
        return (("graph", "euclidean"), ("geometry", "euclidean"), (spec.detector, params["n_neighbors"]))
    if spec.detector == "OCSVM" and params["kernel"] == "linear":
        return ()
    if spec.detector == "OCSVM":
        return (("OCSVM", (params["kernel"], params["nu"])),)
    own = {"HBOS": "n_bins", "IForest": "max_features"}.get(spec.detector)
    return ((spec.detector, None if own is None else params[own]),)


def piece_seconds(piece: str, n: int, d: int, trials: int, max_kernel_rows: int) -> float:
    """The predicted CPU seconds of one piece on n rows and d columns."""
    constant, rows, cells, pairs, pair_columns = COEFFICIENTS[piece]
    paired = float(min(n, max_kernel_rows) ** 2 if piece == "OCSVM" else n * n)
    seconds = constant + rows * n + cells * n * d + pairs * paired + pair_columns * paired * d
    return seconds * (trials if piece in ("LODA", "IForest") else 1)
