"""The files of an index over tokens in place, with replies that are kept in the journal."""

from __future__ import annotations

import base64
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from ngramscan.clock import now
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.tokens.excerpts import TokenExcerpt
from ngramscan.index_files.tokens.in_place import InPlaceTokenFolder
from ngramscan.indexes.file_replies import FileReplies, whole
from ngramscan.indexes.tokens.files import FoundForm

_TOKENS_AT_ONCE = 1000
"""Tokens of texts whose matches are searched at the same time: more would fill the memory."""
_FIELDS = ("document", "length", "start", "offset")
"""The fields of an excerpt that are numbers."""

ExcerptKey = tuple[int, int, int, int, int]
"""The arguments of `TokenFiles.excerpt`."""
Item = TypeVar("Item", bound=Hashable)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TokenFacts:
    """The numbers of an index over tokens that the journal has."""

    width: int
    shard_tokens: list[int]
    index_bytes: int
    bounds_by_folder: dict[str, list[int]]
    """The first document in each folder, and what follows the last."""


def facts_about(folder: InPlaceTokenFolder) -> dict[str, Any]:
    """Return the facts about an index as JSON."""
    bounds = {
        address: [documents.start, documents.stop]
        for address, documents in folder.documents_by_folder.items()
    }
    facts = TokenFacts(folder.width, list(folder.shard_tokens), folder.index_bytes, bounds)
    return {"tokens": asdict(facts)}


def read_facts(facts: Mapping[str, Any]) -> TokenFacts:
    """Return the facts; any error says that the journal has been edited."""
    stored = TokenFacts(**facts["tokens"])
    numbers = [stored.width, *stored.shard_tokens, stored.index_bytes]
    numbers += [number for bounds in stored.bounds_by_folder.values() for number in bounds]
    for number in numbers:
        whole(number)
    return stored


