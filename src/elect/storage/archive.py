"""The one safe file: a zip of a JSON manifest, ``.npy`` arrays and plain texts, checksummed and versioned.

Reading executes nothing and believes nothing. The directory of the zip is checked before anything is made of it;
members are stored uncompressed, so that nothing is larger than the file; each must match its checksum in the manifest,
and the manifest its own; arrays hold plain numbers, JSON finite numbers and no key twice. Equal archives are equal
bytes.

The database file (``elect.history.store``) and the detector file (``elect.detect.saving``) are its two users. What a
value means, and which values are sound, is checked there.
"""

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.errors import ElectError, StoreError
from elect.support.atomic import write_atomically

MAX_MEMBERS = 128
MAX_MANIFEST = 32 * 2**20

_MANIFEST = "manifest.json"
_NAME = re.compile(r"manifest\.json|[a-z_]{1,40}\.(npy|txt|pickle)")
_END_RECORD = struct.Struct("<4s4H2LH")
_DIRECTORY_ENTRY = 128  # bytes that an entry of the directory may take: 46, and its name
_DTYPES = ("<f8", "<f4", "<i4", "<u4")
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_MAX_HEADER = 1024
_SHAPE = rb"((?:\d{1,40}(?:,|(?:, \d{1,40}){1,7}))?)"
_NPY_HEADER = re.compile(rb"\{'descr': '(<[fiu][48])', 'fortran_order': False, 'shape': \(" + _SHAPE + rb"\), \} *\n")


@dataclass(frozen=True)
class Kind:
    """A kind of file: its name and version in the manifest, its largest size, and what to do about one that is refused.

    ``flat`` are older versions that are read too: their manifest held the content itself, and no checksum of its own.
    """

    name: str
    version: int
    max_bytes: int
    remedy: str
    flat: tuple[int, ...] = ()


@dataclass(frozen=True)
class Archive:
    """What a file holds. ``arrays`` are read-only; ``raw`` holds members that are no plain data (pickles)."""

    content: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, bytes] = field(default_factory=dict)


def pack(archive: Archive, kind: Kind) -> bytes:
    """The bytes of an archive."""
    members = {f"{name}.npy": _npy(name, array) for name, array in archive.arrays.items()}
    members |= {f"{name}.txt": text.encode("ascii") for name, text in archive.texts.items()}
    members |= {f"{name}.pickle": data for name, data in archive.raw.items()}
    manifest = {"format": kind.name, "version": kind.version, "content": archive.content, "members": _listed(members)}
    try:
        manifest["checksum"] = _checksum(manifest)
        text = json.dumps(manifest, allow_nan=False, sort_keys=True)
    except ValueError as error:
        raise StoreError(f"This cannot be stored: numbers must be finite ({error}).") from None
    members = {_MANIFEST: text.encode(), **members}
    overhead = MAX_MEMBERS * 2 * _DIRECTORY_ENTRY
    if len(text) > MAX_MANIFEST or sum(map(len, members.values())) > kind.max_bytes - overhead:
        raise StoreError(f"This is too large to store: at most {kind.max_bytes >> 20} MB. Use fewer rows or tasks.")
    buffer = io.BytesIO()
    # Nothing is compressed: the bytes then do not depend on the version of a compressor, and there is little to gain.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED, allowZip64=False) as file:
        for name, data in members.items():
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.create_system = 3
            info.external_attr = 0o644 << 16
            file.writestr(info, data)
    return buffer.getvalue()


