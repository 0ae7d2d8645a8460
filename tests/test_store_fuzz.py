"""Twenty thousand mutated ``.elect`` files: each is refused in one line, is the original, or is sound.

Half of them are forged: the checksums are right, so that what is behind them has to hold.
"""

import re
import struct
import zipfile
from collections import Counter

import numpy as np
import pytest

from elect.errors import StoreError
from elect.history import store
from elect.support.trees import TreeEnsemble
from forging import unzip, with_manifest, with_member, zipped
from test_store import POOL, original

TREES = ("predictor.txt",)
NASTY = (
    *("-1", "0", "1", "2", "3", "4", "5", "-2", "-9", "99", "2147483647", "-2147483648", "4294967296", "1e308"),
    *("-1e308", "1e-320", "nan", "inf", "", " ", "0.5", "x", "9" * 30),
)


def mutated_bytes(rng):
    data = bytearray(original())
    kind = rng.integers(4)
    if kind <= 1:
        for at in rng.integers(len(data), size=rng.integers(1, 5)):
            data[at] = rng.integers(256)
    elif kind == 2:
        at, length = rng.integers(len(data)), int(rng.integers(1, 200))
        data[at : at + length] = rng.bytes(int(rng.integers(0, 200)))
    else:
        del data[rng.integers(len(data)) :]
    return bytes(data)


def mutated_archive(rng):
    """Members renamed, swapped, dropped, doubled or cut, in a well-formed archive."""
    members = list(unzip(original()).items())
    a, b = rng.integers(len(members), size=2)
    kind = rng.integers(5)
    if kind == 0:
        members[a], members[b] = (members[a][0], members[b][1]), (members[b][0], members[a][1])
    elif kind == 1:
        members[a] = (str(rng.choice(["x", "", "/etc/passwd", "manifest.json/", members[b][0]])), members[a][1])
    elif kind == 2:
        del members[a]
    elif kind == 3:
        members.insert(a, members[b])
    else:
        members[a] = (members[a][0], members[a][1][: rng.integers(len(members[a][1]))])
    return zipped(members, zipfile.ZIP_DEFLATED if rng.integers(2) else zipfile.ZIP_STORED)


def resized(text):
    sizes = [len(block) for block in re.split(r"(?=Tree=)", text.split("end of trees")[0])[1:]]
    return re.sub(r"tree_sizes=.*", "tree_sizes=" + " ".join(map(str, sizes)), text)


def mutated_trees(rng):
    """The text of the trees with words, lines or trees changed, and every checksum and size right."""

    def change(data):
        lines = data.decode().split("\n")
        for _ in range(rng.integers(1, 3)):
            at = int(rng.integers(len(lines)))
            kind = rng.integers(8)
            key, _, value = lines[at].partition("=")
            words = value.split(" ")
            if kind <= 3:
                words[rng.integers(len(words))] = str(rng.choice(NASTY))
                lines[at] = f"{key}={' '.join(words)}"
            elif kind == 4:
                lines[at] = f"{key}={' '.join(rng.permutation(words))}"
            elif kind == 5:
                del lines[at]
            elif kind == 6:
                lines.insert(at, lines[int(rng.integers(len(lines)))])
            else:
                children = [i for i, line in enumerate(lines) if line.startswith(("left_child", "right_child"))]
                a, b = rng.choice(children, 2)
                lines[a], lines[b] = (
                    lines[i].split("=")[0] + "=" + lines[j].split("=")[1] for i, j in ((a, b), (b, a))
                )
        return resized("\n".join(lines)).encode()

    return with_member(original(), str(rng.choice(TREES)), change)


