"""The files of an index over tokens in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.formats import is_shard, token_files
from ngramscan.messages import OptionUse, Text

NEEDED = ("tokenized", "table", "offset")
"""The files that each shard has."""


class ShardPlace(NamedTuple):
    """The place of the files of a shard in an index."""

    folder: str
    """Its folder in that of the index; empty in versions 4 and 5, and for the only one of 6."""
    number: str
    """The number of the shard, as its files or its folder have it."""
    suffix: str
    """Follows the names of its files; empty in version 6."""

    def file(self, name: str) -> str:
        """Return the path of one of its files in the index."""
        return os.path.join(self.folder, f"{name}{self.suffix}")


def shard_places(names: Iterable[str]) -> list[ShardPlace]:
    """Return the shards of an index in their order, by the paths of its files."""
    paths = set(names)
    folders = {os.path.dirname(name) for name in paths}
    numbers = {name.partition(".")[2] for name in paths if "." in os.path.basename(name)}
    if not numbers:
        return [ShardPlace(folder, folder or "0", "") for folder in sorted(folders, key=_position)]
    # The largest number tells how many there are: one that is missing is found here, too.
    all_numbers = map(str, range(max(map(int, numbers)) + 1))
    expected = [ShardPlace("", number, f".{number}") for number in all_numbers]
    # As text, since the numbers that the original gives to shards and documents are of that order.
    return sorted(expected, key=lambda place: place.number)


def missing_file(places: Iterable[ShardPlace], names: Iterable[str]) -> str | None:
    """Return the path of the first file that a shard needs and an index lacks; None: it has all."""
    paths = set(names)
    needed = (place.file(name) for place in places for name in NEEDED)
    return next((path for path in needed if path not in paths), None)


def _position(folder: str) -> tuple[int, str]:
    """Return what puts the folders of shards in the order of the corpus: by number, if any."""
    return (int(folder) if folder.isdecimal() else -1, folder)


def list_files(directory: Path) -> dict[str, int]:
    """Return the files of an index with their sizes."""
    where = str(directory)
    try:
        if sizes := dict(token_files(directory)):
            return sizes
        inner = [path for path in directory.iterdir() if path.is_dir()]
    except FileNotFoundError as error:
        raise InputError(where, "no such folder") from error
    except NotADirectoryError as error:
        raise InputError(where, "not a folder; expected that of an index") from error
    except OSError as error:
        raise IndexFormatError(where, f"can't be read: {error.strerror}") from error
    if any(map(is_shard, (directory, *inner))):
        cure = OptionUse("index", f"fm9:{directory}")
        problem: Text = "an index over bytes, not over tokens; to query it: " + cure
    else:
        problem = f"not an index over tokens: it lacks {', '.join(f'{name}.0' for name in NEEDED)}"
    raise InputError(where, problem)
