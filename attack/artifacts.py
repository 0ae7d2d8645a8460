"""Databases and detectors with other bytes, and forged ones whose checksums are right: refused, or sound.

What is changed without a forger's care must be refused or be the original. What is forged must be refused when it is
loaded, or be usable: a row is scored with it, and what comes out is a finite number or one line.
"""

import copy
import hashlib
import io
import json
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.edits import edited, edits
from attack.verdict import REFUSED, RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 10_000, 500, 120
LONGEST = 1200

SMALL = ("database", "kNN", "LOF", "HBOS", "IForest", "LODA", "COF", "OCSVM", "ABOD")
BASES = (*SMALL * 3, "committee", "answered")  # the last two are of megabytes, and take ten times as long
_VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 3, 1.5, -1.5, 1e308, -1e308, 5e-324, 2**31, 2**63, 2**70, 10**400),
    *("", "x", "\n", "\x1b[2J", "\ud800", "kNN", "x" * 100_000, "(1 2)", "1e999", "nan"),
    *([], {}, [1], [[1.0], [2.0]], ["a"], {"a": 1}, [None], [[]] * 3, {"": {}}),
)
_TOKENS = (b"-1", b"0", b"99999999", b"1e308", b"nan", b"inf", b"", b" ", b"x", b"2147483648", b"-9", b"\xff")


