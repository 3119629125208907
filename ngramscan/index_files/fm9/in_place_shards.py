"""The shards of an index in place: where they are, and the text around their occurrences."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

from ngramscan.errors import IndexFormatError, InputError, RemoteRefused
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.fm9.folders import in_order
from ngramscan.index_files.fm9.in_place import InPlaceFile
from ngramscan.index_files.fm9.layout import FILES, NEWLINE, SEPARATOR
from ngramscan.index_files.fm9.manifest import MANIFEST, PLAN, is_json_object, parse_manifest
from ngramscan.index_files.fm9.reader import ShardWindow
from ngramscan.index_files.in_place_offsets import InPlaceOffsets
from ngramscan.index_files.other_format import lead_to_tokens
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import Ranges
from ngramscan.remote.stores import shown
from ngramscan.remote.together import together

_UPLOAD = "copy the files of this shard there again"
_PROBED_AT_ONCE = 8
_LONGEST_MANIFEST = 100_000_000
_KEPT_BYTES = 4_000_000
"""Up to this size a file, or else its ranks and pointers, are read whole and kept."""


class InPlaceShard:
    """The indexes of some documents and of their metadata; same results as `Shard`."""

    def __init__(
        self, ranges: Ranges, files: Sequence[RemoteFile], data: InPlaceFile, kept_bytes: int
    ) -> None:
        self._ranges, self._files, self.data = ranges, files, data
        self._kept_bytes = kept_bytes
        self._documents = _offsets_in(ranges, files[1], data, SEPARATOR)
        self.documents = self._documents.entries
        self.ranks = data.n
        self.text_bytes = data.n - self.documents - 1
        self.index_bytes = sum(file.size for file in files)
        self._lines: asyncio.Task[tuple[InPlaceFile, InPlaceOffsets]] | None = None

    @property
    def fingerprint(self) -> str:
        """The sizes and validators of the files, which change with their content."""
        # The first bytes have the number of each byte in the text.
        return repr([(file.size, file.etag or file.head) for file in self._files])

    @property
    def has_validators(self) -> bool:
        """Whether a file that is replaced by one of the same size is detected."""
        return all(file.stamp for file in self._files)

    def windows(
        self, ranks: Sequence[int], needle_bytes: Integers, context: int
    ) -> list[ShardWindow]:
        """Return the text around some occurrences, as `Shard.windows` does."""
        occurrences = zip(ranks, needle_bytes.tolist(), strict=True)
        return self._ranges.run(
            together(self._window(*occurrence, context) for occurrence in occurrences)
        )

    async def _window(self, rank: int, needle_bytes: int, context: int) -> ShardWindow:
        await self.data.load()
        position = await self.data.locate(rank)
        document = await self._documents.holding(position)
        before, last = await self._documents.bounds(document)
        start = max(before + 1, position - context)
        # The end of the whole text counts as the last document, which it follows.
        stop = max(start, min(last, position + needle_bytes + context))
        text = await self.data.extract(start, stop)
        sizes = last - before - 1, text, position - start, start - before - 1
        return ShardWindow(document, *sizes)

    def metadata(self, documents: Sequence[int]) -> list[bytes]:
        """Return the metadata of some documents, as `Shard.metadata` does."""
        return self._ranges.run(together(map(self._line, documents)))

    async def _line(self, document: int) -> bytes:
        if self._lines is None:
            self._lines = asyncio.create_task(self._open_lines())
        meta, lines = await self._lines
        start, stop = await lines.bounds(document)
        return await meta.extract(start, stop - 1)

    async def _open_lines(self) -> tuple[InPlaceFile, InPlaceOffsets]:
        meta = await InPlaceFile.open(self._ranges, self._files[2], self._kept_bytes)
        await meta.load()
        return meta, _offsets_in(self._ranges, self._files[3], meta, NEWLINE)


def _offsets_in(
    ranges: Ranges, file: RemoteFile, text: InPlaceFile, separator: int
) -> InPlaceOffsets:
    """Return the starts of what a byte separates in a text, whose last byte is the end."""
    entries = text.layout.occurrences(separator)
    if file.size != 8 * entries or not entries:
        problem = f"{file.size} bytes, but the text has {entries} bytes {separator:02X}"
        raise IndexFormatError(file.url, problem)
    return InPlaceOffsets(ranges, file, entries, text.n - 1)


def find_in_all(
    ranges: Ranges, shards: Sequence[InPlaceShard], patterns: Sequence[bytes]
) -> list[Integers]:
    """Return the ranks of each pattern in each shard; both ends are equal if it doesn't occur."""

    async def find() -> list[Integers]:
        await together(shard.data.load() for shard in shards)
        return await together(shard.data.find(patterns) for shard in shards)

    return ranges.run(find())


