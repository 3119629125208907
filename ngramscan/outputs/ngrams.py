"""Tokens → n-grams and the documents that contain them, counted with arrays.

Positions are grouped by the tokens that follow them, one more token at each step; groups that are
too small are dropped before the next step. If all occurrences of an n-gram continue with the same
token, it shares an entry with the longer one. Positions are processed in parts of bounded size,
divided by their first tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ngramscan.outputs.tokens import AnyIntegers, Booleans, Ints, NumberedTexts, changes, runs_of

_PART = 1 << 21
"""Positions that are sorted together; a common n-gram of the shortest length may have more."""
_KEY_BITS = 63


@dataclass(frozen=True, slots=True)
class MinFrequency:
    """Minimum frequency of an n-gram, over all texts."""

    count: int
    documents: int


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Frequent n-grams of one length, with those of their prefixes that have the same occurrences.

    The documents of n-gram `i` and its occurrences there are `documents[k]` and `counts[k]` for `k`
    from `starts[i]` to `starts[i + 1]` (or the end).
    """

    n: int
    shortest: Ints
    """Length of the shortest prefix of each that has the same occurrences."""
    first: Ints
    """The first position of each."""
    starts: Ints
    documents: AnyIntegers
    """Ascending for each n-gram."""
    counts: Ints

    def subset(self, chosen: Booleans) -> Ngrams:
        """Return the chosen n-grams."""
        if chosen.all():
            return self
        lengths = np.diff(self.starts, append=self.counts.size)
        runs = np.repeat(chosen, lengths)
        return Ngrams(
            n=self.n,
            shortest=self.shortest[chosen],
            first=self.first[chosen],
            starts=_starts(lengths[chosen]),
            documents=self.documents[runs],
            counts=self.counts[runs],
        )


def count_ngrams(
    tokens: NumberedTexts, lengths: tuple[int, int], minimum: MinFrequency
) -> Iterator[Ngrams]:
    """Yield every n-gram that is frequent enough once, or as a prefix with the same occurrences.

    No n-gram crosses from one text to the next. `lengths` are the smallest and the largest n.
    """
    ids = _frequent(tokens.ids, minimum.count, lengths[1])
    width = int(ids.max()) + 1
    for positions in _parts(ids, lengths[0]):
        part = _PositionRange(ids, positions, width, minimum.count)
        documents = tokens.documents[positions]
        for n, groups in part.groups(lengths):
            ngrams = _counted(n, groups, positions, documents, minimum.documents)
            if ngrams.first.size:
                yield ngrams


def _frequent(ids: AnyIntegers, least: int, longest: int) -> AnyIntegers:
    """Renumber tokens, with 0 for those too rare for any n-gram, and append zeros."""
    frequencies = _frequencies(ids)
    is_frequent = frequencies >= least
    is_frequent[0] = False
    numbers = np.where(is_frequent, np.cumsum(is_frequent), 0)
    renumbered = np.zeros(ids.size + longest, dtype=np.min_scalar_type(int(numbers.max())))
    for part in _slices(ids.size):
        renumbered[: ids.size][part] = numbers[ids[part]]
    return renumbered


def _frequencies(ids: AnyIntegers) -> Ints:
    frequencies = np.zeros(int(ids.max(initial=0)) + 1, dtype=np.int64)
    for part in _slices(ids.size):
        frequencies += np.bincount(ids[part], minlength=frequencies.size)
    return frequencies


def _slices(size: int) -> Iterator[slice]:
    """Yield slices of an array, because NumPy converts each looked-up number to eight bytes."""
    return (slice(start, start + _PART) for start in range(0, size, _PART))


def _parts(
    ids: AnyIntegers, shortest: int, within: Ints | None = None, n: int = 0, size: int = 8
) -> Iterator[Ints]:
    """Yield ascending positions, with all that begin with the same tokens in one part.

    Positions are divided by their token number `n`: first into a few ranges of `size` parts each,
    so that not every position is read for every part. A range that is still too large is divided
    by the next token, but never beyond the shortest n-grams.
    """
    values = ids if within is None else ids[n:][within]
    frequencies = _frequencies(values)
    frequencies[0] = 0
    for low, high in pairwise(_edges(frequencies, size * _PART)):
        is_in = values == low if high == low + 1 else (values >= low) & (values < high)
        part = np.flatnonzero(is_in)
        if within is not None:
            part = within[part]
        if part.size > _PART and high > low + 1:
            yield from _parts(ids, shortest, part, n, 1)
        elif part.size > _PART and n + 1 < shortest:
            yield from _parts(ids, shortest, part, n + 1)
        elif part.size:
            yield part


def _edges(frequencies: Ints, size: int) -> list[int]:
    """Return the limits of ranges; a very frequent token has a separate range."""
    before = np.cumsum(frequencies)
    inner = np.searchsorted(before, np.arange(size, before[-1], size))
    return sorted({1, *map(int, inner), *map(int, inner + 1), frequencies.size} - {0})


