"""The longest parts from a few places of a long text that documents have, by searching halves.

Whether a document has a part is answered by a search in linear time, and quickly. To order all
places takes a hundred times as long, which pays only for many starts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ngramscan.matching.seeds import Integers

_SEARCHES = 256
"""As many searches of a text take half of the time of ordering it."""
_BETWEEN = b"\xff"
"""Between documents; no text in UTF-8 has it."""


def are_few(text: bytes, windows: Integers, document_bytes: int) -> bool:
    """Tell whether a text has so few windows, for its length, that searches are faster."""
    searches = len(windows) * (1 + len(text).bit_length())
    return searches * (len(text) + document_bytes) <= _SEARCHES * len(text)


def longest_by_halving(text: bytes, windows: Integers, documents: Sequence[bytes]) -> Integers:
    """Return the bytes of the longest part from the start of each window that a document has.

    Windows are in the order of their starts. Where no document has the window, it is 0.
    """
    searched = _BETWEEN.join(documents)
    lengths, reach = np.zeros(len(windows), np.int64), 0
    for number, (start, stop) in enumerate(windows.tolist()):
        # What follows in a longer part occurs, too.
        if reach >= stop or text[start:stop] in searched:
            reach = _reach(text, start, max(reach, stop), searched)
            lengths[number] = reach - start
    return lengths


def _reach(text: bytes, start: int, longest_known: int, searched: bytes) -> int:
    """Return where the longest part from a place on ends; that to `longest_known` occurs."""
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
