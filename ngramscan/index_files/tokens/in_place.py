"""An index over tokens in place: on a web server, or in an object store.

A query takes some tens of small reads, each of which determines where the next one is; so all
queries are searched in all shards at once. Files that are small are read whole instead.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise, starmap

import numpy as np

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.in_place_offsets import InPlaceOffsets
from ngramscan.index_files.tokens.excerpts import (
    DocumentBounds,
    TokenExcerpt,
    bounds_around,
    ends_in_reading_order,
    positions_of,
)
from ngramscan.index_files.tokens.in_place_search import Bound, ShardSearch
from ngramscan.index_files.tokens.layout import SizedFile, read_layout
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import PIECE_BYTES, BytesOrFuture, Ranges, finished
from ngramscan.remote.together import together

_REQUESTS_PER_S = 5000
"""About so many are answered at the same time as one; more make a round longer."""
_STRIDE = 32
"""Tokens between the first places from which the longest matches are searched, at most."""
_PARTS = 8
"""Parts into which a text, or a stretch between two places, is divided for the next search."""
_RESTS_BYTES = 8_000_000
"""Bytes of rests of texts that are searched at the same time: those of a book would fill memory."""


class InPlaceTokenShard:
    """The files of one shard, from which only the parts that queries need are read."""

    def __init__(self, ranges: Ranges, files: Mapping[str, RemoteFile], kept_bytes: int) -> None:
        self._ranges, self._files = ranges, files
        self._text, self._table = files["tokenized"], files["table"]
        self._offset_file = files["offset"]
        sizes = [_sized(file) for file in (self._text, self._table, self._offset_file)]
        self.layout = read_layout(*sizes)
        self.documents, self.tokens = self.layout.documents, self.layout.tokens
        self.width, self.pointer_bytes = self.layout.width, self.layout.pointer_bytes
        self.ranks, self.text_bytes = self.tokens, self._text.size
        if int.from_bytes(self._offset_file.head[:8], "little"):
            raise IndexFormatError(self._offset_file.url, "the first document does not begin at 0")
        self._offsets = InPlaceOffsets(ranges, self._offset_file, self.documents, self._text.size)
        both = self._text.size + self._table.size
        self.kept_bytes = both if both <= kept_bytes else 0
        """Bytes that are kept in memory."""
        self._whole: dict[RemoteFile, bytes] = {}

    @property
    def fingerprint(self) -> str:
        """The sizes and validators of the files, which change with their content."""
        files = self._files.items()
        return repr([(name, file.size, file.etag or file.head) for name, file in files])

    @property
    def has_validators(self) -> bool:
        """Whether a file that is replaced by one of the same size is detected."""
        return all(file.stamp for file in self._files.values())

    @property
    def index_bytes(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self._files.values())

    @property
    def missing_bytes(self) -> int:
        """Bytes that have to be read before the first query."""
        return 0 if self._whole else self.kept_bytes

    @property
    def missing_loads(self) -> int:
        """Requests for these bytes."""
        files = (self._text, self._table) if self.missing_bytes else ()
        return sum(-(-file.size // PIECE_BYTES) for file in files)

    async def load(self) -> None:
        """Read the files that are kept in memory; this is required before any query."""
        if self.kept_bytes and not self._whole:
            files = self._text, self._table
            contents = await together(self._ranges.read(file, 0, file.size) for file in files)
            self._whole |= zip(files, contents, strict=True)

    def start_table(self, start: int, stop: int) -> BytesOrFuture:
        """Start to read bytes of the table, at most a megabyte."""
        return self._start(self._table, start, stop)

    def start_text(self, start: int, stop: int) -> BytesOrFuture:
        """Start to read bytes of the text, at most a megabyte."""
        return self._start(self._text, start, stop)

    def kept_table(self, start: int, stop: int) -> bytes | None:
        """Return bytes of the table that take no request; None: they have to be read."""
        return self._ranges.kept(self._table, start, stop)

    def kept_text(self, start: int, stop: int) -> bytes | None:
        """Return bytes of the text that take no request; None: they have to be read."""
        return self._ranges.kept(self._text, start, stop)

    def _start(self, file: RemoteFile, start: int, stop: int) -> BytesOrFuture:
        if file in self._whole:
            return self._whole[file][start:stop]
        return self._ranges.start(file, start, stop)

    def check_pointer(self, rank: int, pointer: int) -> None:
        """Raise an IndexFormatError if a pointer leads to no token."""
        if pointer >= self._text.size or pointer % self.width:
            problem = f"rank {rank}: the pointer leads to no token"
            raise IndexFormatError(self._table.url, problem)

    def refuse_order(self, rank: int) -> None:
        """Raise an IndexFormatError: the suffix with a rank does not follow the previous one."""
        problem = f"rank {rank}: the text there does not come after that of rank {rank - 1}"
        raise IndexFormatError(self._table.url, problem)

    async def find(self, patterns: Sequence[bytes], requests_per_round: int) -> Integers:
        """Return the ranks [low, high) of some n-grams, shape (patterns, 2)."""
        if not self.tokens:
            return np.zeros((len(patterns), 2), np.int64)
        await self.load()
        search = ShardSearch(self, requests_per_round)
        bounds_by_pattern = {
            pattern: [search.bound(pattern, takes_beginnings) for takes_beginnings in (True, False)]
            for pattern in patterns
        }
        await search.run([bound for bounds in bounds_by_pattern.values() for bound in bounds])
        ranks = [[bound.low for bound in bounds_by_pattern[pattern]] for pattern in patterns]
        return np.array(ranks, np.int64).reshape(-1, 2)

    async def match_ends(self, texts: Sequence[bytes], requests_per_round: int) -> list[Integers]:
        """Return the end of the longest part that occurs from each token of some texts on.

        The shard has tokens. The end never decreases from one token to the next. So the ends are
        searched at some places first; where two of them are the same, so are all between.
        """
        await self.load()
        search = ShardSearch(self, requests_per_round)
        progress = [_MatchedText(text, self.width) for text in texts]
        while wanted := [(each, place) for each in progress for place in each.next_places()]:
            for portion in _in_portions(wanted):
                bounds = [
                    search.bound(each.rest(place), takes_beginnings=True) for each, place in portion
                ]
                await search.run(bounds)
                for (each, place), bound in zip(portion, bounds, strict=True):
                    each.ends[place] = place + self._matched(search, bound)
        return [each.all_ends() for each in progress]

    def _matched(self, search: ShardSearch, bound: Bound) -> int:
        """Return the tokens that the rest of a text shares with a suffix next to its place."""
        neighbours = range(max(bound.low - 1, 0), min(bound.low + 1, self.ranks))
        shared = [search.suffix(rank).shared_with(bound.pattern) for rank in neighbours]
        return max(shared) // self.width

    async def count_separators(self, requests_per_round: int) -> int:
        """Return the number of suffixes that begin with a separator.

        They are the last ones, and as many as there are documents: so two suffixes tell, unless
        the index is damaged.
        """
        if not self.tokens:
            return 0
        await self.load()
        first = self.tokens - self.documents
        ranks = [rank for rank in (first - 1, first) if rank >= 0]
        starts_separator = await together(map(self._starts_separator, ranks))
        if starts_separator == [rank == first for rank in ranks]:
            return self.documents
        ((low, high),) = (await self.find([b"\xff" * self.width], requests_per_round)).tolist()
        return int(high - low)

    async def _starts_separator(self, rank: int) -> bool:
        """Tell whether the suffix with a rank begins with a separator."""
        return await self._is_separator(await self.position(rank) * self.width)

    async def position(self, rank: int) -> int:
        """Return the position in the text of the suffix with a rank."""
        await self.load()
        width = self.pointer_bytes
        raw = await finished(self.start_table(rank * width, (rank + 1) * width))
        pointer = int.from_bytes(raw, "little")
        self.check_pointer(rank, pointer)
        return pointer // self.width

    async def document_at(self, position: int) -> int:
        """Return the document with a token or separator."""
        return await self._offsets.holding(position * self.width)

    async def bounds(self, document: int) -> DocumentBounds:
        """Return the place of a document in the text."""
        await self.load()
        start, stop = await self._offsets.bounds(document)
        places_by_entry = {document: start}
        if document + 1 < self.documents:
            places_by_entry[document + 1] = stop
        await together(starmap(self._check_separator, places_by_entry.items()))
        return DocumentBounds(start // self.width + 1, stop // self.width)

    async def _check_separator(self, entry: int, place: int) -> None:
        """Raise an IndexFormatError if no separator begins where an entry says."""
        is_token = place % self.width == 0 and place < self._text.size
        if not (is_token and await self._is_separator(place)):
            problem = f"entry {entry}: no separator at byte {place}"
            raise IndexFormatError(self._offset_file.url, problem)

    async def _is_separator(self, place: int) -> bool:
        """Tell whether the token at a place in the text, in bytes, is a separator."""
        return await finished(self.start_text(place, place + self.width)) == b"\xff" * self.width

    async def read(self, positions: range) -> Integers:
        """Return tokens of one document."""
        start, stop = positions.start * self.width, positions.stop * self.width
        parts = [
            self.start_text(at, min(at + PIECE_BYTES, stop))
            for at in range(start, stop, PIECE_BYTES)
        ]
        raw = b"".join([await finished(part) for part in parts])
        tokens = np.frombuffer(raw, f"<u{self.width}").astype(np.int64)
        if (tokens == (1 << 8 * self.width) - 1).any():
            problem = "a document continues past a separator; an entry is missing or wrong"
            raise IndexFormatError(self._offset_file.url, problem)
        return tokens

    async def line(self, document: int) -> str:
        """Return the metadata of a document without its line end, or an empty text."""
        if "metadata" not in self._files and "metaoff" not in self._files:
            return ""
        lines, offsets = (self._file(name) for name in ("metadata", "metaoff"))
        if offsets.size != 8 * self.documents:
            problem = f"{offsets.size} bytes, but the index has {self.documents} documents"
            raise IndexFormatError(offsets.url, problem)
        starts = InPlaceOffsets(self._ranges, offsets, self.documents, lines.size)
        raw = await self._ranges.read(lines, *await starts.bounds(document))
        try:
            return raw.decode().rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise IndexFormatError(lines.url, f"document {document}: not UTF-8") from error

    def _file(self, name: str) -> RemoteFile:
        if name not in self._files:
            folder, slash, text_name = self._text.url.rpartition("/")
            place = folder + slash + text_name.replace("tokenized", name)
            raise IndexFormatError(place, "missing; copy it there, or build the index again")
        return self._files[name]


class _MatchedText:
    """A text whose longest matches are searched, as far as they are known."""

    def __init__(self, text: bytes, width: int) -> None:
        self._text, self._width, self._tokens = text, width, len(text) // width
        self.ends: dict[int, int] = {}
        """By place, in tokens."""
        self._places = list(range(0, self._tokens, min(_STRIDE, _step_in(self._tokens))))

    def rest(self, place: int) -> bytes:
        """Return the text from a token on."""
        return self._text[place * self._width :]

    def rest_bytes(self, place: int) -> int:
        """Return the length of this."""
        return len(self._text) - place * self._width

    def next_places(self) -> list[int]:
        """Return the places to search from next; none if all ends are known."""
        if not self.ends:
            return self._places
        bounds = [*sorted(self.ends), self._tokens]
        ends = {**self.ends, self._tokens: self._tokens}
        return [
            place
            for first, following in pairwise(bounds)
            if ends[first] != ends[following]
            for place in _places_between(first, following)
        ]

    def all_ends(self) -> Integers:
        """Return the end of the longest match at each token."""
        ends, latest = np.zeros(self._tokens, np.int64), 0
        for place in range(self._tokens):
            latest = self.ends.get(place, latest)
            ends[place] = latest
        return ends


def _in_portions(
    places: Sequence[tuple[_MatchedText, int]],
) -> Iterator[list[tuple[_MatchedText, int]]]:
    """Yield places of texts in portions of which the rests take little memory."""
    portion, size = list[tuple[_MatchedText, int]](), 0
    for text, place in places:
        portion.append((text, place))
        size += text.rest_bytes(place)
        if size >= _RESTS_BYTES:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _step_in(tokens: int) -> int:
    """Return how far the places of one search are from each other in a stretch of tokens."""
    return max(1, tokens // _PARTS)


def _places_between(first: int, following: int) -> range:
    """Return the places to search between two others; none if they are next to each other."""
    step = _step_in(following - first)
    return range(first + step, following, step)


class InPlaceTokenFolder:
    """The shards of an index in place; same results as `TokenFolder`."""

    backwards: bool = False

    def __init__(
        self, ranges: Ranges, shards_by_address: Mapping[str, Sequence[InPlaceTokenShard]]
    ) -> None:
        self._ranges, self.place = ranges, ",".join(shards_by_address)
        shards = [shard for some in shards_by_address.values() for shard in some]
        self.shards = shards
        self.width = max(shard.width for shard in shards)
        for shard in shards:
            if shard.width not in {0, self.width}:
                problem = f"a shard has tokens of {shard.width} bytes, another of {self.width}"
                raise IndexFormatError(self.place, problem)
        self.separator = (1 << 8 * self.width) - 1
        self.shard_tokens = tuple(shard.tokens for shard in shards)
        self.tokens = sum(self.shard_tokens)
        self.index_bytes = sum(shard.index_bytes for shard in shards)
        self._firsts = [0, *accumulate(shard.documents for shard in shards)]
        self.documents = self._firsts[-1]
        ends = [0, *accumulate(map(len, shards_by_address.values()))]
        self.documents_by_folder = {
            address: range(self._firsts[start], self._firsts[end])
            for address, (start, end) in zip(shards_by_address, pairwise(ends), strict=True)
        }

    @property
    def concurrency(self) -> int:
        """Most requests at a time."""
        return self._ranges.concurrency

    @property
    def latency_s(self) -> float:
        """The time for an answer to a small request."""
        return self._ranges.latency_s

    @property
    def requests_per_round(self) -> int:
        """Requests per shard that are answered in the time of one, by the latency so far."""
        at_once = min(self._ranges.concurrency, self._ranges.latency_s * _REQUESTS_PER_S)
        return max(1, int(at_once) // len(self.shards))

    def find(self, patterns: Sequence[Sequence[int]]) -> Integers:
        """Return the ranks [low, high) of some token n-grams, shape (patterns, shards, 2)."""
        encoded = [self._encoded(pattern) for pattern in patterns]
        ranks_by_shard = self._ranges.run(
            together(shard.find(encoded, self.requests_per_round) for shard in self.shards)
        )
        return np.stack(ranks_by_shard, axis=1)

    def match_ends_of(self, texts: Sequence[Sequence[int]]) -> list[Integers]:
        """Return the end of the longest match at each token of some texts."""
        encoded = [self._encoded(text) for text in texts]
        ends_by_shard = self._ranges.run(
            together(
                shard.match_ends(encoded, self.requests_per_round)
                for shard in self.shards
                if shard.tokens
            )
        )
        ends_of_texts = []
        for number, text in enumerate(texts):
            longest = np.maximum.reduce([ends[number] for ends in ends_by_shard])
            lengths = longest - np.arange(len(text))
            ends_of_texts.append(ends_in_reading_order(lengths, self.backwards))
        return ends_of_texts

    def _encoded(self, tokens: Sequence[int]) -> bytes:
        """Return tokens as they are in the files; an InputError names an id that doesn't fit."""
        unfit = next((token for token in tokens if not 0 <= token <= self.separator), None)
        if unfit is not None:
            problem = f"no token has the id {unfit}: ids take {8 * self.width} bits"
            raise InputError(self.place, problem)
        ordered = tokens[::-1] if self.backwards else tokens
        return np.array(ordered, f"<u{self.width}").tobytes()

    def count_separators(self) -> int:
        """Return the number of separators in the tables."""
        return sum(
            self._ranges.run(
                together(shard.count_separators(self.requests_per_round) for shard in self.shards)
            )
        )

    def excerpt(self, shard: int, rank: int, needle: int, before: int, after: int) -> TokenExcerpt:
        """Return the text around an occurrence of `needle` tokens.

        At most `before` tokens before it, and `after` tokens from its first token on, all from its
        document. An unknown shard or rank is an IndexError.
        """
        if not 0 <= shard < len(self.shards):
            raise IndexError(f"shards are 0 to {len(self.shards) - 1}")
        holder = self.shards[shard]
        if not 0 <= rank < holder.tokens:
            raise IndexError(f"ranks are 0 to {holder.tokens - 1}")
        return self._ranges.run(self._excerpt(shard, rank, needle, before, after))

    async def _excerpt(
        self, shard: int, rank: int, needle: int, before: int, after: int
    ) -> TokenExcerpt:
        holder = self.shards[shard]
        position = await holder.position(rank)
        document = await holder.document_at(position)
        bounds = await holder.bounds(document)
        part = bounds_around(bounds, position, needle, before, after, self.backwards)
        tokens = await self._read(holder, bounds, part.start, part.stop)
        number = self._firsts[shard] + document
        return TokenExcerpt(number, bounds.length, part.start, part.offset, tokens)

    async def _read(
        self, holder: InPlaceTokenShard, bounds: DocumentBounds, start: int, stop: int
    ) -> Integers:
        """Return a part of a document in reading order."""
        tokens = await holder.read(positions_of(bounds, start, stop, self.backwards))
        return tokens[::-1] if self.backwards else tokens

    def metadata_of(self, documents: Sequence[int]) -> list[str]:
        """Return the line of JSON about each document, or an empty text."""
        return self._ranges.run(together(map(self._line, documents)))

    async def _line(self, document: int) -> str:
        holder, number = self._holding(document)
        return await holder.line(number)

    def tokens_of_documents(self, documents: Sequence[int]) -> list[Integers]:
        """Return all tokens of some documents, in reading order."""
        return self._ranges.run(together(map(self._document, documents)))

    async def _document(self, document: int) -> Integers:
        holder, number = self._holding(document)
        bounds = await holder.bounds(number)
        return await self._read(holder, bounds, 0, bounds.length)

    def _holding(self, document: int) -> tuple[InPlaceTokenShard, int]:
        """Return the shard of a document, and its number there."""
        if not 0 <= document < self.documents:
            raise IndexError(f"documents are 0 to {self.documents - 1}")
        shard = bisect_right(self._firsts, document) - 1
        return self.shards[shard], document - self._firsts[shard]


def _sized(file: RemoteFile) -> SizedFile:
    return SizedFile(file.url, file.url.rpartition("/")[2], file.size)
