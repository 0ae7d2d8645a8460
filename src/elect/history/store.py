"""The ``.elect`` file: a meta-database as a zip of JSON, ``.npy`` arrays and the text of LightGBM's trees.

Reading executes nothing and believes nothing. Sizes are checked before anything is allocated; each member must match
its checksum in the manifest; numbers must be finite; indices are checked by the objects they end up in; the names of
detector classes stay names. LightGBM never sees the text. Equal databases are written as equal bytes.
"""

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from elect.core import ModelPool, ModelSpec, PerformanceMatrix
from elect.errors import ElectError, PoolMismatch, StoreError
from elect.history.database import LONGEST_NAME, MetaDatabase, plain_json
from elect.history.rank_predictor import RankPredictor
from elect.paper.predictor import PairwisePredictor
from elect.paper.settings import SearchSettings
from elect.support.arrays import FloatArray
from elect.support.atomic import write_atomically
from elect.support.trees import MAX_TEXT

FORMAT = "elect-meta-database"
VERSION = 2
MAX_TOTAL = 256 * 2**20

_MANIFEST = "manifest.json"
_LIMITS = {
    _MANIFEST: 8 * 2**20,
    "performance.npy": MAX_TOTAL,
    "measures.npy": MAX_TOTAL,
    "predictor.txt": MAX_TEXT,
    # Both are empty where the history is too small for a rank predictor.
    "ranker.txt": MAX_TEXT,
    "gate.txt": MAX_TEXT,
}
_FIRST_VERSION = set(_LIMITS) - {"ranker.txt", "gate.txt"}
_MANIFEST_KEYS = {
    *("format", "version", "members", "pool", "tasks", "metric", "measure_names"),
    *("anchors", "initial_models", "settings", "provenance", "calibration", "rank_predictor"),
}
_END_RECORD = struct.Struct("<4s4H2LH")
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_MAX_HEADER = 1024
_NPY_HEADER = re.compile(rb"\{'descr': '(<f[48])', 'fortran_order': False, 'shape': \(([0-9, ]{1,40})\), \} *\n")


def save(database: MetaDatabase, path: str | os.PathLike[str]) -> None:
    """Write a database to a file. Whoever looks, at any moment, finds the old file or the new one, whole."""
    try:
        write_atomically(path, dumps(database))
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error.strerror or error}.") from error


def load(path: str | os.PathLike[str], pool: ModelPool | None = None) -> MetaDatabase:
    """Read a database from a file; see ``loads``."""
    source = Path(path)
    if not source.is_file():
        raise StoreError(f"Cannot read {source}: there is no such file.")
    try:
        with source.open("rb") as file:
            data = file.read(MAX_TOTAL + 1)
    except OSError as error:
        raise StoreError(f"Cannot read {source}: {error.strerror or error}.") from error
    return loads(data, pool, str(source))


def dumps(database: MetaDatabase) -> bytes:
    """The bytes of the file of a database."""
    learned = database.rank_predictor
    members = {
        "performance.npy": _npy(database.performance.values),
        "measures.npy": _npy(database.measures),
        "predictor.txt": database.predictor.text.encode("ascii"),
        "ranker.txt": b"" if learned is None else learned.ranker.encode("ascii"),
        "gate.txt": b"" if learned is None else learned.gate.encode("ascii"),
    }
    members = {_MANIFEST: _manifest(database, members), **members}
    # The directory of the archive takes less than the 4096 bytes that reading allows it.
    too_large = sum(map(len, members.values())) > MAX_TOTAL - 4096
    if too_large or any(len(data) > _LIMITS[name] for name, data in members.items()):
        raise StoreError(f"The database is too large to store: at most {MAX_TOTAL} bytes. Leave out some tasks.")
    buffer = io.BytesIO()
    # Nothing is compressed: the bytes then do not depend on the version of a compressor, and there is little to gain.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def loads(data: bytes, pool: ModelPool | None = None, source: str = "The database") -> MetaDatabase:
    """The database of these bytes, or a StoreError that says in one line what is wrong with them.

    With ``pool`` they must have been made with that very pool: else PoolMismatch.
    """
    try:
        members = _members(data)
        manifest = _parse_manifest(members)
        stored = _parse_pool(manifest["pool"])
        if pool is None or pool.fingerprint == stored.fingerprint:
            return _parse_database(manifest, members, pool or stored)
    except ElectError as error:
        # What is quoted from a hostile file must not fill the terminal.
        reason = " ".join(str(error).split())[:300]
        raise StoreError(f"{source} cannot be loaded. {reason} Get the file again, or train a new one.") from error
    raise PoolMismatch(
        f"{source} was made with another pool of models: it has {len(stored)} models and the fingerprint "
        f"{stored.fingerprint[:12]}, not {len(pool)} and {pool.fingerprint[:12]}. Train a database for this pool."
    )


