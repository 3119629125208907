"""Parts of documents over tokens, and how a document that is held backwards is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ngramscan.index_files.compiled import Integers


@dataclass(frozen=True, slots=True)
class TokenExcerpt:
    """A part of a document; lengths are tokens."""

    document: int
    """Numbered over all shards, in their order."""
    length: int
    """Length of the document."""
    start: int
    """Tokens of the document before the excerpt."""
    offset: int
    """Tokens of the excerpt before the occurrence; -1: the occurrence begins at the separator."""
    tokens: Integers


class DocumentBounds(NamedTuple):
    """The positions of a document's first token, and of what follows its last."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """Number of tokens."""
        return self.last - self.first


class ExcerptBounds(NamedTuple):
    """The place of an excerpt in its document, in the order of reading."""

    start: int
    stop: int
    offset: int
    """As that of `TokenExcerpt`."""


def bounds_around(
    document: DocumentBounds,
    position: int,
    needle: int,
    before: int,
    after: int,
    is_backwards: bool,
) -> ExcerptBounds:
    """Return the place of an excerpt around an occurrence of `needle` tokens at a position."""
    length = document.length
    # In reading order; a separator lies at -1, also that of a document held backwards.
    at = document.last - position - needle if is_backwards else position - document.first
    at = max(at, -1) if at < length else -1
    start = min(max(at - before, 0), length)
    stop = min(max(at + after, start), length)
    return ExcerptBounds(start, stop, at - start if at >= 0 else -1)


def positions_of(document: DocumentBounds, start: int, stop: int, is_backwards: bool) -> range:
    """Return the positions of a part of a document; the tokens there are to be put in order."""
    if is_backwards:
        return range(document.last - stop, document.last - start)
    return range(document.first + start, document.first + stop)


def ends_in_reading_order(lengths: Integers, is_backwards: bool) -> Integers:
    """Return the end of the longest match at each token, from the lengths as they are searched.

    Backwards, these are the lengths of the longest parts that end with each token, the last first.
    """
    places = np.arange(len(lengths))
    if not is_backwards:
        return places + lengths
    # The longest part that ends with each token; its start never decreases.
    starts = places + 1 - lengths[::-1]
    ends: Integers = np.searchsorted(starts, places, side="right")
    return np.maximum(ends, places)
