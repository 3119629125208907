"""The longest matches at a few places of a long text in documents, by binary search.

Whether a document contains a substring takes one fast search in linear time. Sorting all suffixes
takes a hundred times as long, which pays off only for many starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ngramscan.matching.seeds import Integers

_SEARCHES = 256
"""This many searches of a text take half the time of sorting it."""
_BETWEEN = b"\xff"
"""Separates documents; never part of UTF-8."""


def are_few(text: bytes, windows: Integers, document_bytes: int) -> bool:
    """Tell whether a text has so few windows, for its length, that searches are faster."""
    searches = len(windows) * (1 + len(text).bit_length())
    return searches * (len(text) + document_bytes) <= _SEARCHES * len(text)


def longest_by_halving(text: bytes, windows: Integers, documents: Sequence[bytes]) -> Integers:
    """Return the length of the longest match at the start of each window, in bytes.

    Windows are sorted by their starts. If no document contains the whole window, the length is 0.
    """
    searched = _BETWEEN.join(documents)
    lengths, reach = np.zeros(len(windows), np.int64), 0
    for number, (start, stop) in enumerate(windows.tolist()):
        # A window within an earlier match also occurs.
        if reach >= stop or text[start:stop] in searched:
            reach = _reach(text, start, max(reach, stop), searched)
            lengths[number] = reach - start
    return lengths


def _reach(text: bytes, start: int, longest_known: int, searched: bytes) -> int:
    """Return the end of the longest match at a place; the part up to `longest_known` occurs."""
    if text[start:] in searched:
        return len(text)
    beyond = len(text)
    while beyond - longest_known > 1:
        middle = (longest_known + beyond) // 2
        if text[start:middle] in searched:
            longest_known = middle
        else:
            beyond = middle
    return longest_known