# Writing


def _npy(values: FloatArray) -> bytes:
    buffer = io.BytesIO()
    # Half the size where nothing is lost: training rounds what it learns to single precision.
    with np.errstate(over="ignore"):  # what is too large for it is infinite there, and not lossless
        kind = "<f4" if (values.astype(np.float32) == values).all() else "<f8"
    array = np.ascontiguousarray(values, dtype=kind)
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _learned_document(learned: RankPredictor) -> dict[str, Any]:
    return {"prior": learned.prior.tolist(), "outcomes": learned.outcomes.tolist()}


def _manifest(database: MetaDatabase, members: Mapping[str, bytes]) -> bytes:
    learned = database.rank_predictor
    content = {
        "format": FORMAT,
        "version": VERSION,
        "members": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
        },
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
        "rank_predictor": None if learned is None else _learned_document(learned),
    }
    try:
        return (json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n").encode("ascii")
    except ValueError as error:
        raise StoreError(f"The database cannot be stored: parameters of models must be finite ({error}).") from None


# Reading


def _members(data: bytes) -> dict[str, bytes]:
    """The contents of the archive: exactly the members expected, each within its limit."""
    if len(data) > MAX_TOTAL:
        raise StoreError(f"It is larger than the {MAX_TOTAL} bytes allowed.")
    _check_end_record(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            if {info.filename for info in infos} == _FIRST_VERSION:
                raise StoreError(_other_version(1))
            if sorted(info.filename for info in infos) != sorted(_LIMITS):
                raise StoreError(f"It must hold the members {', '.join(_LIMITS)}, and no other.")
            if sum(info.file_size for info in infos) > MAX_TOTAL:
                raise StoreError(f"Its members are larger than the {MAX_TOTAL} bytes allowed.")
            return {info.filename: _member(archive, info) for info in infos}
    except ElectError:
        raise
    except Exception as error:
        # zipfile and the decompressor raise a dozen kinds of error on damaged archives.
        raise StoreError(f"It is damaged or no .elect file ({type(error).__name__}).") from error


def _check_end_record(data: bytes) -> None:
    """Look at the end of the archive before zipfile makes objects of as many entries as its directory claims."""
    if data[:4] != b"PK\x03\x04" or len(data) < _END_RECORD.size:
        raise StoreError("It is no .elect file.")
    end = len(data) - _END_RECORD.size
    signature, disk, start_disk, here, entries, size, offset, comment = _END_RECORD.unpack(data[end:])
    if signature != b"PK\x05\x06":
        raise StoreError("It is truncated or damaged: the archive has no end record.")
    if (
        (disk, start_disk, comment) != (0, 0, 0)
        or here != entries
        or entries not in (len(_LIMITS), len(_FIRST_VERSION))
    ):
        raise StoreError(f"It is damaged: the archive must have {len(_LIMITS)} members and no comment.")
    # A locator of the 64-bit kind would make zipfile read another directory than the one checked here.
    if size > 4096 or offset + size != end or data[end - 20 : end - 16] == b"PK\x06\x07":
        raise StoreError("It is damaged: the directory of the archive is not where it must be.")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > _LIMITS[info.filename]:
        raise StoreError(f"Its member {info.filename} is larger than the {_LIMITS[info.filename]} bytes allowed.")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
        raise StoreError(f"Its member {info.filename} must be neither encrypted nor compressed in an unusual way.")
    with archive.open(info) as file:
        # No more than was declared is ever decompressed; zipfile checks the CRC once all of it was read.
        data = file.read(info.file_size + 1)
    if len(data) != info.file_size:
        raise StoreError(f"Its member {info.filename} is truncated.")
    return data


def _parse_manifest(members: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        manifest = json.loads(
            members[_MANIFEST].decode("utf-8"),
            object_pairs_hook=_unique,
            parse_float=_finite,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise StoreError(f"Its manifest is not plain JSON: {str(error)[:100]}.") from None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise StoreError(f"Its manifest must say that the format is {FORMAT!r}.")
    if type(manifest.get("version")) is not int or manifest["version"] != VERSION:
        raise StoreError(_other_version(manifest.get("version")))
    _record(manifest, "Its manifest", _MANIFEST_KEYS)
    listed = _record(manifest["members"], "The list of members in its manifest", set(members) - {_MANIFEST})
    for name, entry in listed.items():
        told = _record(entry, f"The entry of {name} in its manifest", {"bytes", "sha256"})
        if told != {"bytes": len(members[name]), "sha256": hashlib.sha256(members[name]).hexdigest()}:
            raise StoreError(f"Its member {name} does not match its checksum.")
    return manifest


def _other_version(found: Any) -> str:
    return (
        f"It has version {found!r} of the format and this elect reads version {VERSION}: use the elect that wrote it."
    )


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


def _parse_database(manifest: Mapping[str, Any], members: Mapping[str, bytes], pool: ModelPool) -> MetaDatabase:
    tasks = [
        _record(entry, "Each task in its manifest", {"name", "group"})
        for entry in _list(manifest["tasks"], "list of tasks")
    ]
    names = _texts(manifest["measure_names"], "measure names")
    settings = _record(manifest["settings"], "The settings in its manifest", set(asdict(SearchSettings())))
    calibration = manifest["calibration"]
    if calibration is not None:
        calibration = _record(calibration, "The calibration in its manifest", None)
    return MetaDatabase(
        pool=pool,
        performance=PerformanceMatrix(
            _parse_npy(members["performance.npy"], "performance.npy"),
            tuple(_text(task["name"], "name of a task") for task in tasks),
            pool.ids,
            _text(manifest["metric"], "metric"),
        ),
        groups=tuple(_text(task["group"], "group of a task") for task in tasks),
        measure_names=names,
        measures=_parse_npy(members["measures.npy"], "measures.npy"),
        anchors=_texts(manifest["anchors"], "anchors"),
        initial_models=_texts(manifest["initial_models"], "initial models"),
        predictor=PairwisePredictor(_ascii(members["predictor.txt"]), names),
        settings=SearchSettings(**settings),
        provenance=_record(manifest["provenance"], "The provenance in its manifest", None),
        calibration=calibration,
        rank_predictor=_parse_learned(manifest["rank_predictor"], members),
    )


def _parse_learned(content: Any, members: Mapping[str, bytes]) -> RankPredictor | None:
    texts = [_ascii(members[name]) for name in ("ranker.txt", "gate.txt")]
    if content is None:
        if any(texts):
            raise StoreError("Its manifest has no rank predictor, but there are trees of one.")
        return None
    record = _record(content, "The rank predictor in its manifest", {"prior", "outcomes"})
    prior = _numbers(_list(record["prior"], "prior"))
    outcomes = _numbers(_list(record["outcomes"], "outcomes"))
    return RankPredictor(texts[0], texts[1], prior, outcomes.reshape(-1, 2) if not outcomes.size else outcomes)


def _numbers(values: list[Any]) -> FloatArray:
    """A list of numbers, or of lists of them, as an array. numpy alone would take texts and null for numbers too."""
    rows = values if values and all(isinstance(row, list) for row in values) else [values]
    try:
        if all(type(number) in (int, float) for row in rows for number in row):
            return np.array(values, dtype=np.float64)
    except (ValueError, OverflowError):
        pass
    raise StoreError("The rank predictor in its manifest must hold lists of numbers.")


def _parse_npy(data: bytes, name: str) -> FloatArray:
    """An array of floats whose header is what ``numpy.save`` writes, and whose size is what the header says."""
    start = len(_NPY_MAGIC) + 2
    length = int.from_bytes(data[len(_NPY_MAGIC) : start], "little")
    if not data.startswith(_NPY_MAGIC) or length > _NPY_MAX_HEADER:
        raise StoreError(f"Its member {name} must be an array in version 1.0 of the npy format with a short header.")
    header = _NPY_HEADER.fullmatch(data[start : start + length])
    if header is None:
        raise StoreError(f"Its member {name} must be an array of little-endian floats in C order.")
    try:
        shape = [int(size) for size in header[2].decode().split(",") if size.strip()]
    except ValueError:
        raise StoreError(f"Its member {name} must have a shape of plain numbers.") from None
    kind = header[1].decode()
    if not 1 <= len(shape) <= 3 or int(kind[2]) * math.prod(shape) != len(data) - start - length:
        raise StoreError(f"Its member {name} must have up to 3 dimensions and hold the numbers they call for.")
    values: FloatArray = np.frombuffer(data, dtype=kind, offset=start + length).reshape(shape).astype(np.float64)
    values.flags.writeable = False
    return values


def _ascii(data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise StoreError("Its model text must be plain ASCII.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("some key is there twice")
    return record


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("some number is not finite")
    return number


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
