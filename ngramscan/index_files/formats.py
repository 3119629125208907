"""Detection of the format of an index by the files in its folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

FM9_FILES = ("data.fm9", "data_offset", "meta.fm9", "meta_offset")
"""The files of a shard over bytes: its documents, their metadata, and the offsets of both."""
TOKEN_NAMES = ("tokenized", "table", "offset", "metadata", "metaoff", "unigram")
"""The files of a shard over tokens, in a folder of its own in version 6 of their format."""
TOKEN_FILE = re.compile(rf"({'|'.join(TOKEN_NAMES)})\.(0|[1-9][0-9]*)")
"""Those of versions 4 and 5, which are in one folder, with the number of their shard."""


def is_shard(folder: str | Path) -> bool:
    """Tell whether a folder has any file of a shard over bytes."""
    return any(os.path.exists(os.path.join(folder, name)) for name in FM9_FILES)


def is_token_folder(directory: Path) -> bool:
    """Tell whether a folder has any file of an index over tokens."""
    return directory.is_dir() and any(True for _ in token_files(directory))


def token_files(directory: Path) -> Iterator[tuple[str, int]]:
    """Yield the paths of the files of an index over tokens in its folder, and their sizes.

    In version 6, each shard is in a folder of its own, or the only one is the index itself.
    """
    folders = list[str]()
    with os.scandir(directory) as entries:
        for entry in entries:
            if TOKEN_FILE.fullmatch(entry.name) and entry.is_file():
                yield entry.name, entry.stat().st_size
            elif entry.is_dir() and not entry.name.startswith("."):  # of a build that goes on
                folders.append(entry.name)
    yield from _files_of_shard_folders(directory, ["", *sorted(folders)])


def _files_of_shard_folders(directory: Path, folders: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the files of shards that have a folder each; also of one that lacks its tokens."""
    paths = {
        os.path.join(folder, name): directory / folder / name
        for folder in folders
        for name in TOKEN_NAMES
    }
    if any(path.name == TOKEN_NAMES[0] and path.is_file() for path in paths.values()):
        for name, path in paths.items():
            if path.is_file():
                yield name, path.stat().st_size
