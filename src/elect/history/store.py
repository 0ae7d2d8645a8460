"""The ``.elect`` file: a meta-database in an archive of ``elect.storage``.

The archive vouches for bytes, JSON and arrays. Here it is checked that they make a database: indices and sizes by the
objects they end up in, names of detector classes stay names, and LightGBM never sees the text of the trees.
"""

from collections.abc import Mapping
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from elect.committee.scorer import RowScorer
from elect.core import ModelPool, ModelSpec, PerformanceMatrix
from elect.errors import PoolMismatch, StoreError
from elect.history.database import LONGEST_NAME, MetaDatabase, plain_json
from elect.paper.predictor import PairwisePredictor
from elect.paper.settings import SearchSettings
from elect.storage.archive import Archive, Kind, pack, read, refusing, unpack, write
from elect.support.arrays import FloatArray

KIND = Kind(
    "elect-meta-database",
    version=3,
    max_bytes=256 * 2**20,
    remedy="Get the file again, or train a new one.",
    flat=(2,),
)
_ARRAYS = {"performance", "measures"}
_TEXTS = {"predictor"}
_ROW_TEXTS = ("wrong", "unusual", "own")
"""The trees of the row scorer, where the database has one, the last only where it was leaned towards own tables."""
_OLD_TEXTS = {"ranker", "gate"}
"""Trees in files of before, of a way to elect that is no more: nobody looks at them."""
_KEYS = {
    *("pool", "tasks", "metric", "measure_names", "anchors", "initial_models"),
    *("settings", "provenance", "calibration"),
}


def save(database: MetaDatabase, path: str | PathLike[str]) -> None:
    """Write a database to a file, whole or not at all."""
    write(path, dumps(database))


def load(path: str | PathLike[str], pool: ModelPool | None = None) -> MetaDatabase:
    """Read a database from a file; see ``loads``."""
    return loads(read(path, KIND), pool, str(path))


def dumps(database: MetaDatabase) -> bytes:
    """The bytes of the file of a database."""
    content = {
        "pool": {
            "fingerprint": database.pool.fingerprint,
            "specs": [{"detector": spec.detector, "params": dict(spec.params)} for spec in database.pool],
        },
        "tasks": [{"name": task, "group": group} for task, group in zip(database.tasks, database.groups, strict=True)],
        "metric": database.performance.metric,
        "measure_names": list(database.measure_names),
        "anchors": list(database.anchors),
        "initial_models": list(database.initial_models),
        "settings": asdict(database.settings),
        "provenance": plain_json(database.provenance),
        "calibration": None if database.calibration is None else plain_json(database.calibration),
    }
    arrays = {"performance": _smallest(database.performance.values), "measures": _smallest(database.measures)}
    texts = {"predictor": database.predictor.text}
    rows = database.row_scorer
    if rows is not None:
        content["row_scorer"] = {
            "families": list(rows.families),
            "calibration": rows.calibration.tolist(),
            "reliability": rows.reliability.tolist(),
            **({"own_weight": rows.own_weight} if rows.own else {}),
        }
        texts |= {"wrong": rows.wrong, "unusual": rows.unusual, **({"own": rows.own} if rows.own else {})}
    return pack(Archive(content, arrays, texts), KIND)


def loads(data: bytes, pool: ModelPool | None = None, source: str = "The database") -> MetaDatabase:
    """The database of these bytes, or a StoreError that says in one line what is wrong with them.

    With ``pool`` they must have been made with that very pool: else PoolMismatch.
    """
    with refusing(source, KIND):
        found = unpack(data, KIND)
        rows = found.content.get("row_scorer")
        texts = {*_TEXTS, *(() if rows is None else _ROW_TEXTS if "own_weight" in rows else _ROW_TEXTS[:2])}
        texts |= _OLD_TEXTS if "rank_predictor" in found.content else set()
        if set(found.arrays) != _ARRAYS or set(found.texts) != texts or found.raw:
            listed = ", ".join(sorted(_ARRAYS | _TEXTS))
            raise StoreError(f"It must hold the members {listed}, and no other.")
        content = _record(found.content, "Its content", _KEYS | (set(found.content) & {"row_scorer", "rank_predictor"}))
        stored = _parse_pool(content["pool"])
        if pool is None or pool.fingerprint == stored.fingerprint:
            return _parse_database(content, found, pool or stored)
    raise PoolMismatch(
        f"{source} was made with another pool of models: it has {len(stored)} models and the fingerprint "
        f"{stored.fingerprint[:12]}, not {len(pool)} and {pool.fingerprint[:12]}. Train a database for this pool."
    )


def _smallest(values: FloatArray) -> Any:
    """In single precision where nothing is lost: training rounds what it learns to that."""
    with np.errstate(over="ignore"):  # what is too large for it is infinite there, and not lossless
        single = values.astype("<f4")
    return single if (single == values).all() else values.astype("<f8")


