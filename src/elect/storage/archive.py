"""A safe container: a zip of one JSON text and plain ``.npy`` arrays, checksummed.

Reading executes nothing and believes nothing: members are stored uncompressed, their sizes are checked before they are
read, each must match its checksum, and arrays may only hold plain numbers.
"""

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import StoreError

MAX_TOTAL = 2 * 2**30
MAX_MEMBERS = 64

_MANIFEST = "manifest.json"
_NAME = re.compile(r"[a-z_]{1,40}\.(npy|json|pickle)")
_DTYPES = {"<f8": np.float64, "<f4": np.float32, "<i4": np.int32, "<u4": np.uint32}
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(rb"\{'descr': '(<[fiu][48])', 'fortran_order': False, 'shape': \(([0-9, ]{0,60})\), \} *\n")


@dataclass(frozen=True)
class Archive:
    """The content of one file. ``arrays`` are read-only; ``raw`` holds members that are no plain data."""

    content: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    raw: Mapping[str, bytes] = field(default_factory=dict)


def pack(archive: Archive, kind: str, version: int) -> bytes:
    """The bytes of an archive; equal archives give equal bytes."""
    members = {f"{name}.npy": _npy(name, array) for name, array in archive.arrays.items()}
    members |= {f"{name}.pickle": data for name, data in archive.raw.items()}
    manifest = {
        "format": kind,
        "version": version,
        "content": archive.content,
        "members": {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()
        },
    }
    manifest["checksum"] = _checksum(manifest)
    try:
        text = json.dumps(manifest, ensure_ascii=False, allow_nan=False, sort_keys=True)
    except ValueError as error:
        raise StoreError(f"This cannot be stored: numbers must be finite ({error}).") from None
    members = {_MANIFEST: text.encode(), **members}
    if sum(map(len, members.values())) > MAX_TOTAL - 2**20:
        raise StoreError(f"This is too large to store: at most {MAX_TOTAL >> 20} MB. Fit on fewer rows.")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)
    return buffer.getvalue()


def unpack(data: bytes, kind: str, version: int, source: str) -> Archive:
    """The archive of these bytes, or a StoreError that says in one line what is wrong with them."""
    try:
        return _unpack(data, kind, version)
    except StoreError as error:
        raise StoreError(f"{source} cannot be loaded. {error} Get the file again, or make a new one.") from None


def _unpack(data: bytes, kind: str, version: int) -> Archive:
    members = _members(data)
    manifest = _manifest(members.pop(_MANIFEST, b""))
    if manifest.get("format") != kind:
        raise StoreError(f"It is no file of the format {kind!r}.")
    if manifest.get("version") != version:
        raise StoreError(
            f"It has version {str(manifest.get('version'))[:20]} of the format, this elect reads {version}."
        )
    told = manifest.get("members")
    if not isinstance(told, dict) or not isinstance(manifest.get("content"), dict):
        raise StoreError("Its manifest is incomplete.")
    found = {name: {"bytes": len(d), "sha256": hashlib.sha256(d).hexdigest()} for name, d in members.items()}
    if told != found or manifest.get("checksum") != _checksum(manifest):
        raise StoreError("It is damaged: its members do not match their checksums.")
    arrays = {
        name.removesuffix(".npy"): _parse_npy(name, member) for name, member in members.items() if name.endswith(".npy")
    }
    raw = {name.removesuffix(".pickle"): d for name, d in members.items() if name.endswith(".pickle")}
    return Archive(manifest["content"], arrays, raw)


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Of everything in the manifest but the checksum itself."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _members(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            names = [info.filename for info in infos]
            if len(infos) > MAX_MEMBERS or len(set(names)) != len(names):
                raise StoreError("It has too many members, or one of them twice.")
            if sum(info.file_size for info in infos) > len(data):
                raise StoreError("Its members overlap.")
            for info in infos:
                # Stored members cannot be larger than the file itself.
                if not _NAME.fullmatch(info.filename) or info.compress_type != zipfile.ZIP_STORED:
                    raise StoreError("It has a member of an unexpected name, or a compressed one.")
                if info.flag_bits & 1 or info.file_size > len(data):
                    raise StoreError("It has a member that is encrypted or larger than the file.")
            return {info.filename: archive.read(info) for info in infos}
    except StoreError:
        raise
    except Exception as error:
        # zipfile raises a dozen kinds of error on damaged archives.
        raise StoreError(f"It is damaged or no file of elect ({type(error).__name__}).") from None


def _manifest(data: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(data.decode(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise StoreError("Its manifest is missing or not plain JSON.") from None
    if not isinstance(manifest, dict):
        raise StoreError("Its manifest must be an object.")
    return manifest


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not a number")


def _npy(name: str, values: NDArray[Any]) -> bytes:
    array = np.ascontiguousarray(values)
    if array.dtype.str not in _DTYPES:
        raise StoreError(f"The array {name!r} must hold plain numbers, got {array.dtype}.")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _parse_npy(name: str, data: bytes) -> NDArray[Any]:
    start = len(_NPY_MAGIC) + 2
    length = int.from_bytes(data[len(_NPY_MAGIC) : start], "little")
    header = _NPY_HEADER.fullmatch(data[start : start + length]) if data.startswith(_NPY_MAGIC) else None
    if header is None or header[1].decode() not in _DTYPES:
        raise StoreError(f"Its member {name} must be an array of plain numbers in C order.")
    shape = tuple(int(size) for size in header[2].decode().split(",") if size.strip())
    dtype = np.dtype(header[1].decode())
    if len(shape) > 4 or dtype.itemsize * math.prod(shape) != len(data) - start - length:
        raise StoreError(f"Its member {name} must hold as many numbers as its shape calls for.")
    # A copy is aligned, which compiled kernels need; the bytes of a zip member are not.
    array = np.frombuffer(data, dtype=dtype, offset=start + length).reshape(shape).copy()
    array.flags.writeable = False
    return array
