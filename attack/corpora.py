"""Corpora to train on with other bytes: tables, ARFF, arrays, groups, manifests. Tasks that are sound, or one line."""

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.edits import edited, edits
from attack.verdict import REFUSED, RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 500, 100, 120
LONGEST = 2500

FILES = ("t.csv", "t.arff", "t.arff", "t.npz", "small.npz", "t.mat", "small.mat", "groups.csv", "corpus.json")
WORDS = (
    *('"', "'", "\n", "\0", ",", "%", "{", "}", "[", "]", "?", "@data", "@attribute a string", "date", "relational"),
    *("nan", "1e999", "-1", "9" * 400, "null", "../../etc/passwd", "/dev/zero", "\x1b[2J", "\ufeff", "[" * 3000, "t"),
)


def cases() -> st.SearchStrategy[Any]:
    """Which file of a corpus, and what is changed: bytes, or a word put in."""
    place = st.integers(0, 10**4)
    return st.fixed_dictionaries(
        {
            "file": st.sampled_from(FILES),
            "edits": st.one_of(edits(3), st.just([])),
            "words": st.lists(st.tuples(place, st.integers(0, 6), st.sampled_from(WORDS)), max_size=2),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    import numpy as np

    from elect.errors import ElectError
    from elect.history import read_corpus

    here, name = folder / "here", case["file"]
    for other in ("t.csv", name):
        (here / other).write_bytes(content(other))
    (here / name).write_bytes(_with_words(edited(content(name), case["edits"]), case["words"]))
    try:
        tasks = read_corpus(here / "corpus.json" if name == "corpus.json" else here)
    except ElectError as error:
        text = str(error)
        if len(text) > LONGEST or "\n" in text:
            return wrong(f"a message of {len(text)} characters: {text[:200]!r}")
        return REFUSED
    for task in tasks:
        if task.X.ndim != 2 or task.y.shape != (len(task.X),) or not np.isin(task.y, (0, 1)).all():
            return wrong(f"task {task.name!r} has X of shape {task.X.shape} and y of shape {task.y.shape}")
    return RESULT


def _with_words(data: bytes, words: list[Any]) -> bytes:
    for place, instead_of, word in words:
        at = place % (len(data) + 1)
        data = data[:at] + word.encode() + data[at + instead_of :]
    return data


@cache
def content(name: str) -> bytes:
    import numpy as np
    from scipy.io import savemat

    rows = [(f"2024-01-{i % 28 + 1:02d}", f"{i % 7}.5", "red" if i % 2 else "blue", int(i == 3)) for i in range(30)]
    X = np.array([[i * 37 % 11, i % 7] for i in range(30)], dtype=float)
    y = np.array([row[-1] for row in rows])
    buffer = io.BytesIO()
    match name:
        case "t.csv":
            return ("when,a,w,label\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)).encode()
        case "t.arff":
            head = '@relation r\n@attribute when date "yyyy-MM-dd"\n@attribute a numeric\n@attribute w {red,blue}\n'
            body = "".join(f'"{when}",{a},{w},{label}\n' for when, a, w, label in rows)
            return f"{head}@attribute label {{0,1}}\n@data\n{body}".encode()
        case "t.npz":
            np.savez(buffer, X=X, y=y)
        case "small.npz":
            np.savez_compressed(buffer, X=X, y=y)
        case "t.mat":
            savemat(buffer, {"X": X, "y": y})
        case "small.mat":
            savemat(buffer, {"X": X, "y": y}, do_compression=True)
        case "groups.csv":
            return b"file,group\nt.csv,one\n"
        case "corpus.json":
            return json.dumps([{"name": "t", "group": "one", "file": "t.csv"}]).encode()
    return buffer.getvalue()
