"""The rank predictor in the file of its database: to the last bit, and nothing that was tampered with."""

import json
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from elect.history import store
from elect.history.rank_predictor import RankPredictor
from forging import unzip, with_member, zipped
from test_store import LEARNED, database, original, refused, with_content
from test_store_fuzz import resized


def test_a_store_keeps_it_to_the_last_bit() -> None:
    data = store.dumps(database())
    loaded = store.loads(data).rank_predictor
    assert loaded is not None
    assert (loaded.ranker, loaded.gate) == (LEARNED.ranker, LEARNED.gate)
    assert loaded.prior.tobytes() == LEARNED.prior.tobytes()
    assert loaded.outcomes.tobytes() == LEARNED.outcomes.tobytes()
    assert store.dumps(store.loads(data)) == data
    assert store.dumps(pickle.loads(pickle.dumps(database()))) == data
    without = store.dumps(replace(database(), rank_predictor=None))
    assert unzip(without)["ranker.txt"] == unzip(without)["gate.txt"] == b""
    assert store.loads(without).rank_predictor is None


def test_few_outcomes_are_kept_too() -> None:
    none = RankPredictor(LEARNED.ranker, LEARNED.gate, LEARNED.prior, np.empty((0, 2)))
    data = store.dumps(replace(database(), rank_predictor=none))
    loaded = store.loads(data).rank_predictor
    assert loaded is not None
    assert loaded.outcomes.shape == (0, 2)
    assert loaded.expected_rank(0.5) is None


# What must not load


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: m["rank_predictor"]["prior"].pop(), "5 models"),
        (lambda m: m["rank_predictor"]["prior"].append(0.5), "5 models"),
        (lambda m: m["rank_predictor"].update(prior=[]), "models"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, 1.5), "share of the pool"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, -0.1), "share of the pool"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, None), "share of the pool|numbers"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, "0.5"), "numbers"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, "half"), "numbers"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, [0.5]), "numbers"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, {}), "numbers"),
        (lambda m: m["rank_predictor"]["prior"].__setitem__(0, 10**400), "numbers|share of the pool"),
        (lambda m: m["rank_predictor"].update(prior=0.5), "list"),
        (lambda m: m["rank_predictor"].update(prior=[[0.5] * 5]), "share of the pool"),
        (lambda m: m["rank_predictor"].update(outcomes={}), "list"),
        (lambda m: m["rank_predictor"].update(outcomes=[0.1, 0.2]), "tasks x 2"),
        (lambda m: m["rank_predictor"].update(outcomes=[[0.1, 0.2, 0.3]]), "tasks x 2"),
        (lambda m: m["rank_predictor"].update(outcomes=[[0.1, 0.2], [0.3]]), "numbers"),
        (lambda m: m["rank_predictor"].update(outcomes=[[0.1, None]]), "finite|numbers"),
        (lambda m: m["rank_predictor"].update(outcomes=[[0.1, 10**400]]), "finite|numbers"),
        (lambda m: m["rank_predictor"].update(outcomes=[[0.1, 1e300]] * 30), "share"),
        (lambda m: m["rank_predictor"].update(outcomes=[[0.1, -0.5]] * 30), "share"),
        (lambda m: m["rank_predictor"].update(more=1), "keys"),
        (lambda m: m["rank_predictor"].pop("outcomes"), "keys"),
        (lambda m: m.update(rank_predictor=[]), "keys"),
        (lambda m: m.update(rank_predictor=None), "no rank predictor"),
        (lambda m: m.pop("rank_predictor"), "keys"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(change: Any, match: str) -> None:
    refused(with_content(change), match)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
@pytest.mark.parametrize("key", ["prior", "outcomes"])
def test_numbers_that_are_none_are_refused(number: str, key: str) -> None:
    members = unzip(original())
    manifest = json.loads(members["manifest.json"])
    manifest["content"]["rank_predictor"][key][0] = "here"
    text = json.dumps(manifest).replace('"here"', number)
    refused(zipped({**members, "manifest.json": text.encode()}.items()), "plain JSON")


def tampered(old: bytes, name: bytes, value: bytes) -> bytes:
    """The text of trees with a word of the first such line changed, and the sizes of the trees right."""
    head, _, rest = old.partition(name + b"=")
    line, _, tail = rest.partition(b"\n")
    words = line.split(b" ")
    words[0] = value
    return resized((head + name + b"=" + b" ".join(words) + b"\n" + tail).decode()).encode()


@pytest.mark.parametrize("member", ["ranker.txt", "gate.txt"])
@pytest.mark.parametrize(
    "change",
    [
        lambda old: b"",
        lambda old: old[:-20],
        lambda old: old + b"x",
        lambda old: b"\xff" + old[1:],
        lambda old: old.replace(b"end of trees", b""),
        lambda old: tampered(old, b"left_child", b"99"),
        lambda old: tampered(old, b"left_child", b"0"),
        lambda old: tampered(old, b"split_feature", b"5000"),
        lambda old: tampered(old, b"split_feature", b"-1"),
        lambda old: tampered(old, b"threshold", b"nan"),
        lambda old: tampered(old, b"leaf_value", b"inf"),
        lambda old: tampered(old, b"num_leaves", b"100000"),
        lambda old: tampered(old, b"decision_type", b"1"),
        lambda old: tampered(old, b"max_feature_idx", b"0"),
        lambda old: tampered(old, b"max_feature_idx", b"1000000"),
    ],
)
def test_trees_that_were_tampered_with_are_refused(member: str, change: Any) -> None:
    refused(with_member(original(), member, change))
