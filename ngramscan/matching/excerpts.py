"""The parts of documents that may have something in common with given texts, in one pass.

Whether a token begins depends only on two neighbouring bytes, so a shared part has the same tokens
in a document as in a text, except at its ends. Tokens are words with the punctuation after them,
and characters beyond ASCII; windows with too few of these are cut into single bytes. The grams of
all windows, of three tokens, are in a hash table, in which documents are looked up token by token.
A run of grams counts if one of them follows the same bytes as the first gram of a window, and one
is followed by the same bytes as the last. There may be false positives, but no false negatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Booleans = NDArray[np.bool_]
_BETWEEN = b"\xff"
"""Separates documents; never part of UTF-8."""
_BESIDE = 8 * _BETWEEN
"""Padding, so that eight bytes can be read before and after each place of documents."""
# Odd and without pattern: bits of the golden ratio, and constants of xxHash and wyhash.
_FACTORS = np.array(
    [
        *(0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63),
        *(0x27D4EB2F165667C5, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB),
    ],
    np.uint64,
)
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
"""Masks of the first bytes of a word, by their number."""
_SIDES = np.array([0, 1, 3, 8])
"""Numbers of bytes next to the outermost grams of a window that are compared, as it has room."""
_WIDTHS = np.array([1, 2, 4, 8, 16])
"""Bytes of a window that are compared: as many of these as it has."""
MOST_WIDE = 64
"""The most bytes whose hash can be made: eight for each factor."""
_COMPARED = (*range(0, 64, 8), 1 << 62)
"""Where they begin in it; at its end instead, if that is before."""
_PARTS = 3


def _word_starts(data: Bytes) -> Booleans:
    """Return where runs of ASCII letters, digits and `_` begin, and where other characters do.

    Each word of a text begins there, if not at the start of the text.
    """
    folded = data | np.uint8(32)
    folded -= np.uint8(97)
    is_word = folded < 26
    np.subtract(data, np.uint8(48), out=folded)
    is_word |= folded < 10
    is_word |= data == 95
    is_start = data >= 0xC0
    is_start[1:] |= is_word[1:] > is_word[:-1]
    return is_start


def _every_byte(data: Bytes) -> Booleans:
    return np.ones(len(data), np.bool_)


class _CutRule(NamedTuple):
    """How a text is cut into tokens."""

    starts: Callable[[Bytes], Booleans]
    sizes: tuple[int, ...]
    """Tokens of a gram: as many as a window has."""
    before: int
    """Bytes before the start of a token that make it one."""
    open: int
    """Tokens that begin in a window and may end after it."""


_RULES = (
    _CutRule(_word_starts, (3, 2, 1), before=1, open=1),
    _CutRule(_every_byte, (8, 3, 1), before=0, open=0),
)


class ExcerptFinder:
    """Finds parts of documents that have all that they share with given texts."""

    def __init__(self, texts: Sequence[bytes], windows: Sequence[Integers]) -> None:
        """Take texts, and the start and end of each of their windows.

        Parts of texts that matter are windows, and what windows cover that overlap or touch.
        """
        text, ranges = _joined(texts, windows)
        self._layers = list[tuple[_CutRule, list[_Layer]]]()
        for rule in _RULES:
            if not len(ranges):
                break
            tokens, layers = _CutTokens(text, rule), list[_Layer]()
            first = np.searchsorted(tokens.starts, ranges[:, 0] + rule.before)
            last = np.searchsorted(tokens.starts[:-2], ranges[:, 1]) - rule.open
            for size in rule.sizes:
                is_whole = last - first >= size
                if is_whole.any():
                    columns = ranges[is_whole], first[is_whole], last[is_whole]
                    layers.append(_Layer(tokens, *columns, size))
                ranges, first, last = (column[~is_whole] for column in (ranges, first, last))
            if layers:
                self._layers.append((rule, layers))

    def find_in_all(self, documents: Iterable[bytes], at_once: int) -> list[bytes]:
        """Return distinct excerpts of many documents, in batches of about `at_once` bytes."""
        excerpts, batch, size = dict[bytes, None](), list[bytes](), 0
        for document in documents:
            batch.append(document)
            size += len(document)
            if size >= at_once:
                excerpts |= dict.fromkeys(self.find(batch))
                batch, size = [], 0
        return [*excerpts | dict.fromkeys(self.find(batch))]

    def find(self, documents: Sequence[bytes]) -> list[bytes]:
        """Return excerpts of documents that contain all shared parts with a window."""
        text, shared_places = _beside_each_other(documents), [np.zeros((0, 2), np.int64)]
        for rule, layers in self._layers:
            tokens = _CutTokens(text, rule)
            shared_places += [layer.find(tokens) for layer in layers]
        places = np.concatenate(shared_places)
        places = places[np.argsort(places[:, 0])]
        reach = np.maximum.accumulate(places[:, 1])
        is_first = np.append(True, places[1:, 0] > reach[:-1])[: len(places)]
        is_last = np.append(is_first[1:], True)[: len(places)]
        starts, stops = places[is_first, 0].tolist(), reach[is_last].tolist()
        return [text[start:stop] for start, stop in zip(starts, stops, strict=True)]


class _CutTokens:
    """Joined texts cut into tokens, followed by two padding tokens."""

    def __init__(self, text: bytes, rule: _CutRule) -> None:
        is_start = rule.starts(np.frombuffer(text, np.uint8))
        is_start[: len(_BESIDE)], is_start[-len(_BESIDE) :] = False, False
        is_start[-len(_BESIDE) :][:2] = True
        self.starts = is_start.nonzero()[0]
        # Eight bytes from each place on.
        self._numbers = np.ndarray((len(text) - 7,), "V8", text, strides=(1,))
        sizes = self.starts[1:] - self.starts[:-1]
        self._words = self.behind(slice(-1))
        self._words &= _FIRST_BYTES.take(sizes, mode="clip")

    def hashes(self, size: int) -> Words:
        """Return the hash of each gram of this many tokens, from up to eight bytes of each."""
        n = max(0, len(self._words) - size)
        hashes: Words = self._words[:n] * _FACTORS[0]
        for k in range(1, size):
            hashes += self._words[k : k + n] * _FACTORS[k]
        return hashes

    def before(self, tokens: Integers) -> Words:
        """Return the eight bytes before tokens, the nearest one first."""
        before = self._numbers[self.starts[tokens] - 8].view(np.uint64)
        return np.asarray(before.byteswap(), np.uint64)

    def behind(self, tokens: Integers | slice) -> Words:
        """Return the eight bytes from the start of tokens on."""
        return np.asarray(self._numbers[self.starts[tokens]].view(np.uint64), np.uint64)


class HashTable:
    """A set of hashes as bits, which fit in a cache; one in a thousand is a false positive."""

    def __init__(self, hashes: Words) -> None:
        hashes = np.sort(hashes)  # np.unique takes ten times as long
        hashes = hashes[np.append(True, hashes[1:] != hashes[:-1])[: hashes.size]]
        self._shift = np.uint64(64 - max(16, (4 * hashes.size).bit_length()))
        self._parts = list[Bytes]()
        for _ in range(_PARTS):
            is_known = np.zeros(1 << 64 - int(self._shift), np.bool_)
            is_known[hashes >> self._shift] = True
            self._parts.append(np.packbits(is_known, bitorder="little"))
            hashes = _mixed(hashes)

    def find(self, hashes: Words) -> Integers:
        """Return the places of the hashes that are in the set."""
        passing: Integers | None = None
        for part in self._parts:
            places = (hashes >> self._shift).view(np.int64)
            bits = part.take(places >> 3, mode="clip") >> (places & 7).astype(np.uint8)
            in_part = (bits & 1).view(np.bool_).nonzero()[0]
            hashes, passing = (
                _mixed(hashes[in_part]),
                in_part if passing is None else passing[in_part],
            )
        assert passing is not None
        return passing


def _mixed(hashes: Words) -> Words:
    mixed: Words = (hashes ^ hashes >> np.uint64(32)) * _FACTORS[3]
    return mixed


class _Layer:
    """The grams of some windows; each window has at least one whole gram."""

    def __init__(
        self, tokens: _CutTokens, windows: Integers, first: Integers, last: Integers, size: int
    ) -> None:
        """Take the range of whole tokens of each window."""
        self._size, hashes, n = size, tokens.hashes(size), len(tokens.starts)
        begin, end = (np.bincount(places, minlength=n) for places in (first, last - size + 1))
        self._grams = HashTable(hashes[np.flatnonzero(np.cumsum(begin - end) > 0)])
        before, after = tokens.starts[first] - windows[:, 0], windows[:, 1] - tokens.starts[last]
        self._begin = _WindowSides(hashes[first], tokens.before(first), before)
        self._end = _WindowSides(hashes[last - size], tokens.behind(last), after)

    def find(self, tokens: _CutTokens) -> Integers:
        """Return the ranges that may be shared: runs of grams with the adjacent tokens."""
        hashes = tokens.hashes(self._size)
        grams = self._grams.find(hashes)
        # Of each run from the first gram that a window may begin with; most runs have none.
        is_begin = self._begin.has(hashes[grams], tokens.before(grams))
        numbers = np.arange(len(grams))
        last_begin = np.maximum.accumulate(np.where(is_begin, numbers, -1))
        grams = grams[
            last_begin >= np.maximum.accumulate(np.where(_is_run_start(grams), numbers, 0))
        ]
        # To the last that one may end with.
        is_end = self._end.has(hashes[grams], tokens.behind(grams + self._size))
        runs = np.flatnonzero(_is_run_start(grams))
        last = np.maximum.reduceat(np.where(is_end, grams, -1), runs) if runs.size else grams
        first, last = grams[runs][last >= 0], last[last >= 0]
        starts = np.where(first, tokens.starts[first - 1], 0)
        return np.stack([starts, tokens.starts[last + self._size + 1]], axis=1)


def _is_run_start(numbers: Integers) -> Booleans:
    return np.append(True, numbers[1:] > numbers[:-1] + 1)[: numbers.size]


class _WindowSides:
    """The first or the last grams of windows with the adjacent bytes."""

    def __init__(self, hashes: Words, adjacent: Words, sizes: Integers) -> None:
        classes = _SIDES[np.searchsorted(_SIDES, sizes, "right") - 1]
        self._sizes = np.unique(classes)[:, None]
        self._table = HashTable(_with_side(hashes, adjacent, classes))

    def has(self, hashes: Words, adjacent: Words) -> Booleans:
        is_present = np.zeros(len(hashes), np.bool_)
        side_hashes = _with_side(hashes, adjacent, self._sizes).ravel()
        is_present[self._table.find(side_hashes) % len(hashes)] = True
        return is_present


def _with_side(hashes: Words, adjacent: Words, size: Integers) -> Words:
    side_hashes: Words = (hashes ^ (adjacent & _FIRST_BYTES[size]) * _FACTORS[1]) * _FACTORS[2]
    return side_hashes


def possible_windows(
    parts: Sequence[bytes], texts: Sequence[bytes], windows: Sequence[Integers]
) -> list[Booleans]:
    """Return for each window of each text whether it may occur in a part.

    All compared pieces of it have to occur: 16 bytes, or half of the window, at several offsets.
    """
    documents, (text, ranges) = _beside_each_other(parts), _joined(texts, windows)
    is_possible = np.zeros(len(ranges), np.bool_)
    for wide, of_width in by_width(ranges[:, 1] - ranges[:, 0], _WIDTHS):
        candidates = of_width
        table = HashTable(wide_hashes(documents, slice(max(0, len(documents) - wide + 1)), wide))
        for offset in _COMPARED:
            starts = np.minimum(ranges[candidates, 0] + offset, ranges[candidates, 1] - wide)
            candidates = candidates[table.find(wide_hashes(text, starts, wide))]
        is_possible[candidates] = True
    firsts = accumulate(map(len, windows), initial=0)
    return [
        is_possible[at : at + len(windows_of_text)]
        for at, windows_of_text in zip(firsts, windows, strict=False)
    ]


def by_width(sizes: Integers, widths: Integers) -> Iterator[tuple[int, Integers]]:
    """Yield each width with the numbers of the windows for which it is the largest that fits."""
    classes = np.searchsorted(widths, sizes, "right") - 1
    for number in np.unique(classes).tolist():
        yield int(widths[number]), np.flatnonzero(classes == number)


def wide_hashes(text: bytes, starts: Integers | slice, wide: int) -> Words:
    """Return the hashes of 1, 2, 4 or a multiple of 8 bytes at some places of a text."""
    words = np.ndarray((len(text) - 7,), "<u8", text, strides=(1,))
    hashes: Words = (words[starts] & _FIRST_BYTES[min(wide, 8)]) * _FACTORS[0]
    for number in range(1, wide // 8):
        hashes += words[8 * number :][starts] * _FACTORS[number]
    return hashes


def _joined(texts: Sequence[bytes], windows: Sequence[Integers]) -> tuple[bytes, Integers]:
    """Join texts; return them with the start and end of all their windows."""
    sizes = (len(text) + len(_BETWEEN) for text in texts)
    firsts = accumulate(sizes, initial=len(_BESIDE + _BETWEEN))
    shifted = [
        windows_of_text + first for windows_of_text, first in zip(windows, firsts, strict=False)
    ]
    return _beside_each_other(texts), np.concatenate([np.zeros((0, 2), np.int64), *shifted])


def _beside_each_other(texts: Iterable[bytes]) -> bytes:
    return _BETWEEN.join([_BESIDE, *texts, _BESIDE])
