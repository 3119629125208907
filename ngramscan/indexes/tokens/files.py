"""Counts, places and windows from the files of an index over tokens, local or in place."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from ngramscan.clock import now
from ngramscan.errors import IndexFormatError, InputError, NgramscanError, RemoteError
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.findings import is_object
from ngramscan.index_files.tokens.excerpts import TokenExcerpt
from ngramscan.index_files.tokens.token_files import TokenFiles
from ngramscan.index_files.tokens.tokenizers import (
    Tokenizer,
    check_fit,
    describe_choice,
    open_tokenizer,
)
from ngramscan.indexes.base import (
    CountSource,
    IndexSize,
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
_TEXTS_AT_ONCE = 16
_FULL_WIDTH = {code: code + 0xFEE0 for code in range(0x21, 0x7F)}

Shown = TypeVar("Shown", Window, TokenWindow)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FoundForm:
    """Where an n-gram of tokens occurs."""

    ranks: Integers
    """The ranks [low, high) in each shard."""
    source: CountSource
    asked_at: str


class TokenizedText(NamedTuple):
    """The tokens of a text, and start and end of each in it."""

    ids: list[int]
    places: list[tuple[int, int]]


class TokenFilesIndex(CountsTokens, MatchesTokens, ReadsMetadata):
    """Counts token n-grams exactly and shows any occurrence, from the files of infini-gram.

    Documents of up to 100,000 tokens are always seen whole. All methods but `windows` and
    `examine`, which fail for single places, raise an IndexFormatError if the index is corrupt.
    """

    unit: Unit = "tokens"
    longest_context = 1 << 40
    """Documents are shown whole."""
    shows_tokens = True

    def __init__(
        self, name: str, folder: TokenFiles, tokenizer: Tokenizer, progress: Progress
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

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Yield the number of occurrences of each query's n-grams."""
        return map(as_count, self.lookups(queries))

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Yield the ranks of each query's n-grams."""
        return map(as_occurrences, self.lookups(queries))

    def lookups(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        """Yield the n-grams of each query, and where they occur."""
        self._progress.expect(len(queries), "queries")
        self._prepare(len(queries))
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            batch = queries[start : start + _QUERIES_AT_ONCE]
            yield from self._look_up(batch)
            self._progress.advance(len(batch), "queries")

    def _prepare(self, queries: int) -> None:
        """Do what makes the search of many queries faster."""

    def _find_forms(self, patterns: Sequence[Sequence[int]]) -> Iterator[FoundForm]:
        """Yield where some n-grams of tokens occur."""
        for ranks in self._folder.find(patterns):
            yield FoundForm(ranks, "tokens", now())

    def _look_up(self, queries: Sequence[str]) -> Iterator[TokenOccurrences | QueryFailure]:
        """Look up all n-grams of some queries at once."""
        ids_by_query: dict[str, list[tuple[int, ...]]] = {}
        for query in queries:
            try:
                ids_by_query[query] = self._forms(query)
            except InputError as error:
                yield QueryFailure(self.name, query, error)
        found_forms = self._find_forms([ids for forms in ids_by_query.values() for ids in forms])
        for query, all_ids in ids_by_query.items():
            located = [next(found_forms) for _ in all_ids]
            after_space, *others = [
                Form(ids, _segments(form.ranks)) for ids, form in zip(all_ids, located, strict=True)
            ]
            # Of two replies the one that was not stored, or else the older one.
            source, asked_at = min((form.source != "tokens", form.asked_at) for form in located)
            alike = read_alike(self._alike(query, all_ids[0]))
            yield TokenOccurrences(
                query,
                after_space=after_space,
                at_line=next(iter(others), None),
                source="journal" if source else "tokens",
                asked_at=asked_at,
                notes=(*self._file_notes(), *self._notes(query, all_ids[0]), *alike),
            )

    def matches(self, texts: Sequence[str]) -> Iterator[TokenMatches | NgramscanError]:
        """Yield the tokens of each text, and the longest part that occurs from each of them on."""
        self._progress.expect(len(texts), "texts")
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            some = texts[start : start + _TEXTS_AT_ONCE]
            tokenized = [self._place_tokens(text) for text in some]
            searched = [each.ids for each in tokenized if not isinstance(each, InputError)]
            ends = iter(self._folder.match_ends_of(searched))
            for each in tokenized:
                if isinstance(each, InputError):
                    yield each
                else:
                    yield TokenMatches(each.ids, each.places, next(ends).tolist())
            self._progress.advance(len(some), "texts")

    def _place_tokens(self, text: str) -> TokenizedText | InputError:
        """Return the tokens of a text and their places, or why they have none."""
        ids = self._tokenizer.after_space(text)
        contents = [self._tokenizer.content([each]) for each in ids]
        try:
            return TokenizedText(ids, token_places(self.name, text, contents))
        except InputError as error:
            return error

    def count_ngrams(self, ngrams: Mapping[str, Sequence[int]]) -> dict[str, QueryCount]:
        """Return the occurrences of some n-grams of tokens, by their texts."""
        return {
            text: QueryCount(text, int(np.diff(form.ranks).sum()), None, form.source, form.asked_at)
            for text, form in zip(ngrams, self._find_forms([*ngrams.values()]), strict=True)
        }

    def count_tokens(self, ids: Sequence[int]) -> dict[int, int | NgramscanError]:
        """Return the occurrences of some tokens."""
        forms = self._find_forms([[token] for token in ids])
        return {
            token: int(np.diff(form.ranks).sum()) for token, form in zip(ids, forms, strict=True)
        }

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

    def _file_notes(self) -> tuple[Note, ...]:
        """Return what is to be said about each count of these files."""
        return ()

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
        return self._show(places, partial(self._window, context=context), context)

    def _show(
        self, places: Sequence[Place], show: Callable[[Place], Shown], context: int
    ) -> Iterator[Shown | WindowFailure]:
        """Yield what is shown of some places, in their order; or why it can't be.

        `context` is how many bytes on each side are read, about.
        """
        self._announce(places, context)
        self._progress.expect(len(places), "windows")
        for window in self._in_order(partial(_shown_or_failed, show), places):
            self._progress.advance(1, "windows")
            yield window

    def _announce(self, places: Sequence[Place], context: int) -> None:
        """Say what windows will take, where that matters."""

    def _in_order(self, show: Callable[[Place], T], places: Sequence[Place]) -> Iterator[T]:
        """Yield what a function returns for each place."""
        return map(show, places)

    def examine(
        self, places: Sequence[Place], forms: Mapping[str, Sequence[Form]]
    ) -> Iterator[TokenWindow | WindowFailure]:
        """Yield the tokens around some places; without `forms`, only the occurrence's first."""

        def show(place: Place) -> TokenWindow:
            before, after = (_SEEN, _SEEN) if forms.get(place.query) else (0, 1)
            seen = self._excerpt(place, self._ids_at(place), before, after)
            return TokenWindow(
                place=place,
                document=str(seen.document),
                length=seen.length,
                text=as_text(seen.tokens.tolist()),
                offset=seen.offset,
                starts_document=seen.start == 0,
            )

        return self._show(places, show, _SEEN if any(forms.values()) else 0)

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
            metadata=_as_object(*self._folder.metadata_of([seen.document])),
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

    def metadata_of(self, documents: Integers) -> list[str]:
        """Return the metadata of documents, numbered over all shards, in their order."""
        return [_as_object(line) for line in self._folder.metadata_of(documents.tolist())]


def open_for(folder: TokenFiles, tokenizer: str | Path | None, progress: Progress) -> Tokenizer:
    """Return the tokenizer of an index, which is checked; set whether its documents are backwards.

    An InputError says that it is not the tokenizer of the index, an IndexFormatError that the
    tables and the offsets contradict each other.
    """
    opened = open_tokenizer(tokenizer, folder.width)
    if notice := describe_choice(tokenizer, opened):
        progress.notice(notice)
    if (documents := folder.count_separators()) != folder.documents:
        problem = f"the tables have {documents:,} documents, but the offsets {folder.documents:,}"
        raise IndexFormatError(folder.place, problem)
    check_fit(opened, folder)
    return opened


def _as_object(line: str) -> str:
    """Return metadata as a JSON object, or empty; older indexes have other lines."""
    return line if not line or is_object(line.encode()) else json.dumps({"metadata": line})


def _shown_or_failed(show: Callable[[Place], Shown], place: Place) -> Shown | WindowFailure:
    try:
        return show(place)
    except (InputError, RemoteError) as error:
        return WindowFailure(place, error)


def _segments(ranks: Integers) -> tuple[Segment, ...]:
    """Return the segments of the shards that have an occurrence."""
    rows = enumerate(ranks.tolist())
    return tuple(Segment(shard, low, high) for shard, (low, high) in rows if low < high)


def _start(middle: bytes, query: bytes) -> int:
    """Return where a query begins in the text of its n-gram, which may begin with a space."""
    start = middle.find(query)
    return start if start >= 0 else int(middle.startswith(b" ") and not query.startswith(b" "))
