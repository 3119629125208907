"""The longest parts of a text that occur in files in place, in whole words.

Each byte of a backward search takes a chain of reads, so a copied text is not searched from end to
end. A search ends when a single occurrence is left, or when their number hardly falls any more: one
occurrence is located in its document, and the text around it is read, in pieces of 64 bytes that
are all requested at once. If the adjacent longer parts are absent, the match is the longest. So the
number of sequential reads does not grow with the length of the copied text.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from math import comb, log2

import numpy as np

from ngramscan.index_files.compiled import Integers, expect_steps
from ngramscan.index_files.fm9.in_place import InPlaceFile, ReadLog
from ngramscan.index_files.fm9.in_place_shards import InPlaceShard
from ngramscan.index_files.fm9.layout import ISA_STEP
from ngramscan.matching.alike import AlikePlaces
from ngramscan.remote.ranges import Ranges
from ngramscan.remote.together import together

_CHUNK = 8
"""Bytes that are searched before the number of occurrences is checked."""
_NEAR = 64
"""A search reaches the earliest possible start of a match if it is this near, in bytes."""
_SEED = 24
"""Minimum of searched bytes before one of several occurrences is followed."""
_CHARACTER_BYTES = 4
"""Maximum bytes of a character in UTF-8."""
_FEWEST = 8
"""Minimum number of texts for an extrapolation of requests."""
_FEW = 6
"""Runs of up to this many ends are searched all at once."""


@dataclass(frozen=True, slots=True)
class SearchedText:
    """A text whose spans are searched for."""

    text: bytes
    places: Integers
    """Start and end of each word, in bytes: [words, 2]."""
    windows: Sequence[tuple[int, int]]
    """Words of each window, half-open; each span contains a whole window."""
    least: int
    """Words of the shortest spans."""


Match = tuple[int, int]
"""Start and stop, in bytes of the text, of its match with an occurrence."""


class SpanSearch:
    """The search of the spans of one text, in some files.

    For each last word of a span, the first word is between two bounds: not after `_known_firsts`,
    since that part occurs in some file, and in each file not before `_bounds`. The search ends when
    these meet.
    """

    def __init__(self, files: Sequence[InPlaceFile], searched: SearchedText) -> None:
        self._files, self._text, self._least = files, searched.text, searched.least
        self._windows = searched.windows
        self._starts, self._ends = searched.places.T.tolist()
        n = len(searched.places)
        self._known_firsts = np.arange(1, n + 1)
        self._bounds = np.zeros((len(files), n), np.int64)
        self._matches: list[list[Match]] = [[] for _ in files]
        self._ended: dict[tuple[int, int], int] = {}

    async def run(self) -> list[tuple[int, int]]:
        """Return the half-open words of each span; windows are searched first."""
        numbers = range(len(self._files))
        windows = [
            (number, stop - 1, first)
            for first, stop in self._different_windows()
            for number in numbers
        ]
        await together(self._search(*window) for window in windows)
        self._spread([(number, last) for number, last, _ in windows])
        turn = 0
        while searched := [
            (number, last) for number in numbers for last in self._pick(number, turn)
        ]:
            searched = [*self._unlike(searched)]
            firsts = [int(self._bounds[place]) for place in searched]
            searches = zip(searched, firsts, strict=True)
            await together(self._search(*place, first) for place, first in searches)
            self._spread(searched)
            turn += 1
        known_firsts = [*self._known_firsts.tolist(), len(self._known_firsts) + 1]
        return [
            (first, last + 1)
            for last, first in enumerate(known_firsts[:-1])
            if first + self._least <= last + 1 and known_firsts[last + 1] > first
        ]

    @cached_property
    def _alike(self) -> AlikePlaces:
        """Where the text is alike before the ends of words, read backwards."""
        return AlikePlaces(self._text[::-1], len(self._text) - np.array(self._ends, np.int64))

    def _different_windows(self) -> Iterable[tuple[int, int]]:
        """Return the windows with distinct texts."""
        by_text = {
            self._text[self._starts[first] : self._ends[stop - 1]]: (first, stop)
            for first, stop in self._windows
        }
        return by_text.values()

    def _unlike(self, last_words: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield last words that end different texts, since the result for one may be enough.

        Two are alike if the text before them is the same for as long as a search takes to follow an
        occurrence. The one with the longest possible match determines most of the others.
        """
        like_others = set[tuple[int, int]]()
        for number, last in sorted(last_words, key=self._most_words, reverse=True):
            if (number, last) not in like_others:
                similar = self._alike.sharing(last, _NEAR)
                like_others |= {(number, similar_last) for similar_last in similar}
                yield number, last

    def _most_words(self, place: tuple[int, int]) -> int:
        """Return the maximum words of a match in a file that ends with a word."""
        return place[1] + 1 - int(self._bounds[place])

    def _spread(self, searched: Iterable[tuple[int, int]]) -> None:
        """Copy the results for some last words to all places that are alike."""
        for number, last in searched:
            first, bound = int(self._known_firsts[last]), int(self._bounds[number, last])
            if first <= last:
                self._spread_known(last, first)
            if 0 < bound <= last + 1:
                longer = self._ends[last] - self._starts[bound - 1]
                similar = np.array([*self._alike.sharing(last, longer)], np.int64)
                bounds = self._bounds[number]
                bounds[similar] = np.maximum(bounds[similar], similar - (last - bound))
        # A part of what occurs occurs; what begins before a bound doesn't occur with more words.
        self._known_firsts = np.minimum.accumulate(self._known_firsts[::-1])[::-1]
        self._bounds = np.maximum.accumulate(self._bounds, axis=1)

    def _spread_known(self, last: int, first: int) -> None:
        """Note that a part occurs for all places that share some of it, back from its last word."""
        size, ends = self._ends[last] - self._starts[first], np.array(self._ends, np.int64)
        shared = self._alike.shared_with(last)
        # The character before shows that a word begins there too, if it isn't the text's first.
        shared -= np.where(shared < ends, _CHARACTER_BYTES, 0)
        firsts = np.searchsorted(self._starts, ends - np.minimum(shared, size))
        self._known_firsts = np.minimum(self._known_firsts, firsts)

    def _pick(self, number: int, turn: int) -> Iterator[int]:
        """Yield last words to search in a file: those that determine most of the others."""
        last, known_firsts, bounds = (
            np.arange(len(self._known_firsts)),
            self._known_firsts,
            self._bounds[number],
        )
        shortest = last + 1 - self._least
        is_open = (bounds < known_firsts) & (bounds <= shortest)
        # Of those that are known to have the same first word, the earliest decides for all.
        keys = np.where(known_firsts <= shortest, known_firsts, -1).tolist()
        opened = np.flatnonzero(is_open).tolist()
        runs = groupby(
            enumerate(opened), lambda numbered: (numbered[1] - numbered[0], keys[numbered[1]])
        )
        for (_, first), run in runs:
            ends = [end for _, end in run]
            if first >= 0:
                yield ends[0]
                continue
            parts = len(ends) if len(ends) <= _FEW else min(len(ends), 1 << turn)
            yield from (ends[(2 * part + 1) * len(ends) // (2 * parts)] for part in range(parts))

    async def _search(self, number: int, last: int, first: int) -> None:
        """Search backwards from the end of a word, at most to the start of another."""
        file, end, limit = self._files[number], self._ends[last], self._starts[first]
        place, ranks, enough = end, (0, file.n), self._enough(number, last)
        while place > limit:
            before, chunk = ranks[1] - ranks[0], self._text[max(limit, place - _CHUNK) : place]
            matched, ranks = await file.extend(chunk, ranks)
            place -= matched
            if matched < len(chunk):
                begin = bisect_left(self._starts, place)
                self._raise(number, last, begin)
                self._learn(begin, last)
                return
            occurrences = ranks[1] - ranks[0]
            if place - limit <= _NEAR:
                continue
            if occurrences == 1 or (place <= enough and 2 * occurrences > before):
                self._ended[number, last] = place
                await self._follow(number, last, place, ranks)
                return
        self._learn(first, last)

    def _enough(self, number: int, last: int) -> int:
        """Return the place where a search may end although there are several occurrences.

        It doubles the part that is known to occur, or where this search ended before if that is
        longer: there may be no start of a word between the two.
        """
        end, known_first = self._ends[last], int(self._known_firsts[last])
        begin = self._starts[known_first] if known_first <= last else end
        begin = min(begin, self._ended.get((number, last), end))
        return int(begin - max(_NEAR, end - begin) if begin < end else end - _SEED)

    async def _follow(self, number: int, last: int, place: int, ranks: tuple[int, int]) -> None:
        """Compare the text with a document around an occurrence, in both directions."""
        file, end, is_only = self._files[number], self._ends[last], ranks[1] - ranks[0] == 1
        covering = (
            match for match in self._matches[number] if match[0] <= place and match[1] >= end
        )
        match = next(covering, None) if is_only else None
        if match is None:
            bounds = self._bounds[number]
            lowest = self._starts[bounds[last]]
            # No match with this place ends later.
            highest = bisect_right(bounds.tolist(), bisect_left(self._starts, place)) - 1
            position = await file.locate(ranks[0])
            begin, stop = await together(
                [
                    self._before(file, place, position, lowest),
                    self._behind(file, end, position + end - place, self._ends[highest]),
                ]
            )
            match = begin, stop
            self._matches[number].append(match)
            self._learn(bisect_left(self._starts, begin), bisect_right(self._ends, stop) - 1)
        if is_only:
            self._raise(number, last, bisect_left(self._starts, match[0]))
            self._raise(
                number, bisect_right(self._ends, match[1]), bisect_left(self._starts, place + 1)
            )

    async def _before(self, file: InPlaceFile, place: int, position: int, lowest: int) -> int:
        """Extend a match to the left; return its start in the text."""
        step = ISA_STEP
        while (size := min(step, place - lowest, position)) > 0:
            document_part = await file.extract(position - size, position)
            shared = _alike(self._text[place - size : place][::-1], document_part[::-1])
            place, position, step = place - shared, position - shared, 2 * step
            if shared < size:
                break
        return place

    async def _behind(self, file: InPlaceFile, place: int, position: int, highest: int) -> int:
        """Extend a match to the right; return its end in the text."""
        step = ISA_STEP
        while (size := min(step, highest - place, file.n - position)) > 0:
            shared = _alike(
                self._text[place : place + size], await file.extract(position, position + size)
            )
            place, position, step = place + shared, position + shared, 2 * step
            if shared < size:
                break
        return place

    def _learn(self, first: int, last: int) -> None:
        """Note that a part occurs, from one word to another."""
        later_firsts = self._known_firsts[first : last + 1]
        np.minimum(later_firsts, first, out=later_firsts)

    def _raise(self, number: int, last: int, first: int) -> None:
        """Note that in a file no match begins before a word if it ends with another or later."""
        later_bounds = self._bounds[number, last:]
        np.maximum(later_bounds, first, out=later_bounds)


def _alike(first: bytes, second: bytes) -> int:
    """Return the length of the common prefix."""
    pairs = zip(first, second, strict=True)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), len(first))