def mutated_manifest(rng):
    """A value somewhere in the manifest replaced or dropped."""

    def change(manifest):
        node = manifest
        while True:
            keys = (
                [key for key in node if key not in ("members", "checksum")]
                if isinstance(node, dict)
                else list(range(len(node)))
            )
            if not keys:
                return
            key = keys[rng.integers(len(keys))]
            if not isinstance(node[key], dict | list) or rng.integers(4) == 0:
                break
            node = node[key]
        values = (None, True, -1, 0, 1.5, 2**70, "", "x", "\ud800", "\n", [], {}, [1], POOL.ids[0], POOL.ids[:2])
        if rng.integers(4) == 0:
            del node[key]
        else:
            node[key] = values[rng.integers(len(values))]

    return with_manifest(original(), change)


def mutated_array(rng):
    def change(data):
        changed = bytearray(data)
        if rng.integers(2):
            at = int(rng.integers(128))
            changed[at : at + int(rng.integers(3))] = str(rng.choice(NASTY)).encode()
        else:
            numbers = [np.nan, np.inf, -np.inf, 1e308, -1e99, 5e-324, 0.25]
            at = 128 + 8 * int(rng.integers((len(data) - 128) // 8))
            changed[at : at + 8] = struct.pack("<d", rng.choice(numbers))
        return bytes(changed)

    return with_member(original(), str(rng.choice(["performance.npy", "measures.npy"])), change)


def mutated_member(rng):
    """A few bytes of a member overwritten, and its checksum right."""

    def change(data):
        changed = bytearray(data)
        for at in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[at] = rng.choice(list(b"0123456789-.e= \n\0\xff"))
        return bytes(changed)

    return with_member(original(), str(rng.choice(["performance.npy", "measures.npy", *TREES])), change)


def walked(text, row):
    """The sum of the trees for one row, read from the text in the plainest way."""
    total = 0.0
    for block in text.split("Tree=")[1:]:
        fields = dict(line.split("=") for line in block.split("\n") if "=" in line)
        node = 0 if fields["split_feature"] else -1
        while node >= 0:
            feature = int(fields["split_feature"].split()[node])
            side = "left_child" if row[feature] <= float(fields["threshold"].split()[node]) else "right_child"
            node = int(fields[side].split()[node])
        total += float(fields["leaf_value"].split()[-1 - node])
    return total


def assert_sound(loaded):
    """What a forger with the right checksums got in is at least what it says, and safe to use."""
    data = store.dumps(loaded)
    assert store.dumps(store.loads(data)) == data
    assert {*loaded.anchors, *loaded.initial_models} <= set(loaded.pool.ids)
    assert_trees_are_what_they_say(loaded.predictor.text)
    gaps = loaded.predictor.gaps_between(loaded.measures[0], loaded.measures[1])
    assert np.isfinite(gaps).all()
    assert np.isfinite(loaded.performance.values[0] - loaded.performance.values[1]).all()


def assert_trees_are_what_they_say(text):
    trees = TreeEnsemble.from_lightgbm_text(text)
    rows = np.random.default_rng(0).normal(size=(4, trees.n_features))
    np.testing.assert_array_equal(trees.predict(rows), [walked(text, row) for row in rows])


def outcome(data):
    try:
        return store.loads(data, source="x.elect")
    except StoreError as error:
        return error


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("mutate", "count", "forged"),
    [
        (mutated_bytes, 10_000, False),
        (mutated_archive, 1_000, False),
        (mutated_trees, 4_000, True),
        (mutated_manifest, 2_000, True),
        (mutated_array, 1_000, True),
        (mutated_member, 2_000, True),
    ],
)
def test_no_mutation_crashes_or_loads_silently_wrong(mutate, count, forged):
    rng = np.random.default_rng(20220)
    seen = Counter()
    for _ in range(count):
        data = mutate(rng)
        result = outcome(data)
        if isinstance(result, StoreError):
            seen["refused"] += 1
            assert "\n" not in str(result)
            assert len(str(result)) < 500
        else:
            same = store.dumps(result) == original()
            seen["same" if same else "other"] += 1
            assert same or forged
            assert_sound(result)
    assert seen["refused"] > count / 4, seen
    # Mutations that stay valid show that the others are refused for what they are.
    assert bool(seen["other"]) == forged, seen
