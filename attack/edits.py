"""Bytes with edits: flipped, set, cut, repeated, zeroed, or replaced by numbers that readers trip over."""

from typing import Any

from hypothesis import strategies as st

NUMBERS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFFFFFFFFFF)

_place = st.one_of(st.integers(0, 10**6), st.integers(-400, -1))  # many formats keep what matters at their end
_edit = st.one_of(
    st.tuples(st.just("flip"), _place, st.integers(0, 7)),
    st.tuples(st.just("set"), _place, st.integers(0, 255)),
    st.tuples(st.just("number"), _place, st.sampled_from(NUMBERS)),
    st.tuples(st.sampled_from(("zero", "ones", "delete", "repeat")), _place, st.integers(1, 64)),
    st.tuples(st.just("cut"), _place, st.just(0)),
    st.tuples(st.just("copy"), _place, st.integers(0, 10**6)),
)


def edits(most: int = 6) -> st.SearchStrategy[list[Any]]:
    return st.lists(_edit, min_size=1, max_size=most)


def edited(content: bytes, changes: list[Any]) -> bytes:
    data = bytearray(content)
    for kind, place, what in changes:
        if not data:
            return b""
        at = place % len(data)
        match kind:
            case "flip":
                data[at] ^= 1 << what
            case "set":
                data[at] = what
            case "number":
                size = 8 if what > 0xFFFFFFFF else 4
                data[at : at + size] = what.to_bytes(size, "little")[: max(0, len(data) - at)]
            case "zero":
                data[at : at + what] = bytes(len(data[at : at + what]))
            case "ones":
                data[at : at + what] = b"\xff" * len(data[at : at + what])
            case "delete":
                del data[at : at + what]
            case "repeat":
                data[at:at] = data[at : at + what]
            case "cut":
                del data[at:]
            case "copy":
                start = what % len(data)
                data[at : at + 16] = data[start : start + len(data[at : at + 16])]
    return bytes(data)
