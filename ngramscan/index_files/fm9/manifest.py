"""The manifest of an index: its shards, and the size and SHA-256 of each of their files.

`manifest.json` in a folder describes the shards in that folder. It is the last file of a shard to
be written, so a shard with a manifest is complete. The manifest of an index with several shards
lists all of them, so that they are found where folders can't be listed. Indexes of the original
tools have no manifest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, BinaryIO

import msgspec

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.layout import FILES

MANIFEST = "manifest.json"
SHARD_FILES = (*FILES, MANIFEST)
"""The files of a finished shard; the manifest is written last."""
PLAN = "plan.json"
"""The plan of an unfinished build, in the folder of the index."""

_CHUNK = 1 << 20

_Folder = Annotated[str, msgspec.Meta(pattern=r"\A([A-Za-z0-9_][A-Za-z0-9_.-]*)?\Z")]
_Sha256 = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Size = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a shard."""

    bytes: _Size
    sha256: _Sha256


@dataclass(frozen=True, slots=True)
class ShardEntry:
    """One shard."""

    folder: _Folder
    """Its folder, relative to the manifest's and inside of it; empty if it is the same."""
    documents: _Size
    bytes: _Size
    """Bytes of the documents, without separators."""
    files: dict[str, FileEntry]

    @property
    def index_bytes(self) -> int:
        """Bytes of the files."""
        return sum(file.bytes for file in self.files.values())


@dataclass(frozen=True, slots=True)
class _Manifest:
    shards: list[ShardEntry]
    built_from: str = ""


def describe_shard(folder: Path, documents: int, text_bytes: int) -> ShardEntry:
    """Return the entry of a shard, read from its files."""
    files = {}
    for name in FILES:
        with (folder / name).open("rb") as file:
            digest = sha256_of(file)
            files[name] = FileEntry(file.tell(), digest)
    return ShardEntry("", documents, text_bytes, files)


def sha256_of(file: BinaryIO, report: Callable[[int], None] = lambda _: None) -> str:
    """Return the SHA-256 of the rest of a file; `report` gets the bytes read."""
    digest = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
        report(len(chunk))
    return digest.hexdigest()


def to_manifest(entries: Iterable[ShardEntry], built_from: str = "") -> bytes:
    """Return the content of a manifest, which is the same for the same build and shards.

    Parameters
    ----------
    entries : iterable of ShardEntry
        The shards, in their order.
    built_from : str
        The `BuildPlan.digest` of the build that this manifest completes; empty for a single shard
        of several.
    """
    lines = ",\n  ".join(json.dumps(asdict(entry)) for entry in entries)
    origin = f'"built_from": {json.dumps(built_from)}, ' if built_from else ""
    return f'{{"format": "fm9", {origin}"shards": [\n  {lines}\n]}}\n'.encode()


def origin_in(content: bytes) -> str:
    """Return the digest of the build, from a manifest; empty if it has none."""
    try:
        return msgspec.json.decode(content, type=_Manifest).built_from
    except (ValueError, RecursionError):  # it is read again by those who need its shards
        return ""


def parse_manifest(content: bytes, where: str) -> list[ShardEntry]:
    """Return the shards of a manifest, in their order; an IndexFormatError says what is wrong."""
    try:
        entries = msgspec.json.decode(content, type=_Manifest).shards
        if any(entry.files.keys() != {*FILES} for entry in entries):
            raise ValueError(where)
    except (ValueError, RecursionError) as error:
        problem = "not a manifest of an index; build the index again, or remove this file"
        raise IndexFormatError(where, problem) from error
    folders = [entry.folder for entry in entries]
    if not entries or len(set(folders)) < len(folders) or ("" in folders and len(folders) > 1):
        raise IndexFormatError(where, "it lists no shard, or one shard twice")
    return entries


def is_json_object(content: bytes) -> bool:
    """Tell whether the content of a file is a JSON object."""
    try:
        return isinstance(json.loads(content), dict)
    except (ValueError, RecursionError):
        return False


def read_manifest(folder: Path) -> list[ShardEntry] | None:
    """Return the shards that a folder's manifest lists; None without a manifest."""
    path = folder / MANIFEST
    content = read_if_there(path)
    return None if content is None else parse_manifest(content, str(path))


def read_if_there(path: Path) -> bytes | None:
    """Return the content of a file of an index; None if it doesn't exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexFormatError(str(path), f"can't be read: {error.strerror}") from error


def in_folder(entry: ShardEntry, folder: str) -> ShardEntry:
    """Return the entry of a shard for the manifest of the folder above."""
    return replace(entry, folder=folder)
