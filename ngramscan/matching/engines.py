"""Engines that find literals in a text, all occurrences of them.

Hyperscan is used where it is installed and can compile the literals, ahocorasick_rs elsewhere.
Faster ways of counting (`bytes.count`, polars, DuckDB, ripgrep) skip overlapping occurrences, so
they can't be used. Both become slow with thousands of literals, and large: 60,000 of them take
Hyperscan 12 s to compile, and then it reads 7 MB/s. These have an engine of our own, `grams`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import AnyStr, NamedTuple

import ahocorasick_rs

MANY = 500
"""With at least this many literals, our own engine is faster than Hyperscan."""
_DFA_BYTES = 500_000
"""An automaton of more bytes of literals would take hundreds of megabytes in its fastest form."""
_HYPERSCAN_LITERAL_BYTES = 4000
_HYPERSCAN_EXPRESSION_BYTES = 16_000
"""Hyperscan takes expressions of up to 16,000 characters; longer ones are not tried."""
_DFA_LITERAL_BYTES = 1000
"""Longer repetitive literals would take quadratic time to compile."""
_COMPARED_AGAIN = 64
"""Limit of how often a byte of a text is compared with one literal."""

TextBytes = bytes | memoryview
Hit = Callable[..., None]
"""Called for each occurrence with the number of its literal, with its start where the engine knows
it, its end, and more, to be ignored."""


ScanAll = Callable[[Sequence[bytes], Hit, Callable[[], None]], None]


class Engine(NamedTuple):
    """Finds literals in texts. One per thread; can't be pickled."""

    name: str
    scan: Callable[[TextBytes, Hit], None]
    """Calls `hit` once for each occurrence."""
    scan_all: ScanAll | None = None
    """The same for many texts, where that is faster; the last argument is called before the hits of
    each text."""


def hyperscan_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine | None:
    """Return Hyperscan in block mode; None if it is missing or can't compile the literals."""
    if max(map(len, literals), default=0) > _HYPERSCAN_LITERAL_BYTES:
        return None
    return hyperscan_expression_engine([escaped(literal) for literal in literals], ignore_case)


def escaped(literal: bytes) -> bytes:
    """Return an expression for a literal, with every byte escaped: a NUL would end it."""
    return b"".join(b"\\x%02x" % byte for byte in literal)


def hyperscan_expression_engine(
    expressions: Sequence[bytes], ignore_case: bool = False
) -> Engine | None:
    """Return Hyperscan for regular expressions of bytes, whose matches it finds by their ends."""
    try:
        import hyperscan
    except ImportError:  # no wheel for this machine
        return None
    if max(map(len, expressions), default=0) > _HYPERSCAN_EXPRESSION_BYTES:
        return None
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = hyperscan.HS_FLAG_DOTALL | (hyperscan.HS_FLAG_CASELESS if ignore_case else 0)
    numbers = list(range(len(expressions)))
    try:
        database.compile(expressions=expressions, ids=numbers, flags=[flags] * len(expressions))
    except hyperscan.error:
        return None  # literals that are over another of its limits
    database.scratch = hyperscan.Scratch(database)

    def scan(text: TextBytes, hit: Hit) -> None:
        # It accepts memory views, though its stubs only list bytes.
        database.scan(text, match_event_handler=hit)  # type: ignore[type-var]

    return Engine("hyperscan", scan)


def aho_corasick_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine:
    """Return the automaton of ahocorasick_rs, which runs everywhere."""
    forms = ahocorasick_rs.Implementation
    sizes = [len(literal) for literal in literals]
    is_small = sum(sizes) <= _DFA_BYTES and max(sizes, default=0) <= _DFA_LITERAL_BYTES
    automaton = ahocorasick_rs.BytesAhoCorasick(
        [literal.lower() if ignore_case else literal for literal in literals],
        implementation=forms.DFA if is_small else forms.ContiguousNFA,
    )

    def scan(text: TextBytes, hit: Hit) -> None:
        searched = bytes(text).lower() if ignore_case else text  # ASCII only, as Hyperscan
        for match in automaton.find_matches_as_indexes(searched, overlapping=True):
            hit(*match)

    return Engine("ahocorasick_rs", scan)


