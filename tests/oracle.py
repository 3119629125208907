"""Counting by the definition, for everything that counts faster to be compared with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def occurrences(query: str, text: str) -> int:
    """Count the start offsets of a query in the UTF-8 bytes of a text."""
    needle, haystack = query.encode(), text.encode()
    return sum(haystack.startswith(needle, start) for start in range(len(haystack)))


def occurrences_fast(query: str, text: str) -> int:
    """Count the same with `str.find`, for larger texts; `test_matching` proves it equal."""
    count, start = 0, text.find(query)
    while start >= 0:
        count, start = count + 1, text.find(query, start + 1)
    return count


def tally(queries: Sequence[str], texts: Iterable[str]) -> tuple[list[int], list[int]]:
    """Return occurrences and documents per query."""
    per_document = [[occurrences_fast(query, text) for query in queries] for text in texts]
    columns = list(zip(*per_document, strict=True)) or [()] * len(queries)
    return [sum(column) for column in columns], [sum(map(bool, column)) for column in columns]
