"""The archive under every file of elect: what goes in comes out, and nothing else comes in."""

import io
import json
import struct
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elect.errors import ElectError, StoreError
from elect.storage.archive import MAX_MANIFEST, Archive, Kind, pack, read, refusing, unpack, write
from forging import sealed, unzip, with_manifest, with_member, zipped

KIND = Kind("test-file", version=4, max_bytes=2**20, remedy="Make a new one.", flat=(2,))
ARCHIVE = Archive(
    {"seed": 7, "name": "zoë", "list": [1.5, None, True]},
    {"x": np.arange(6.0).reshape(2, 3), "counts": np.array([1, 2], dtype=np.int32)},
    {"trees": "tree 1\n"},
    {"model": b"\x80\x04N."},
)
DATA = pack(ARCHIVE, KIND)


def refused(data: bytes, match: str, kind: Kind = KIND) -> None:
    with pytest.raises(StoreError, match=match) as caught, refusing("x.file", kind):
        unpack(data, kind)
    message = str(caught.value)
    assert message.startswith("x.file cannot be loaded.")
    assert message.endswith("Make a new one.")
    assert "\n" not in message
    assert len(message) < 500


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
arrays = hnp.arrays(
    st.sampled_from([np.dtype(name) for name in ("<f8", "<f4", "<i4", "<u4")]),
    hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=3),
)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=3), arrays, st.text(st.characters(codec="ascii")))
def test_any_archive_comes_back_and_packs_to_the_same_bytes(content: Any, array: Any, text: str) -> None:
    data = pack(Archive(content, {"a": array}, {"t": text}, {"r": b"raw"}), KIND)
    found = unpack(data, KIND)
    assert found.content == content
    assert found.arrays["a"].dtype == array.dtype
    assert found.arrays["a"].shape == array.shape
    assert found.arrays["a"].tobytes() == array.tobytes()
    assert not found.arrays["a"].flags.writeable
    assert found.texts == {"t": text}
    assert found.raw == {"r": b"raw"}
    assert pack(found, KIND) == data


def test_what_is_no_plain_data_is_not_packed() -> None:
    for array in (np.array(["a"], dtype=object), np.array([1 + 2j]), np.array([1], dtype=np.int64)):
        with pytest.raises(StoreError, match="plain numbers"):
            pack(Archive({}, {"x": array}), KIND)
    for number in (float("nan"), float("inf")):
        with pytest.raises(StoreError, match="finite"):
            pack(Archive({"a": number}), KIND)
    with pytest.raises(StoreError, match="too large"):
        pack(Archive({}, {"x": np.zeros(2**17)}), KIND)


def test_files_are_written_whole_and_read_to_their_limit(tmp_path: Path) -> None:
    write(tmp_path / "a", DATA)
    assert read(tmp_path / "a", KIND) == DATA
    (tmp_path / "b").write_bytes(bytes(2 * KIND.max_bytes))
    refused(read(tmp_path / "b", KIND), "larger than the 1048576")
    with pytest.raises(StoreError, match="no such file"):
        read(tmp_path / "none", KIND)
    with pytest.raises(StoreError, match="Cannot write"):
        write(tmp_path / "none" / "a", DATA)


def test_what_is_said_of_a_hostile_file_is_one_short_line() -> None:
    with pytest.raises(StoreError) as caught, refusing("x", KIND):
        raise ElectError("a\nb" * 1000)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


# The manifest


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda m: m.update(format="zip"), "format"),
        (lambda m: m.pop("format"), "format"),
        (lambda m: m.update(version=1), "version 1 of the format"),
        (lambda m: m.update(version=3), "version 3 of the format"),
        (lambda m: m.update(version=5), "version 5 of the format"),
        (lambda m: m.update(version=True), "version True"),
        (lambda m: m.update(version=4.0), "version 4.0"),
        (lambda m: m.update(version="9" * 10**4), "version '999"),
        (lambda m: m.pop("content"), "keys"),
        (lambda m: m.update(content=[]), "keys"),
        (lambda m: m.update(more=1), "keys"),
        (lambda m: m.pop("checksum"), "keys"),
        (lambda m: m["members"].pop("x.npy") and m["members"].update(y=1), "checksums"),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(change: Any, match: str) -> None:
    refused(with_manifest(DATA, change), match)


