"""An index over tokens, in the format of infini-gram: its files, memory-mapped.

A shard N is `tokenized.N` (for each document a separator, all bits set, then its tokens), `table.N`
(the byte offsets of all tokens and separators, in the order of the bytes from there to the end of
the shard), `offset.N` (the byte offset of each document's separator), and perhaps `metadata.N` with
`metaoff.N`. The width of tokens is in no file: it follows from the sizes, as pointers take
⌈log2(bytes of tokenized.N) / 8⌉ bytes. In version 6, the files of a shard have no number, and are
in a folder of their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.compiled import Bytes, Integers, Words, expect_steps, run_to_end
from ngramscan.index_files.mapped import MappedFile, state_of, unchanged
from ngramscan.index_files.tokens import kernels
from ngramscan.index_files.tokens.excerpts import (
    DocumentBounds,
    TokenExcerpt,
    bounds_around,
    ends_in_reading_order,
    positions_of,
)
from ngramscan.index_files.tokens.folders import (
    NEEDED,
    ShardPlace,
    list_files,
    missing_file,
    shard_places,
)
from ngramscan.index_files.tokens.layout import SizedFile, read_layout
from ngramscan.matching.alike import AlikePlaces
from ngramscan.messages import counted

_SEARCHED_PER_TOKEN = 32
"""Limit of searched tokens per token of a text; reached only in repetitive texts."""
_UNBOUNDED = 1 << 62


class _IndexFile(MappedFile):
    """A file of an index."""

    @property
    def content(self) -> Bytes:
        """Its bytes; readers check that the file is `unchanged`."""
        return self._data

    @property
    def size(self) -> int:
        """Its length when it was opened."""
        return len(self._data)

    @property
    def identity(self) -> tuple[int, ...]:
        """Device and inode, which all links to the file share."""
        return self._state[:2]

    def numbers(self) -> Words:
        """Return its content as offsets."""
        return self.content.view("<u8")


class TokenShard:
    """The files of one shard. Positions are counted in tokens, separators among them."""

    def __init__(self, index: Path, place: ShardPlace) -> None:
        self.directory, self.number = index / place.folder, place.number
        self._index, self._place = index, place
        self.files: list[_IndexFile] = []
        """Those that are open."""
        optional = {name: self._path(name) for name in ("metadata", "metaoff")}
        self._known = {name: state_of(path) for name, path in optional.items() if path.exists()}
        self.text, self.table, self.offsets = (self.file(name) for name in NEEDED)
        sizes = (SizedFile(str(file.path), file.path.name, file.size) for file in self.files)
        layout = read_layout(*sizes)
        self.documents, self.tokens = layout.documents, layout.tokens
        self.width, self.pointer_bytes = layout.width, layout.pointer_bytes
        self.widths = np.array([self.pointer_bytes, self.width], np.int64)
        if self.documents and self.document_at(0) != 0:
            raise self.offsets.corrupt("the first document does not begin at 0")

    def _path(self, name: str) -> Path:
        return self._index / self._place.file(name)

    def file(self, name: str) -> _IndexFile:
        """Open one of its files."""
        self.files.append(_IndexFile(self._path(name), self._known.get(name)))
        return self.files[-1]

    @property
    def separator(self) -> int:
        """The id of the separator."""
        return (1 << 8 * self.width) - 1

    @property
    def words(self) -> npt.NDArray[Any]:
        """All tokens, unsigned integers of their width."""
        return self.text.content.view(f"<u{self.width}")

    @cached_property
    def metadata(self) -> tuple[_IndexFile, _IndexFile] | None:
        """The lines about documents and their offsets, or None."""
        if not self._known:
            return None
        lines, offsets = self.file("metadata"), self.file("metaoff")
        if offsets.size != 8 * self.documents:
            problem = f"{offsets.size} bytes, but {self.offsets.path.name} has {self.offsets.size}"
            raise offsets.corrupt(problem)
        return lines, offsets

    def find(self, patterns: Bytes, ends: Integers, segments: Integers) -> None:
        """Fill in the ranks [low, high) of some n-grams; `ends` are in bytes of `patterns`."""
        if not self.tokens:
            return
        text, table = self.text.content, self.table.content
        arguments = patterns, ends, segments, np.zeros(kernels.SEARCH_COLUMNS, np.int64)
        outcome = run_to_end(kernels.find, text, table, self.widths, *arguments)
        if outcome != kernels.SOUND:
            raise self.table.corrupt(f"rank {outcome}: the pointer leads to no token")

    def match_lengths(
        self, tokens: Bytes, alike: tuple[Integers, Integers, Integers], most: int
    ) -> Integers | None:
        """Return the length of the longest match at each token, in tokens.

        None if the search of long matches takes more than `most` tokens.
        """
        lengths = np.full(len(tokens) // self.width, -1, np.int64)
        text, table = self.text.content, self.table.content
        at = np.zeros(kernels.SEARCH_COLUMNS, np.int64)
        at[kernels.LEFT] = most
        arguments = tokens, lengths, alike, at
        outcome = run_to_end(kernels.match_lengths, text, table, self.widths, *arguments)
        if outcome >= 0:
            raise self.table.corrupt(f"rank {outcome}: the pointer leads to no token")
        return None if outcome == kernels.TOO_LONG else lengths

    def position(self, rank: int) -> int:
        """Return the position in the text of the suffix with a rank."""
        if not 0 <= rank < self.tokens:
            raise IndexError(f"ranks are 0 to {self.tokens - 1}")
        return int(self.positions(np.array([rank]))[0])

    def positions(self, ranks: Integers) -> Integers:
        """Return the positions in the text of the suffixes with some ranks, which it has."""
        pointer_bytes = self.pointer_bytes
        words = np.zeros((len(ranks), 8), np.uint8)
        words[:, :pointer_bytes] = self.table.content.reshape(-1, pointer_bytes)[ranks]
        offsets: Integers = words.view("<i8").ravel()
        is_wrong = (offsets < 0) | (offsets >= self.text.size) | (offsets % self.width != 0)
        if is_wrong.any():
            rank = ranks[is_wrong.argmax()]
            raise self.table.corrupt(f"rank {rank}: the pointer leads to no token")
        return offsets // self.width

    def documents_of(self, low: int, high: int) -> Integers:
        """Return the documents of the suffixes with ranks from low to high."""
        if not 0 <= low <= high <= self.tokens:
            raise IndexError(f"ranks are 0 to {self.tokens - 1}")
        positions = self.positions(np.arange(low, high))
        if self._disorder:
            raise self.offsets.corrupt(f"entry {self._disorder} is not above the one before")
        return self.holding(positions)

    @cached_property
    def _disorder(self) -> int:
        """The first entry of the offsets that doesn't exceed the one before; 0 if all do."""
        starts = self.offsets.numbers()
        unordered = np.flatnonzero(starts[1:] <= starts[:-1])
        return int(unordered[0]) + 1 if unordered.size else 0

    def holding(self, positions: Integers) -> Integers:
        """Return the documents with the tokens or separators at some positions."""
        offsets = (positions * self.width).astype(np.uint64)
        return np.searchsorted(self.offsets.numbers(), offsets, side="right").astype(np.int64) - 1

    def document_at(self, document: int) -> int:
        """Return the position of a document's separator, or of the end after the last document."""
        if document == self.documents:
            return self.tokens
        offset = int(self.offsets.numbers()[document])
        width, size = self.width, self.text.size
        if offset >= size or offset % width or not (self._at(offset) == 0xFF).all():
            raise self.offsets.corrupt(f"entry {document}: no separator at byte {offset}")
        return offset // width

    def _at(self, offset: int) -> Bytes:
        return self.text.content[offset : offset + self.width]

    def bounds(self, document: int) -> DocumentBounds:
        """Return the position of a document's first token, and the one after its last."""
        first, last = self.document_at(document) + 1, self.document_at(document + 1)
        if first > last:
            raise self.offsets.corrupt(f"entry {document + 1} is not above the one before")
        return DocumentBounds(first, last)

    def read(self, start: int, stop: int) -> Integers:
        """Return tokens of one document."""
        tokens = self.words[start:stop].astype(np.int64)
        if (tokens == self.separator).any():
            problem = "a document continues past a separator; an entry is missing or wrong"
            raise self.offsets.corrupt(problem)
        return tokens

    def line(self, document: int) -> str:
        """Return the metadata of a document without its line end, or an empty text."""
        if self.metadata is None:
            return ""
        lines, offsets = self.metadata
        start, *after = offsets.numbers()[document : document + 2].tolist()
        stop = after[0] if after else lines.size
        if not start <= stop <= lines.size:
            raise offsets.corrupt(f"entry {document}: {start} to {stop} of {lines.size} bytes")
        try:
            return lines.content[start:stop].tobytes().decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise lines.corrupt(f"document {document}: not UTF-8") from error


