"""The manifest of an index: its shards, and the size and SHA-256 of each of their files.

`manifest.json` in a folder describes the shards in that folder. It is the last file
of a shard to be written, so a shard that has it is complete. That of an index with several shards
lists all of them, so that they are found where folders can't be listed. Indexes of the original
tools have none.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from ngramscan.errors import IndexFormatError
from ngramscan.fm9.layout import FILES

MANIFEST = "manifest.json"
PLAN = "plan.json"
"""In the folder of an index while it is being built: what is still to be done."""

_CHUNK = 1 << 20
_FOLDER = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*)?")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a shard."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """One shard."""

    folder: str
    """Its folder in that of the manifest; empty: the same folder."""
    documents: int
    bytes: int
    """Bytes of the documents, without separators."""
    files: Mapping[str, FileEntry]

    @property
    def index_bytes(self) -> int:
        """Bytes of the files."""
        return sum(file.bytes for file in self.files.values())


def describe_shard(
    folder: Path, documents: int, text_bytes: int, report: Callable[[int], None] = lambda _: None
) -> ShardEntry:
    """Return the entry of a shard, read from its files; `report` gets the bytes read."""
    files = {}
    for name in FILES:
        with (folder / name).open("rb") as file:
            digest = sha256_of(file, report)
            files[name] = FileEntry(file.tell(), digest)
    return ShardEntry("", documents, text_bytes, files)


def sha256_of(file: BinaryIO, report: Callable[[int], None] = lambda _: None) -> str:
    """Return the SHA-256 of the rest of a file; `report` gets the bytes read."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
        report(len(chunk))
    return digest.hexdigest()


def to_manifest(entries: Iterable[ShardEntry]) -> bytes:
    """Return the content of a manifest: the same shards give the same bytes."""
    lines = ",\n  ".join(json.dumps(asdict(entry)) for entry in entries)
    return f'{{"format": "fm9", "shards": [\n  {lines}\n]}}\n'.encode()


def parse_manifest(content: bytes, where: str) -> list[ShardEntry]:
    """Return the shards of a manifest, in their order; an IndexFormatError says what is wrong."""
    try:
        entries = [_entry(row) for row in json.loads(content)["shards"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = "not a manifest of an index; build the index again, or remove this file"
        raise IndexFormatError(where, problem) from error
    folders = [entry.folder for entry in entries]
    if not entries or len(set(folders)) < len(folders) or ("" in folders and len(folders) > 1):
        raise IndexFormatError(where, "it lists no shard, or one shard twice")
    return entries


def _entry(row: dict[str, Any]) -> ShardEntry:
    files = {name: _file_entry(row["files"][name]) for name in FILES}
    folder = row["folder"]
    if not _FOLDER.fullmatch(folder):
        raise ValueError(folder)  # a manifest must not lead out of its folder
    return ShardEntry(folder, _size(row["documents"]), _size(row["bytes"]), files)


def _file_entry(row: dict[str, Any]) -> FileEntry:
    if not _SHA256.fullmatch(row["sha256"]):
        raise ValueError(row["sha256"])
    return FileEntry(_size(row["bytes"]), row["sha256"])


def _size(value: object) -> int:
    if type(value) is not int or not 0 <= value < 1 << 63:
        raise ValueError(value)
    return value


def read_manifest(folder: Path) -> list[ShardEntry] | None:
    """Return the shards that a folder's manifest lists; None: it has no manifest."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexFormatError(str(path), f"can't be read: {error.strerror}") from error
    return parse_manifest(content, str(path))


def in_folder(entry: ShardEntry, folder: str) -> ShardEntry:
    """Return the entry of a shard as the manifest of the folder above has it."""
    return replace(entry, folder=folder)
