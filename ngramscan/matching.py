"""Literals → occurrences and documents, in one pass over documents.

An occurrence is a start offset in the UTF-8 bytes of one document: overlapping ones count, upper
and lower case differ unless it is asked to ignore them (of ASCII letters). Hyperscan is used where
it is installed and can compile the literals, ahocorasick_rs elsewhere; both report all occurrences.
Faster ways of counting (`bytes.count`, polars, DuckDB, ripgrep) skip overlapping occurrences, so
they are no choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import ahocorasick_rs

from ngramscan.errors import EngineError

try:
    import hyperscan
except ImportError:  # no wheel for this machine
    hyperscan = None  # type: ignore[assignment]

CHECKED_DOCUMENTS = 20
CHECKED_BYTES_EACH = 50_000
"""How much of each run is counted a second time by brute force."""


Text = bytes | memoryview
Hit = Callable[..., None]
"""Called for each occurrence with the number of its literal (what else comes is of no use)."""


class Engine(Protocol):
    """Finds literals in a text."""

    name: str

    def scan(self, text: Text, hit: Hit) -> None:
        """Call `hit` with the number of a literal, once for each of its occurrences."""


class HyperscanEngine:
    """Hyperscan in block mode. One per thread; can't be pickled."""

    name = "hyperscan"

    def __init__(self, literals: Sequence[bytes], ignore_case: bool = False) -> None:
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        # Every byte escaped: the literal mode ends at a NUL and says nothing.
        flags = hyperscan.HS_FLAG_DOTALL | (hyperscan.HS_FLAG_CASELESS if ignore_case else 0)
        escaped = [b"".join(b"\\x%02x" % byte for byte in literal) for literal in literals]
        self._database.compile(
            expressions=escaped,
            ids=list(range(len(literals))),
            flags=[flags] * len(literals),
        )
        self._database.scratch = hyperscan.Scratch(self._database)

    def scan(self, text: Text, hit: Hit) -> None:
        """Call `hit` with the number of a literal, once for each of its occurrences."""
        # A view is taken as it is, though the stubs know only bytes.
        self._database.scan(text, match_event_handler=hit)  # type: ignore[type-var]


class AhoCorasickEngine:
    """The automaton of ahocorasick_rs; runs everywhere."""

    name = "ahocorasick_rs"

    def __init__(self, literals: Sequence[bytes], ignore_case: bool = False) -> None:
        self._ignore_case = ignore_case
        self._automaton = ahocorasick_rs.BytesAhoCorasick(
            [literal.lower() if ignore_case else literal for literal in literals],
            implementation=ahocorasick_rs.Implementation.DFA,
        )

    def scan(self, text: Text, hit: Hit) -> None:
        """Call `hit` with the number of a literal, once for each of its occurrences."""
        if self._ignore_case:
            text = bytes(text).lower()  # of bytes: ASCII only, as Hyperscan does
        for number, _, _ in self._automaton.find_matches_as_indexes(text, overlapping=True):
            hit(number)


def compile_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine:
    """Return the fastest engine that takes these literals."""
    if hyperscan is not None:
        try:
            return HyperscanEngine(literals, ignore_case)
        except hyperscan.error:
            pass  # a literal of thousands of bytes is over its limit
    return AhoCorasickEngine(literals, ignore_case)


def find_starts(literal: bytes, text: bytes) -> list[int]:
    """Return where one literal occurs, by the definition, slowly."""
    starts, start = [], text.find(literal)
    while start >= 0:
        starts.append(start)
        start = text.find(literal, start + 1)
    return starts


def count_by_brute_force(literal: bytes, text: bytes) -> int:
    """Count the occurrences of one literal."""
    return len(find_starts(literal, text))