def _parse_pool(content: Any) -> ModelPool:
    record = _record(content, "The pool in its manifest", {"fingerprint", "specs"})
    specs = []
    for entry in _list(record["specs"], "list of models"):
        spec = _record(entry, "Each model in its manifest", {"detector", "params"})
        params = _record(spec["params"], "The parameters of each model in its manifest", None)
        if not all(value is None or isinstance(value, str | int | float) for value in params.values()):
            raise StoreError("Parameters of models must be texts, numbers, booleans or null.")
        specs.append(ModelSpec(_text(spec["detector"], "detector"), tuple(sorted(params.items()))))
    pool = ModelPool.of(specs)
    # What cannot be printed cannot be encoded either, and a fingerprint is made of encoded names.
    if not all(model_id.isprintable() for model_id in pool.ids) or pool.fingerprint != record["fingerprint"]:
        raise StoreError("The models of its pool do not have the fingerprint it states.")
    return pool


def _parse_database(content: Mapping[str, Any], found: Archive, pool: ModelPool) -> MetaDatabase:
    tasks = [
        _record(entry, "Each task in its manifest", {"name", "group"})
        for entry in _list(content["tasks"], "list of tasks")
    ]
    names = _texts(content["measure_names"], "measure names")
    settings = _record(content["settings"], "The settings in its manifest", set(asdict(SearchSettings())))
    calibration = content["calibration"]
    if calibration is not None:
        calibration = _record(calibration, "The calibration in its manifest", None)
        for key in ("rank_shares", "held_out_ranks", "committee_ranks"):
            if key in calibration:
                _numbers(_list(calibration[key], "calibration"))
    return MetaDatabase(
        pool=pool,
        performance=PerformanceMatrix(
            _floats(found, "performance"),
            tuple(_text(task["name"], "name of a task") for task in tasks),
            pool.ids,
            _text(content["metric"], "metric"),
        ),
        groups=tuple(_text(task["group"], "group of a task") for task in tasks),
        measure_names=names,
        measures=_floats(found, "measures"),
        anchors=_texts(content["anchors"], "anchors"),
        initial_models=_texts(content["initial_models"], "initial models"),
        predictor=PairwisePredictor(found.texts["predictor"], names),
        settings=SearchSettings(**settings),
        provenance=_record(content["provenance"], "The provenance in its manifest", None),
        calibration=calibration,
        row_scorer=_parse_rows(content.get("row_scorer"), found.texts),
    )


def _parse_rows(content: Any, texts: Mapping[str, str]) -> RowScorer | None:
    if content is None:
        return None
    keys = {"families", "calibration", "reliability"} | (set(content) & {"own_weight"})
    record = _record(content, "The row scorer in its manifest", keys)
    calibration = _shaped(record["calibration"], (4,), "calibration of its row scorer")
    reliability = _shaped(record["reliability"], (len(record["reliability"]), 3), "reliability of its row scorer")
    families = _texts(record["families"], "families of its row scorer")
    own = _shaped(record.get("own_weight", 0.0), (1,), "weight of its row scorer's own trees")
    return RowScorer(
        families, texts["wrong"], texts["unusual"], calibration, reliability, texts.get("own", ""), float(own[0])
    )


def _shaped(plain: Any, shape: tuple[int, ...], what: str) -> FloatArray:
    try:
        values = np.array(plain, dtype=np.float64).reshape(shape)
    except (TypeError, ValueError):
        raise StoreError(f"The {what} must be numbers of shape {shape}.") from None
    return values


def _floats(found: Archive, name: str) -> FloatArray:
    array = found.arrays[name]
    if array.dtype.kind != "f":
        raise StoreError(f"Its member {name} must hold floats.")
    values: FloatArray = array.astype(np.float64, copy=False)
    values.flags.writeable = False
    return values


def _numbers(values: list[Any]) -> FloatArray:
    """A list of numbers as an array. numpy alone would take texts and null for numbers too."""
    try:
        if all(type(number) in (int, float) for number in values):
            return np.array(values, dtype=np.float64)
    except (ValueError, OverflowError):
        pass
    raise StoreError("The calibration in its manifest must hold lists of numbers.")


def _record(value: Any, what: str, keys: set[str] | None) -> dict[str, Any]:
    if not isinstance(value, dict) or (keys is not None and set(value) != keys):
        expected = "an object" if keys is None else f"an object with the keys {', '.join(sorted(keys))}"
        raise StoreError(f"{what} must be {expected}.")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise StoreError(f"The {what} in its manifest must be a list.")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NAME:
        raise StoreError(f"The {what} in its manifest must be a text of at most {LONGEST_NAME} characters.")
    return value


def _texts(value: Any, what: str) -> tuple[str, ...]:
    return tuple(_text(item, what) for item in _list(value, what))