def test_a_manifest_must_match_its_own_checksum() -> None:
    members = unzip(DATA)
    changed = members["manifest.json"].replace(b'"seed": 7', b'"seed": 8')
    assert changed != members["manifest.json"]
    refused(zipped({**members, "manifest.json": changed}.items()), "manifest does not match")


def test_an_older_flat_manifest_is_read_if_its_kind_has_one() -> None:
    def flatten(manifest: Any) -> None:
        manifest.update(manifest.pop("content"), version=2)
        del manifest["checksum"]

    assert unpack(with_manifest(DATA, flatten), KIND).content == ARCHIVE.content
    refused(with_manifest(DATA, flatten), "version 2", replace(KIND, flat=()))
    refused(with_manifest(DATA, lambda m: (flatten(m), m.update(version=4))), "keys")


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b"[" * 100_000, b"{"])
def test_a_manifest_that_is_no_plain_json_is_refused(text: bytes) -> None:
    refused(zipped({**unzip(DATA), "manifest.json": text}.items()), "manifest")


@pytest.mark.parametrize("seed", ["NaN", "-Infinity", "1e999", '1, "seed": 7', "9" * 10_000])
def test_numbers_and_keys_that_json_leaves_open_are_refused(seed: str) -> None:
    members = unzip(DATA)
    changed = members["manifest.json"].replace(b'"seed": 7', f'"seed": {seed}'.encode())
    assert changed != members["manifest.json"]
    refused(zipped({**members, "manifest.json": changed}.items()), "plain JSON")


# Arrays and texts


def npy(header: str, data: bytes = b"", version: bytes = b"\x01\x00") -> bytes:
    return b"\x93NUMPY" + version + struct.pack("<H", len(header)) + header.encode() + data


HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 5), }\n"


@pytest.mark.parametrize(
    ("member", "match"),
    [
        (b"", "npy"),
        (npy(HEADER, bytes(119)), "numbers they call for"),
        (npy(HEADER, bytes(121)), "numbers they call for"),
        (npy(HEADER.replace("3, 5", "3, 5, 1, 1, 1"), bytes(120)), "4 dimensions"),
        (npy(HEADER.replace("3, 5", "999999999999, 9999999999999")), "numbers they call for"),
        (npy(HEADER.replace("3, 5", "0, 99999999999999999999999999")), "numbers they call for"),
        (npy(HEADER.replace("3, 5", "3 5"), bytes(120)), "plain little-endian"),
        (npy(HEADER.replace("<f8", "|O"), bytes(120)), "little-endian"),
        (npy(HEADER.replace("<f8", ">f8"), bytes(120)), "little-endian"),
        (npy(HEADER.replace("<f8", ">f4"), bytes(60)), "little-endian"),
        (npy(HEADER.replace("<f8", "<f2"), bytes(30)), "little-endian"),
        (npy(HEADER.replace("<f8", "<i8"), bytes(120)), "little-endian"),
        (npy(HEADER.replace("<f8", "<f4"), bytes(120)), "numbers they call for"),
        (npy(HEADER.replace("False", "True"), bytes(120)), "C order"),
        (npy("__import__('os').abort()", bytes(120)), "little-endian"),
        (npy(HEADER + " " * 2000, bytes(120)), "short header"),
        (npy(HEADER, bytes(120), b"\x02\x00"), "version 1.0"),
    ],
)
def test_an_array_that_is_not_what_numpy_writes_is_refused(member: bytes, match: str) -> None:
    refused(with_member(DATA, "x.npy", lambda _: member), match)


