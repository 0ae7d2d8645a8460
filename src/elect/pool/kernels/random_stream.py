"""A small random stream for compiled code (splitmix64), so that each tree has its own, whatever thread grows it."""

import hashlib

import numpy as np

from elect.support.compiled import compiled


def stream_seed(*parts: object) -> np.uint64:
    """A 64-bit seed from anything with a stable text form.

    >>> len({int(stream_seed("forest", tree)) for tree in (0, 0, 1)})
    2
    """
    digest = hashlib.blake2b("\x1f".join(map(str, parts)).encode(), digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "little"))


@compiled()
def next_state(state):  # type: ignore[no-untyped-def]
    return state + np.uint64(0x9E3779B97F4A7C15)


@compiled()
def uniform(state):  # type: ignore[no-untyped-def]
    """A number in [0, 1) from a state."""
    z = state
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)
