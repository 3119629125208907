"""Literals → occurrences and documents, in one pass over documents.

An occurrence is a start offset in the UTF-8 bytes of one document. Overlapping ones count, and case
matters. A `MatchRule` says otherwise.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from ngramscan.errors import EngineError
from ngramscan.matching.engines import Engine, Hit, TextBytes, compile_engine
from ngramscan.matching.expressions import expression_engine
from ngramscan.matching.normalization import Normalization, normalized
from ngramscan.matching.occurrences import find_occurrences
from ngramscan.matching.rules import EXACT, MatchRule
from ngramscan.matching.white_space import spaced_engine
from ngramscan.matching.word_ends import WholeWords, whole_word_engine

CHECKED_DOCUMENTS = 20
CHECKED_BYTES_EACH = 50_000
CHECKED_QUERIES = 250
"""How much of each run is also counted by brute force: documents, bytes of each, queries."""

BYTES_AT_ONCE = 1 << 20
"""Bytes of texts that are searched at once, if the engine can."""

Natural = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts in some documents."""

    occurrences: dict[Natural, Positive]
    """By the number of a query, of those that occur."""
    documents: dict[Natural, Positive]
    """Documents with at least one occurrence, of the same queries."""
    unions: list[Natural]
    """Documents with at least one query of a union, per union."""
    documents_read: Natural
    bytes_read: Natural
    """Bytes of text, before it is normalized."""
    skipped: dict[str, Natural] = field(default_factory=dict)
    """Lines or files without a text, by what is wrong with them."""


class Matcher:
    """Finds queries in texts, and checks on the first texts that it finds all of them.

    One per thread; can't be pickled. `queries` are unique, in the given order. Texts are
    normalized, queries are taken as they are.
    """

    def __init__(
        self,
        queries: Sequence[str],
        rule: MatchRule = EXACT,
        engine: Engine | None = None,
        normalization: Normalization = "",
    ) -> None:
        self.queries = list(dict.fromkeys(queries))
        self._rule = rule
        self._normalization = normalization
        self._literals = [query.encode() for query in self.queries]
        # Without queries, only the size of a corpus is wanted.
        self._engine = self._compile(engine) if self._literals else engine
        self._words = frozenset[str]()
        if normalization == "words":
            self._words = frozenset(word for query in queries for word in query.split())
        self._left_to_check = CHECKED_DOCUMENTS
        self._random = random.Random(1)

    def _compile(self, engine: Engine | None) -> Engine:
        """Return an engine for the rule, from one that finds literals if there is one."""
        rule = self._rule
        if rule.is_regex:
            return expression_engine(self.queries, rule.ignore_case, rule.whole_words)
        if rule.any_space:
            return spaced_engine(self._literals, rule.ignore_case, rule.whole_words, engine)
        engine = engine or compile_engine(self._literals, rule.ignore_case)
        return whole_word_engine(engine, WholeWords(self._literals)) if rule.whole_words else engine

    def scan(self, text: TextBytes, hit: Hit) -> None:
        """Call `hit` with the number of a query, once for each of its occurrences.

        An EngineError says that it disagrees with brute force in one of the first texts.
        """
        if self._engine is not None:
            is_plain = not (self._normalization or self._left_to_check)
            self._engine.scan(text if is_plain else self._prepared(text, self._engine), hit)

    def scan_all(self, texts: Iterable[TextBytes], hit: Hit, next_text: Callable[[], None]) -> None:
        """Call `hit` as `scan` does, and `next_text` before the hits of another text."""
        if self._engine is None or self._engine.scan_all is None:
            for text in texts:
                next_text()
                self.scan(text, hit)
            return
        batch, size = [], 0
        for text in texts:
            batch.append(bytes(self._prepared(text, self._engine)))
            size += len(batch[-1])
            if size >= BYTES_AT_ONCE:
                self._engine.scan_all(batch, hit, next_text)
                batch, size = [], 0
        self._engine.scan_all(batch, hit, next_text)

    def _prepared(self, text: TextBytes, engine: Engine) -> TextBytes:
        """Return a text as it is searched; search the first ones twice."""
        if self._normalization:
            # Nothing proves that WARC and Parquet are UTF-8; other bytes are no part of a word.
            readable = str(text, "utf-8", "replace")
            text = normalized(readable, self._normalization, self._is_broken).encode()
        if self._left_to_check:
            self._left_to_check -= 1
            self._check(engine, bytes(text[:CHECKED_BYTES_EACH]))
        return text

    def _is_broken(self, head: str, tail: str) -> bool:
        """Tell whether two parts, before and after the end of a line, make a word of a query.

        `well-known` may be broken at its hyphen too, and only the queries know.
        """
        return (head + tail).casefold() in self._words

    def _check(self, engine: Engine, text: bytes) -> None:
        numbers: Sequence[int] = range(len(self.queries))
        if len(numbers) > CHECKED_QUERIES:
            # Most literals don't occur in the text, so some are appended to it.
            sampled = self._random.sample(numbers, CHECKED_QUERIES // 2)
            text = b"".join([text, *(self._literals[number] for number in sampled)])
        counted = Counter[int]()
        engine.scan(text, lambda number, *_: counted.update((number,)))
        if len(numbers) > CHECKED_QUERIES:
            others = self._random.sample(sorted(counted), min(len(counted), CHECKED_QUERIES // 2))
            numbers = sorted({*sampled, *others})
        for number in numbers:
            expected = len(find_occurrences(self.queries[number], text, self._rule))
            if counted[number] != expected:
                raise EngineError(
                    f"matching engine {engine.name}: it counts {counted[number]} x"
                    f" {self.queries[number]!r} where brute force counts {expected};"
                    " please report this"
                )


def count_texts(
    matcher: Matcher, texts: Iterable[TextBytes], unions: Sequence[Sequence[int]] = ()
) -> Counts:
    """Count the queries of a matcher in documents.

    `unions` are groups of query numbers; a document with any query of a group counts once.

    >>> counts = count_texts(Matcher(["aa", "b"]), [b"aaa", b"ab", b"aab"], unions=[[0, 1]])
    >>> counts.occurrences, counts.documents, counts.unions
    ({0: 3, 1: 2}, {0: 2, 1: 2}, [3])
    """
    occurrences, documents = defaultdict[int, int](int), defaultdict[int, int](int)
    union_documents = [0] * len(unions)
    unions_with = _unions_with(len(matcher.queries), unions) if unions else []
    present = set[int]()
    documents_read, bytes_read = 0, 0

    # The engine calls this once per occurrence: it is the hot path.
    def hit(
        number: int, _start: int = 0, _end: int = 0, _flags: int = 0, _context: object = None
    ) -> None:
        occurrences[number] += 1
        present.add(number)

    def next_text() -> None:
        if not present:
            return
        for number in present:
            documents[number] += 1
        for union in set().union(*(unions_with[number] for number in present)) if unions else ():
            union_documents[union] += 1
        present.clear()

    def measured() -> Iterator[TextBytes]:
        nonlocal documents_read, bytes_read
        for text in texts:
            documents_read += 1
            bytes_read += len(text)
            yield text

    matcher.scan_all(measured(), hit, next_text)
    next_text()
    counted = dict(sorted(occurrences.items())), dict(sorted(documents.items()))
    return Counts(*counted, union_documents, documents_read, bytes_read)


def _unions_with(n_queries: int, unions: Sequence[Sequence[int]]) -> list[list[int]]:
    unions_with: list[list[int]] = [[] for _ in range(n_queries)]
    for union, numbers in enumerate(unions):
        for number in set(numbers):
            unions_with[number].append(union)
    return unions_with