def test_texts_are_ascii() -> None:
    refused(with_member(DATA, "trees.txt", lambda _: b"\xff"), "ASCII")


# The zip


def test_members_must_be_named_once_and_match_their_checksums() -> None:
    members = unzip(DATA)
    *most, (name, last) = members.items()
    refused(zipped(most), "checksums")
    refused(zipped([*most, (f"../{name}", last)]), "unexpected name")
    refused(sealed({**members, "x.py": b""}), "unexpected name")
    refused(sealed({**members, "X.npy": b""}), "unexpected name")
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = zipped([*most, ("x.npy", b"")])
    refused(twice, "twice")
    refused(zipped([*most, (name, last + b"x")]), "checksums")
    for changed in ("x.npy", "counts.npy", "trees.txt"):
        other = members[changed][:-1] + b"!"
        refused(zipped({**members, changed: other}.items()), "checksums")


def test_nothing_is_larger_than_the_file_and_its_limit() -> None:
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        refused(with_member(DATA, "x.npy", lambda _: bytes(2**18), method), "compressed|larger than the file")
    refused(sealed(unzip(DATA), zipfile.ZIP_DEFLATED), "compressed|larger than the file")
    refused(bytes(2**20 + 1), "larger than the 1048576")
    long = {**unzip(DATA), "manifest.json": b" " * (MAX_MANIFEST + 1)}
    refused(zipped(long.items()), "manifest is larger", replace(KIND, max_bytes=2**30))


def central(data: bytes, name: str, offset: int, value: bytes) -> bytes:
    """The archive with a field of the directory entry of a member overwritten."""
    at = data.rindex(name.encode()) - 46 + offset
    return data[:at] + value + data[at + len(value) :]


def test_lies_of_the_archive_are_refused() -> None:
    size = len(unzip(DATA)["x.npy"])
    for said in (0, size - 1, size + 1, 2**32 - 2):
        for both in (False, True):
            lie = central(DATA, "x.npy", 24, struct.pack("<L", said))
            refused(central(lie, "x.npy", 20, struct.pack("<L", said)) if both else lie, "two sizes|damaged|larger")
    for method in (8, 12, 14, 93, 99):
        refused(central(DATA, "x.npy", 10, struct.pack("<H", method)), "compressed")
    refused(central(DATA, "x.npy", 8, b"\x01\x00"), "encrypted")
    refused(DATA + b"x", "end record|members")
    refused(DATA[:-2] + b"\x01\x00x", "end record|members")
    # An end record that promises a directory of a thousand entries, and a 64-bit locator to another directory.
    refused(DATA[:-14] + struct.pack("<HH", 1000, 1000) + DATA[-10:], "members")
    refused(DATA[:-42] + b"PK\x06\x07" + DATA[-38:], "directory")
    refused(b"x" + DATA, "no file of elect")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in unzip(DATA).items():
            info = zipfile.ZipInfo(name)
            info.comment = b"x" * 2000
            archive.writestr(info, member)
    refused(buffer.getvalue(), "directory")
    many = [(f"{'a' * n}_{end}.txt", b"") for n in range(1, 36) for end in "abcd"]
    refused(zipped(many), "at most 128 members")


def test_a_manifest_is_text_that_anyone_can_read() -> None:
    manifest = json.loads(unzip(DATA)["manifest.json"])
    assert manifest["format"] == "test-file"
    assert manifest["content"] == ARCHIVE.content


def test_bytes_that_changed_at_random_are_refused_or_are_the_same() -> None:
    rng = np.random.default_rng(4)
    outcomes = []
    for _ in range(3_000):
        data = bytearray(DATA)
        for at in rng.integers(len(data), size=rng.integers(1, 4)):
            data[at] = rng.integers(256)
        try:
            outcomes.append(pack(unpack(bytes(data), KIND), KIND) == DATA)
        except StoreError:
            continue
    assert all(outcomes)
    assert 0 < len(outcomes) < 1_500  # a few bytes of a zip mean nothing: dates, attributes
