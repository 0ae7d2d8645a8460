"""Calls from Python with what callers have at hand: a sound result, or an error of elect's."""

import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from attack.verdict import REFUSED, RESULT, Verdict, wrong

GOAL, BATCH, SECONDS = 300, 150, 180

CALLS = (
    *("fit", "fit", "fit", "score others", "predict_proba", "explain", "report", "save and load", "feedback"),
    *("read_table", "fit_detector", "pool", "task", "train", "load", "clone", "search", "score_pool"),
)


def cases() -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {
            "call": st.sampled_from(CALLS),
            "data": st.sampled_from(sorted(DATA)),
            "other": st.sampled_from(sorted(DATA)),
            "option": st.sampled_from(OPTIONS),
            "value": st.sampled_from(sorted(VALUES)),
            "more": st.sampled_from(sorted(VALUES)),
        }
    )


def run(case: dict[str, Any], folder: Path) -> Verdict:
    import warnings

    from sklearn.exceptions import NotFittedError

    from elect.errors import ElectError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            broken = _call(case, folder)
        except (ElectError, NotFittedError, LiarError) as error:
            text = str(error)
            if not text or len(text) > 2500:
                return wrong(f"{case['call']}: a message of {len(text)} characters")
            return REFUSED
    return wrong(f"{case['call']}: {broken}") if broken else RESULT


def _call(case: dict[str, Any], folder: Path) -> str | None:
    """What is wrong with the result of a call, if anything."""
    import numpy as np

    import elect
    from elect.tables import iter_batches, read_table

    value, more = VALUES[case["value"]], VALUES[case["more"]]
    data, other = DATA[case["data"]](), DATA[case["other"]]()
    option = {} if case["option"] is None else {case["option"]: value}
    match case["call"]:
        case "fit":
            return _sound(_fitted(data, option), data)
        case "score others":
            found = _fitted(data, option)
            return _finite(found.decision_function(other), _length(other))
        case "predict_proba":
            found = _fitted(data, option)
            method = more if case["option"] == "scorer" else "unify"
            chance = found.predict_proba(other, method=method)
            return None if ((chance >= 0) & (chance <= 1)).all() else "a chance that is none"
        case "explain":
            found = _fitted(data, {})
            told = found.explain(other, value)
            return None if all(str(row) for row in told) else "no words"
        case "report":
            found = _fitted(data, {})
            path = value if isinstance(value, str | Path) else folder / "here" / "r.html"
            if isinstance(path, str) and not path.endswith("html"):
                path = folder / "here" / "r.html"
            found.report(path, **({"top": more} if case["option"] else {}))
            return None if found._repr_html_() else "nothing"
        case "save and load":
            found = _fitted(data, option)
            path = folder / "here" / "m.elect-detector"
            elect.save_detector(found, path)
            loaded = elect.load_detector(path, n_jobs=None)
            same = np.array_equal(loaded.decision_function(data), found.decision_function(data))
            return None if same else "a saved detector scores otherwise"
        case "feedback":
            session = elect.Feedback(data, database=_database(), **({"aim": value} if case["option"] else {}))
            for answer in (value, more, True):
                row = session.ask()
                session.tell(row if len(case["more"]) % 2 else more, answer)
            session.undo()
            return _finite(session.chance, session.n_rows)
        case "read_table":
            names = ("encoding", "delimiter", "header", "decimal", "sheet")
            path = folder / "here" / "t.csv"
            path.write_text("a,b\n1,2\n3,4\n5,6\n")
            given = {names[len(case["more"]) % 5]: value} if case["option"] else {}
            table = read_table(path if case["option"] else data, **given)
            if case["option"] == "n_jobs":
                list(iter_batches(path, value))
            return None if table.n_rows > 0 else "no rows"
        case "fit_detector":
            found = elect.fit_detector(value if case["option"] else "kNN(method=mean, n_neighbors=5)", data)
            return _finite(found.decision_scores_, _length(data))
        case "pool":
            pool = elect.ModelPool.grid("kNN", method=value, n_neighbors=more)
            return None if len(pool) else "an empty pool"
        case "task":
            task = elect.LabeledTask(value, more, data, np.zeros(_length(data) or 1, dtype=np.int8))
            return None if task.n_rows else "no rows"
        case "train":
            y = np.zeros(_length(data) or 1, dtype=np.int8)
            y[0] = 1
            tasks = [elect.LabeledTask(f"t{i}", f"g{i}", data, y) for i in range(2)]
            small = _database().pool
            named = (
                {("metric", "seed", "n_jobs")[len(case["more"]) % 3]: value}
                if case["option"] and not callable(value)
                else {}
            )
            return None if elect.train(tasks, small, **named).tasks else "no tasks"
        case "load":
            (elect.load_detector if len(case["more"]) % 2 else elect.MetaDatabase.load)(value)
            return "something was loaded from nothing"
        case "clone":
            from sklearn.base import clone

            return _sound(clone(elect.ElectDetector(**{**_FEW(), **option})).fit(data), data)
        case "search":
            found = elect.search(_database(), data, **({"max_models": value} if case["option"] else {"max_models": 2}))
            return None if found is not None else "nothing"
        case "score_pool":
            named = {("seed", "n_jobs", "trials")[len(case["more"]) % 3]: value} if case["option"] else {}
            return _finite(elect.score_pool(data, _database().pool, **named).values.sum(axis=1), _length(data))
    raise ValueError(case["call"])