# Where the shards are


def open_in_place(ranges: Ranges, url: str, memory: int) -> list[InPlaceShard]:
    """Open the index at an address; `memory` limits what is kept of all shards.

    The manifest names its shards. Without one, the folder is listed if possible, or the documented
    names are tried.
    """
    url = url.rstrip("/") + "/"

    async def open_all() -> list[InPlaceShard]:
        files_by_shard = await _of_manifest(ranges, url) or await _by_name(ranges, url)
        kept_bytes = min(_KEPT_BYTES, memory // len(files_by_shard))
        opening = (InPlaceFile.open(ranges, files[0], kept_bytes) for files in files_by_shard)
        loaded = zip(files_by_shard, await together(opening), strict=True)
        return [InPlaceShard(ranges, files, data, kept_bytes) for files, data in loaded]

    return ranges.run(open_all())


async def _of_manifest(ranges: Ranges, url: str) -> list[list[RemoteFile]]:
    """Return the files of all shards in the manifest; empty without a manifest."""
    names = PLAN, MANIFEST
    try:
        reads = (ranges.read_whole(url + name, _LONGEST_MANIFEST) for name in names)
        plan, manifest = await together(reads)
    except RemoteRefused:  # a store that can't be listed also refuses a file that isn't there
        return []
    if plan is not None and is_json_object(plan):  # not what a server sends for any name
        problem = "incomplete: it is still being built; run the same command again"
        raise InputError(shown(url), problem)
    if manifest is None:
        return []
    entries = parse_manifest(manifest, shown(url) + MANIFEST)
    folders = (f"{url}{entry.folder}/" if entry.folder else url for entry in entries)
    files_by_shard = await together(_files(ranges, folder) for folder in folders)
    for entry, files in zip(entries, files_by_shard, strict=True):
        if not files:
            place = shown(url) + f"{entry.folder}/{FILES[0]}".lstrip("/")
            raise IndexFormatError(place, f"missing, but {MANIFEST} lists it; {_UPLOAD}")
        for name, file in zip(FILES, files, strict=True):
            if file.size != (listed := entry.files[name].bytes):
                problem = f"{file.size} bytes, but {MANIFEST} says {listed}; {_UPLOAD}"
                raise IndexFormatError(file.url, problem)
    return files_by_shard


async def _files(ranges: Ranges, folder: str) -> list[RemoteFile]:
    """Return the files of the shard in a folder; none if there is no shard."""
    opened = await together(ranges.open(folder + name) for name in FILES)
    files = [file for file in opened if file]
    if files and len(files) < len(FILES):
        missing = FILES[opened.index(None)]
        raise IndexFormatError(shown(folder) + missing, f"missing; {_UPLOAD}")
    return files


async def _by_name(ranges: Ranges, url: str) -> list[list[RemoteFile]]:
    """Return the files of all shards, found by the same names as in a local folder."""
    if alone := await _files(ranges, url):
        return [alone]
    if (names := await ranges.list(url)) is not None:
        folders = [name.removesuffix("/") for name in names if name.endswith("/")]
        shards = await _shards(ranges, url, folders)
    else:
        shards = await _numbered(ranges, url)
    if not shards:
        if lead := await lead_to_tokens(ranges, url):
            raise InputError(shown(url), lead)
        problem = f"no index there: neither {MANIFEST} nor {FILES[0]} in it or in its folder 0"
        if ranges.pages:
            problem += (
                "; the server answers HTML to names it lacks: check the address and the login"
            )
        raise InputError(shown(url), problem)
    return [shards[name] for name in in_order([*shards], shown(url).rstrip("/"))]


async def _shards(ranges: Ranges, url: str, names: Sequence[str]) -> dict[str, list[RemoteFile]]:
    """Return the files of the folders that are shards."""
    files_by_folder = await together(_files(ranges, f"{url}{name}/") for name in names)
    return {name: files for name, files in zip(names, files_by_folder, strict=True) if files}


async def _numbered(ranges: Ranges, url: str) -> dict[str, list[RemoteFile]]:
    """Return the shards up to a whole row of numbers that have none, so that a gap shows."""
    shards: dict[str, list[RemoteFile]] = {}
    for first in count(0, _PROBED_AT_ONCE):
        names = [str(number) for number in range(first, first + _PROBED_AT_ONCE)]
        shards_in_row = await _shards(ranges, url, names)
        if not shards_in_row:
            break
        shards |= shards_in_row
    return shards
