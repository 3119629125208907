"""Windows of words that texts and documents share, in one pass over the documents.

Each word of a document has a sign, a hash of its first bytes and its size, and each window one of
the signs of its words. Where a sought window may have this sign, the window is hashed from the
other bytes of its words too; where a sought window has this hash, both are compared word by word,
so none is taken for another. Nothing here depends on how often a word or a window occurs, apart
from the windows that are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]
Signs = NDArray[np.uint32]
Booleans = NDArray[np.bool_]

MOST_TEXTS = 50
"""A window that more texts have is a common one: it alone makes no document a candidate."""
LEAST_UNCOMMON = 3
"""A text with fewer windows that are not common is looked for by all its windows."""
LEAST_UNCOMMON_IN_DOCUMENT = 2
"""A document has at least as many of the uncommon windows of a text that has more."""

BETWEEN_DOCUMENTS = 0xFF
"""The byte of a word between two documents, which no text has; never part of UTF-8."""
_BETWEEN = b" %c " % BETWEEN_DOCUMENTS
_PADDING = 16 * b" "
"""So that eight bytes can be read from each place on."""
_BLOCK_BYTES = 1 << 17
"""Bytes of documents that are cut into words at once, so that they stay in the cache."""
_PART_BYTES = 1 << 21
"""Bytes of documents whose words are looked at together."""
_SIGNED = 4
"""Bytes of a word that its sign is made from."""
_PART = 8
"""Bytes that are read at once."""
_BITS_PER_WINDOW = 64
_FIRST_BIT = np.uint8(1)
_PER_BYTE = np.uint32(3)
"""The number of bits in a byte, as a power of two."""
_WITHIN_BYTE = np.uint8(7)
_SPACE = 32
# Odd and without pattern: constants of xxHash, wyhash and splitmix64, and of the golden ratio.
_START = np.uint64(0x9E3779B97F4A7C15)
_END = np.uint64(0xC2B2AE3D27D4EB4F)
_SIZE = np.uint64(0x165667B19E3779F9)
_MIDDLE = np.uint64(0xBF58476D1CE4E5B9)
_WORD = np.uint64(0x94D049BB133111EB)
_SIGN = np.uint32(0x9E3779B1)
_SIGN_OF_SIZE = np.uint32(0xC2B2AE3D)
_HALF = np.uint32(15)
_NEXT_SIGN = np.uint32(0x85EBCA6B)
_NEXT_WORD = np.uint64(0xD6E8FEB86659FD93)
_BITS_AFTER = np.array([0, 24, 16, 8, 0], np.uint32)
"""How far the first four bytes are shifted so that bytes after a word go, by its size."""
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(_PART + 1)], np.uint64)
"""Masks of the first bytes of eight, by their number."""


def longest_passage(words: int) -> int:
    """Return how many words of a document are compared, at most, with a text of some words.

    Half as many again, and ten: edits insert words, and options are set apart by their letters.
    """
    return words + words // 2 + 10


def least_windows(windows: int, least_share: float) -> int:
    """Return the least number of different windows, of all that a text has, in a passage."""
    return max(1, ceil(Fraction(str(least_share)) * windows))


def windows_of_words(words: Sequence[str], width: int) -> list[tuple[str, ...]]:
    """Return the windows of a text in their order; a text that is shorter than one is one window.

    >>> windows_of_words(["a", "b", "c"], 2), windows_of_words(["a"], 2), windows_of_words([], 2)
    ([('a', 'b'), ('b', 'c')], [('a',)], [])
    """
    if not words:
        return []
    last = max(len(words) - width, 0)
    return [tuple(words[start : start + width]) for start in range(last + 1)]


class NumberedWindows(NamedTuple):
    """The different windows of some texts."""

    windows: list[tuple[str, ...]]
    by_text: list[list[int]]
    """The numbers of the windows of each text, in their order."""


def number_windows(texts: Sequence[Sequence[str]], width: int) -> NumberedWindows:
    """Return the different windows of some texts, which are numbered as they occur first."""
    numbers: dict[tuple[str, ...], int] = {}
    by_text = [
        [numbers.setdefault(window, len(numbers)) for window in windows_of_words(words, width)]
        for words in texts
    ]
    return NumberedWindows([*numbers], by_text)


class JoinedDocuments(NamedTuple):
    """Documents after each other, with a word between them that no text has."""

    text: bytearray
    begins: Integers
    """Where each document begins, and where one more would."""

    def size_of(self, number: int) -> int:
        """Return the bytes of a document."""
        return int(self.begins[number + 1] - self.begins[number]) - len(_BETWEEN)


def join_documents(documents: Sequence[bytes], width: int) -> JoinedDocuments:
    """Join documents so that windows of up to `width` words begin with each of their words."""
    begins = np.zeros(len(documents) + 1, np.int64)
    np.cumsum([len(document) + len(_BETWEEN) for document in documents], out=begins[1:])
    begins += len(_BETWEEN)
    text = bytearray(_BETWEEN).join([b"", *documents, width * _BETWEEN + _PADDING])
    return JoinedDocuments(text, begins)


class FoundSpan(NamedTuple):
    """The span of a document that has the most different windows of a text."""

    document: int
    text_number: int
    windows: int
    """Different windows of the text in the span."""
    start: int
    """The first byte of its first window, in the words of the document."""
    stop: int
    """The end of its last window."""


class WindowFinder:
    """Counts the windows of texts in documents, and finds the spans with most windows of a text.

    A span has at most `longest_passage` words. A document has one for a text if at least
    `least_windows` of the different windows of the text are in it; of several with as many windows
    it is the first. Common windows are those that more than `MOST_TEXTS` texts have. A text with
    at least `LEAST_UNCOMMON` others has spans only in documents with at least
    `LEAST_UNCOMMON_IN_DOCUMENT` of these others; or each document would be compared with all texts
    that begin alike.
    """

    def __init__(self, texts: Sequence[Sequence[str]], width: int, least_share: float) -> None:
        """Take different texts as words."""
        numbered = number_windows(texts, width)
        self.n_windows, self._width = len(numbered.windows), width
        self._sought = _SoughtWords(numbered.windows, width)
        different = [sorted({*numbers}) for numbers in numbered.by_text]
        self._windows_of = _Lists(different)
        texts_with = np.bincount(self._windows_of.values, minlength=self.n_windows)
        is_common = (texts_with > MOST_TEXTS).tolist()
        self.least = np.array(
            [least_windows(len(numbers), least_share) for numbers in different], np.int64
        )
        """The least number of windows in a span of each text."""
        sought_by: list[list[int]] = [[] for _ in range(self.n_windows)]
        self._least_sought = np.ones(len(texts), np.int64)
        self._others = np.zeros(len(texts), np.int64)
        for number, windows in enumerate(different):
            uncommon = [window for window in windows if not is_common[window]]
            has_enough = len(uncommon) >= LEAST_UNCOMMON
            if has_enough:
                self._least_sought[number] = LEAST_UNCOMMON_IN_DOCUMENT
                self._others[number] = len(windows) - len(uncommon)
            for window in uncommon if has_enough else windows:
                sought_by[window].append(number)
        self._sought_by = _Lists(sought_by)
        lengths = [(len(words), min(len(words), width)) for words in texts]
        self._reach = np.array([longest_passage(n) - size for n, size in lengths], np.int64)
        """How far the last window of a span of each text may begin after the first, in words."""

    def find(self, documents: JoinedDocuments) -> FoundWindows:
        """Return the sought windows in documents, which are words with blanks between them."""
        parts = _cut_parts(documents.text, self._width, self._sought.longest_word)
        located = [self._sought.find(words, first_word) for words, first_word in parts]
        return FoundWindows.joined(located, documents.begins)

    def spans(self, located: FoundWindows, least: Integers) -> list[FoundSpan]:
        """Return the spans with at least `least` windows, by text; by document, then by text."""
        keys = located.documents * self.n_windows + located.windows
        order = np.argsort(keys, kind="stable")
        pairs, firsts = _groups(keys[order])
        ends = np.append(firsts[1:], len(keys))
        documents, texts = self._candidates(pairs, least)
        # The places of all windows of each candidate.
        candidates, windows = self._windows_of.expand(texts)
        wanted = documents[candidates] * self.n_windows + windows
        at = np.searchsorted(pairs, wanted)
        is_there = pairs[np.minimum(at, len(pairs) - 1)] == wanted if len(pairs) else wanted < 0
        candidates, windows, at = candidates[is_there], windows[is_there], at[is_there]
        of_pair, places = _ranges(firsts[at], ends[at])
        candidates, windows, places = candidates[of_pair], windows[of_pair], order[places]
        return self._best_spans(located, (documents, texts), candidates, places, least)

    def _candidates(self, pairs: Integers, least: Integers) -> tuple[Integers, Integers]:
        """Return documents and texts that may have enough in common."""
        of_pair, texts = self._sought_by.expand(pairs % max(self.n_windows, 1))
        n_texts = len(self.least)
        keys, firsts = _groups(np.sort(pairs[of_pair] // self.n_windows * n_texts + texts))
        counts = np.diff(np.append(firsts, len(of_pair)))
        documents, texts = keys // max(n_texts, 1), keys % max(n_texts, 1)
        is_candidate = counts >= self._least_sought[texts]
        is_candidate &= counts + self._others[texts] >= least[texts]
        return documents[is_candidate], texts[is_candidate]

    def _best_spans(
        self,
        located: FoundWindows,
        pairs: tuple[Integers, Integers],
        candidates: Integers,
        places: Integers,
        least: Integers,
    ) -> list[FoundSpan]:
        """Return the best span of each candidate, from the places of all its windows."""
        documents, texts = pairs
        if not len(candidates):
            return []
        order = np.lexsort((located.words[places], candidates))
        candidates, places = candidates[order], places[order]
        words, windows = located.words[places], located.windows[places]
        reach = self._reach[texts[candidates]]
        # Candidates after each other, as if they were one long document.
        stride = int(words.max()) + int(self._reach.max()) + 2
        at = candidates * stride + words
        numbers = np.arange(len(at))
        # Each window is new in the spans that begin after the window before it that is the same.
        same = np.argsort(candidates * self.n_windows + windows, kind="stable")
        same_keys = (candidates * self.n_windows + windows)[same]
        before = np.full(len(at), -1, np.int64)
        before[same[1:]] = np.where(same_keys[1:] == same_keys[:-1], same[:-1], -1)
        lowest = candidates * stride + np.maximum(words - reach, 0)
        first = np.maximum(before + 1, np.searchsorted(at, lowest))
        changes = np.bincount(first, minlength=len(at) + 1)
        changes -= np.bincount(numbers + 1, minlength=len(at) + 1)
        counts = np.cumsum(changes)[:-1]
        groups, starts = _groups(candidates)
        most = np.maximum.reduceat(counts, starts)
        is_best = np.flatnonzero(counts == np.repeat(most, np.diff(np.append(starts, len(at)))))
        begin = is_best[np.searchsorted(is_best, starts)]
        end = np.searchsorted(at, at[begin] + reach[begin], "right") - 1
        columns = (
            documents[groups],
            texts[groups],
            most,
            located.starts[places[begin]],
            located.stops[places[end]],
        )
        is_enough = most >= least[texts[groups]]
        begins = located.begins[documents[groups]]
        return [
            FoundSpan(document, text_number, windows_there, start - begin_of, stop - begin_of)
            for document, text_number, windows_there, start, stop, begin_of in zip(
                *(column[is_enough].tolist() for column in (*columns, begins)), strict=True
            )
        ]


@dataclass(frozen=True, slots=True)
class FoundWindows:
    """The sought windows in some documents, and where they are."""

    windows: Integers
    """Their numbers."""
    words: Integers
    """The number of the first word of each, counted through all documents."""
    starts: Integers
    """Its first byte in the joined documents."""
    stops: Integers
    """The end of its last word."""
    documents: Integers
    """The number of its document."""
    begins: Integers
    """Where each document begins in the joined ones."""

    @classmethod
    def joined(cls, blocks: Sequence[_FoundInBlock], begins: Integers) -> Self:
        """Return the windows of some blocks of documents that begin at some places."""
        all_blocks = _FoundInBlock.joined(blocks)
        documents = np.searchsorted(begins, all_blocks.starts, "right") - 1
        return cls(
            all_blocks.windows,
            all_blocks.words,
            all_blocks.starts,
            all_blocks.stops,
            documents,
            begins,
        )


@dataclass(frozen=True, slots=True)
class _FoundInBlock:
    """The sought windows in a part of the documents; see `FoundWindows`."""

    windows: Integers
    words: Integers
    starts: Integers
    stops: Integers

    @classmethod
    def joined(cls, parts: Sequence[_FoundInBlock]) -> Self:
        """Return the windows of several parts."""
        none = np.zeros(0, np.int64)
        return cls(
            windows=np.concatenate([none, *(part.windows for part in parts)]),
            words=np.concatenate([none, *(part.words for part in parts)]),
            starts=np.concatenate([none, *(part.starts for part in parts)]),
            stops=np.concatenate([none, *(part.stops for part in parts)]),
        )


class _CutWords:
    """A part of a text, between two blanks, cut into words."""

    def __init__(self, text: bytes | bytearray, begin: int, stop: int, longest_word: int) -> None:
        """Words of more bytes than `longest_word` are hashed by their ends only."""
        self._longest_word = longest_word
        self._parts = _parts(text, 0, len(text) - _PART + 1)
        blocks, last = list[_CutBlock](), begin
        while last < stop - 1:
            first, last = last, text.find(b" ", min(last + _BLOCK_BYTES, stop - 1))
            blocks.append(_cut_block(text, first, last + 1))
        self.starts = np.concatenate([block.starts for block in blocks])
        self.sizes = np.concatenate([block.sizes for block in blocks])
        self._signs = np.concatenate([block.signs for block in blocks])

    def _read(self, places: Integers) -> Words:
        return self._parts[places].view(np.uint64)

    def words(self, numbers: Integers) -> _Words:
        """Return some of the words."""
        starts = self.starts.take(numbers, mode="clip")
        sizes = self.sizes.take(numbers, mode="clip").astype(np.int64)
        firsts = self._read(starts)
        firsts &= _FIRST_BYTES.take(sizes, mode="clip")
        return _Words(starts, sizes, firsts)

    def window_signs(self, width: int, n: int) -> Signs:
        """Return hashes of the windows that begin with the first `n` words.

        They are made from the first bytes and the size of each word: others may have the same.
        """
        signs = self._signs[:n].copy()
        for number in range(1, width):
            signs *= _NEXT_SIGN
            signs += self._signs[number : number + n]
        return signs

    def window_words(self, width: int, numbers: Integers) -> _Words:
        """Return the words of the windows that begin with some words: the first of all, and so on.

        So the words of a window are as many windows apart as there are.
        """
        return self.words(np.add.outer(np.arange(width), numbers).ravel())

    def window_hashes(self, width: int, words: _Words) -> Words:
        """Return hashes of windows, from all bytes of their words that differ in sought ones."""
        words_of_windows = self._hashes(words).reshape(width, -1)
        hashes: Words = words_of_windows[0]
        for following in words_of_windows[1:]:
            hashes *= _NEXT_WORD
            hashes += following
        return hashes

    def _hashes(self, words: _Words) -> Words:
        starts, sizes, firsts = words
        hashes = firsts * _START
        longer = np.flatnonzero(sizes > _PART)
        starts, sizes = starts.take(longer), sizes.take(longer)
        ends = self._read(starts + sizes - _PART)
        ends *= _END
        ends += sizes.view(np.uint64) * _SIZE
        hashes[longer] += ends
        is_longer = (sizes > 2 * _PART) & (sizes <= self._longest_word)
        offset = _PART
        while is_longer.any():
            longer, starts, sizes = longer[is_longer], starts[is_longer], sizes[is_longer]
            mixed = hashes[longer] * _MIDDLE
            mixed ^= mixed >> np.uint64(32)
            hashes[longer] = mixed + self._read(starts + offset)
            offset += _PART
            is_longer = sizes > offset + _PART
        hashes ^= hashes >> np.uint64(31)
        hashes *= _WORD
        return hashes

    def are_same(self, words: _Words, others: _CutWords, other_words: _Words) -> Booleans:
        """Tell which words are the same as words of others."""
        same: Booleans = words.firsts == other_words.firsts
        same &= words.sizes == other_words.sizes
        longer, offset = np.flatnonzero(same & (words.sizes > _PART)), _PART
        while len(longer):
            # The last eight bytes end with the word.
            sizes = words.sizes.take(longer)
            at = np.minimum(offset, sizes - _PART)
            ours = self._read(words.starts.take(longer) + at)
            theirs = others._read(other_words.starts.take(longer) + at)
            is_same = ours == theirs
            same[longer] = is_same
            is_same &= sizes > offset + _PART
            longer = longer[is_same]
            offset += _PART
        return same


class _Words(NamedTuple):
    """Some words."""

    starts: Integers
    sizes: Integers
    firsts: Words
    """The first eight bytes of each, with zeros after a shorter one."""

    def take(self, numbers: Integers) -> _Words:
        """Return some of them."""
        return _Words(
            self.starts.take(numbers, mode="clip"),
            self.sizes.take(numbers, mode="clip"),
            self.firsts.take(numbers, mode="clip"),
        )


class _CutBlock(NamedTuple):
    """The words of a block."""

    starts: Integers
    sizes: Signs
    signs: Signs
    """Hashes of their first four bytes and of their sizes."""


def _cut_block(text: bytes | bytearray, begin: int, stop: int) -> _CutBlock:
    """Cut a block, between two blanks, into words."""
    is_word = np.frombuffer(text, np.uint8, stop - begin, begin) != _SPACE
    changes = np.flatnonzero(is_word[1:] != is_word[:-1])
    changes += 1
    starts = changes[::2].copy()
    sizes = (changes[1::2] - starts).astype(np.uint32)
    # To take some of all parts copies all, and yet is quicker than to choose some by index.
    parts = np.ndarray((stop - begin,), f"V{_SIGNED}", text, begin, strides=(1,))
    signs = parts.take(starts, mode="clip").view("<u4").astype(np.uint32, copy=False)
    signs <<= _BITS_AFTER.take(sizes, mode="clip")
    signs *= _SIGN
    signs ^= signs >> _HALF
    signs += sizes * _SIGN_OF_SIZE
    starts += begin
    return _CutBlock(starts, sizes, signs)


def _parts(text: bytes | bytearray, begin: int, size: int) -> NDArray[np.void]:
    """Return the eight bytes from each place of a part of a text on."""
    return np.ndarray((size,), "V8", text, begin, strides=(1,))


def _cut_parts(
    text: bytes | bytearray, width: int, longest_word: int
) -> Iterator[tuple[_CutWords, int]]:
    """Yield parts of a text as words, each with the number of its first word.

    The last words of a part, one fewer than a window has, are the first of the next.
    """
    begin, first_word, size = 0, 0, _PART_BYTES
    last = len(text) - len(_PADDING)
    while True:
        stop = text.find(b" ", min(begin + size, last)) + 1
        words = _CutWords(text, begin, stop, longest_word)
        n = len(words.starts) - width + 1
        if n > 0:
            yield words, first_word
        if stop > last:
            return
        if n <= 0:
            size *= 2  # a long word
            continue
        next_word = int(words.starts[n]) if width > 1 else stop
        begin, first_word, size = next_word - 1, first_word + n, _PART_BYTES


class _SoughtWords:
    """Sought windows, by the hashes of their words."""

    def __init__(self, windows: Sequence[tuple[str, ...]], width: int) -> None:
        self._width = width
        joined = _BETWEEN.join(" ".join(window).encode() for window in windows)
        text = _BETWEEN + joined + width * _BETWEEN + _PADDING
        self.longest_word = max(
            (len(word.encode()) for window in windows for word in window), default=0
        )
        """In bytes."""
        self._words = _CutWords(text, 0, len(text) - len(_PADDING) + 1, self.longest_word)
        sizes = np.array([len(window) for window in windows], np.int64)
        # A word stands between them, and before the first.
        first_words = np.cumsum(sizes + 1) - sizes
        self._tables = list[_WindowTable]()
        for size in np.unique(sizes).tolist():
            numbers = np.flatnonzero(sizes == size)
            first = first_words[numbers]
            window_words = self._words.window_words(size, first)
            hashes = self._words.window_hashes(size, window_words)
            signs = self._words.window_signs(size, len(self._words.starts) - size + 1)[first]
            self._tables.append(
                _WindowTable(
                    size, numbers, _SignedWindows(signs), _HashedWindows(hashes), window_words
                )
            )

    def find(self, words: _CutWords, first_word: int) -> _FoundInBlock:
        """Return the sought windows of a block, apart from those that begin with its last words."""
        n = len(words.starts) - self._width + 1
        parts = []
        for size, numbers, signed, table, sought_words in self._tables:
            places = signed.find(words.window_signs(size, n))
            window_words = words.window_words(size, places)
            chosen, windows = table.find(words.window_hashes(size, window_words))
            steps = np.arange(size)
            is_same = words.are_same(
                window_words.take(np.add.outer(steps * len(places), chosen).ravel()),
                self._words,
                sought_words.take(np.add.outer(steps * len(table), windows).ravel()),
            )
            same = np.flatnonzero(is_same.reshape(size, -1).all(axis=0))
            places, windows = places[chosen[same]], windows[same]
            part = _FoundInBlock(
                numbers[windows],
                places + first_word,
                words.starts[places],
                words.starts[places + size - 1] + words.sizes[places + size - 1],
            )
            parts.append(part)
        return _FoundInBlock.joined(parts)


class _SignedWindows:
    """Which windows are worth a closer look, by their signs."""

    def __init__(self, signs: Signs) -> None:
        bits = max(16, (_BITS_PER_WINDOW * len(signs)).bit_length())
        self._shift = np.uint32(32 - min(bits, 32))
        self._table = np.zeros(1 << min(bits, 32) - 3, np.uint8)
        at = signs >> self._shift
        np.bitwise_or.at(self._table, at >> _PER_BYTE, _bit_of(at))

    def find(self, signs: Signs) -> Integers:
        """Return the places of signs that are here."""
        at = signs >> self._shift
        bits = self._table.take((at >> _PER_BYTE).astype(np.int64), mode="clip")
        bits &= _bit_of(at)
        return np.flatnonzero(bits != 0)  # of Booleans it takes a quarter of the time


def _bit_of(places: Signs) -> Bytes:
    """Return the bit in its byte of each place in a table of bits."""
    bits: Bytes = np.left_shift(_FIRST_BIT, places.astype(np.uint8) & _WITHIN_BYTE)
    return bits


class _HashedWindows:
    """Windows in the order of their hashes."""

    def __init__(self, hashes: Words) -> None:
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]
        # Different windows may have the same hash.
        self._ends = np.searchsorted(self._hashes, self._hashes, "right")
        # The first of those with the same first bits, of which there are hardly two.
        self._prefix = np.uint64(63 - len(hashes).bit_length())
        prefixes = np.arange(1 << 64 - int(self._prefix), dtype=np.uint64) << self._prefix
        self._firsts = np.searchsorted(self._hashes, prefixes)
        self._with_end = np.append(self._hashes, np.uint64(0xFFFFFFFFFFFFFFFF))

    def find(self, hashes: Words) -> tuple[Integers, Integers]:
        """Return the places of hashes that are here, and the windows that have them."""
        at = self._firsts.take((hashes >> self._prefix).view(np.int64), mode="clip")
        passed = np.flatnonzero(self._with_end.take(at, mode="clip") < hashes)
        while len(passed):
            at[passed] += 1
            passed = passed[self._with_end[at[passed]] < hashes[passed]]
        places = np.flatnonzero(self._with_end.take(at, mode="clip") == hashes)
        at = at.take(places)
        numbers, at = _ranges(at, self._ends.take(at))
        return places.take(numbers), self._order.take(at)

    def __len__(self) -> int:
        return len(self._order)


class _WindowTable(NamedTuple):
    """The sought windows of some words each."""

    size: int
    numbers: Integers
    signed: _SignedWindows
    hashed: _HashedWindows
    words: _Words
    """The first words of all these windows, then the second ones, and so on."""


class _Lists:
    """Lists of numbers after each other."""

    def __init__(self, lists: Sequence[Sequence[int]]) -> None:
        sizes = [len(values) for values in lists]
        self._ends = np.cumsum([0, *sizes])
        self.values = np.array([value for values in lists for value in values], np.int64)

    def expand(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Return the values of some lists, each with the position of its list in `numbers`."""
        positions, at = _ranges(self._ends[numbers], self._ends[numbers + 1])
        return positions, self.values[at]


def _ranges(starts: Integers, stops: Integers) -> tuple[Integers, Integers]:
    """Return all integers of some ranges, each with the number of its range."""
    sizes = stops - starts
    numbers = np.repeat(np.arange(len(sizes)), sizes)
    before = np.cumsum(sizes) - sizes
    return numbers, np.arange(len(numbers)) - before[numbers] + starts[numbers]


def _groups(ordered: Integers) -> tuple[Integers, Integers]:
    """Return the different values of an ordered array, and where each begins."""
    is_first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    firsts = np.flatnonzero(is_first)
    return ordered[firsts], firsts
