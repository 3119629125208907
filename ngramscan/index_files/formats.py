"""Detection of the format of an index by the files in its folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

FM9_FILES = ("data.fm9", "data_offset", "meta.fm9", "meta_offset")
"""The files of a shard over bytes: its documents, their metadata, and the offsets of both."""
_TOKEN_FILE = re.compile(r"(tokenized|table|offset|metadata|metaoff|unigram)\.(0|[1-9][0-9]*)")


def is_shard(folder: str | Path) -> bool:
    """Tell whether a folder has any file of a shard over bytes."""
    return any(os.path.exists(os.path.join(folder, name)) for name in FM9_FILES)


def is_token_folder(directory: Path) -> bool:
    """Tell whether a folder has any file of an index over tokens."""
    return directory.is_dir() and any(True for _ in token_files(directory))


def token_files(directory: Path) -> Iterator[tuple[str, int]]:
    """Yield the names of the files of an index over tokens, and their sizes."""
    with os.scandir(directory) as entries:
        for entry in entries:
            if _TOKEN_FILE.fullmatch(entry.name) and entry.is_file():
                yield entry.name, entry.stat().st_size
