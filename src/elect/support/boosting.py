"""Growing trees with LightGBM, the only place that imports it: text comes out, read by ``elect.support.trees``."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from elect.errors import MissingExtra
from elect.support.arrays import FloatArray

_END_OF_TREES = "end of trees\n"
_STATISTICS = ("split_gain", "leaf_weight", "leaf_count", "internal_value", "internal_weight", "internal_count")
"""What LightGBM notes of its trees beside them; no prediction needs it, and it is half of the text."""


@dataclass(frozen=True)
class Growth:
    """How trees are grown: their leaves, how many, how fast, the rows a leaf must hold, and what each tree sees."""

    num_leaves: int
    rounds: int
    learning_rate: float
    min_leaf_rows: int
    column_share: float = 1.0
    row_share: float = 1.0
    ridge: float = 0.0
    bins: int = 255
    log_odds: bool = False
    """Whether the target is 0 or 1 and the trees add up to its log-odds."""
    rising: tuple[int, ...] = ()
    """For each feature 1 where the sum must not fall as it grows, 0 elsewhere; empty for no such rule."""


def require_lightgbm() -> Any:
    """The library, or what to do where it is not there (its own libraries included)."""
    try:
        return import_module("lightgbm")
    except (ImportError, OSError) as error:
        raise MissingExtra(
            f"Learning from labelled tables needs the package lightgbm ({error}): run pip install 'elect[train]'."
        ) from None


def boost(
    rows: FloatArray,
    target: FloatArray,
    growth: Growth,
    seed: int = 0,
    weights: FloatArray | None = None,
    start: FloatArray | None = None,
) -> str:
    """The text of the trees that LightGBM grows, without what it appends to them.

    ``start`` is what the trees are added to, where they go on from something. It runs in one thread: with several its
    sums, and so its trees, depend on how many there are.
    """
    lightgbm = require_lightgbm()
    settings: dict[str, Any] = {
        "objective": "binary" if growth.log_odds else "regression",
        "num_leaves": growth.num_leaves,
        "learning_rate": growth.learning_rate,
        "min_data_in_leaf": growth.min_leaf_rows,
        # Features are finite; a split then needs no rule for missing values.
        "use_missing": False,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "seed": seed,
        "verbosity": -1,
    }
    if growth.column_share < 1.0:
        settings["feature_fraction"] = growth.column_share
    if growth.row_share < 1.0:
        settings |= {"bagging_fraction": growth.row_share, "bagging_freq": 1}
    if growth.ridge > 0.0:
        settings["lambda_l2"] = growth.ridge
    if growth.bins != Growth.bins:
        settings["max_bin"] = growth.bins
    if growth.rising:
        settings["monotone_constraints"] = list(growth.rising)
    data = lightgbm.Dataset(rows, target, weight=weights, init_score=start, params=settings)
    booster = lightgbm.train(settings, data, num_boost_round=growth.rounds)
    text: str = booster.model_to_string(num_iteration=-1)
    text = text[: text.index(_END_OF_TREES) + len(_END_OF_TREES)]
    # The rules were kept while the trees grew; nothing that reads them needs to know.
    return shorter(
        "".join(line for line in text.splitlines(keepends=True) if not line.startswith("monotone_constraints="))
    )


def shorter(text: str) -> str:
    """The same trees without LightGBM's statistics of them: zeros stand in their place."""
    head, *trees = text.removesuffix(_END_OF_TREES).split("Tree=")
    trees = ["Tree=" + "".join(map(_zeros, tree.splitlines(keepends=True))) for tree in trees]
    lines = [
        "tree_sizes=" + " ".join(str(len(tree)) for tree in trees) + "\n" if line.startswith("tree_sizes=") else line
        for line in head.splitlines(keepends=True)
    ]
    return "".join([*lines, *trees, _END_OF_TREES])


def _zeros(line: str) -> str:
    key, _, values = line.partition("=")
    return f"{key}={' '.join('0' for _ in values.split())}\n" if key in _STATISTICS else line
