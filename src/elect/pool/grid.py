"""The default pool: 297 models, in the column order of the published performance files."""

import ast
from functools import cache

from elect.core.models import ModelPool, ParamValue
from elect.errors import UnknownModel

_NEIGHBORS = (1, 5, 10, 15, 20, 25, 50, 60, 70, 80, 90, 100)
_FEW_NEIGHBORS = (3, 5, 10, 15, 20, 25, 50)
_TENTHS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)

# Parameters are listed as the published labels list them; the first varies slowest.
GRID: dict[str, dict[str, tuple[ParamValue, ...]]] = {
    "LODA": {"n_bins": (5, 10, 15, 20, 25, 30), "n_random_cuts": (10, 20, 30, 40, 50, 75, 100, 150, 200)},
    "ABOD": {"n_neighbors": _FEW_NEIGHBORS},
    "IForest": {"n_estimators": (10, 20, 30, 40, 50, 75, 100, 150, 200), "max_features": _TENTHS},
    "kNN": {"method": ("largest", "mean", "median"), "n_neighbors": _NEIGHBORS},
    "LOF": {"metric": ("manhattan", "euclidean", "minkowski"), "n_neighbors": _NEIGHBORS},
    "HBOS": {"n_bins": (5, 10, 20, 30, 40, 50, 75, 100), "alpha": (0.1, 0.2, 0.3, 0.4, 0.5)},
    "OCSVM": {"kernel": ("linear", "poly", "rbf", "sigmoid"), "nu": _TENTHS},
    "COF": {"n_neighbors": _FEW_NEIGHBORS},
}


@cache
def default_pool() -> ModelPool:
    """The 297 candidate models of the paper.

    >>> len(default_pool())
    297
    """
    grids = [ModelPool.grid(family, **parameters) for family, parameters in GRID.items()]
    return ModelPool.of(spec for grid in grids for spec in grid)


def published_label(model_id: str) -> str:
    """The column label of a model in the published files.

    >>> published_label("LODA(n_bins=5, n_random_cuts=10)")
    "('LODA', (5, 10))"
    >>> published_label("COF(n_neighbors=3)")
    "('COF', 3)"
    """
    spec = default_pool()[model_id]
    values = tuple(spec[name] for name in GRID[spec.detector])
    return repr((spec.detector, values if len(values) > 1 else values[0]))


@cache
def _by_label() -> dict[str, str]:
    return {published_label(model_id): model_id for model_id in default_pool().ids}


def model_id_of(label: str) -> str:
    """The id of a model from its published column label.

    >>> model_id_of("('kNN', ('mean', 5))")
    'kNN(method=mean, n_neighbors=5)'
    """
    try:
        return _by_label()[repr(ast.literal_eval(label))]
    except (KeyError, ValueError, SyntaxError):
        raise UnknownModel(
            f"Unknown published label {label!r}: it must name a model of the default pool, "
            "such as \"('LOF', ('euclidean', 20))\"."
        ) from None
