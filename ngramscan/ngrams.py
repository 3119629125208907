"""Texts → n-grams and the documents in which they are, counted with arrays, length by length.

An n-gram is numbered by its two parts of length n - 1, so that its key is exact and never has to be
verified; and since it is not more frequent than they are, what is too rare is dropped before it is
made longer. Sorting goes in parts of bounded size.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
SmallInts = NDArray[np.int32]

_PIECE = re.compile(r"\s+|\w+|[^\w\s]")
_PART = 1 << 22
"""Positions that are sorted at once."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Some texts as numbers; 0 stands between them."""

    ids: SmallInts
    """Of all texts: a 0, the tokens of the first, a 0, those of the second … and a 0 at the end."""
    documents: SmallInts
    """The text of each token, from 0."""
    sizes: Ints
    """Tokens of each text."""
    names: Sequence[str]
    """What each number stands for; '' for 0."""
    gaps: NDArray[np.integer] | None = None
    """For words: the number in `names` of the white space after each; 0: none."""

    def text(self, position: int, n: int) -> str:
        """Return the n tokens from a position on, with the spacing that they have there."""
        pieces = []
        for at in range(position, position + n):
            pieces.append(self.names[self.ids[at]])
            if self.gaps is not None and at < position + n - 1:
                pieces.append(self.names[self.gaps[at]])
        return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Least:
    """How frequent an n-gram must be, in all texts together."""

    count: int
    documents: int


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Some of the n-grams of one length, those that are frequent enough.

    The documents of n-gram `i` and its occurrences there are `documents[k]` and `counts[k]` for `k`
    from `starts[i]` to `starts[i + 1]` (or the end).
    """

    n: int
    first: Ints
    """A position of each."""
    prefixes: Ints
    """The number of the first n - 1 tokens among the n-grams of that length, from 0; -1 for n 1."""
    suffixes: Ints
    """The number of the last n - 1 tokens."""
    starts: Ints
    documents: SmallInts
    counts: Ints

    def subset(self, chosen: Ints) -> Ngrams:
        """Return some of them, by their places here in rising order."""
        lengths = np.diff(self.starts, append=self.counts.size)
        is_chosen = np.zeros(lengths.size, dtype=bool)
        is_chosen[chosen] = True
        runs = np.repeat(is_chosen, lengths)
        return Ngrams(
            self.n,
            self.first[chosen],
            self.prefixes[chosen],
            self.suffixes[chosen],
            np.cumsum(lengths[chosen]) - lengths[chosen],
            self.documents[runs],
            self.counts[runs],
        )


# Tokens


def split_words(texts: Iterable[str]) -> Tokens:
    """Return texts as words: runs of letters, digits and `_`, or one other character.

    White space is no word, but is remembered.
    """
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    assert numbers[""] == 0
    numbered = []
    for text in texts:
        pieces = _PIECE.findall(text)
        numbered.append(np.fromiter(map(numbers.__getitem__, pieces), np.int32, len(pieces)))
    names = list(numbers)
    is_space = np.array([name.isspace() for name in names])
    ids, gaps = _Growing(), _Growing()
    for number, values in enumerate(numbered):
        spaces = is_space[values]
        following = np.append(np.where(spaces, values, 0)[1:], 0)[: values.size]
        ids.add(values[~spaces])
        gaps.add(following[~spaces])
        numbered[number] = values[:0]  # so that no text is kept twice
    return _tokens(ids, names, gaps)


def split_characters(texts: Iterable[str]) -> Tokens:
    """Return texts as characters; a number is one more than the character's code point."""
    ids = _Growing()
    for text in texts:
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        ids.add(points.astype(np.int32) + 1)
    return _tokens(ids, _Characters())


class _Characters(Sequence[str]):
    """The names of characters, none of which has to be kept."""

    def __getitem__(self, number: int | slice) -> str:
        assert not isinstance(number, slice)
        return chr(int(number) - 1) if number else ""

    def __len__(self) -> int:
        return 0x110000 + 1


