"""Archives taken apart and put together again, as a careful forger would."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable
from typing import Any


def unzip(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(members: Iterable[tuple[str, bytes]], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of (name, data) pairs, well-formed as far as zip goes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, compress_type=compression)
    return buffer.getvalue()


def checksum(manifest: dict[str, Any]) -> str:
    """What the manifest should say about itself."""
    rest = {key: value for key, value in manifest.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def sealed(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of members with every checksum right."""
    manifest = json.loads(members["manifest.json"])
    for name in set(members) - {"manifest.json"}:
        digest = hashlib.sha256(members[name]).hexdigest()
        manifest["members"][name] = {"bytes": len(members[name]), "sha256": digest}
    if "checksum" in manifest:
        manifest["checksum"] = checksum(manifest)
    return zipped({**members, "manifest.json": json.dumps(manifest).encode()}.items(), compression)


def with_member(
    data: bytes, name: str, change: Callable[[bytes], bytes], compression: int = zipfile.ZIP_STORED
) -> bytes:
    """The archive with one member changed."""
    members = unzip(data)
    members[name] = change(members[name])
    return sealed(members, compression)


def with_manifest(data: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """The archive with its manifest changed in place."""

    def edit(text: bytes) -> bytes:
        manifest = json.loads(text)
        change(manifest)
        return json.dumps(manifest).encode()

    return with_member(data, "manifest.json", edit)