def find_spans(
    ranges: Ranges, shards: Sequence[InPlaceShard], texts: Sequence[SearchedText]
) -> list[list[tuple[int, int]]]:
    """Return the spans of some texts, as half-open ranges of words."""
    files = [shard.data for shard in shards]
    expect_steps(len(files) * sum(len(text.text) for text in texts))

    async def find() -> list[list[tuple[int, int]]]:
        await together(file.load() for file in files)
        return await together(SpanSearch(files, text).run() for text in texts)

    return ranges.run(find())


def estimate_requests(
    ranges: Ranges,
    shards: Sequence[InPlaceShard],
    sampled_texts: Sequence[SearchedText],
    times: float,
) -> int:
    """Search sampled texts; return the expected requests for `times` as many texts.

    The more texts there are, the more of the parts that they read coincide. So the number of parts
    of all texts is compared with those of a half and of a quarter of them, averaged over all halves
    and quarters. `times` is at least 1.
    """
    logs = [ReadLog(ranges) for _ in sampled_texts]
    expect_steps(len(shards) * sum(len(text.text) for text in sampled_texts))

    async def search() -> int:
        await together(shard.data.load() for shard in shards)
        before = ranges.requests
        await together(
            SpanSearch([shard.data.read_by(log) for shard in shards], text).run()
            for text, log in zip(sampled_texts, logs, strict=True)
        )
        return ranges.requests - before

    requests = ranges.run(search())
    if len(sampled_texts) < _FEWEST or not requests:
        return int(requests * times)
    numbers = Counter(Counter(part for log in logs for part in log.parts).values())
    parts = [_parts_of(size, len(sampled_texts), numbers) for size in _halved(len(sampled_texts))]
    last, before = log2(parts[0] / parts[1]), log2(parts[1] / parts[2])
    # With each doubling of the texts, the growth falls by the same amount, down to zero.
    fall = max(before - last, 1e-9)
    doublings = min(log2(times), last / fall)
    return int(requests * 2 ** (doublings * last - fall * doublings * (doublings + 1) / 2))


def _halved(number: int) -> tuple[int, int, int]:
    return number, number // 2, number // 4


def _parts_of(size: int, number: int, of_texts: Mapping[int, int]) -> float:
    """Return the number of distinct parts that a subset of the texts reads, averaged over subsets.

    `of_texts` maps a number of texts to the number of parts that exactly so many texts read. A part
    of m texts is in none of a subset with probability C(number - m, size) / C(number, size).
    """
    n_subsets = comb(number, size)
    return sum(n * (1 - comb(number - m, size) / n_subsets) for m, n in of_texts.items())