@dataclass(slots=True)
class _Growing:
    """Arrays of texts, each after a 0."""

    pieces: list[SmallInts] = field(default_factory=list)

    def add(self, values: SmallInts) -> None:
        self.pieces.append(np.concatenate([[0], values], dtype=np.int32))

    def joined(self) -> SmallInts:
        return np.concatenate([*self.pieces, np.zeros(1, dtype=np.int32)], dtype=np.int32)


def _tokens(ids: _Growing, names: Sequence[str], gaps: _Growing | None = None) -> Tokens:
    sizes = np.array([piece.size - 1 for piece in ids.pieces], dtype=np.int64)
    documents = np.repeat(np.arange(sizes.size, dtype=np.int32), sizes + 1)
    documents = np.append(documents, np.int32(max(sizes.size - 1, 0))).astype(np.int32, copy=False)
    return Tokens(ids.joined(), documents, sizes, names, gaps.joined() if gaps else None)


# Counting


def count_ngrams(tokens: Tokens, longest: int, least: Least) -> Iterator[Ngrams]:
    """Count all n-grams that are frequent enough, the shortest first.

    Parameters
    ----------
    tokens : Tokens
        Texts; no n-gram crosses from one to the next.
    longest : int
        The largest n, in tokens.
    least : Least
        What is rarer is left out, and with it what contains it.

    Yields
    ------
    Ngrams
        Those of one length are numbered through all parts that have this length, from 0.
    """
    numbers = tokens.ids
    for n in range(1, longest + 1):
        found = np.zeros_like(numbers)
        known = 0
        for keys, positions in _keyed(numbers, n):
            part = _counted(keys, positions, tokens.documents, least)
            if part is None:
                continue
            ngrams, kept, groups = part
            found[kept] = groups + (known + 1)
            known += ngrams.first.size
            parents = (
                (numbers[ngrams.first] - 1, numbers[ngrams.first + 1] - 1)
                if n > 1
                else (np.full(ngrams.first.size, -1),) * 2
            )
            yield Ngrams(
                n,
                ngrams.first,
                parents[0].astype(np.int64),
                parents[1].astype(np.int64),
                ngrams.starts,
                ngrams.documents,
                ngrams.counts,
            )
        if not known:
            return
        numbers = found