class Matcher:
    """Finds queries in texts, and proves on the first of them that it finds all.

    One per thread; can't be pickled. `queries` are unique, in the order they were given.
    """

    def __init__(
        self, queries: Sequence[str], ignore_case: bool = False, engine: Engine | None = None
    ) -> None:
        self.queries = list(dict.fromkeys(queries))
        self._ignore_case = ignore_case
        self._literals = [query.encode() for query in self.queries]
        # Without queries (only the size of a corpus is asked) there is nothing to find.
        compiled = compile_engine(self._literals, ignore_case) if self._literals else None
        self._engine = engine or compiled
        self._left_to_check = CHECKED_DOCUMENTS

    def scan(self, text: Text, hit: Hit) -> None:
        """Call `hit` with the number of a query, once for each of its occurrences.

        Raises
        ------
        EngineError
            In the first texts, the engine found other counts than brute force.
        """
        if self._engine is None:
            return
        if self._left_to_check:
            self._left_to_check -= 1
            self._check(self._engine, bytes(text[:CHECKED_BYTES_EACH]))
        self._engine.scan(text, hit)

    def _check(self, engine: Engine, text: bytes) -> None:
        found: list[int] = []
        engine.scan(text, lambda number, *_: found.append(number))
        searched = text.lower() if self._ignore_case else text
        for number, (query, literal) in enumerate(zip(self.queries, self._literals, strict=True)):
            sought = literal.lower() if self._ignore_case else literal
            expected = count_by_brute_force(sought, searched)
            if found.count(number) != expected:
                raise EngineError(
                    f"matching engine {engine.name}: it counts {found.count(number)} x {query!r}"
                    f" where brute force counts {expected}; please report this"
                )


class Tally:
    """Occurrences and documents of some queries over all documents that were added.

    `unions` are groups of queries, by number; a document with any query of a group counts for it.

    >>> tally = Tally(Matcher(["aa", "b"]), unions=[[0, 1]])
    >>> tally.add([b"aaa", b"ab", b"aab"])
    >>> tally.occurrences, tally.documents, tally.union_documents
    ([3, 2], [2, 2], [3])
    """

    def __init__(self, matcher: Matcher, unions: Sequence[Sequence[int]] = ()) -> None:
        self._matcher = matcher
        self._unions_with: list[list[int]] = [[] for _ in matcher.queries]
        for union, numbers in enumerate(unions):
            for number in dict.fromkeys(numbers):
                self._unions_with[number].append(union)
        self.occurrences = [0] * len(matcher.queries)
        self.documents = [0] * len(matcher.queries)
        self.union_documents = [0] * len(unions)
        self.documents_read = 0
        self.bytes_read = 0

    def add(self, texts: Iterable[Text]) -> None:
        """Count in some more documents.

        Raises
        ------
        EngineError
            The matching engine is wrong.
        """
        occurrences, documents = self.occurrences, self.documents
        last_seen_in = [-1] * len(occurrences)
        unions_with, union_documents = self._unions_with, self.union_documents
        union_last_seen_in = [-1] * len(union_documents)
        document = -1
        scan = self._matcher.scan

        # The engine calls one of these once per occurrence: they are the hot path. Two, since each
        # name from outside costs time in every call, needed or not.
        def hit(
            number: int, _start: int = 0, _end: int = 0, _flags: int = 0, _context: object = None
        ) -> None:
            occurrences[number] += 1
            if last_seen_in[number] != document:
                last_seen_in[number] = document
                documents[number] += 1

        def hit_with_unions(
            number: int, _start: int = 0, _end: int = 0, _flags: int = 0, _context: object = None
        ) -> None:
            occurrences[number] += 1
            if last_seen_in[number] != document:
                last_seen_in[number] = document
                documents[number] += 1
                for union in unions_with[number]:
                    if union_last_seen_in[union] != document:
                        union_last_seen_in[union] = document
                        union_documents[union] += 1

        chosen = hit_with_unions if union_documents else hit
        for document, text in enumerate(texts):  # noqa: B007 - the closures read it
            self.documents_read += 1
            self.bytes_read += len(text)
            scan(text, chosen)
