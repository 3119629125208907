"""`tokens:DIR`: a local folder in the format of infini-gram."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from ngramscan.clock import now
from ngramscan.errors import IndexFormatError, InputError, NgramscanError
from ngramscan.index_files.compiled import Integers, compile_for
from ngramscan.index_files.findings import is_object
from ngramscan.index_files.tokens.shard import TokenExcerpt, TokenFolder, open_token_folder
from ngramscan.index_files.tokens.tokenizers import Tokenizer, check_fit, open_tokenizer
from ngramscan.index_files.tokens.unigrams import count_tokens
from ngramscan.indexes.base import (
    Cost,
    IndexSize,
    Locates,
    Occurrences,
    Place,
    QueryCount,
    QueryFailure,
    ReadsMetadata,
    Segment,
    Unit,
    Window,
    WindowFailure,
)
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.kinds import TOKENS
from ngramscan.indexes.tokens.base import (
    SPACE_MARK,
    CountsTokens,
    Form,
    MatchesTokens,
    TokenMatches,
    TokenOccurrences,
    TokenWindow,
    as_count,
    as_occurrences,
    as_text,
    distinct_forms,
    name_of_place,
    read_alike,
    token_places,
)
from ngramscan.progress import Progress
from ngramscan.rows import Note

_SEEN = 100_000
"""Tokens of a document that are seen on each side of an occurrence."""
_QUERIES_AT_ONCE = 256
_FEW_QUERIES = 10
"""So many are found sooner than the reader is compiled."""
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}


class TokenFolderIndex(CountsTokens, Locates, MatchesTokens, ReadsMetadata):
    """Counts token n-grams exactly and shows any occurrence, from the files of infini-gram.

    Documents of up to 100,000 tokens are always seen whole. All methods but `windows` and
    `examine`, which fail for single places, raise an IndexFormatError if the index is corrupt.
    """

    unit: Unit = "tokens"
    longest_context = 1 << 40
    """Documents are shown whole."""
    shows_tokens = True

    def __init__(
        self, name: str, folder: TokenFolder, tokenizer: Tokenizer, progress: Progress
    ) -> None:
        self.name = self.spec = name
        self._folder, self._tokenizer, self._progress = folder, tokenizer, progress
        self._forms = lru_cache(maxsize=1 << 16)(self._make_forms)

    def size(self) -> IndexSize:
        """Return the number of documents, and of their tokens."""
        folder = self._folder
        return IndexSize(
            documents=folder.documents,
            shards=len(folder.shard_tokens),
            index_bytes=folder.index_bytes,
            tokens=folder.tokens - folder.documents,
        )

    def cost(self, *_: object) -> Cost:
        """Return nothing: it takes no requests."""
        return Cost()

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Yield the number of occurrences of each query's n-grams."""
        return map(as_count, self.lookups(queries))

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Yield the ranks of each query's n-grams."""
        return map(as_occurrences, self.lookups(queries))

    def lookups(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        """Yield the n-grams of each query, and where they occur."""
        self._progress.expect(len(queries), "queries")
        if len(queries) > _FEW_QUERIES:
            compile_for(lambda: self._folder.find([[0]]), self._progress)
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            batch = queries[start : start + _QUERIES_AT_ONCE]
            yield from self._look_up(batch)
            self._progress.advance(len(batch), "queries")

    def _look_up(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        """Look up all n-grams of some queries at once."""
        ids_by_query: dict[str, list[tuple[int, ...]]] = {}
        for query in queries:
            try:
                ids_by_query[query] = self._forms(query)
            except InputError as error:
                yield QueryFailure(self.name, query, error)
        ranks = iter(self._folder.find([ids for forms in ids_by_query.values() for ids in forms]))
        for query, all_ids in ids_by_query.items():
            after_space, *others = [Form(ids, _segments(next(ranks))) for ids in all_ids]
            alike = read_alike(self._alike(query, all_ids[0]))
            yield TokenOccurrences(
                query,
                after_space=after_space,
                at_line=next(iter(others), None),
                source="tokens",
                asked_at=now(),
                notes=(*self._notes(query, all_ids[0]), *alike),
            )

    def cost_of_matches(self, _: Sequence[str]) -> Cost:
        """Return nothing: it takes no requests."""
        return Cost()

    def matches(self, texts: Sequence[str]) -> Iterator[TokenMatches | NgramscanError]:
        """Yield the tokens of each text, and the longest part that occurs from each of them on."""
        for text in texts:
            ids = self._tokenizer.after_space(text)
            contents = [self._tokenizer.content([each]) for each in ids]
            try:
                places = token_places(self.name, text, contents)
            except InputError as error:
                yield error
            else:
                yield TokenMatches(ids, places, self._folder.match_ends(ids).tolist())

    def count_ngrams(self, ngrams: Mapping[str, Sequence[int]]) -> dict[str, QueryCount]:
        """Return the occurrences of some n-grams of tokens, by their texts."""
        numbers = np.diff(self._folder.find([*ngrams.values()]))[..., 0].sum(axis=1).tolist()
        return {
            text: QueryCount(text, number, None, "tokens", now())
            for text, number in zip(ngrams, numbers, strict=True)
        }

    def count_tokens(self, ids: Sequence[int]) -> dict[int, int | NgramscanError]:
        """Return the occurrences of some tokens, from the files `unigram` if there are any."""
        return {**count_tokens(self._folder, ids)}

    def _make_forms(self, query: str) -> list[tuple[int, ...]]:
        """Return the one or two n-grams of a query, or raise an InputError."""
        after_space = tuple(self._tokenizer.after_space(query))
        at_line = tuple(self._tokenizer.after_newline(query) or ())
        forms = [after_space, at_line] if at_line not in {(), after_space} else [after_space]
        if not after_space:
            raise InputError(repr(query), "it has no tokens, so it can't be counted")
        largest = max(max(ids) for ids in forms)
        if largest >= min(self._folder.separator, self._tokenizer.vocabulary):
            problem = f"its token {largest} is not one of {self.name}"
            raise InputError(repr(query), problem)
        return forms

    def _notes(self, query: str, ids: Sequence[int]) -> Iterator[Note]:
        """Say if the tokens belong to another text, as a tokenizer may change characters."""
        content = self._tokenizer.content(ids)
        if query.encode() not in content:
            decoded_text = content.decode(errors="replace").strip()
            yield Note(f"counted as {decoded_text!r}, as the tokenizer reads it", "index")
        elif self._tokenizer.lead and query.encode().startswith(self._tokenizer.lead):
            yield Note("the beginning of a document counts as a space", "index")

    def _alike(self, query: str, ids: Sequence[int]) -> Iterator[str]:
        """Yield other spellings of the query that have the same tokens.

        An index of tokens can't distinguish them.
        """
        spellings = {
            f"{SPACE_MARK} as a space": query.replace(" ", SPACE_MARK[0]),
            "several spaces as one": query.replace(" ", "  "),
            "decomposed letters as composed ones": unicodedata.normalize("NFD", query),
            "full-width characters as ASCII": query.translate(_FULL_WIDTH),
            "capital letters as small ones": query.upper(),
        }
        for words, other in spellings.items():
            if other != query and tuple(self._tokenizer.after_space(other)) == tuple(ids):
                yield words

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Yield the text around some places, which may repeat.

        A window fails if the query does not occur at this rank, or if the index is corrupt.
        `document_bytes` is exact where the document is shown whole. Otherwise it is only a number
        greater than the length of the text: a document's bytes are not known without reading it.
        """
        self._progress.expect(len(places), "windows")
        for place in places:
            try:
                yield self._window(place, context)
            except InputError as error:
                yield WindowFailure(place, error)
            self._progress.advance(1, "windows")

    def documents_of(self, located: Occurrences) -> Integers:
        """Return the document of each occurrence of a query."""
        segments = ((segment.shard, segment.low, segment.high) for segment in located.segments)
        documents = [self._folder.documents_of(*segment) for segment in segments]
        return np.concatenate([np.zeros(0, np.int64), *documents])

    def metadata_of(self, documents: Integers) -> list[str]:
        """Return the metadata of documents, numbered over all shards, in their order."""
        return [self._metadata(document) for document in documents.tolist()]

    def examine(
        self, places: Sequence[Place], forms: Mapping[str, Sequence[Form]]
    ) -> Iterator[TokenWindow | WindowFailure]:
        """Yield the tokens around some places; without `forms`, only the occurrence's first."""
        self._progress.expect(len(places), "windows")
        for place in places:
            before, after = (_SEEN, _SEEN) if forms.get(place.query) else (0, 1)
            try:
                seen = self._excerpt(place, self._ids_at(place), before, after)
                yield TokenWindow(
                    place=place,
                    document=str(seen.document),
                    length=seen.length,
                    text=as_text(seen.tokens.tolist()),
                    offset=seen.offset,
                    starts_document=seen.start == 0,
                )
            except InputError as error:
                yield WindowFailure(place, error)
            self._progress.advance(1, "windows")

    def _ids_at(self, place: Place) -> tuple[int, ...]:
        """Return the query's n-gram that occurs at a place, or raise an InputError."""
        forms = [Form(ids, ()) for ids in self._forms(place.query)]
        for form in distinct_forms(*forms):
            seen = self._excerpt(place, form.ids, 0, len(form.ids))
            if seen.offset == 0 and tuple(seen.tokens.tolist()) == form.ids:
                return form.ids
        raise InputError(name_of_place(place), f"no occurrence of {place.query!r}")

    def _excerpt(self, place: Place, ids: Sequence[int], before: int, after: int) -> TokenExcerpt:
        try:
            seen = self._folder.excerpt(place.shard, place.rank, len(ids), before, after)
        except IndexError as error:
            raise InputError(name_of_place(place), str(error)) from error
        if seen.tokens.size and seen.tokens.max() >= self._tokenizer.vocabulary:
            problem = f"token {seen.tokens.max()}, but {self._tokenizer.name} has "
            problem += f"{self._tokenizer.vocabulary:,} tokens; is it the tokenizer of this index?"
            raise IndexFormatError(f"{self.name}, document {seen.document}", problem)
        return seen

    def _window(self, place: Place, context: int) -> Window:
        ids, query = self._ids_at(place), place.query.encode()
        reach = min(context, 1 << 30) // 3 + len(ids) + 16  # most tokens have three bytes or more
        while True:
            seen = self._excerpt(place, ids, reach, reach)
            before, middle, after = self._parts(seen, len(ids))
            hidden = seen.length - len(seen.tokens)
            ends_document = seen.start + len(seen.tokens) == seen.length
            is_enough = len(before) > context or seen.start == 0
            if is_enough and (len(after) > context or ends_document):
                break
            reach *= 2
        text = before + middle + after
        offset = len(before) + _start(middle, query)
        end = min(offset + len(query), len(text))
        low, high = cut_ends(text, offset, end, context)
        # A hidden token has at least a byte, or the document is not as long as this says: it is not
        # known, but never as short as the text that is shown.
        least = len(text) + hidden
        return Window(
            place=place,
            document=str(seen.document),
            document_bytes=least,
            text=text[low:high],
            offset=offset - low,
            starts_document=seen.start == 0 and low == 0,
            metadata=self._metadata(seen.document),
        )

    def _parts(self, seen: TokenExcerpt, needle: int) -> tuple[bytes, bytes, bytes]:
        """Return the text before an occurrence, its own, and the text after it."""
        ends = (0, seen.offset, seen.offset + needle, len(seen.tokens))
        before, middle, after = (
            self._tokenizer.content(seen.tokens[low:high].tolist()) for low, high in pairwise(ends)
        )
        if seen.start == 0 and seen.offset == 0:
            return b"", middle.removeprefix(self._tokenizer.lead), after
        return before.removeprefix(b"" if seen.start else self._tokenizer.lead), middle, after

    def _metadata(self, document: int) -> str:
        """Return the metadata as a JSON object; older indexes have other lines."""
        line = self._folder.metadata(document)
        return line if not line or is_object(line.encode()) else json.dumps({"metadata": line})


def open_tokens(
    directory: Path, tokenizer: str | Path | None, progress: Progress
) -> TokenFolderIndex:
    """Open the index in a folder."""
    folder = open_token_folder(directory)
    opened = open_tokenizer(tokenizer, folder.width)
    separators = folder.find([[folder.separator]])[0]
    if (documents := int(np.diff(separators).sum())) != folder.documents:
        problem = f"the tables have {documents:,} documents, but the offsets {folder.documents:,}"
        raise IndexFormatError(str(directory), problem)
    check_fit(opened, folder)
    return TokenFolderIndex(TOKENS.spec_of(directory), folder, opened, progress)


def _segments(ranks: Integers) -> tuple[Segment, ...]:
    """Return the segments of the shards that have an occurrence."""
    rows = enumerate(ranks.tolist())
    return tuple(Segment(shard, low, high) for shard, (low, high) in rows if low < high)


def _start(middle: bytes, query: bytes) -> int:
    """Return where a query begins in the text of its n-gram, which may begin with a space."""
    start = middle.find(query)
    return start if start >= 0 else int(middle.startswith(b" ") and not query.startswith(b" "))