def _FEW() -> dict[str, Any]:
    return {"max_models": 2, "scorer": "model", "database": _database()}


def _fitted(data: Any, option: dict[str, Any]) -> Any:
    from elect import ElectDetector

    return ElectDetector(**{**_FEW(), **option}).fit(data)


def _sound(found: Any, data: Any) -> str | None:
    import numpy as np

    if broken := _finite(found.decision_scores_, _length(data)):
        return broken
    if set(np.unique(found.labels_)) - {0, 1}:
        return "labels other than 0 and 1"
    return None if np.isfinite(found.threshold_) else "a threshold that is no number"


def _finite(scores: Any, n: int | None) -> str | None:
    import numpy as np

    if n is not None and len(scores) != n:
        return f"{len(scores)} scores for {n} rows"
    return None if np.isfinite(scores).all() else "scores that are not finite"


def _length(data: Any) -> int | None:
    """How many rows there are, where it can be told from outside."""
    if hasattr(data, "collect"):
        data = data.collect()
    if isinstance(data, dict):
        lengths = {len(column) for column in data.values()} if data else set()
        return lengths.pop() if len(lengths) == 1 else None
    if hasattr(data, "shape") and data.shape:
        return int(data.shape[0])
    return len(data) if isinstance(data, list) else None


@cache
def _database() -> Any:
    from attack.artifacts import base
    from elect.history import store

    return store.loads(base("database"))


@cache
def _X() -> Any:
    import numpy as np

    return np.random.default_rng(0).normal(size=(40, 3))


def _frame() -> Any:
    import pandas as pd

    return pd.DataFrame({"a": _X()[:, 0], "b": _X()[:, 1], "c": ["x", "y"] * 20})


class LiarError(Exception):
    """What an object of the caller's own raises is the caller's own."""


class _Liar:
    """Says it is an array, and is none."""

    shape = (40, 3)
    columns = ("a",)

    def __array__(self, *args: Any, **named: Any) -> Any:
        raise LiarError("no")