def cases(bases: tuple[str, ...] = BASES) -> st.SearchStrategy[Any]:
    path = st.lists(st.integers(0, 200), min_size=1, max_size=6)
    return st.one_of(
        st.fixed_dictionaries({"base": st.sampled_from(bases), "way": st.just("bytes"), "edits": edits(4)}),
        st.fixed_dictionaries(
            {
                "base": st.sampled_from(bases),
                "way": st.just("manifest"),
                "path": path,
                "value": st.one_of(
                    st.sampled_from(_VALUES).map(lambda value: {"value": value}), st.just({"gone": True})
                ),
            }
        ),
        st.fixed_dictionaries(
            {
                "base": st.sampled_from(bases),
                "way": st.just("member"),
                "which": st.integers(0, 50),
                "edits": edits(3),
            }
        ),
        st.fixed_dictionaries(
            {
                "base": st.sampled_from(bases),
                "way": st.just("words"),
                "which": st.integers(0, 50),
                "place": st.integers(0, 10**6),
                "word": st.integers(0, len(_TOKENS) - 1),
            }
        ),
        st.fixed_dictionaries(
            {
                "base": st.sampled_from(bases),
                "way": st.just("members"),
                "which": st.integers(0, 50),
                "other": st.integers(0, 50),
                "how": st.sampled_from(("drop", "swap", "twice", "rename", "compress", "empty")),
            }
        ),
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    from elect.errors import ElectError

    path = folder / "here" / ("x.elect" if case["base"] == "database" else "x.elect-detector")
    original = base(case["base"])
    try:
        content = changed(original, case)
    except ValueError:
        return REFUSED  # what JSON cannot hold cannot be forged
    path.write_bytes(content)
    forged = case["way"] != "bytes"
    try:
        usable(path, case["base"], is_original=not forged)
    except ElectError as error:
        text = str(error)
        if len(text) > LONGEST or "\n" in text:
            return wrong(f"a message of {len(text)} characters: {text[:200]!r}")
        return REFUSED
    return RESULT


def usable(path: Path, name: str, *, is_original: bool) -> None:
    """Load a file and use it; an AssertionError where it is not sound."""
    import numpy as np

    if name == "database":
        from elect.history import store

        loaded = store.loads(path.read_bytes())
        again = store.dumps(loaded)
        assert not is_original or again == base(name), "changed bytes gave another database"
        gaps = loaded.predictor.gaps_between(loaded.measures[0], loaded.measures[1])
        assert np.isfinite(gaps).all(), "gaps that are not finite"
        from elect import ElectDetector

        found = ElectDetector(max_models=3, scorer="model", database=loaded).fit(_rows())
        assert np.isfinite(found.decision_scores_).all(), "scores that are not finite"
        return
    from elect.detect.saving import load_saved, saved_bytes
    from elect.detector import load_detector

    detector = load_detector(path)
    assert not is_original or saved_bytes(load_saved(path)) == base(name), "changed bytes gave another detector"
    table = _table()
    scores = detector.decision_function(table)
    assert scores.shape == (len(_rows()),), "another number of scores than rows"
    assert np.isfinite(scores).all(), "scores that are not finite"
    detector.predict(table)
    proba = detector.predict_proba(table)
    assert ((proba >= 0) & (proba <= 1)).all(), "a chance that is none"
    str(detector.explain(table, [0, 3]))
    str(detector.selection_.explain())
    detector._repr_html_()


def changed(original: bytes, case: dict[str, Any]) -> bytes:
    if case["way"] == "bytes":
        return edited(original, case["edits"])
    members = _unzipped(original)
    names = sorted(set(members) - {"manifest.json"})
    manifest = json.loads(members["manifest.json"])
    compression = zipfile.ZIP_STORED
    extra: list[tuple[str, bytes]] = []
    match case["way"]:
        case "manifest":
            _replace(manifest["content"], case["path"], case["value"])
        case "member":
            name = names[case["which"] % len(names)]
            members[name] = edited(members[name], case["edits"])
        case "words":
            texts = [name for name in names if name.endswith(".txt")] or names
            name = texts[case["which"] % len(texts)]
            members[name] = _with_word(members[name], case["place"], _TOKENS[case["word"]])
        case "members":
            name, other = names[case["which"] % len(names)], names[case["other"] % len(names)]
            match case["how"]:
                case "drop":
                    del members[name]
                case "swap":
                    members[name], members[other] = members[other], members[name]
                case "twice":
                    extra = [(name, members[other])]
                case "rename":
                    members["x" + name] = members.pop(name)
                case "compress":
                    compression = zipfile.ZIP_DEFLATED
                case "empty":
                    members[name] = b""
    return _sealed(members, manifest, compression, extra)


def _replace(node: Any, path: list[int], value: dict[str, Any]) -> None:
    """Another value somewhere in plain data, or none."""
    for step, number in enumerate(path):
        keys = sorted(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = keys[number % len(keys)]
        inside = node[key]
        if not isinstance(inside, dict | list) or step == len(path) - 1:
            if "gone" in value:
                del node[key]
            else:
                node[key] = copy.deepcopy(value["value"])
            return
        node = inside


def _with_word(data: bytes, place: int, word: bytes) -> bytes:
    at = place % max(len(data), 1)
    start = max(data.rfind(b" ", 0, at), data.rfind(b"\n", 0, at), data.rfind(b"=", 0, at)) + 1
    ends = [end for end in (data.find(b" ", at), data.find(b"\n", at)) if end >= 0]
    return data[:start] + word + data[min(ends, default=len(data)) :]


def _unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _sealed(
    members: dict[str, bytes], manifest: dict[str, Any], compression: int, extra: list[tuple[str, bytes]]
) -> bytes:
    """An archive with every checksum right."""
    rest = {name: data for name, data in members.items() if name != "manifest.json"}
    manifest["members"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in rest.items()
    }
    told = {key: value for key, value in manifest.items() if key != "checksum"}
    manifest["checksum"] = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, data in [("manifest.json", json.dumps(manifest).encode()), *rest.items(), *extra]:
                archive.writestr(zipfile.ZipInfo(name), data, compress_type=compression)
    return buffer.getvalue()


# --- what is changed --------------------------------------------------------------------------------------------------


@cache
def _rows() -> Any:
    import numpy as np

    return np.random.default_rng(0).normal(size=(40, 3)).round(3)


@cache
def _table() -> Any:
    import polars as pl

    words = [("red", "blue", "green")[i * 7 % 3] for i in range(40)]
    return pl.DataFrame(_rows(), schema=["a", "b", "c"]).with_columns(pl.Series("d", words))


@cache
def base(name: str) -> bytes:
    import tempfile

    from elect import ElectDetector, ModelPool, save_detector
    from elect.history import store, train

    if name == "database":
        return store.dumps(train(_corpus(), _pool(ModelPool)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.elect-detector"
        if name in ("committee", "answered"):
            detector = ElectDetector(max_models=3).fit(_table())
            if name == "answered":
                return _answered()
        else:
            small = train(_corpus(), _one_family(ModelPool, name))
            detector = ElectDetector(max_models=1, scorer="model", database=small).fit(_table())
            assert name in detector.selection_.model_id
        save_detector(detector, path)
        return path.read_bytes()


def _answered() -> bytes:
    """What the command saves after a person's answers."""
    from elect.detect import Election, Options, open_table
    from elect.detect.findings import findings_of
    from elect.detect.saving import kept, saved_bytes
    from elect.history.shipped import shipped_database

    election = Election(open_table(_table()), shipped_database(), Options(max_models=3))
    for _ in election.steps():
        pass
    feedback = election.feedback(election.selection(), "learn")
    for row, said in ((0, True), (1, False), (2, False)):
        feedback.tell(row, said)
    detection = election.detect(feedback.selection, feedback)
    return saved_bytes(kept(detection, findings_of(election, detection, 5).explainer))


def _corpus() -> Any:
    import numpy as np

    from elect import LabeledTask

    tasks = []
    for number in range(5):
        rng = np.random.default_rng(number)
        X = np.vstack([rng.normal(size=(50, 3)), rng.normal(size=(4, 3)) * (2 + number)])
        tasks.append(LabeledTask(f"t{number}", f"g{number}", X, np.r_[np.zeros(50), np.ones(4)].astype(np.int8)))
    return tuple(tasks)


def _pool(pools: Any) -> Any:
    return pools.grid("kNN", method=["mean"], n_neighbors=[1, 5, 20]) + pools.grid("HBOS", n_bins=[5, 20], alpha=[0.1])


def _one_family(pools: Any, family: str) -> Any:
    parameters: dict[str, dict[str, list[Any]]] = {
        "kNN": {"method": ["mean", "largest"], "n_neighbors": [5]},
        "LOF": {"metric": ["euclidean"], "n_neighbors": [5, 10]},
        "HBOS": {"n_bins": [5, 10], "alpha": [0.1]},
        "IForest": {"n_estimators": [10, 20], "max_features": [0.5]},
        "LODA": {"n_bins": [5, 10], "n_random_cuts": [10]},
        "COF": {"n_neighbors": [5, 10]},
        "OCSVM": {"kernel": ["rbf"], "nu": [0.1, 0.5]},
        "ABOD": {"n_neighbors": [5, 10]},
    }
    return pools.grid(family, **parameters[family])
