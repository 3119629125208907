"""Literals → occurrences and documents, in one pass over documents.

An occurrence is a start offset in the UTF-8 bytes of one document. Overlapping ones count, and case
matters unless ASCII case is ignored.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from ngramscan.errors import EngineError
from ngramscan.matching.engines import Engine, Hit, Text, compile_engine, count_by_brute_force
from ngramscan.matching.normalization import Normalization, normalized

CHECKED_DOCUMENTS = 20
CHECKED_BYTES_EACH = 50_000
CHECKED_QUERIES = 250
"""The part of each run that is counted a second time by brute force."""

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
        ignore_case: bool = False,
        engine: Engine | None = None,
        normalization: Normalization = "",
    ) -> None:
        self.queries = list(dict.fromkeys(queries))
        self._ignore_case = ignore_case
        self._normalization = normalization
        self._literals = [query.encode() for query in self.queries]
        # There are no queries where only the size of a corpus is asked for.
        compiled = compile_engine(self._literals, ignore_case) if self._literals else None
        self._engine = engine or compiled
        self._left_to_check = CHECKED_DOCUMENTS
        self._random = random.Random(1)

    def scan(self, text: Text, hit: Hit) -> None:
        """Call `hit` with the number of a query, once for each of its occurrences.

        An EngineError says that it disagrees with brute force in one of the first texts.
        """
        if self._engine is None:
            return
        if self._normalization:
            # Nothing proves that WARC and Parquet are UTF-8; other bytes are no part of a word.
            text = normalized(str(text, "utf-8", "replace"), self._normalization).encode()
        if self._left_to_check:
            self._left_to_check -= 1
            self._check(self._engine, bytes(text[:CHECKED_BYTES_EACH]))
        self._engine.scan(text, hit)

    def _check(self, engine: Engine, text: bytes) -> None:
        numbers: Sequence[int] = range(len(self.queries))
        if len(numbers) > CHECKED_QUERIES:
            # Most don't occur there. That some are found shows only where they stand.
            drawn = self._random.sample(numbers, CHECKED_QUERIES // 2)
            text = b"".join([text, *(self._literals[number] for number in drawn)])
        found = Counter[int]()
        engine.scan(text, lambda number, *_: found.update((number,)))
        if len(numbers) > CHECKED_QUERIES:
            others = self._random.sample(sorted(found), min(len(found), CHECKED_QUERIES // 2))
            numbers = sorted({*drawn, *others})
        searched = text.lower() if self._ignore_case else text
        for number in numbers:
            literal = self._literals[number]
            sought = literal.lower() if self._ignore_case else literal
            expected = count_by_brute_force(sought, searched)
            if found[number] != expected:
                raise EngineError(
                    f"matching engine {engine.name}: it counts {found[number]} x"
                    f" {self.queries[number]!r} where brute force counts {expected};"
                    " please report this"
                )


def count_texts(
    matcher: Matcher, texts: Iterable[Text], unions: Sequence[Sequence[int]] = ()
) -> Counts:
    """Count the queries of a matcher in documents.

    `unions` are groups of query numbers; a document with any query of a group counts once.

    >>> counts = count_texts(Matcher(["aa", "b"]), [b"aaa", b"ab", b"aab"], unions=[[0, 1]])
    >>> counts.occurrences, counts.documents, counts.unions
    ({0: 3, 1: 2}, {0: 2, 1: 2}, [3])
    """
    occurrences, documents = defaultdict[int, int](int), defaultdict[int, int](int)
    seen, unions_seen = set[int](), set[int]()
    union_documents, unions_with = [0] * len(unions), _unions_with(unions)
    documents_read, bytes_read = 0, 0

    # The engine calls one of these once per occurrence: they are the hot path. There are two, since
    # each outer name costs time in every call, needed or not.
    def hit(
        number: int, _start: int = 0, _end: int = 0, _flags: int = 0, _context: object = None
    ) -> None:
        occurrences[number] += 1
        if number not in seen:
            seen.add(number)
            documents[number] += 1

    def hit_with_unions(
        number: int, _start: int = 0, _end: int = 0, _flags: int = 0, _context: object = None
    ) -> None:
        occurrences[number] += 1
        if number not in seen:
            seen.add(number)
            documents[number] += 1
            for union in unions_with[number]:
                if union not in unions_seen:
                    unions_seen.add(union)
                    union_documents[union] += 1

    chosen, scan = hit_with_unions if unions else hit, matcher.scan
    for text in texts:
        documents_read += 1
        bytes_read += len(text)
        scan(text, chosen)
        seen.clear()
        unions_seen.clear()
    counted = dict(sorted(occurrences.items())), dict(sorted(documents.items()))
    return Counts(*counted, union_documents, documents_read, bytes_read)


def _unions_with(unions: Sequence[Sequence[int]]) -> defaultdict[int, list[int]]:
    unions_with = defaultdict[int, list[int]](list)
    for union, numbers in enumerate(unions):
        for number in set(numbers):
            unions_with[number].append(union)
    return unions_with
