"""Candidate places in documents for windows of a text, and the lengths of their matches.

If a match reaches the next start of the text, the rest of it equals the match of that start. So
each pair is compared only up to the next start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ngramscan.matching.excerpts import MOST_WIDE, HashTable, by_width, wide_hashes

Integers = NDArray[np.int64]
Words = NDArray[np.uint64]
Booleans = NDArray[np.bool_]
WORD_BYTES = 8
_FIRST_WIDTHS = np.array([1, 2, 4, 8, 16])
"""Bytes of windows that are compared at each place of all documents."""
_WIDTHS = np.array([1, 2, 4, 8, 16, 24, 32, 40, 48, MOST_WIDE])
"""Bytes that are compared at the remaining places."""
_ROUNDS = 64
"""Comparisons of eight bytes of all pairs; those that share more are compared one by one."""
_CHUNK = 1 << 12
"""The first bytes of a pair that is compared alone; then twice as many each time."""


@dataclass(frozen=True, slots=True)
class SeedPairs:
    """Pairs of a window and a candidate place in a document."""

    windows: Integers
    """The number of the window of each pair."""
    places: Integers


@dataclass(frozen=True, slots=True)
class _WindowGroup:
    """Windows with the same number of compared bytes, and the places that match any of them."""

    windows: Integers
    places: Integers
    """In the order of hashes."""
    low: Integers
    high: Integers
    """By window, the range of its places."""

    @classmethod
    def without_windows(cls) -> _WindowGroup:
        """Return an empty group."""
        none = np.zeros(0, np.int64)
        return cls(none, none, none, none)

    def without(self, windows: Integers) -> _WindowGroup:
        """Return the same without some of the windows."""
        is_retained = ~np.isin(self.windows, windows)
        return _WindowGroup(
            self.windows[is_retained], self.places, self.low[is_retained], self.high[is_retained]
        )

    def pairs(self, is_chosen: Booleans) -> SeedPairs:
        """Return each of the chosen windows with each of its places."""
        chosen = is_chosen[self.windows]
        sizes = (self.high - self.low)[chosen]
        windows = np.repeat(self.windows[chosen], sizes)
        # The numbers of all ranges, concatenated.
        before = np.cumsum(sizes) - sizes
        numbers = np.arange(len(windows)) + np.repeat(self.low[chosen] - before, sizes)
        return SeedPairs(windows, self.places[numbers])

    def places_of(self, is_chosen: Booleans) -> Integers:
        """Return the places of the chosen windows, each once."""
        chosen = is_chosen[self.windows]
        begin, end = (
            np.bincount(limits[chosen], minlength=len(self.places) + 1)
            for limits in (self.low, self.high)
        )
        places: Integers = self.places[np.cumsum(begin - end)[:-1] > 0]
        return places


class SeedTable:
    """The places in documents that share most with windows, up to 64 bytes."""

    def __init__(self, data: bytes, starts: Integers, sizes: Integers, documents: slice) -> None:
        """Take the starts and sizes of windows in `data`, and where in it the documents are.

        `MOST_WIDE` bytes of padding follow.
        """
        self._data, self._starts, self._sizes = data, starts, sizes
        self._groups = [*self._find(documents)]
        self.candidates = np.zeros(len(starts), np.int64)
        """By window, the number of its places."""
        for group in self._groups:
            self.candidates[group.windows] = group.high - group.low

    def _find(self, documents: slice) -> Iterator[_WindowGroup]:
        """Yield groups of windows, and the places that share most with each."""
        for first_wide, windows in by_width(self._sizes, _FIRST_WIDTHS):
            of_windows = wide_hashes(self._data, self._starts[windows], first_wide)
            of_documents = wide_hashes(self._data, documents, first_wide)
            places = HashTable(of_windows).find(of_documents) + documents.start
            classes = np.searchsorted(_WIDTHS, self._sizes[windows], "right") - 1
            group = _WindowGroup.without_windows()
            for number in range(int(classes.min()), len(_WIDTHS)):
                # Where the next bytes are shared too, only places that share them matter.
                longer_windows = np.concatenate([group.windows, windows[classes == number]])
                following = self._group(longer_windows, places, int(_WIDTHS[number]))
                yield group.without(following.windows)
                group = following
            yield group

    def _group(self, windows: Integers, places: Integers, wide: int) -> _WindowGroup:
        """Return the windows that have places with the same first bytes, and these places."""
        hashes = wide_hashes(self._data, places, wide)
        order = np.argsort(hashes)
        hashes, window_hashes = hashes[order], wide_hashes(self._data, self._starts[windows], wide)
        low, high = (np.searchsorted(hashes, window_hashes, side) for side in ("left", "right"))
        has_places = low < high
        return _WindowGroup(windows[has_places], places[order], low[has_places], high[has_places])

    def pairs(self, is_chosen: Booleans) -> SeedPairs:
        """Return each chosen window with the places that have its first and its last bytes."""
        pairs = [self._with_ends(group.pairs(is_chosen)) for group in self._groups]
        none = np.zeros(0, np.int64)
        return SeedPairs(
            np.concatenate([none, *(part.windows for part in pairs)]),
            np.concatenate([none, *(part.places for part in pairs)]),
        )

    def _with_ends(self, pairs: SeedPairs) -> SeedPairs:
        """Return the pairs that share the last eight bytes of the window."""
        words = np.ndarray((len(self._data) - WORD_BYTES + 1,), "<u8", self._data, strides=(1,))
        to_last = self._sizes[pairs.windows] - WORD_BYTES
        window_ends, place_ends = (
            column + to_last for column in (self._starts[pairs.windows], pairs.places)
        )
        is_within = place_ends < len(words)
        is_alike = words[window_ends] == words[np.where(is_within, place_ends, 0)]
        has_end = (to_last < 0) | (is_within & is_alike)
        return SeedPairs(pairs.windows[has_end], pairs.places[has_end])

    def places_of(self, is_chosen: Booleans) -> Integers:
        """Return the places of the chosen windows."""
        places = [group.places_of(is_chosen) for group in self._groups]
        return np.concatenate([np.zeros(0, np.int64), *places])


def longest_of_pairs(
    data: bytes, words: Words, starts: Integers, stops: Integers, pairs: SeedPairs
) -> Integers:
    """Return how many bytes each start shares with one of its places, at most.

    Parameters
    ----------
    data, words : bytes, array of uint64
        Texts and documents, and the eight bytes from each place on, the first one in front.
    starts, stops : array of int64
        Ascending starts of windows, and the end of the text of each.
    pairs : SeedPairs
        All best places of each window; all that share `MOST_WIDE` bytes count as equally good.
    """
    distances = pairs.places - starts[pairs.windows]
    order = np.argsort(distances * len(starts) + pairs.windows)
    windows, places, distances = pairs.windows[order], pairs.places[order], distances[order]
    window_starts = starts[windows]
    room = stops[windows] - window_starts
    to_next = np.append(window_starts[1:] - window_starts[:-1], 0)[: len(window_starts)]
    has_next = np.append(distances[1:] == distances[:-1], False)[: len(window_starts)] & (
        to_next < room
    )
    shared = _shared(data, words, window_starts, places, np.where(has_next, to_next, room))
    # The last pair of each chain in which all is shared up to the next one.
    last_ones = np.flatnonzero(~has_next | (shared < to_next))
    last = last_ones[np.searchsorted(last_ones, np.arange(len(window_starts)))]
    longest = np.zeros(len(starts), np.int64)
    np.maximum.at(longest, windows, window_starts[last] + shared[last] - window_starts)
    return longest


def _shared(
    data: bytes, words: Words, places: Integers, others: Integers, most: Integers
) -> Integers:
    """Return the lengths of the common prefixes of pairs of places, up to `most`."""
    shared, unfinished = np.zeros(len(places), np.int64), np.arange(len(places))
    for _ in range(_ROUNDS):
        if not len(unfinished):
            break
        equal_bytes = same_bytes(
            words[places[unfinished] + shared[unfinished]],
            words[others[unfinished] + shared[unfinished]],
        )
        shared[unfinished] += equal_bytes
        unfinished = unfinished[
            (equal_bytes == WORD_BYTES) & (shared[unfinished] < most[unfinished])
        ]
    content = np.frombuffer(data, np.uint8)
    for number in unfinished.tolist():
        matched = int(shared[number])
        first_content, second_content = (
            content[places[number] + matched :],
            content[others[number] + matched :],
        )
        shared[number] += _shared_of_one(first_content[: most[number] - matched], second_content)
    return np.minimum(shared, most)


def same_bytes(words: Words, other_words: Words) -> Integers:
    """Return the lengths of the common prefixes of pairs of big-endian words, in bytes."""
    differing = words.astype(np.uint64) ^ other_words.astype(np.uint64)
    equal_bytes = np.zeros(len(differing), np.int64)
    for size in range(1, WORD_BYTES + 1):
        equal_bytes += differing >> np.uint64(8 * (WORD_BYTES - size)) == 0
    return equal_bytes


def _shared_of_one(content: NDArray[np.uint8], other_content: NDArray[np.uint8]) -> int:
    """Return the length of the common prefix, in bytes."""
    most, start, size = min(len(content), len(other_content)), 0, _CHUNK
    while start < most:
        stop = min(start + size, most)
        differing = np.flatnonzero(content[start:stop] != other_content[start:stop])
        if len(differing):
            return start + int(differing[0])
        start, size = stop, 2 * size
    return most