class TokenFolder:
    """The shards of an index, which are in one folder or in several.

    Attributes: `place` (its folders, separated by commas), `width` (bytes per token), `separator`
    (its id), `documents`, `tokens` (with separators), `index_bytes`, `shard_tokens` (per shard,
    with separators), `documents_by_folder` (the numbers of the documents in each folder).
    `backwards` says that each document holds its tokens in reverse, as in version 5; no file tells,
    so it is to be set, as `check_fit` does.

    >>> folder.find([[3707, 486, 3707]])  # ranks in each shard, half-open
    array([[[159, 360], [148, 351], [312, 415]]])
    """

    backwards: bool = False

    def __init__(
        self, shards_by_folder: Mapping[Path, Sequence[TokenShard]], index_bytes: int
    ) -> None:
        shards = [*chain.from_iterable(shards_by_folder.values())]
        self.place = ",".join(map(str, shards_by_folder))
        self.shards, self.index_bytes = shards, index_bytes
        self.width = max(shard.width for shard in shards)
        for shard in shards:
            if shard.width not in {0, self.width}:
                widest = next(shard for shard in shards if shard.width == self.width)
                problem = f"tokens of {shard.width} bytes, but {widest.text.path.name} has tokens "
                raise shard.text.corrupt(f"{problem}of {self.width}")
        self.separator = (1 << 8 * self.width) - 1
        self.shard_tokens = tuple(shard.tokens for shard in shards)
        self.tokens = sum(self.shard_tokens)
        self._firsts = [0, *accumulate(shard.documents for shard in shards)]
        self.documents = self._firsts[-1]
        ends = [0, *accumulate(map(len, shards_by_folder.values()))]
        self.documents_by_folder = {
            folder: range(self._firsts[start], self._firsts[end])
            for folder, (start, end) in zip(shards_by_folder, pairwise(ends), strict=True)
        }

    def find(self, patterns: Sequence[Sequence[int]]) -> Integers:
        """Return the ranks [low, high) of some token n-grams, shape (patterns, shards, 2).

        An empty one has all ranks; separators can be part of one. An InputError says that an id
        does not fit the width of tokens.
        """
        expect_steps(5 * len(patterns) * len(self.shards))
        all_tokens = self._encoded(chain.from_iterable(map(self._physical, patterns)))
        lengths = [len(pattern) * self.width for pattern in patterns]
        ends = np.array([*accumulate(lengths)], np.int64)
        segments_by_shard = np.zeros((len(self.shards), len(patterns), 2), np.int64)
        with self.unchanged():
            for shard, ranks in zip(self.shards, segments_by_shard, strict=True):
                shard.find(all_tokens, ends, ranks)
        return np.ascontiguousarray(segments_by_shard.transpose(1, 0, 2))

    def match_ends(self, tokens: Sequence[int]) -> Integers:
        """Return the end of the longest match at each token of a text.

        Ends are numbers of tokens, that of a token itself if it does not occur. No part is across
        documents: separators are in no text.
        """
        expect_steps(5 * len(tokens) * len(self.shards))
        lengths = self._match_lengths(self._encoded(self._physical(tokens)))
        return ends_in_reading_order(lengths, self.backwards)

    def match_ends_of(self, texts: Sequence[Sequence[int]]) -> list[Integers]:
        """Return the end of the longest match at each token of some texts."""
        return [self.match_ends(tokens) for tokens in texts]

    def count_separators(self) -> int:
        """Return the number of separators in the tables."""
        return int(np.diff(self.find([[self.separator]])).sum())

    def _match_lengths(self, tokens: Bytes) -> Integers:
        """Return the length of the longest match at each token, in tokens."""
        number, none = len(tokens) // self.width, np.zeros(0, np.int64)
        lengths = self._longest_in_shards(tokens, (none, none, none), _SEARCHED_PER_TOKEN * number)
        if lengths is None:
            # Repeated text: the result of searching one part holds for all parts that are alike.
            places = AlikePlaces(tokens.tobytes(), np.arange(number) * self.width)
            columns = places.order, places.ranks, places.shared_with_next
            lengths = self._longest_in_shards(tokens, columns, _UNBOUNDED)
            assert lengths is not None
        return lengths

    def _longest_in_shards(
        self, tokens: Bytes, alike: tuple[Integers, Integers, Integers], most: int
    ) -> Integers | None:
        """Return the longest matches of all shards; None if one exceeds `most` tokens."""
        longest = np.zeros(len(tokens) // self.width, np.int64)
        with self.unchanged():
            for shard in self.shards:
                if not shard.tokens:
                    continue
                lengths = shard.match_lengths(tokens, alike, most)
                if lengths is None:
                    return None
                np.maximum(longest, lengths, out=longest)
        return longest

    def _encoded(self, tokens: Iterable[int]) -> Bytes:
        """Return tokens as they are in the files; an InputError names an id that doesn't fit."""
        ids = np.fromiter(tokens, np.int64)
        if ids.size and not 0 <= ids.min() <= ids.max() <= self.separator:
            unfit = int(ids.max() if ids.min() >= 0 else ids.min())
            problem = f"no token has the id {unfit}: ids take {8 * self.width} bits"
            raise InputError(self.place, problem)
        return ids.astype(f"<u{self.width}").view(np.uint8)

    def unchanged(self) -> AbstractContextManager[None]:
        """Raise an IndexChangedError if a file has changed before or during a read."""
        return unchanged([file for shard in self.shards for file in shard.files])

    def _physical(self, pattern: Sequence[int]) -> Sequence[int]:
        return pattern[::-1] if self.backwards else pattern

    def excerpt(self, shard: int, rank: int, needle: int, before: int, after: int) -> TokenExcerpt:
        """Return the text around an occurrence of `needle` tokens.

        At most `before` tokens before it, and `after` tokens from its first token on, all from its
        document. An unknown shard or rank is an IndexError.
        """
        holder = self._shard(shard)
        with unchanged(holder.files):
            position = holder.position(rank)
        return self.excerpt_at(shard, position, needle, before, after)

    def excerpt_at(
        self, shard: int, position: int, needle: int, before: int, after: int
    ) -> TokenExcerpt:
        """Return the text around an occurrence; `position` counts tokens and separators."""
        holder = self._shard(shard)
        with unchanged(holder.files):
            if not 0 <= position < holder.tokens:
                raise IndexError(f"positions are 0 to {holder.tokens - 1}")
            document = int(holder.holding(np.array([position]))[0])
            bounds = holder.bounds(document)
            part = bounds_around(bounds, position, needle, before, after, self.backwards)
            tokens = self._read(holder, bounds, part.start, part.stop)
        number = self._firsts[shard] + document
        return TokenExcerpt(number, bounds.length, part.start, part.offset, tokens)

    def documents_of(self, shard: int, low: int, high: int) -> Integers:
        """Return the documents, over all shards, of the occurrences with ranks from low to high.

        An unknown shard or rank is an IndexError.
        """
        holder = self._shard(shard)
        with unchanged(holder.files):
            return holder.documents_of(low, high) + self._firsts[shard]

    def metadata_of(self, documents: Sequence[int]) -> list[str]:
        """Return the line of JSON about each document, or an empty text."""
        return [self.metadata(document) for document in documents]

    def metadata(self, document: int) -> str:
        """Return the line of JSON about a document, or an empty text."""
        shard, number = self._holding(document)
        with unchanged(shard.files):
            return shard.line(number)

    def tokens_of_documents(self, documents: Sequence[int]) -> list[Integers]:
        """Return all tokens of some documents, in reading order."""
        return [self.tokens_of(document) for document in documents]

    def tokens_of(self, document: int) -> Integers:
        """Return all tokens of a document, in reading order."""
        shard, number = self._holding(document)
        with unchanged(shard.files):
            bounds = shard.bounds(number)
            return self._read(shard, bounds, 0, bounds.length)

    def _read(self, shard: TokenShard, bounds: DocumentBounds, start: int, stop: int) -> Integers:
        """Return a part of a document in reading order."""
        positions = positions_of(bounds, start, stop, self.backwards)
        tokens = shard.read(positions.start, positions.stop)
        return tokens[::-1] if self.backwards else tokens

    def _shard(self, number: int) -> TokenShard:
        if not 0 <= number < len(self.shards):
            raise IndexError(f"shards are 0 to {len(self.shards) - 1}")
        return self.shards[number]

    def _holding(self, document: int) -> tuple[TokenShard, int]:
        """Return the shard of a document, and its number there."""
        if not 0 <= document < self.documents:
            raise IndexError(f"documents are 0 to {self.documents - 1}")
        shard = bisect_right(self._firsts, document) - 1
        return self.shards[shard], document - self._firsts[shard]


def open_token_folder(directory: Path, *others: Path) -> TokenFolder:
    """Open the index in a folder, or in several: its shards are those of all, in this order.

    An InputError or IndexFormatError says what is wrong with a folder, or that two don't fit.
    """
    shards_by_folder, index_bytes = dict[Path, list[TokenShard]](), 0
    folder_by_file = dict[tuple[int, ...], Path]()
    for folder in (directory, *others):
        sizes = list_files(folder)
        places = shard_places(sizes)
        if missing := missing_file(places, sizes):
            problem = "missing; copy it here, or build the index again"
            raise IndexFormatError(str(folder / missing), problem)
        shards = [TokenShard(folder, place) for place in places]
        if not any(shard.documents for shard in shards):
            raise IndexFormatError(str(folder), "contains no documents")
        files = [shard.text.identity for shard in shards]
        if shared := next((file for file in files if file in folder_by_file), None):
            other = folder_by_file[shared]
            same = "given twice" if other == folder else f"it has files of {other}, too"
            problem = f"{same}: documents would be counted twice; give each folder once"
            raise InputError(str(folder), problem)
        folder_by_file.update(dict.fromkeys(files, folder))
        shards_by_folder[folder] = shards
        index_bytes += sum(sizes.values())
    _refuse_other_widths(shards_by_folder)
    return TokenFolder(shards_by_folder, index_bytes)


def _refuse_other_widths(shards_by_folder: Mapping[Path, Sequence[TokenShard]]) -> None:
    """Raise an InputError if the tokens of two folders have different widths."""
    widths = {
        folder: max(shard.width for shard in shards) for folder, shards in shards_by_folder.items()
    }
    first, *others = widths
    for other in others:
        if widths[other] != widths[first]:
            has = f"tokens of {counted(widths[other], 'byte')}, but {first} has tokens of"
            cure = "give each folder as an index of its own"
            raise InputError(str(other), f"{has} {widths[first]}; {cure}")
