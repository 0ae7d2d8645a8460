"""Pools by name. The paper's has 297 models, in the column order of the published performance files."""

import ast
from collections.abc import Callable
from functools import cache

from elect.core.models import ModelPool
from elect.errors import InvalidInput, UnknownModel
from elect.pool.families import FAMILIES

PoolLike = ModelPool | str
"""A pool, or the name of one."""


@cache
def paper_pool() -> ModelPool:
    """The 297 candidate models of the paper.

    >>> len(paper_pool())
    297
    """
    return ModelPool.of(spec for family in FAMILIES.values() if family.in_paper for spec in family.pool())


def default_pool() -> ModelPool:
    """The candidate models where none are named: the paper's."""
    return paper_pool()


_NAMED: dict[str, Callable[[], ModelPool]] = {"paper": paper_pool}


def resolve_pool(pool: PoolLike | None) -> ModelPool:
    """The pool itself, of a pool or its name; the default one if there is none.

    >>> resolve_pool("paper") is paper_pool()
    True
    """
    if pool is None:
        return default_pool()
    if isinstance(pool, str) and pool in _NAMED:
        return _NAMED[pool]()
    if not isinstance(pool, ModelPool):
        names = " or ".join(map(repr, _NAMED))
        got = repr(pool) if isinstance(pool, str) else type(pool).__name__
        raise InvalidInput(f"pool must be {names} or a ModelPool, got {got}: build one with ModelPool.grid.")
    return pool


def published_label(model_id: str) -> str:
    """The column label of a model in the published files.

    >>> published_label("LODA(n_bins=5, n_random_cuts=10)")
    "('LODA', (5, 10))"
    >>> published_label("COF(n_neighbors=3)")
    "('COF', 3)"
    """
    spec = paper_pool()[model_id]
    values = tuple(spec[name] for name in FAMILIES[spec.detector].grid)
    return repr((spec.detector, values if len(values) > 1 else values[0]))


@cache
def _by_label() -> dict[str, str]:
    return {published_label(model_id): model_id for model_id in paper_pool().ids}


def model_id_of(label: str) -> str:
    """The id of a model from its published column label.

    >>> model_id_of("('kNN', ('mean', 5))")
    'kNN(method=mean, n_neighbors=5)'
    """
    try:
        return _by_label()[repr(ast.literal_eval(label))]
    except (KeyError, ValueError, SyntaxError):
        raise UnknownModel(
            f"Unknown published label {label!r}: it must name a model of the paper's pool, "
            "such as \"('LOF', ('euclidean', 20))\"."
        ) from None
