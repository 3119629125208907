"""The shards of an index over tokens in place: where their files are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from ngramscan.errors import IndexFormatError, InputError, RemoteRefused
from ngramscan.index_files.formats import TOKEN_FILE, TOKEN_NAMES
from ngramscan.index_files.other_format import lead_to_bytes
from ngramscan.index_files.tokens.folders import NEEDED, missing_file, shard_places
from ngramscan.index_files.tokens.in_place import InPlaceTokenFolder, InPlaceTokenShard
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import Ranges
from ngramscan.remote.stores import shown
from ngramscan.remote.together import together

_PROBED_AT_ONCE = 8
_KEPT_BYTES = 4_000_000
"""Up to this size, the table and the text of a shard are read whole and kept."""
_UPLOAD = "missing; copy it there, or build the index again"


def open_tokens_in_place(ranges: Ranges, urls: Sequence[str], memory: int) -> InPlaceTokenFolder:
    """Open the index at an address; its shards may be at several, one after the other.

    `memory` limits what is kept of all shards. Shards are numbered files, or in version 6 of the
    format in folders. Where a folder can't be listed, the usual names are tried.
    """
    folders = [url.rstrip("/") + "/" for url in urls]

    async def open_all() -> InPlaceTokenFolder:
        files_by_folder = await together(_files_of(ranges, folder) for folder in folders)
        number = sum(len(shard_places(files)) for files in files_by_folder)
        kept_bytes = min(_KEPT_BYTES, memory // number)
        shards_by_address: dict[str, list[InPlaceTokenShard]] = {}
        for folder, files in zip(folders, files_by_folder, strict=True):
            address = shown(folder).rstrip("/")
            shards = list(_shards_of(ranges, files, kept_bytes))
            if not any(shard.documents for shard in shards):
                raise IndexFormatError(address, "contains no documents")
            shards_by_address[address] = shards
        return InPlaceTokenFolder(ranges, shards_by_address)

    return ranges.run(open_all())


def _shards_of(
    ranges: Ranges, files: Mapping[str, RemoteFile], kept_bytes: int
) -> Iterator[InPlaceTokenShard]:
    """Yield the shards whose files are given by their paths, in their order."""
    for place in shard_places(files):
        paths = {name: place.file(name) for name in TOKEN_NAMES}
        of_shard = {name: files[path] for name, path in paths.items() if path in files}
        yield InPlaceTokenShard(ranges, of_shard, kept_bytes)


async def _files_of(ranges: Ranges, folder: str) -> dict[str, RemoteFile]:
    """Return the files of an index by their paths in its folder; all that shards need are there."""
    found_files = _FoundFiles(ranges, folder)
    names = await ranges.list(folder)
    files = await (_probe(found_files) if names is None else found_files.open(_listed_paths(names)))
    # A file that is listed has no reason to be refused but one that concerns the reader. Nor has a
    # file of a server that says of others that they are missing: an index would seem smaller.
    if found_files.refusals and (names is not None or not files or found_files.says_missing):
        raise next(iter(found_files.refusals.values()))
    if not files:
        if lead := await lead_to_bytes(ranges, folder):
            raise InputError(shown(folder), lead)
        lacks = ", ".join(f"{name}.0" for name in NEEDED)
        problem = f"no index over tokens there: it lacks {lacks}, or tokenized in folders"
        parent, _, name = folder.rstrip("/").rpartition("/")
        if name in TOKEN_NAMES or TOKEN_FILE.fullmatch(name):
            problem = f"a file of an index over tokens; expected its folder, {shown(parent)}"
        if ranges.pages:
            problem += (
                "; the server answers HTML to names it lacks: check the address and the login"
            )
        raise InputError(shown(folder), problem)
    if missing := missing_file(shard_places(files), files):
        raise found_files.refusals.get(missing) or IndexFormatError(
            shown(folder) + missing, _UPLOAD
        )
    return files


def _listed_paths(names: Sequence[str]) -> list[str]:
    """Return the paths of files that an index may have, by the names in its folder."""
    if numbered := [name for name in names if TOKEN_FILE.fullmatch(name)]:
        return numbered
    folders = [name for name in names if name.endswith("/")]
    return [
        *(name for name in TOKEN_NAMES if name in names),
        *(f"{folder}{name}" for folder in folders for name in TOKEN_NAMES),
    ]


class _FoundFiles:
    """Opens files that may be there.

    A store that can't be listed may refuse all files that aren't there: then a refusal counts only
    for a file that must be there.
    """

    def __init__(self, ranges: Ranges, folder: str) -> None:
        self._ranges, self._folder = ranges, folder
        self.refusals: dict[str, RemoteRefused] = {}
        self.says_missing = False
        """Whether the server said of a file that it isn't there."""

    async def open(self, paths: Sequence[str]) -> dict[str, RemoteFile]:
        """Return those files that are there, by their paths."""
        opened = await together(map(self._open, paths))
        return {path: file for path, file in zip(paths, opened, strict=True) if file}

    async def _open(self, path: str) -> RemoteFile | None:
        try:
            file = await self._ranges.open(self._folder + path)
        except RemoteRefused as refusal:
            self.refusals[path] = refusal
            return None
        self.says_missing |= file is None
        return file


async def _probe(found_files: _FoundFiles) -> dict[str, RemoteFile]:
    """Return the files of shards that have the usual names, by their paths."""
    alone = await found_files.open(TOKEN_NAMES)
    if alone:
        return alone
    for pattern in ("{name}.{number}", "{number}/{name}", "{number:02}/{name}"):
        if files := await _probe_numbers(found_files, pattern):
            return files
    return {}


async def _probe_numbers(found_files: _FoundFiles, pattern: str) -> dict[str, RemoteFile]:
    """Return the files of shards up to a whole row of numbers that have none, so that gaps show."""
    files: dict[str, RemoteFile] = {}
    for first in count(0, _PROBED_AT_ONCE):
        row = range(first, first + _PROBED_AT_ONCE)
        paths = [pattern.format(name=name, number=number) for number in row for name in TOKEN_NAMES]
        files_in_row = await found_files.open(paths)
        if not files_in_row:
            return files
        files |= files_in_row
    raise AssertionError("numbers end")