def _keyed(numbers: SmallInts, n: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield keys and their positions; all that have a key are in one part."""
    frequencies = np.bincount(numbers)
    frequencies[0] = 0
    edges = _part_edges(frequencies)
    several = len(edges) > 2
    for low, high in pairwise(edges):
        chosen = (numbers >= low) & (numbers < high) if several else numbers > 0
        if n > 1:
            chosen[:-1] &= numbers[1:] > 0
        positions = np.flatnonzero(chosen)
        if not positions.size:
            continue
        keys = numbers[positions].astype(np.int64) - low
        if n > 1:
            keys *= frequencies.size
            keys += numbers[positions + 1]
        yield keys, positions


def _part_edges(frequencies: Ints) -> list[int]:
    before = np.cumsum(frequencies)
    n_parts = max(1, -(-int(before[-1]) // _PART))
    goals = before[-1] * np.arange(1, n_parts) / n_parts
    inner = np.searchsorted(before, goals) + 1
    return sorted({1, *map(int, inner), frequencies.size})


def _sorted(keys: Ints) -> tuple[Ints, Ints]:
    """Return the keys in order, and where each was; equal ones stay in their order."""
    shift = int(keys.size).bit_length()
    if int(keys.max()).bit_length() + shift > 63:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    # Both in one number: much faster than an indirect sort.
    packed = (keys << shift) | np.arange(keys.size)
    packed.sort()
    return packed >> shift, packed & ((1 << shift) - 1)


class _Found(NamedTuple):
    first: Ints
    starts: Ints
    documents: SmallInts
    counts: Ints


def _counted(
    keys: Ints, positions: Ints, documents: SmallInts, least: Least
) -> tuple[_Found, Ints, Ints] | None:
    """Return the frequent n-grams; and the positions where they are, with the number of each."""
    keys, order = _sorted(keys)
    positions = positions[order]
    sizes = _run_lengths(_changes(keys))
    frequent = np.repeat(sizes >= least.count, sizes)
    keys, positions = keys[frequent], positions[frequent]
    own = documents[positions]
    per_ngram = _run_documents(keys, own)
    frequent = np.repeat(per_ngram >= least.documents, _run_lengths(_changes(keys)))
    keys, positions, own = keys[frequent], positions[frequent], own[frequent]
    if not keys.size:
        return None
    new = _changes(keys)
    runs = new | _changes(own)
    groups = np.cumsum(new) - 1
    at = np.flatnonzero(runs)
    starts = np.flatnonzero(new[at])
    found = _Found(positions[new], starts, own[at], _run_lengths(runs))
    return found, positions, groups


def _changes(values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Tell where another value begins; the first is one."""
    changes = np.ones(values.size, dtype=bool)
    changes[1:] = values[1:] != values[:-1]
    return changes


def _run_lengths(starts: NDArray[np.bool_]) -> Ints:
    return np.diff(np.flatnonzero(starts), append=starts.size)


def _run_documents(keys: Ints, documents: SmallInts) -> Ints:
    """Return the documents of each key, in how many it is."""
    if not keys.size:
        return np.zeros(0, dtype=np.int64)
    new = _changes(keys)
    runs = new | _changes(documents)
    return np.add.reduceat(runs.astype(np.int64), np.flatnonzero(new))


# Spelling


def usual_forms(tokens: Tokens, ngrams: Sequence[tuple[int, int]], documents: int) -> list[str]:
    """Return n-grams as they are spaced most often.

    Parameters
    ----------
    tokens : Tokens
        Texts.
    ngrams : sequence of (position, n)
        Where each n-gram is found, and its length.
    documents : int
        Only the first so many texts are looked at, where they have it.
    """
    gaps = tokens.gaps
    if gaps is None:
        return [tokens.text(position, n) for position, n in ngrams]
    stop = int(np.sum(tokens.sizes[:documents] + 1)) + 1
    ids = tokens.ids[:stop]
    frequencies = np.bincount(ids, minlength=len(tokens.names))
    rarest = [_rarest(tokens.ids[at : at + n], frequencies) for at, n in ngrams]
    where = _places(
        ids, {int(tokens.ids[at + k]) for (at, _), k in zip(ngrams, rarest, strict=True)}
    )
    forms = []
    for (at, n), k in zip(ngrams, rarest, strict=True):
        words = tokens.ids[at : at + n]
        starts = where[int(words[k])] - k
        starts = starts[(starts > 0) & (starts + n < stop)]
        for number, word in enumerate(words):
            starts = starts[ids[starts + number] == word]
        forms.append(tokens.text(_most_usual(gaps, starts, n) if starts.size else at, n))
    return forms


def _rarest(words: SmallInts, frequencies: Ints) -> int:
    return int(np.argmin(frequencies[words]))


def _places(ids: SmallInts, wanted: set[int]) -> dict[int, Ints]:
    """Return where some tokens are."""
    is_wanted = np.zeros(max(int(ids.max(initial=0)), *wanted, 0) + 1, dtype=bool)
    is_wanted[list(wanted)] = True
    positions = np.flatnonzero(is_wanted[ids])
    positions = positions[np.argsort(ids[positions], kind="stable")]
    found = ids[positions]
    return {
        word: positions[np.searchsorted(found, word) : np.searchsorted(found, word, "right")]
        for word in wanted
    }


def _most_usual(gaps: NDArray[np.integer], starts: Ints, n: int) -> int:
    """Return where n tokens are spaced as they are most often; of equal ones the first."""
    if n == 1:
        return int(starts[0])
    spacing = gaps[starts[:, None] + np.arange(n - 1)]
    _, first, counts = np.unique(spacing, axis=0, return_index=True, return_counts=True)
    best = np.flatnonzero(counts == counts.max())
    return int(starts[first[best].min()])