# Groups


@dataclass(frozen=True, slots=True)
class _Groups:
    """Places in a part, grouped by the tokens that start there; ascending within a group."""

    places: Ints
    sizes: Ints
    shortest: Ints
    """Length of the shortest prefix that only this group has."""

    def subset(self, chosen: Booleans) -> _Groups:
        """Return the chosen groups."""
        if chosen.all():
            return self
        places = self.places[np.repeat(chosen, self.sizes)]
        return _Groups(places, self.sizes[chosen], self.shortest[chosen])

    def joined(self, others: _Groups) -> _Groups:
        """Return both together."""
        return _Groups(
            np.concatenate([self.places, others.places]),
            np.concatenate([self.sizes, others.sizes]),
            np.concatenate([self.shortest, others.shortest]),
        )


@dataclass(frozen=True, slots=True)
class _PositionRange:
    """Ascending positions; their indices are called places."""

    ids: AnyIntegers
    positions: Ints
    width: int
    """Number of different tokens, 0 included."""
    least: int

    def groups(self, lengths: tuple[int, int]) -> Iterator[tuple[int, _Groups]]:
        """Yield n and the groups of n tokens that do not all continue with the same token."""
        n, groups = self._first_groups(lengths[0])
        while groups.sizes.size:
            if n == lengths[1]:
                yield n, groups
                return
            # First looked up in the order of positions, which suits the processor's cache.
            following = self.ids[n:][self.positions][groups.places]
            starts = _starts(groups.sizes)
            heads = following[starts]
            follows_head = following == np.repeat(heads, groups.sizes)
            stays = np.logical_and.reduceat(follows_head, starts) & (heads > 0)
            ending = groups.subset(~stays)
            if n >= lengths[0]:
                yield n, ending
            n += 1
            if stays.any():
                following = following[np.repeat(~stays, groups.sizes)]
            further = self._divided(ending, following, max(n, lengths[0]))
            groups = groups.subset(stays).joined(further)

    def _first_groups(self, shortest: int) -> tuple[int, _Groups]:
        """Group by as many tokens as fit into a key, up to the length of the shortest n-grams."""
        keys = self.ids[self.positions].astype(np.int64)
        is_whole = np.ones(keys.size, dtype=bool)
        n, bits = 1, self.width.bit_length()
        while n < shortest and (n + 1) * bits + keys.size.bit_length() <= _KEY_BITS:
            following = self.ids[n:][self.positions]
            is_whole &= following > 0
            keys *= self.width
            keys += following
            n += 1
        keys[~is_whole] = 0
        return n, self._grouped(keys, np.arange(keys.size), n * bits, shortest)

    def _divided(self, groups: _Groups, following: AnyIntegers, shortest: int) -> _Groups:
        """Divide groups by the token that follows, leaving out ends of texts."""
        keys = np.repeat(np.arange(groups.sizes.size) * self.width, groups.sizes)
        keys += following
        bits = (groups.sizes.size * self.width).bit_length()
        return self._grouped(keys, groups.places, bits, shortest)

    def _grouped(self, keys: Ints, places: Ints, bits: int, shortest: int) -> _Groups:
        """Return the large enough groups of equal keys that do not end with token 0.

        Keys have at most `bits` bits; the array is overwritten.
        """
        shift = self.positions.size.bit_length()
        if bits + shift > _KEY_BITS:
            order = np.lexsort((places, keys))
            keys, places = keys[order], places[order]
        else:
            # Sorting both as one number is much faster than an indirect sort.
            keys <<= shift
            keys |= places
            keys.sort()
            places = keys & ((1 << shift) - 1)
            keys >>= shift
        starts = np.flatnonzero(changes(keys))
        sizes = np.diff(starts, append=keys.size)
        enough = (sizes >= self.least) & (keys[starts] % self.width > 0)
        if not enough.all():
            places, sizes = places[np.repeat(enough, sizes)], sizes[enough]
        return _Groups(places, sizes, np.full(sizes.size, shortest))


def _counted(
    n: int, groups: _Groups, positions: Ints, documents: AnyIntegers, least: int
) -> Ngrams:
    found_in, starts = documents[groups.places], _starts(groups.sizes)
    at, runs = runs_of(found_in, starts)
    counts = np.diff(at, append=found_in.size)
    first = positions[groups.places[starts]]
    ngrams = Ngrams(
        n=n,
        shortest=groups.shortest,
        first=first,
        starts=runs,
        documents=found_in[at],
        counts=counts,
    )
    return ngrams.subset(np.diff(runs, append=at.size) >= least)


def _starts(sizes: Ints) -> Ints:
    return np.cumsum(sizes) - sizes