class KeptTokenFiles:
    """An index over tokens in place, which is asked for what the journal doesn't have."""

    backwards: bool = False

    def __init__(self, replies: FileReplies[InPlaceTokenFolder]) -> None:
        self._replies = replies

    @property
    def _facts(self) -> TokenFacts:
        return read_facts(self._replies.facts)

    @property
    def place(self) -> str:
        """The addresses, separated by commas."""
        return ",".join(self._facts.bounds_by_folder)

    @property
    def width(self) -> int:
        """Bytes of a token."""
        return self._facts.width

    @property
    def separator(self) -> int:
        """The id of what separates documents."""
        return (1 << 8 * self.width) - 1

    @property
    def documents(self) -> int:
        """Number of documents in all shards."""
        return max(stop for _, stop in self._facts.bounds_by_folder.values())

    @property
    def tokens(self) -> int:
        """Number of tokens and separators."""
        return sum(self.shard_tokens)

    @property
    def shard_tokens(self) -> list[int]:
        """The same of each shard."""
        return self._facts.shard_tokens

    @property
    def index_bytes(self) -> int:
        """Bytes of all files."""
        return self._facts.index_bytes

    @property
    def documents_by_folder(self) -> dict[str, range]:
        """The numbers of the documents in each folder."""
        return {name: range(*bounds) for name, bounds in self._facts.bounds_by_folder.items()}

    def opened(self) -> InPlaceTokenFolder:
        """Return the open files."""
        folder = self._replies.opened()
        folder.backwards = self.backwards
        return folder

    def find(self, patterns: Sequence[Sequence[int]]) -> Integers:
        """Return the ranks [low, high) of some token n-grams, shape (patterns, shards, 2)."""
        return np.stack([form.ranks for form in self.find_forms(patterns)])

    def find_forms(self, patterns: Sequence[Sequence[int]]) -> Iterator[FoundForm]:
        """Yield where some n-grams occur, in their order."""
        shards = len(self.shard_tokens)

        def read(_: tuple[int, ...], reply: Any) -> Integers:
            ranks = np.array([[whole(low), whole(high)] for low, high in reply], np.int64)
            return ranks.reshape(shards, 2)

        wanted = [tuple(pattern) for pattern in patterns]
        stored = self._replies.stored(wanted, self._form("find"), read)
        missing = [pattern for pattern in dict.fromkeys(wanted) if pattern not in stored]
        located: dict[tuple[int, ...], FoundForm] = {
            pattern: FoundForm(ranks, "journal", asked_at)
            for pattern, (ranks, asked_at) in stored.items()
        }
        if missing:
            ranks_by_pattern = self.opened().find(missing)
            self._replies.check()
            for pattern, ranks in zip(missing, ranks_by_pattern, strict=True):
                self._replies.keep(self._form("find")(pattern), ranks.tolist())
                located[pattern] = FoundForm(ranks, "tokens", now())
        yield from (located[pattern] for pattern in wanted)

    def _form(self, question: str) -> Callable[[Any], list[Any]]:
        """Return a function that makes the request for an item, as the journal has it."""
        direction = ["backwards"] if self.backwards else []

        def form(item: Any) -> list[Any]:
            return [question, item, *direction]

        return form

    def match_ends_of(self, texts: Sequence[Sequence[int]]) -> list[Integers]:
        """Return the end of the longest match at each token of some texts."""

        def read(text: tuple[int, ...], reply: Any) -> Integers:
            ends = np.array([whole(end) for end in reply], np.int64)
            return ends.reshape(len(text))

        wanted = [tuple(text) for text in texts]
        stored = self._replies.stored(wanted, self._form("matches"), read)
        ends_by_text = {text: ends for text, (ends, _) in stored.items()}
        missing = [text for text in dict.fromkeys(wanted) if text not in ends_by_text]
        for some in _in_groups(missing):
            ends_of_some = self.opened().match_ends_of(some)
            self._replies.check()
            for text, ends in zip(some, ends_of_some, strict=True):
                self._replies.keep(self._form("matches")(text), ends.tolist())
                ends_by_text[text] = ends
        return [ends_by_text[text] for text in wanted]

    def unknown_texts(self, texts: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
        """Return the texts whose matches the journal lacks."""
        wanted = list(dict.fromkeys(tuple(text) for text in texts))
        stored = self._replies.stored(wanted, self._form("matches"), lambda _, reply: reply)
        return [text for text in wanted if text not in stored]

    def unknown_excerpts(self, excerpts: Sequence[ExcerptKey]) -> list[ExcerptKey]:
        """Return the excerpts that the journal lacks."""
        stored = self._replies.stored(excerpts, self._form("excerpt"), lambda _, reply: reply)
        return [excerpt for excerpt in excerpts if excerpt not in stored]

    def excerpt(self, shard: int, rank: int, needle: int, before: int, after: int) -> TokenExcerpt:
        """Return the text around an occurrence of `needle` tokens."""

        def read(_: object, reply: Any) -> TokenExcerpt:
            document, length, start, offset, tokens = reply
            numbers = whole(document), whole(length), whole(start), whole(offset + 1) - 1
            return TokenExcerpt(*numbers, self._decoded(tokens))

        def ask(folder: InPlaceTokenFolder) -> TokenExcerpt:
            return folder.excerpt(shard, rank, needle, before, after)

        def write(seen: TokenExcerpt) -> list[Any]:
            return [*(getattr(seen, name) for name in _FIELDS), self._encoded(seen.tokens)]

        return self._kept("excerpt", (shard, rank, needle, before, after), read, ask, write)

    def metadata_of(self, documents: Sequence[int]) -> list[str]:
        """Return the line of JSON about each document, or an empty text."""
        form = self._form("metadata")
        stored = self._replies.stored(documents, form, lambda _, reply: _text(reply))
        lines = {document: line for document, (line, _) in stored.items()}
        missing = [document for document in dict.fromkeys(documents) if document not in lines]
        if missing:
            lines |= zip(missing, self.opened().metadata_of(missing), strict=True)
            self._replies.check()
            for document in missing:
                self._replies.keep(form(document), lines[document])
        return [lines[document] for document in documents]

    def tokens_of_documents(self, documents: Sequence[int]) -> list[Integers]:
        """Return all tokens of some documents, in reading order."""

        def read(_: object, reply: Any) -> list[Integers]:
            return [self._decoded(tokens) for tokens in reply]

        return self._kept(
            "documents",
            tuple(documents),
            read,
            lambda folder: folder.tokens_of_documents(documents),
            lambda tokens_of_all: [self._encoded(tokens) for tokens in tokens_of_all],
        )

    def count_separators(self) -> int:
        """Return the number of separators in the tables."""
        return self._kept(
            "separators",
            0,
            lambda _, reply: whole(reply),
            lambda folder: folder.count_separators(),
            int,
        )

    def _kept(
        self,
        question: str,
        item: Item,
        read_stored: Callable[[Item, Any], T],
        ask: Callable[[InPlaceTokenFolder], T],
        write: Callable[[T], Any],
    ) -> T:
        """Return a reply of the journal, or else ask for it and keep it."""
        form = self._form(question)
        stored = self._replies.stored([item], form, read_stored)
        if item in stored:
            return stored[item][0]
        reply = ask(self.opened())
        self._replies.check()
        self._replies.keep(form(item), write(reply))
        return reply

    def _encoded(self, tokens: Integers) -> str:
        return base64.b64encode(tokens.astype(f"<u{self.width}").tobytes()).decode()

    def _decoded(self, tokens: str) -> Integers:
        raw = base64.b64decode(tokens, validate=True)
        return np.frombuffer(raw, f"<u{self.width}").astype(np.int64)


def _text(value: Any) -> str:
    """Return a kept text; a journal may have been edited."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _in_groups(texts: Sequence[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    """Yield texts in groups of not many more than a thousand tokens."""
    group, tokens = list[tuple[int, ...]](), 0
    for text in texts:
        group.append(text)
        tokens += len(text)
        if tokens >= _TOKENS_AT_ONCE:
            yield group
            group, tokens = [], 0
    if group:
        yield group
