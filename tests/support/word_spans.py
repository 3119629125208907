"""The spans of a text by their definition, without our code: words, and `in`."""

import re
from collections.abc import Sequence


def words_of(text: str) -> list[tuple[int, int]]:
    # The signs of scripts without spaces that tests have.
    return [found.span() for found in re.finditer(r"[字中]|[^\W字中]+", text)]


def longest_from(text: str, documents: Sequence[str]) -> list[int]:
    """Return for each word the end of the longest part of whole words that a document has."""
    words, ends, stop = words_of(text), [], 0
    for first, (start, _) in enumerate(words):
        stop = max(stop, first)
        while stop < len(words) and any(text[start : words[stop][1]] in each for each in documents):
            stop += 1
        ends.append(stop)
    return ends


def spans_of(text: str, documents: Sequence[str], least: int) -> list[tuple[int, int]]:
    """Return the parts of at least so many words that are in no longer part."""
    ends = [0, *longest_from(text, documents)]
    pairs = zip(range(len(ends)), ends[1:], ends, strict=False)
    return [(first, end) for first, end, before in pairs if end > before and end - first >= least]