def unpack(data: bytes, kind: Kind) -> Archive:
    """The archive of these bytes, or a StoreError that says what is wrong with them."""
    members = _members(data, kind)
    manifest = _parse_manifest(members.pop(_MANIFEST, b""))
    if manifest.get("format") != kind.name:
        raise StoreError(f"Its manifest must say that the format is {kind.name!r}.")
    version, listed = manifest.get("version"), manifest.get("members")
    if type(version) is not int or version not in (kind.version, *kind.flat):
        raise StoreError(
            f"It has version {version!r} of the format and this elect reads version {kind.version}: "
            "use the elect that wrote it."
        )
    if listed != _listed(members):
        raise StoreError("It is damaged: its members do not match their checksums.")
    return Archive(
        _content(manifest, flat=version in kind.flat),
        {name: _parse_npy(f"{name}.npy", member) for name, member in _of_type(members, ".npy")},
        {name: _parse_text(f"{name}.txt", member) for name, member in _of_type(members, ".txt")},
        dict(_of_type(members, ".pickle")),
    )


def write(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file. Whoever looks, at any moment, finds the old file or the new one, whole."""
    try:
        write_atomically(path, data)
    except OSError as error:
        raise StoreError(f"Cannot write {path}: {error.strerror or error}.") from error


def read(path: str | os.PathLike[str], kind: Kind) -> bytes:
    """The bytes of a file, no more than one of its kind may have and one."""
    if not isinstance(path, str | os.PathLike):
        raise StoreError(f"A file is named by a text or a path, got {type(path).__name__}.")
    source = Path(path)
    shown = str(source)[:300]
    try:
        if not source.is_file():
            raise StoreError(f"Cannot read {shown}: there is no such file.")
        with source.open("rb") as file:
            return file.read(kind.max_bytes + 1)
    except (OSError, ValueError) as error:  # a name may be too long, or hold a zero
        if isinstance(error, StoreError):
            raise
        raise StoreError(f"Cannot read {shown}: {getattr(error, 'strerror', None) or error}.") from error


@contextmanager
def refusing(source: str, kind: Kind) -> Iterator[None]:
    """Whatever is found wrong in here is said in one line, with the name of the file and what to do."""
    try:
        yield
    except ElectError as error:
        # What is quoted from a hostile file must not fill the terminal.
        reason = " ".join(str(error).split())[:300]
        raise StoreError(f"{source} cannot be loaded. {reason} {kind.remedy}") from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # Whatever a hostile value makes Python stumble over is a hostile value.
        raise StoreError(f"{source} cannot be loaded. It holds a value that cannot be used. {kind.remedy}") from error


# The zip


def _members(data: bytes, kind: Kind) -> dict[str, bytes]:
    """The members of the zip by name."""
    if len(data) > kind.max_bytes:
        raise StoreError(f"It is larger than the {kind.max_bytes} bytes allowed.")
    _check_end_record(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            infos = file.infolist()
            if len({info.filename for info in infos}) != len(infos):
                raise StoreError("It has a member twice.")
            if sum(info.file_size for info in infos) > len(data):
                raise StoreError("Its members are larger than the file.")
            return {info.filename: _member(file, info) for info in infos}
    except StoreError:
        raise
    except Exception as error:
        # zipfile raises a dozen kinds of error on damaged archives.
        raise StoreError(f"It is damaged or no file of elect ({type(error).__name__}).") from error


def _check_end_record(data: bytes) -> None:
    """Look at the end of the zip before zipfile makes objects of as many entries as its directory claims."""
    if data[:4] != b"PK\x03\x04" or len(data) < _END_RECORD.size:
        raise StoreError("It is no file of elect.")
    end = len(data) - _END_RECORD.size
    signature, disk, start_disk, here, entries, size, offset, comment = _END_RECORD.unpack(data[end:])
    if signature != b"PK\x05\x06":
        raise StoreError("It is truncated or damaged: the archive has no end record.")
    if (disk, start_disk, comment) != (0, 0, 0) or here != entries or not 1 <= entries <= MAX_MEMBERS:
        raise StoreError(f"It is damaged: the archive must have at most {MAX_MEMBERS} members and no comment.")
    # A locator of the 64-bit kind would make zipfile read another directory than the one checked here.
    misplaced = offset + size != end or data[end - 20 : end - 16] == b"PK\x06\x07"
    if misplaced or size > entries * _DIRECTORY_ENTRY:
        raise StoreError("It is damaged: the directory of the archive is not where it must be.")


def _member(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if not _NAME.fullmatch(info.filename):
        raise StoreError("It has a member of an unexpected name.")
    if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
        raise StoreError(f"Its member {info.filename} must be neither encrypted nor compressed.")
    if info.filename == _MANIFEST and info.file_size > MAX_MANIFEST:
        raise StoreError(f"Its manifest is larger than the {MAX_MANIFEST} bytes allowed.")
    if info.compress_size != info.file_size:
        raise StoreError(f"Its member {info.filename} has two sizes.")
    data = file.read(info)  # zipfile checks the CRC
    if len(data) != info.file_size:
        raise StoreError(f"Its member {info.filename} is truncated.")
    return data


def _of_type(members: Mapping[str, bytes], ending: str) -> list[tuple[str, bytes]]:
    return [(name.removesuffix(ending), data) for name, data in members.items() if name.endswith(ending)]


# The manifest


def _listed(members: Mapping[str, bytes]) -> dict[str, Any]:
    return {name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()} for name, data in members.items()}


def _checksum(manifest: Mapping[str, Any]) -> str:
    """Of everything in the manifest but the checksum itself."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _content(manifest: dict[str, Any], *, flat: bool) -> dict[str, Any]:
    if flat:
        return {key: value for key, value in manifest.items() if key not in ("format", "version", "members")}
    content = manifest.get("content")
    if not isinstance(content, dict) or set(manifest) != {"format", "version", "members", "content", "checksum"}:
        raise StoreError("Its manifest must have the keys checksum, content, format, members, version.")
    if manifest["checksum"] != _checksum(manifest):
        raise StoreError("It is damaged: its manifest does not match its checksum.")
    return content


def _parse_manifest(data: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_float=_finite,
            parse_int=_whole,
            parse_constant=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise StoreError(f"Its manifest is missing or not plain JSON: {str(error)[:100]}.") from None
    if not isinstance(manifest, dict):
        raise StoreError("Its manifest must be an object.")
    return manifest


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("some key is there twice")
    return record


def _whole(text: str) -> int:
    if len(text) > 300:  # a float ends at 308 digits
        raise ValueError("some number is too large")
    return int(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("some number is not finite")
    return number


# Arrays and texts


def _npy(name: str, values: NDArray[Any]) -> bytes:
    array = np.ascontiguousarray(values)
    if array.dtype.str not in _DTYPES:
        raise StoreError(f"The array {name!r} must hold plain numbers, got {array.dtype}.")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _parse_npy(name: str, data: bytes) -> NDArray[Any]:
    """An array whose header is what ``numpy.save`` writes, and whose size is what the header says."""
    start = len(_NPY_MAGIC) + 2
    length = int.from_bytes(data[len(_NPY_MAGIC) : start], "little")
    if not data.startswith(_NPY_MAGIC) or length > _NPY_MAX_HEADER:
        raise StoreError(f"Its member {name} must be an array in version 1.0 of the npy format with a short header.")
    header = _NPY_HEADER.fullmatch(data[start : start + length])
    if header is None or header[1].decode() not in _DTYPES:
        raise StoreError(f"Its member {name} must be an array of plain little-endian numbers in C order.")
    dtype = np.dtype(header[1].decode())
    try:
        shape = tuple(int(size) for size in header[2].decode().split(",") if size.strip())
        if len(shape) > 4 or dtype.itemsize * math.prod(shape) != len(data) - start - length:
            raise ValueError
        # A copy is aligned, which compiled kernels need; the bytes of a zip member are not.
        array = np.frombuffer(data, dtype=dtype, offset=start + length).reshape(shape).copy()
    except ValueError:
        raise StoreError(
            f"Its member {name} must have up to 4 dimensions and hold the numbers they call for."
        ) from None
    array.flags.writeable = False
    return array


def _parse_text(name: str, data: bytes) -> str:
    try:
        return data.decode("ascii")
    except UnicodeDecodeError:
        raise StoreError(f"Its member {name} must be plain ASCII.") from None