def _data() -> dict[str, Any]:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from scipy import sparse

    def with_cell(value: Any) -> Any:
        changed = _X().copy()
        changed[3, 1] = value
        return changed

    return {
        "array": lambda: _X(),
        "frame": _frame,
        "polars": lambda: pl.from_pandas(_frame()),
        "lazy": lambda: pl.from_pandas(_frame()).lazy(),
        "arrow": lambda: pa.Table.from_pandas(_frame()),
        "series": lambda: pd.Series(_X()[:, 0]),
        "polars series": lambda: pl.Series("a", _X()[:, 0]),
        "single": lambda: _X().astype(np.float32),
        "half": lambda: _X().astype(np.float16),
        "long double": lambda: _X().astype(np.longdouble),
        "whole": lambda: (_X() * 10).astype(np.int8),
        "unsigned": lambda: np.abs(_X() * 10).astype(np.uint64),
        "truth": lambda: _X() > 0,
        "complex": lambda: _X().astype(complex),
        "objects": lambda: _X().astype(object),
        "texts": lambda: _X().astype(str),
        "bytes": lambda: _X().astype("S"),
        "swapped": lambda: _X().astype(">f8"),
        "fortran": lambda: np.asfortranarray(_X()),
        "strided": lambda: np.repeat(_X(), 2, axis=1)[::-1, ::2],
        "read only": lambda: np.lib.stride_tricks.as_strided(_X(), writeable=False),
        "one row": lambda: _X()[:1],
        "two rows": lambda: _X()[:2],
        "no rows": lambda: _X()[:0],
        "no columns": lambda: _X()[:, :0],
        "one column": lambda: _X()[:, :1],
        "constant": lambda: np.ones((40, 3)),
        "equal rows": lambda: np.tile(_X()[:1], (40, 1)),
        "flat": lambda: _X()[:, 0],
        "cube": lambda: _X()[:, :, None],
        "scalar": lambda: np.array(3.0),
        "nan": lambda: with_cell(np.nan),
        "infinite": lambda: with_cell(np.inf),
        "huge": lambda: with_cell(1e308),
        "all huge": lambda: _X() * 1e307,
        "tiny": lambda: _X() * 1e-310,
        "masked": lambda: np.ma.masked_array(_X(), mask=_X() > 1),
        "structured": lambda: np.zeros(40, dtype=[("a", float), ("b", "U3")]),
        "dates": lambda: np.full((40, 2), np.datetime64("2024-01-01")),
        "list": lambda: _X().tolist(),
        "ragged": lambda: [[1.0, 2.0], [3.0]],
        "empty list": list,
        "dictionary": lambda: {"a": _X()[:, 0], "b": _X()[:, 1]},
        "uneven": lambda: {"a": [1.0, 2.0], "b": [1.0]},
        "empty dictionary": dict,
        "records": lambda: [{"a": float(i), "b": str(i % 3)} for i in range(40)],
        "generator": lambda: (row for row in _X()),
        "set": lambda: {1.0, 2.0},
        "none": lambda: None,
        "text": lambda: "nosuch.csv",
        "raw": lambda: b"a,b\n1,2\n",
        "number": lambda: 7,
        "sparse": lambda: sparse.csr_array(_X()),
        "sparse coo": lambda: sparse.coo_matrix(_X()),
        "sparse frame": lambda: pd.DataFrame(_X().round()).astype(pd.SparseDtype(float, 0.0)),
        "multi-index": lambda: pd.DataFrame(_X(), columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])),
        "row index": lambda: _frame().set_index(pd.date_range("2024", periods=40)),
        "names twice": lambda: pd.DataFrame(_X(), columns=["a", "a", "b"]),
        "integer names": lambda: pd.DataFrame(_X()),
        "mixed names": lambda: pd.DataFrame(_X(), columns=[0, "b", None]),
        "nullable": lambda: _frame().convert_dtypes(),
        "categories": lambda: _frame().astype({"c": "category"}),
        "intervals": lambda: pd.DataFrame({"a": pd.cut(_X()[:, 0], 4), "b": _X()[:, 1]}),
        "periods": lambda: pd.DataFrame({"a": pd.period_range("2024", periods=40), "b": _X()[:, 1]}),
        "durations": lambda: pd.DataFrame({"a": pd.to_timedelta(_X()[:, 0], unit="s"), "b": _X()[:, 1]}),
        "zones": lambda: pd.DataFrame({"a": pd.date_range("2024", periods=40, tz="Asia/Tokyo"), "b": _X()[:, 1]}),
        "python objects": lambda: pd.DataFrame({"a": [object() for _ in range(40)], "b": _X()[:, 1]}),
        "mixed objects": lambda: pd.DataFrame({"a": [1, "x", None, 2.5] * 10, "b": _X()[:, 1]}),
        "decimals": lambda: pd.DataFrame({"a": [Decimal(i) / 3 for i in range(40)], "b": _X()[:, 1]}),
        "long numbers": lambda: pd.DataFrame({"a": [10**40 + i for i in range(40)], "b": _X()[:, 1]}),
        "lists in cells": lambda: pd.DataFrame({"a": [[i] for i in range(40)], "b": _X()[:, 1]}),
        "polars nested": lambda: pl.DataFrame({"a": [[i] for i in range(40)], "b": _X()[:, 1]}),
        "polars objects": lambda: pl.DataFrame({"a": pl.Series([object()] * 40, dtype=pl.Object), "b": _X()[:, 1]}),
        "polars enum": lambda: pl.DataFrame(
            {"a": pl.Series(["x", "y"] * 20, dtype=pl.Enum(["x", "y"])), "b": _X()[:, 1]}
        ),
        "far dates": lambda: pl.DataFrame({"a": [datetime.date(1, 1, 1), datetime.date(9999, 12, 31)] * 20}),
        "liar": _Liar,
        "all missing": lambda: pd.DataFrame({"a": [None] * 40, "b": [np.nan] * 40}),
        "group": lambda: _frame().groupby("c"),
        "wide": lambda: np.random.default_rng(1).normal(size=(5, 300)),
    }


DATA = _data()

OPTIONS = (
    *(None, None, None, None, "contamination", "scorer", "database", "strategy", "max_seconds", "max_models"),
    *("random_state", "n_jobs"),
)


def _values() -> tuple[Any, ...]:
    import numpy as np

    return (
        *(None, True, False, 0, 1, 2, -1, 3, 0.1, 0.5, 0.6, -0.1, 1e300, float("nan"), float("inf"), 10**30),
        *("auto", "committee", "model", "fixed", "elect", "learn", "find", "", "x", "3", "\x1b[2J", "\0", "x" * 10_000),
        *(np.float32(0.1), np.float64(0.1), np.int64(3), np.bool_(True), np.array([0.1, 0.2]), np.array(0.1)),
        *(
            [],
            [1],
            [0, 1],
            (),
            {},
            {"a": 1},
            {1},
            b"x",
            object(),
            int,
            lambda: 1,
            Decimal("0.1"),
            1j,
            ...,
            Path("nosuch"),
        ),
        *(np.random.default_rng(0), np.random.RandomState(0), datetime.date(2024, 1, 1), slice(3), range(2)),
    )


def _named(value: Any) -> str:
    """A name that a case file can keep."""
    kind = type(value).__name__
    plain = kind not in ("object", "function", "Generator", "RandomState", "type")
    return f"{kind} {value!r}"[:40] if plain else kind


VALUES = {_named(value): value for value in _values()}
