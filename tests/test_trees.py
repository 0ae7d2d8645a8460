"""Tree ensembles: equal to LightGBM on what it wrote, and closed to what it could not have written."""

import pickle
import re

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elect.errors import InvalidInput, StoreError
from elect.support.boosting import shorter
from elect.support.trees import MAX_TREES, TreeEnsemble


def trained(rows=400, n_features=3, rounds=7, seed=0, **params):
    """A small LightGBM model and its text up to the end of the trees."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, n_features))
    y = X[:, 0] - np.abs(X[:, -1]) + 0.1 * rng.normal(size=rows)
    params = {"num_leaves": 6, "use_missing": False, "verbosity": -1, "num_threads": 1, "seed": 0, **params}
    booster = lightgbm.train(params, lightgbm.Dataset(X, y, params=params), num_boost_round=rounds)
    text = booster.model_to_string(num_iteration=-1)
    return booster, text[: text.index("end of trees\n") + len("end of trees\n")], X


def resized(text):
    """The text with tree_sizes that say where its trees are."""
    sizes = [len(block) for block in re.split(r"(?=Tree=)", text[: text.index("end of trees")])[1:]]
    return re.sub(r"tree_sizes=.*", "tree_sizes=" + " ".join(map(str, sizes)), text)


def edited(text, key, edit):
    """The text with the first ``key=...`` line edited, sizes made right again."""
    value = re.search(rf"^{key}=(.*)$", text, re.M)
    assert value, key
    changed = text[: value.start(1)] + edit(value[1]) + text[value.end(1) :]
    assert changed != text
    return resized(changed)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"num_leaves": 2},
        {"num_leaves": 63, "min_data_in_leaf": 1},
        {"learning_rate": 0.5, "rounds": 40},
        {"boost_from_average": False},
        {"rows": 12},
        {"rows": 3},
    ],
)
def test_equal_to_lightgbm_to_the_last_bit(params):
    booster, text, X = trained(**params)
    trees = TreeEnsemble.from_lightgbm_text(text)
    at_thresholds = np.repeat(trees.threshold, trees.n_features).reshape(-1, trees.n_features)
    rng = np.random.default_rng(1)
    rows = np.concatenate(
        [
            X,
            rng.normal(size=(300, trees.n_features)),
            at_thresholds,
            np.nextafter(at_thresholds, np.inf),
            -1e300 * X[:2],
        ]
    )
    np.testing.assert_array_equal(trees.predict(rows), booster.predict(rows, num_threads=1))
    assert trees.n_trees == booster.num_trees()


def test_the_first_trees_are_those_of_fewer_rounds():
    booster, text, X = trained(rounds=9)
    trees = TreeEnsemble.from_lightgbm_text(text)
    for rounds in (1, 4, 9):
        np.testing.assert_array_equal(trees.first(rounds).predict(X), booster.predict(X, num_iteration=rounds))
    assert trees.first(0).predict(X[:2]).tolist() == [0.0, 0.0]
    for rounds in (-1, 10):
        with pytest.raises(InvalidInput, match="n_trees"):
            trees.first(rounds)


@st.composite
def ensembles(draw):
    """Any valid ensemble, as lists: per tree its features, thresholds, children and leaf values."""
    n_features = draw(st.integers(1, 4))
    numbers = st.floats(-1e3, 1e3).map(lambda x: x if abs(x) > 1e-30 else 0.0)
    trees = []
    for _ in range(draw(st.integers(1, 4))):
        n_leaves = draw(st.integers(1, 7))
        children = [[None, None] for _ in range(n_leaves - 1)]
        leaf_slot = [None]  # where each leaf hangs: (split, side), or None while it is the root
        for split in range(n_leaves - 1):
            # As LightGBM grows a tree: a leaf becomes a split, keeps its number on the left and gains one on the right.
            leaf = draw(st.integers(0, split))
            if leaf_slot[leaf] is not None:
                parent, side = leaf_slot[leaf]
                children[parent][side] = split
            children[split] = [-1 - leaf, -1 - (split + 1)]
            leaf_slot[leaf] = (split, 0)
            leaf_slot.append((split, 1))
        trees.append(
            {
                "feature": [draw(st.integers(0, n_features - 1)) for _ in children],
                "threshold": [draw(numbers) for _ in children],
                "children": children,
                "values": [draw(numbers) for _ in range(n_leaves)],
            }
        )
    return n_features, trees


def as_text(n_features, trees):
    """What LightGBM would write for these trees."""
    header = [
        *("tree", "version=v4", "num_class=1", "num_tree_per_iteration=1", "label_index=0"),
        *(f"max_feature_idx={n_features - 1}", "objective=regression"),
        "feature_names=" + " ".join(f"Column_{i}" for i in range(n_features)),
        "feature_infos=" + " ".join(["[-1000:1000]"] * n_features),
        *("tree_sizes=", ""),
    ]
    for number, tree in enumerate(trees):
        n = len(tree["feature"])
        counts, inner = " ".join(["1"] * (n + 1)), " ".join(["1"] * n)
        fields = {
            "Tree": number,
            "num_leaves": n + 1,
            "num_cat": 0,
            "split_feature": " ".join(map(str, tree["feature"])),
            "split_gain": inner,
            "threshold": " ".join(map(repr, tree["threshold"])),
            "decision_type": " ".join(["2"] * n),
            "left_child": " ".join(str(left) for left, _ in tree["children"]),
            "right_child": " ".join(str(right) for _, right in tree["children"]),
            "leaf_value": " ".join(map(repr, tree["values"])),
            "leaf_weight": counts,
            "leaf_count": counts,
            "internal_value": inner,
            "internal_weight": inner,
            "internal_count": inner,
            "is_linear": 0,
            "shrinkage": 1,
        }
        header += [*(f"{key}={value}" for key, value in fields.items()), "", ""]
    return resized("\n".join([*header, "end of trees", ""]))


TEXT = as_text(
    3,
    [
        {
            "feature": [0, 1, 2, 0, 1],
            "threshold": [0.5, -0.5, 0.25, 0.125, -2.0],
            "children": [[1, 2], [-1, 3], [-2, 4], [-3, -4], [-5, -6]],
            "values": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        },
        {"feature": [], "threshold": [], "children": [], "values": [4.0]},
        {"feature": [1], "threshold": [0.1], "children": [[-1, -2]], "values": [5.0, 6.0]},
    ],
)


def naive(trees, row):
    total = 0.0
    for tree in trees:
        node = 0 if tree["feature"] else -1
        while node >= 0:
            node = tree["children"][node][0 if row[tree["feature"][node]] <= tree["threshold"][node] else 1]
        total += tree["values"][-1 - node]
    return total


@settings(max_examples=150)
@given(ensembles(), st.integers(0, 2**32 - 1))
def test_any_ensemble_predicts_as_a_plain_walk_and_as_lightgbm(ensemble, seed):
    n_features, trees = ensemble
    text = as_text(n_features, trees)
    thresholds = [0.0, *(threshold for tree in trees for threshold in tree["threshold"])]
    rng = np.random.default_rng(seed)
    rows = np.where(
        rng.random((20, n_features)) < 0.5,
        rng.choice(thresholds, (20, n_features)),
        rng.uniform(-1e3, 1e3, (20, n_features)),
    )
    parsed = TreeEnsemble.from_lightgbm_text(text).predict(rows)
    np.testing.assert_array_equal(parsed, [naive(trees, row) for row in rows])
    np.testing.assert_array_equal(parsed, lightgbm.Booster(model_str=text).predict(rows, num_threads=1))


def words(change):
    """An edit of the words of a line."""

    def edit(value):
        listed = value.split(" ")
        change(listed)
        return " ".join(listed)

    return edit


def put(position, word):
    return words(lambda listed: listed.__setitem__(position, word))


@pytest.mark.parametrize(
    ("key", "edit"),
    [
        ("left_child", put(0, "5")),  # no such split
        ("left_child", put(0, "0")),  # itself
        ("right_child", put(-1, "0")),  # back to the root
        ("left_child", put(0, "-7")),  # no such leaf
        ("left_child", put(0, "-2147483648")),
        ("left_child", put(0, "99999999999999999999")),
        ("right_child", put(0, "1")),  # two parents, or none
        ("left_child", words(list.reverse)),
        ("split_feature", put(0, "3")),
        ("split_feature", put(0, "-1")),
        ("split_feature", put(0, "0.5")),
        ("threshold", put(0, "nan")),
        ("threshold", put(0, "inf")),
        ("threshold", put(0, "1e999")),
        ("threshold", put(0, "1_0")),
        ("threshold", put(0, "0x1p3")),
        ("threshold", put(0, "")),
        ("threshold", words(list.pop)),
        ("threshold", lambda value: value + " 1"),
        ("leaf_value", words(list.pop)),
        ("leaf_value", put(0, "-inf")),
        ("leaf_value", put(0, "1e301")),
        ("split_gain", put(0, "1e999")),
        ("decision_type", put(0, "0")),
        ("decision_type", put(0, "1")),
        ("decision_type", put(0, "10")),
        ("num_leaves", lambda value: "5"),
        ("num_leaves", lambda value: "0"),
        ("num_leaves", lambda value: "-1"),
        ("num_leaves", lambda value: "1000000000000"),
        ("num_leaves", lambda value: "9" * 5000),
        ("num_cat", lambda value: "1"),
        ("is_linear", lambda value: "1"),
        ("shrinkage", lambda value: "nan"),
        ("leaf_count", words(list.pop)),
        ("version", lambda value: "v3"),
        ("num_class", lambda value: "2"),
        ("objective", lambda value: "regression sqrt"),
        ("objective", lambda value: "binary sigmoid:2"),
        ("max_feature_idx", lambda value: "3"),
        ("max_feature_idx", lambda value: "1000000000"),
        ("feature_names", lambda value: value + " Column_3"),
        ("feature_infos", lambda value: value + " none"),
        ("feature_infos", lambda value: "a b c"),
        ("Tree", lambda value: "1"),
    ],
)
def test_what_lightgbm_would_not_have_written_is_refused(key, edit):
    TreeEnsemble.from_lightgbm_text(TEXT)
    with pytest.raises(StoreError):
        TreeEnsemble.from_lightgbm_text(edited(TEXT, key, edit))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: "",
        lambda text: text[:-1],
        lambda text: text + "x",
        lambda text: text + "\n",
        lambda text: text + "parameters:\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("objective", "average_output\nobjective"),
        lambda text: text.replace("num_cat=0\n", "num_cat=0\nnum_cat=0\n", 1),
        lambda text: text.replace("tree_sizes=", "tree_sizes=1"),
        lambda text: re.sub("tree_sizes=.*", "tree_sizes=" + "1 " * (MAX_TREES + 1) + "1", text),
        lambda text: re.sub("tree_sizes=.*", "tree_sizes=99999999999999999", text),
        lambda text: re.sub(r"tree_sizes=(\S+) (\S+)", r"tree_sizes=\2 \1", text),
        lambda text: text.replace("0.", "\u0660.", 1),
        lambda text: text[: len(text) // 2],
    ],
)
def test_damaged_text_is_refused(change):
    changed = change(TEXT)
    assert changed != TEXT
    with pytest.raises(StoreError):
        TreeEnsemble.from_lightgbm_text(changed)


@settings(max_examples=500)
@given(st.integers(0, len(TEXT)), st.integers(0, 4), st.text("0123456789-. e\n=", max_size=4))
def test_no_edit_of_the_text_makes_a_walk_leave_the_arrays(start, length, inserted):
    changed = TEXT[:start] + inserted + TEXT[start + length :]
    try:
        trees = TreeEnsemble.from_lightgbm_text(resized(changed) if "end of trees" in changed else changed)
    except StoreError:
        return
    assert np.isfinite(trees.predict(np.random.default_rng(0).normal(size=(50, trees.n_features)))).all()


def arrays(**changes):
    """The arguments of a valid ensemble of two trees, some of them changed."""
    valid = {
        "n_features": 2,
        "split_offsets": [0, 2, 3],
        "leaf_offsets": [0, 3, 5],
        "feature": [0, 1, 1],
        "threshold": [0.5, -0.5, 0.1],
        "left": [1, -1, -1],
        "right": [-2, -3, -2],
        "leaf_value": [1.0, 2.0, 3.0, 4.0, 5.0],
    }
    return {**valid, **changes}


def test_valid_arrays_are_taken():
    assert TreeEnsemble(**arrays()).predict(np.array([[0.0, -1.0], [9.0, 9.0]])).tolist() == [5.0, 7.0]


@pytest.mark.parametrize(
    "changes",
    [
        {"n_features": 1},
        {"n_features": 0},
        {"split_offsets": [0, 2, 4]},
        {"split_offsets": [0, -1, 3]},
        {"split_offsets": [1, 2, 3]},
        {"split_offsets": []},
        {"split_offsets": [[0, 2, 3]]},
        {"split_offsets": [0.0, 2.0, 3.0]},
        {"leaf_offsets": [0, 3]},
        {"leaf_offsets": [0, 2, 5]},
        {"feature": [0, 1, 2]},
        {"feature": [0, 1, -1]},
        {"feature": [0, 1]},
        {"feature": [0, 1, 2**32]},
        {"threshold": [0.5, np.nan, 0.1]},
        {"leaf_value": [1.0, 2.0, 3.0, 4.0, np.inf]},
        {"leaf_value": [1e300, 2.0, 3.0, 4.0, 5.0]},
        {"leaf_value": [1.0, 2.0, 3.0, 4.0]},
        {"left": [0, -1, -1]},
        {"left": [2, -1, -1]},
        {"left": [-1, -1, -1]},
        {"right": [-2, 0, -2]},
        {"right": [-2, -4, -2]},
        {"right": [-3, -3, -2]},
        {"right": [-2, -3, -1]},
    ],
)
def test_arrays_that_are_no_trees_are_refused(changes):
    with pytest.raises(StoreError):
        TreeEnsemble(**arrays(**changes))


def test_arrays_are_read_only_also_after_a_pickle():
    trees = TreeEnsemble(**arrays())
    for ensemble in (trees, pickle.loads(pickle.dumps(trees))):
        for name in ("split_offsets", "leaf_offsets", "feature", "threshold", "left", "right", "leaf_value"):
            assert not getattr(ensemble, name).flags.writeable
        assert ensemble.predict(np.array([[0.0, -1.0]])).tolist() == [5.0]


@pytest.mark.parametrize("features", [np.zeros(2), np.zeros((1, 3)), np.array([[0.0, np.nan]]), [[np.inf, 0.0]]])
def test_features_that_do_not_fit_are_refused(features):
    with pytest.raises(InvalidInput):
        TreeEnsemble(**arrays()).predict(features)


def test_any_layout_of_features_is_taken():
    trees = TreeEnsemble(**arrays())
    rows = np.random.default_rng(0).normal(size=(50, 2))
    expected = trees.predict(rows)
    np.testing.assert_array_equal(trees.predict(np.asfortranarray(rows)), expected)
    np.testing.assert_array_equal(trees.predict(rows[::-1]), expected[::-1])
    assert trees.predict(np.empty((0, 2))).shape == (0,)


def test_a_text_without_statistics_holds_the_same_trees():
    booster, text, X = trained()
    short = shorter(text)
    assert len(short) < 0.9 * len(text)
    assert shorter(short) == short
    expected = booster.predict(X, num_threads=1)
    np.testing.assert_array_equal(TreeEnsemble.from_lightgbm_text(short).predict(X), expected)
    np.testing.assert_array_equal(lightgbm.Booster(model_str=short).predict(X, num_threads=1), expected)
