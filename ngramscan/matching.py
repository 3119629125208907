"""Literals → occurrences and documents, in one pass over documents.

An occurrence is a start offset in the UTF-8 bytes of one document. Overlapping ones count, and case
matters unless ASCII case is ignored. Hyperscan is used where it is installed and can compile the
literals, ahocorasick_rs elsewhere; both report all occurrences. Faster ways of counting
(`bytes.count`, polars, DuckDB, ripgrep) skip overlapping occurrences, so they can't be used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, NamedTuple

import ahocorasick_rs
from msgspec import Meta

from ngramscan.errors import EngineError

CHECKED_DOCUMENTS = 20
CHECKED_BYTES_EACH = 50_000
"""The part of each run that is counted a second time by brute force."""

Text = bytes | memoryview
Hit = Callable[..., None]
"""Called for each occurrence with the number of its literal; engines pass more, to be ignored."""
Natural = Annotated[int, Meta(ge=0)]

Normalization = Literal["", "alphanumeric", "words"]
"""What is made of a text before it is searched: nothing; letters and digits alone; words in lower
case with one space around each, no punctuation."""
_WORD = re.compile(r"\w+")
_OTHER = re.compile(r"[\W_]+")
"""All that `str.isalnum` is not true of."""


def normalized(text: str, how: Normalization) -> str:
    """Return a text as it is searched: queries and documents alike.

    >>> normalized("It's 3.5\\tMetres_", "alphanumeric"), normalized("It's 3.5\\tMetres_", "words")
    ('Its35Metres', ' it s 3 5 metres_ ')
    """
    if how == "alphanumeric":
        return _OTHER.sub("", text)
    if how == "words":
        words = " ".join(_WORD.findall(text.lower()))
        return f" {words} " if words else ""
    return text


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts in some documents."""

    occurrences: list[Natural]
    """Per query."""
    documents: list[Natural]
    """Documents with at least one occurrence, per query."""
    unions: list[Natural]
    """Documents with at least one query of a union, per union."""
    documents_read: Natural
    bytes_read: Natural
    """Bytes of text."""
    skipped: dict[str, Natural] = field(default_factory=dict)
    """Lines or files without a text, by what is wrong with them."""


class Engine(NamedTuple):
    """Finds literals in texts. One per thread; can't be pickled."""

    name: str
    scan: Callable[[Text, Hit], None]
    """Calls `hit` once for each occurrence."""


def hyperscan_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine | None:
    """Return Hyperscan in block mode; None if it is missing or can't compile the literals."""
    try:
        import hyperscan
    except ImportError:  # no wheel for this machine
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = hyperscan.HS_FLAG_DOTALL | (hyperscan.HS_FLAG_CASELESS if ignore_case else 0)
    # Every byte escaped: the literal mode silently ends at a NUL.
    escaped = [b"".join(b"\\x%02x" % byte for byte in literal) for literal in literals]
    numbers = list(range(len(literals)))
    try:
        database.compile(expressions=escaped, ids=numbers, flags=[flags] * len(literals))
    except hyperscan.error:
        return None  # a literal of thousands of bytes is over its limit
    database.scratch = hyperscan.Scratch(database)

    def scan(text: Text, hit: Hit) -> None:
        # It accepts memory views, though its stubs only list bytes.
        database.scan(text, match_event_handler=hit)  # type: ignore[type-var]

    return Engine("hyperscan", scan)


def aho_corasick_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine:
    """Return the automaton of ahocorasick_rs, which runs everywhere."""
    automaton = ahocorasick_rs.BytesAhoCorasick(
        [literal.lower() if ignore_case else literal for literal in literals],
        implementation=ahocorasick_rs.Implementation.DFA,
    )

    def scan(text: Text, hit: Hit) -> None:
        searched = bytes(text).lower() if ignore_case else text  # ASCII only, as Hyperscan
        for number, _, _ in automaton.find_matches_as_indexes(searched, overlapping=True):
            hit(number)

    return Engine("ahocorasick_rs", scan)


def compile_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine:
    """Return the fastest engine that can compile these literals."""
    return hyperscan_engine(literals, ignore_case) or aho_corasick_engine(literals, ignore_case)


def find_starts(literal: bytes, text: bytes) -> list[int]:
    """Return where one literal occurs, slowly but by the definition."""
    starts, start = [], text.find(literal)
    while start >= 0:
        starts.append(start)
        start = text.find(literal, start + 1)
    return starts


def count_by_brute_force(literal: bytes, text: bytes) -> int:
    """Count the occurrences of one literal."""
    return len(find_starts(literal, text))


class Matcher:
    """Finds queries in texts, and checks on the first texts that it finds all of them.

    One per thread; can't be pickled. `queries` are unique, in the given order.
    """

    def __init__(
        self, queries: Sequence[str], ignore_case: bool = False, engine: Engine | None = None
    ) -> None:
        self.queries = list(dict.fromkeys(queries))
        self._ignore_case = ignore_case
        self._literals = [query.encode() for query in self.queries]
        # There are no queries where only the size of a corpus is asked for.
        compiled = compile_engine(self._literals, ignore_case) if self._literals else None
        self._engine = engine or compiled
        self._left_to_check = CHECKED_DOCUMENTS

    def scan(self, text: Text, hit: Hit) -> None:
        """Call `hit` with the number of a query, once for each of its occurrences.

        An EngineError says that it disagrees with brute force in one of the first texts.
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


def count_texts(
    matcher: Matcher, texts: Iterable[Text], unions: Sequence[Sequence[int]] = ()
) -> Counts:
    """Count the queries of a matcher in documents.

    `unions` are groups of query numbers; a document with any query of a group counts once.

    >>> counts = count_texts(Matcher(["aa", "b"]), [b"aaa", b"ab", b"aab"], unions=[[0, 1]])
    >>> counts.occurrences, counts.documents, counts.unions
    ([3, 2], [2, 2], [3])
    """
    occurrences, documents = [0] * len(matcher.queries), [0] * len(matcher.queries)
    last_seen_in = [-1] * len(documents)
    union_documents, union_last_seen_in = [0] * len(unions), [-1] * len(unions)
    unions_with = _unions_with(len(documents), unions)
    document, bytes_read = -1, 0

    # The engine calls one of these once per occurrence: they are the hot path. There are two, since
    # each outer name costs time in every call, needed or not.
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

    chosen, scan = hit_with_unions if unions else hit, matcher.scan
    for document, text in enumerate(texts):  # noqa: B007 - the closures read it
        bytes_read += len(text)
        scan(text, chosen)
    return Counts(occurrences, documents, union_documents, document + 1, bytes_read)


def _unions_with(n_queries: int, unions: Sequence[Sequence[int]]) -> list[list[int]]:
    unions_with: list[list[int]] = [[] for _ in range(n_queries)]
    for union, numbers in enumerate(unions):
        for number in set(numbers):
            unions_with[number].append(union)
    return unions_with
