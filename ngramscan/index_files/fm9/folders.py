"""The folders of an index: a single shard, or a folder of shards."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import MANIFEST, PLAN, read_if_there, read_manifest
from ngramscan.index_files.formats import is_shard

_MADE = "ngramscan index build makes one of a corpus"


def shard_folders(directory: Path, allow_partial: bool = False) -> list[Path]:
    """Return the folders of the shards of an index, in their order.

    If there is no index, an InputError says how to build one. A folder with only some files of a
    shard counts as a shard: without it all counts would be too low. An IndexFormatError says that a
    shard is missing; `allow_partial` returns the finished shards of an unfinished index.
    """
    if not directory.is_dir():
        problem = "not a folder" if directory.exists() else "no such folder"
        raise InputError(str(directory), f"{problem}; expected that of an index ({_MADE})")
    planned = planned_shards(directory)
    if planned is not None:
        return _built(directory, planned, allow_partial)
    listed = read_manifest(directory)
    if listed:
        return _listed(directory, [entry.folder for entry in listed])
    if is_shard(directory):
        return [directory]
    inner = [name for name in _folders_in(directory) if is_shard(directory / name)]
    if not inner:
        problem = f"not an index: it and its folders lack {', '.join(FILES)}; {_MADE}"
        raise InputError(str(directory), problem)
    return [directory / name for name in in_order(inner, str(directory))]


def in_order(names: Sequence[str], place: str) -> list[str]:
    """Return the names of all shards of an index without a manifest, in their order.

    A gap in the numbers is an error, since counts would be too low.
    """
    order = {name: int(name) if name.isascii() and name.isdigit() else -1 for name in names}
    numbers = {number for number in order.values() if number >= 0}
    if gaps := set(range(len(numbers))) - numbers:
        problem = f"shard {min(gaps)} is missing: there are others up to {max(numbers)}; copy it "
        raise IndexFormatError(place, f"{problem}here, or query one shard: fm9:{place}/N")
    return sorted(names, key=lambda name: (order[name], name))


def planned_shards(directory: Path) -> list[str] | None:
    """Return the folders that an index will have; None if it is finished."""
    path = directory / PLAN
    content = read_if_there(path)
    if content is None:
        return None
    try:
        return [str(shard["folder"]) for shard in json.loads(content)["shards"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        problem = "not the plan of an index; remove the folder, and build the index again"
        raise IndexFormatError(str(path), problem) from error


def _built(directory: Path, planned: Sequence[str], allow_partial: bool) -> list[Path]:
    """Return the folders of the finished shards of an index."""
    folders = [directory / name for name in planned]
    built = [folder for folder in folders if (folder / MANIFEST).exists()]
    if allow_partial and built:
        return built
    problem = f"incomplete: {len(built)} of {len(planned)} shards are built"
    raise IndexFormatError(str(directory), f"{problem}; run the same command again")


def _listed(directory: Path, names: Sequence[str]) -> list[Path]:
    """Return the folders that a manifest lists, which must be exactly the existing ones."""
    if names == [""]:
        return [directory]
    existing = {"", *_folders_in(directory)}
    for name in names:
        if name not in existing:
            problem = f"missing, but {MANIFEST} lists it; copy it here, or build the index again"
            raise IndexFormatError(str(directory / name), problem)
    for name in existing.difference(names):
        if is_shard(directory / name):
            problem = f"files of an index that {MANIFEST} does not list; move them elsewhere"
            raise IndexFormatError(str(directory / name), problem)
    return [directory / name for name in names]


def _folders_in(directory: Path) -> list[str]:
    with os.scandir(directory) as entries:
        return [
            entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")
        ]
