"""Ensembles of regression trees, evaluated from arrays of our own.

LightGBM's reader trusts the text it is given: a child index out of range reads memory that is not its own. So the
text of a stored model is parsed here, and what was parsed is checked once, as arrays, before anything walks them.

A tree of n leaves has n - 1 splits, and a point goes left where its feature is at most the threshold. A child c >= 0 is
the split c of the same tree, which comes after its parent; a child c < 0 is the leaf ``-1 - c``. Split 0 is the root; a
tree of one leaf has no splits.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput, StoreError
from elect.support.arrays import FloatArray, IntArray, read_only
from elect.support.tree_walk import LaidOutTrees

MAX_TREES = 10_000
MAX_LEAVES = 4_096
"""Of one tree."""
MAX_FEATURES = 1_000
MAX_TEXT = 64 * 2**20
OBJECTIVES = ("regression", "binary sigmoid:1")

Int32Array = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """Regression trees whose leaf values are added up. The arrays hold all trees, one after the other.

    Tree t has the splits ``split_offsets[t]`` up to ``split_offsets[t + 1]`` of ``feature``, ``threshold``, ``left``
    and ``right``, and the leaves ``leaf_offsets[t]`` up to ``leaf_offsets[t + 1]`` of ``leaf_value``.

    >>> stump = TreeEnsemble(1, [0, 1], [0, 2], [0], [0.5], [-1], [-2], [10.0, 20.0])
    >>> stump.predict([[0.5], [0.6]])
    array([10., 20.])
    """

    n_features: int
    split_offsets: IntArray
    leaf_offsets: IntArray
    feature: Int32Array
    threshold: FloatArray
    left: Int32Array
    right: Int32Array
    leaf_value: FloatArray

    def __post_init__(self) -> None:
        for name, dtype in _FIELDS:
            array = np.asarray(getattr(self, name))
            if array.ndim != 1 or (array.size and array.dtype.kind not in ("iuf" if dtype is np.float64 else "iu")):
                raise StoreError(f"{name} of a tree ensemble must be a flat array of numbers, got {array.dtype}.")
            if dtype is np.int32 and array.size and not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
                raise StoreError(f"{name} of a tree ensemble must fit 32 bits.")
            object.__setattr__(self, name, read_only(getattr(self, name), dtype=dtype))
        _check(self)

    def __reduce__(self) -> Any:
        # Arrays come out of a pickle writable; through the constructor they are checked and read-only again.
        return (TreeEnsemble, (self.n_features, *(getattr(self, name) for name, _ in _FIELDS)))

    @property
    def n_trees(self) -> int:
        return len(self.split_offsets) - 1

    def first(self, n_trees: int) -> "TreeEnsemble":
        """The ensemble of the first trees: what boosting had after that many rounds."""
        if not 0 <= n_trees <= self.n_trees:
            raise InvalidInput(f"n_trees must lie between 0 and {self.n_trees}, got {n_trees}.")
        splits, leaves = self.split_offsets[: n_trees + 1], self.leaf_offsets[: n_trees + 1]
        end = splits[-1]
        return TreeEnsemble(
            self.n_features,
            splits,
            leaves,
            self.feature[:end],
            self.threshold[:end],
            self.left[:end],
            self.right[:end],
            self.leaf_value[: leaves[-1]],
        )

    def predict(self, features: FloatArray) -> FloatArray:
        """The sum of the trees for each row of features (rows x features), which must be finite."""
        features = np.ascontiguousarray(features, dtype=np.float64)
        if features.ndim != 2 or features.shape[1] != self.n_features:
            raise InvalidInput(
                f"features must have a row for each case and {self.n_features} columns, got shape {features.shape}."
            )
        if not np.isfinite(features).all():
            raise InvalidInput("features must be finite; some are NaN or infinite.")
        return self._laid_out.sums(features)

    @cached_property
    def _laid_out(self) -> LaidOutTrees:
        return LaidOutTrees.of(*(getattr(self, name) for name, _ in _FIELDS))

    @classmethod
    def from_lightgbm_text(cls, text: str) -> "TreeEnsemble":
        """Parse the text that LightGBM writes for a regression model with numerical splits and no missing values.

        The text must end after its trees (what LightGBM appends, importances and parameters, has no say in
        predictions). Anything that LightGBM would not have written is refused.
        """
        return _parse(text)


_FIELDS: tuple[tuple[str, type[np.generic]], ...] = (
    ("split_offsets", np.intp),
    ("leaf_offsets", np.intp),
    ("feature", np.int32),
    ("threshold", np.float64),
    ("left", np.int32),
    ("right", np.int32),
    ("leaf_value", np.float64),
)


def _check(trees: TreeEnsemble) -> None:
    """Refuse arrays that a walk could leave, or never end in."""
    _require(
        isinstance(trees.n_features, int) and 1 <= trees.n_features <= MAX_FEATURES,
        f"the number of features must lie between 1 and {MAX_FEATURES}",
    )
    splits, leaves = trees.split_offsets, trees.leaf_offsets
    _require(len(splits) == len(leaves), "there must be as many offsets of splits as of leaves")
    _require(1 <= len(splits) <= MAX_TREES + 1, f"there must be at most {MAX_TREES} trees")
    n_splits = np.diff(splits)
    _require(splits[0] == 0 and leaves[0] == 0, "offsets must begin at 0")
    _require(bool(((n_splits >= 0) & (n_splits < MAX_LEAVES)).all()), f"a tree may have up to {MAX_LEAVES} leaves")
    _require(bool((np.diff(leaves) == n_splits + 1).all()), "a tree must have one leaf more than splits")
    lengths = {len(array) for array in (trees.feature, trees.threshold, trees.left, trees.right)}
    _require(lengths == {int(splits[-1])}, "there must be a feature, a threshold and two children for each split")
    _require(len(trees.leaf_value) == leaves[-1], "there must be a value for each leaf")
    _require(
        bool(((trees.feature >= 0) & (trees.feature < trees.n_features)).all()), "some split is on an unknown feature"
    )
    _require(bool(np.isfinite(trees.threshold).all()), "thresholds must be finite")
    _require(bool(np.isfinite(trees.leaf_value).all()), "leaf values must be finite")
    with np.errstate(over="ignore"):
        largest = np.maximum.reduceat(np.abs(trees.leaf_value), leaves[:-1]).sum() if trees.n_trees else 0.0
    _require(largest < 1e300, "the sum of the leaf values must stay finite")
    _check_children(trees, n_splits)


def _check_children(trees: TreeEnsemble, n_splits: IntArray) -> None:
    tree = np.repeat(np.arange(trees.n_trees), n_splits)
    place = np.arange(len(tree)) - trees.split_offsets[tree]
    split_parents = np.zeros(len(tree), dtype=np.intp)
    leaf_parents = np.zeros(len(trees.leaf_value), dtype=np.intp)
    for child in (trees.left.astype(np.intp), trees.right.astype(np.intp)):
        inner = child >= 0
        # A child that comes after its parent cannot lead back to it.
        forward = (child > place) & (child < n_splits[tree])
        at_leaf = ~inner & (-1 - child <= n_splits[tree])
        _require(bool((forward | at_leaf).all()), "a child must be a later split or a leaf of its tree")
        np.add.at(split_parents, trees.split_offsets[tree[inner]] + child[inner], 1)
        np.add.at(leaf_parents, trees.leaf_offsets[tree[~inner]] - 1 - child[~inner], 1)
    _require(bool((split_parents == (place > 0)).all()), "each split but the root must have one parent")
    alone = np.repeat(n_splits == 0, n_splits + 1)
    _require(bool((leaf_parents[~alone] == 1).all()), "each leaf must have one parent")


def _require(condition: bool, expected: str) -> None:
    if not condition:
        raise StoreError(f"The trees are not usable: {expected}.")


_HEADER = ("tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0")
_END = "end of trees"
_NUMBERS = re.compile(r"[-+.0-9eE ]*")
_RANGE = re.compile(r"none|\[[-+.0-9eE]+:[-+.0-9eE]+\]")


class _Lines:
    """The lines of a text, each of which must be ``key=value`` with the key that is asked for."""

    def __init__(self, text: str) -> None:
        self._lines = iter(text.split("\n"))
        self.number = 0

    def next(self) -> str:
        self.number += 1
        line = next(self._lines, None)
        if line is None:
            raise self.wrong("more lines", "the end of the text")
        return line

    def expect(self, line: str) -> None:
        found = self.next()
        if found != line:
            raise self.wrong(repr(line), repr(found[:40]))

    def value(self, key: str) -> str:
        line = self.next()
        if not line.startswith(key + "="):
            raise self.wrong(f"{key}=...", repr(line[:40]))
        return line[len(key) + 1 :]

    def ints(self, key: str, *counts: int) -> list[int]:
        return [self._number(int, key, word) for word in self._words(key, counts)]

    def floats(self, key: str, *counts: int) -> list[float]:
        return [self._number(float, key, word) for word in self._words(key, counts)]

    def one_int(self, key: str, least: int, most: int) -> int:
        (value,) = self.ints(key, 1)
        if not least <= value <= most:
            raise self.wrong(f"{key} between {least} and {most}", str(value))
        return value

    def rest(self) -> Iterator[str]:
        return self._lines

    def wrong(self, expected: str, got: str) -> StoreError:
        return StoreError(f"The model text is damaged: line {self.number} must be {expected}, got {got}.")

    def _words(self, key: str, counts: tuple[int, ...]) -> list[str]:
        value = self.value(key)
        if not _NUMBERS.fullmatch(value):
            raise self.wrong(f"{key} with plain numbers only", repr(value[:40]))
        words = value.split(" ") if value else []
        if len(words) not in counts:
            raise self.wrong(f"{key} with {counts[0]} numbers", str(len(words)))
        return words

    def _number(self, kind: Any, key: str, word: str) -> Any:
        try:
            number = kind(word)
        except ValueError:
            raise self.wrong(f"{key} with plain numbers only", repr(word[:40])) from None
        if not abs(number) < float("inf"):
            raise self.wrong(f"{key} with finite numbers only", repr(word[:40]))
        return number


def _parse(text: str) -> TreeEnsemble:
    if len(text) > MAX_TEXT:
        raise StoreError(f"The model text must have at most {MAX_TEXT} characters, got {len(text)}.")
    if not text.isascii():
        raise StoreError("The model text must be plain ASCII.")
    lines = _Lines(text)
    for line in _HEADER:
        lines.expect(line)
    n_features = lines.one_int("max_feature_idx", 0, MAX_FEATURES - 1) + 1
    # Both add up the trees: to the value itself, or to log-odds.
    if lines.value("objective") not in OBJECTIVES:
        raise lines.wrong(f"an objective of {', '.join(OBJECTIVES)}", "another")
    lines.expect("feature_names=" + " ".join(f"Column_{i}" for i in range(n_features)))
    infos = lines.value("feature_infos").split(" ")
    if len(infos) != n_features or not all(_RANGE.fullmatch(info) for info in infos):
        raise lines.wrong(f"feature_infos with {n_features} ranges", f"{len(infos)} words")
    sizes = _tree_sizes(lines)
    lines.expect("")
    trees = [_parse_tree(lines, number) for number in range(len(sizes))]
    lines.expect(_END)
    if list(islice(lines.rest(), 2)) != [""]:
        raise lines.wrong("the last one", "more text")
    _check_sizes(text, sizes)
    features, thresholds, lefts, rights, values = zip(*trees, strict=True) if trees else ((),) * 5
    return TreeEnsemble(
        n_features,
        np.cumsum([0, *map(len, features)]),
        np.cumsum([0, *map(len, values)]),
        _joined(features, np.int64),
        _joined(thresholds, np.float64),
        _joined(lefts, np.int64),
        _joined(rights, np.int64),
        _joined(values, np.float64),
    )


def _tree_sizes(lines: _Lines) -> list[int]:
    words = lines.value("tree_sizes").split(" ")
    if words == [""]:
        words = []
    if len(words) > MAX_TREES or not all(word.isdecimal() and len(word) <= 10 for word in words):
        raise lines.wrong(f"tree_sizes with at most {MAX_TREES} counts", f"{len(words)} words")
    return [int(word) for word in words]


def _check_sizes(text: str, sizes: list[int]) -> None:
    """The sizes say where each tree begins; LightGBM jumps to those places, so they must be right."""
    start = text.index("\n\n") + 2
    for number, size in enumerate(sizes):
        if not text.startswith(f"Tree={number}\n", start):
            raise StoreError(f"The model text is damaged: tree_sizes must say where tree {number} begins.")
        start += size
    if text[start:] != _END + "\n":
        raise StoreError("The model text is damaged: tree_sizes must say where the trees end.")


def _parse_tree(lines: _Lines, number: int) -> tuple[list[int], list[float], list[int], list[int], list[float]]:
    lines.expect(f"Tree={number}")
    n_leaves = lines.one_int("num_leaves", 1, MAX_LEAVES)
    n_splits = n_leaves - 1
    lines.expect("num_cat=0")
    features = lines.ints("split_feature", n_splits)
    lines.floats("split_gain", n_splits)
    thresholds = lines.floats("threshold", n_splits)
    # 2: a numerical split that knows no missing values, the only kind our training makes.
    if any(kind != 2 for kind in lines.ints("decision_type", n_splits)):
        raise lines.wrong("decision_type with 2 for every split", "another kind")
    lefts = lines.ints("left_child", n_splits)
    rights = lines.ints("right_child", n_splits)
    values = lines.floats("leaf_value", n_leaves)
    # Of a tree of one leaf some versions of LightGBM write neither weight nor count.
    fewest = n_leaves if n_splits else 0
    lines.floats("leaf_weight", n_leaves, fewest)
    lines.ints("leaf_count", n_leaves, fewest)
    lines.floats("internal_value", n_splits)
    lines.floats("internal_weight", n_splits)
    lines.ints("internal_count", n_splits)
    lines.expect("is_linear=0")
    lines.floats("shrinkage", 1)
    lines.expect("")
    lines.expect("")
    return features, thresholds, lefts, rights, values


def _joined(lists: Any, dtype: type[np.generic]) -> NDArray[Any]:
    try:
        return np.array([number for numbers in lists for number in numbers], dtype=dtype)
    except OverflowError:
        raise StoreError("The model text is damaged: some index is far out of range.") from None
