"""CountResult by the definition, for everything that counts faster to be compared with."""

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


def union_documents(queries: Sequence[str], texts: Iterable[str]) -> int:
    """Return how many texts have at least one of some queries."""
    return sum(any(query in text for query in queries) for text in texts)


def places(query: str, texts: Iterable[str]) -> list[tuple[int, int]]:
    """Return the number of the text and the start offset of each occurrence, in their order."""
    needle = query.encode()
    return [
        (number, start)
        for number, text in enumerate(texts)
        for haystack in [text.encode()]
        for start in range(len(haystack))
        if haystack.startswith(needle, start)
    ]


def around(text: str, start: int, query: str, context: int) -> tuple[str, str]:
    """Return what stands before and behind an occurrence: so many bytes, and no cut character."""
    content, end = text.encode(), start + len(query.encode())
    before, behind = content[max(0, start - context) : start], content[end : end + context]
    return before.decode(errors="ignore"), behind.decode(errors="ignore")