def gram_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine:
    """Return our own engine, which searches many texts at once. Others find short literals."""
    from ngramscan.matching.grams import GRAM_WORDS, Grams, least_bytes  # numpy is slow to import

    numbered = [(literal.lower() if ignore_case else literal) for literal in literals]
    short_literals, groups = list(range(len(literals))), list[tuple[Grams, list[int]]]()
    for words in GRAM_WORDS:
        long = [number for number in short_literals if len(literals[number]) >= least_bytes(words)]
        short_literals = [
            number for number in short_literals if len(literals[number]) < least_bytes(words)
        ]
        if long:
            groups.append((Grams([numbered[number] for number in long], words), long))
    short_engine = (
        _compile_small([literals[number] for number in short_literals], ignore_case)
        if short_literals
        else None
    )

    def scan_all(texts: Sequence[bytes], hit: Hit, next_text: Callable[[], None]) -> None:
        searched = [text.lower() for text in texts] if ignore_case else texts
        by_group = [(grams.find(searched), numbers) for grams, numbers in groups]
        for place, text in enumerate(texts):
            next_text()
            for by_text, numbers in by_group:
                for position, stop in by_text.get(place, ()):
                    hit(numbers[position], 0, stop)
            if short_engine:
                short_engine.scan(
                    text, lambda number, _, stop, *__: hit(short_literals[number], 0, stop)
                )

    return Engine("grams", lambda text, hit: scan_all([bytes(text)], hit, lambda: None), scan_all)


def compile_engine(literals: Sequence[bytes], ignore_case: bool = False) -> Engine:
    """Return the fastest engine for these literals that can compile them."""
    chosen = gram_engine if len(literals) >= MANY else _compile_small
    return chosen(literals, ignore_case)


def _compile_small(literals: Sequence[bytes], ignore_case: bool) -> Engine:
    return hyperscan_engine(literals, ignore_case) or aho_corasick_engine(literals, ignore_case)


def find_starts(literal: AnyStr, text: AnyStr) -> list[int]:
    """Return where one literal occurs, overlapping occurrences included, in linear time."""
    start = text.find(literal)
    if start < 0:
        return []
    # A search takes the length of the literal again for each occurrence.
    distance = least_distance(literal) if len(literal) > _COMPARED_AGAIN else 1
    if len(literal) > _COMPARED_AGAIN * distance:
        return list(_periodic_starts(literal, text))
    starts = []
    while start >= 0:
        starts.append(start)
        start = text.find(literal, start + distance)
    return starts


def _periodic_starts(literal: AnyStr, text: AnyStr) -> Iterator[int]:
    """Yield where a literal occurs, as Knuth, Morris and Pratt find it: no place is read twice."""
    borders, length = _borders(literal), 0
    for place, unit in enumerate(text):
        if length == len(literal):
            length = borders[-1]
        while length and unit != literal[length]:
            length = borders[length - 1]
        length += unit == literal[length]
        if length == len(literal):
            yield place + 1 - length


def least_distance(text: AnyStr) -> int:
    """Return the least distance of two occurrences of a text: its smallest period."""
    return len(text) - _borders(text)[-1]


def _borders(text: AnyStr) -> list[int]:
    """Return, for each beginning of a text, the longest shorter one that is also its end."""
    borders = [0] * len(text)
    for place in range(1, len(text)):
        length = borders[place - 1]
        while length and text[place] != text[length]:
            length = borders[length - 1]
        borders[place] = length + (text[place] == text[length])
    return borders


def count_by_brute_force(literal: bytes, text: bytes) -> int:
    """Count the occurrences of one literal."""
    return len(find_starts(literal, text))
