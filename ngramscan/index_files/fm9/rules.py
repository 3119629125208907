"""Backward search by the rules of matching: it branches where a rule has alternatives.

A query is read from its end. White space stands for each run of white space that occurs, a letter
for both of its cases, and a range of ranks is followed only while it is not empty. The conditions
on the character before and after an occurrence are part of the search: suffixes are sorted, so
those that begin with one of some neighbouring characters are one range. All ranges are disjoint.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ngramscan.errors import InputError
from ngramscan.index_files.compiled import Integers
from ngramscan.index_files.fm9.layout import SEPARATOR
from ngramscan.matching.rules import MatchRule
from ngramscan.matching.white_space import WHITE_SPACES, split_at_white_space
from ngramscan.matching.word_ends import is_word_after, is_word_before, is_word_character

MOST_RANGES = 100_000
"""Ranges of ranks that are followed for one query; seconds, if each is in another step."""
_CONTINUING_BYTES = [bytes([byte]) for byte in range(0x80, 0xC0)]
_FIRST_BYTES = [bytes([byte]) for byte in range(0xC2, 0xF5)]
"""The first bytes of characters that have several, and above the bytes that follow these."""
_NO_CHARACTER = [bytes([byte]) for byte in range(0xF5, 0x100)]
"""Bytes that are in no text: two of them are the end of a document."""

Extend = Callable[[Sequence[bytes], Integers], Integers]
"""Puts texts before ranges of ranks in all shards, as `extend_in_all` does."""
FindNeighbours = Callable[[Sequence[Sequence[bytes]]], Integers]
"""Returns the ranks of all that begins with texts of a group: [groups, shards, 2].

The texts of a group are all characters of a range, in byte order, or what these begin with.
"""


class Branch(NamedTuple):
    """Occurrences of a query that have the same length."""

    before: bytes
    """A character or separator that precedes the occurrence, and that the ranks begin with."""
    length: int
    """Bytes of the occurrence."""
    ranks: Integers
    """Half-open ranges of ranks, by shard: [shards, 2]."""


class RuleSearch:
    """Finds queries by a rule that has no regular expressions.

    `all_ranks` are the ranges of all ranks of each shard: [shards, 2]. `most_ranges` limits how
    many ranges are followed for one query. Without `find_neighbours`, `extend` finds each text of
    a group.
    """

    def __init__(
        self,
        rule: MatchRule,
        extend: Extend,
        all_ranks: Integers,
        most_ranges: int = MOST_RANGES,
        find_neighbours: FindNeighbours | None = None,
    ) -> None:
        self._rule, self._extend, self._most_ranges = rule, extend, most_ranges
        self._find_neighbours = find_neighbours or self._find_each
        self._all = Branch(b"", 0, all_ranks)

    def find(self, query: str) -> list[Branch]:
        """Return disjoint branches that have all occurrences of a query.

        White space at its ends is next to the occurrences. An InputError says that more than
        `most_ranges` ranges would have to be followed.
        """
        content, rule = query.encode(), self._rule
        paths = _Paths(query, self._extend, self._most_ranges)
        parts, branches = self._parts_of(content), self._followers_of(content)
        inner_parts = [part for part in parts if part]
        for number, part in enumerate(reversed(inner_parts)):
            if number:
                branches = paths.extend_by_run(branches)
            for texts in _alternatives(part, rule.ignore_case):
                branches = paths.extend(branches, texts)
        if not parts[0]:
            return paths.extend(branches, WHITE_SPACES, is_before=True)
        if rule.whole_words and is_word_after(content, 0):
            return paths.extend_by_non_word(branches)
        return branches

    def prepare(self, query: str) -> None:
        """Find what the query may be followed by, which queries share."""
        self._followers_of(query.encode())

    def _parts_of(self, content: bytes) -> list[bytes]:
        return split_at_white_space(content) if self._rule.any_space else [content]

    def _followers_of(self, content: bytes) -> list[Branch]:
        """Return a branch for each kind of text that may follow a query."""
        if not self._parts_of(content)[-1]:
            return self._before_white_space
        if self._rule.whole_words and is_word_before(content, len(content)):
            return self._before_other_characters
        return [self._all]

    @cached_property
    def _before_white_space(self) -> list[Branch]:
        """Everything that begins with white space."""
        return self._beginning([[space] for space in WHITE_SPACES])

    @cached_property
    def _before_other_characters(self) -> list[Branch]:
        """Everything that begins with no word character, and the ends of documents."""
        return self._beginning(_non_word_beginnings())

    def _beginning(self, groups: Iterable[Sequence[bytes]]) -> list[Branch]:
        """Return a branch for each group of neighbouring beginnings, if any of them occurs."""
        return [
            Branch(b"", 0, ranks)
            for ranks in self._find_neighbours([list(group) for group in groups])
            if (ranks[:, 0] < ranks[:, 1]).any()
        ]

    def _find_each(self, groups: Sequence[Sequence[bytes]]) -> Integers:
        """Return the ranks of each group, from those of each of its texts."""
        all_texts = [text for texts in groups for text in texts]
        ranges = self._extend(all_texts, np.repeat(self._all.ranks[None], len(all_texts), axis=0))
        stops = np.cumsum([len(texts) for texts in groups])
        return np.stack([_hull(of_group) for of_group in np.split(ranges, stops[:-1])])


class _Paths:
    """Follows the branches of one query, to a limit."""

    def __init__(self, query: str, extend: Extend, most_ranges: int) -> None:
        self._query, self._extend, self._most_ranges = query, extend, most_ranges
        self._followed = 0

    def extend(
        self, branches: Sequence[Branch], texts: Sequence[bytes], is_before: bool = False
    ) -> list[Branch]:
        """Put each text before each branch, and return the branches that occur.

        With `is_before`, the texts precede the occurrence.
        """
        if not branches:
            return []
        cases = [(branch, text) for branch in branches for text in texts]
        ranges = np.stack([branch.ranks for branch in branches])
        extended = self._extend([text for _, text in cases], np.repeat(ranges, len(texts), axis=0))
        occurs = (extended[..., 0] < extended[..., 1]).any(axis=1)
        self._followed += int(occurs.sum())
        if self._followed > self._most_ranges:
            problem = (
                "it occurs in too many forms by this rule: more than"
                f" {self._most_ranges:,} ranges of the index; leave out a rule, or read the corpus"
                " with scan:PATH"
            )
            raise InputError(repr(self._query), problem)
        branches_that_occur = []
        for number in np.flatnonzero(occurs).tolist():
            branch, text = cases[number]
            before = text + branch.before if is_before else branch.before
            length = branch.length if is_before else branch.length + len(text)
            branches_that_occur.append(Branch(before, length, extended[number]))
        return branches_that_occur

    def extend_by_run(self, branches: Sequence[Branch]) -> list[Branch]:
        """Put each run of white space before each branch."""
        all_runs: list[Branch] = []
        runs = self.extend(branches, WHITE_SPACES)
        while runs:
            all_runs += runs
            runs = self.extend(runs, WHITE_SPACES)
        return all_runs

    def extend_by_non_word(self, branches: Sequence[Branch]) -> list[Branch]:
        """Put each character that is not of a word, or the start of a document, before branches."""
        ended = self.extend(branches, _single_non_words(), is_before=True)
        begun = list(branches)
        for _ in range(3):  # a character has up to three bytes after its first one
            begun = self.extend(begun, _CONTINUING_BYTES, is_before=True)
            whole = self.extend(begun, _FIRST_BYTES, is_before=True)
            ended += [each for each in whole if not is_word_after(each.before, 0)]
        return ended


def _alternatives(part: bytes, ignore_case: bool) -> Iterator[Sequence[bytes]]:
    """Yield what each piece of a part may be, from its end."""
    if not ignore_case:
        yield [part]
        return
    pieces = [bytes(piece) for _, piece in groupby(part, lambda byte: bytes([byte]).isalpha())]
    for piece in reversed(pieces):
        if piece.isalpha():
            for byte in reversed(piece):
                letter = bytes([byte])
                yield [letter.lower(), letter.upper()]
        else:
            yield [piece]


def _hull(ranges: Integers) -> Integers:
    """Return the range from the first to the last of neighbouring ranges, by shard."""
    is_empty = ranges[..., 0] >= ranges[..., 1]
    highs = np.where(is_empty, 0, ranges[..., 1]).max(axis=0)
    lows = np.where(is_empty, np.iinfo(np.int64).max, ranges[..., 0]).min(axis=0)
    hull: Integers = np.stack([np.minimum(lows, highs), highs], axis=-1)
    return hull


def _single_non_words() -> list[bytes]:
    """Return the bytes that are characters but not of words, and what begins a document."""
    characters = map(chr, range(0x80))
    return [
        *(each.encode() for each in characters if not is_word_character(each)),
        bytes([SEPARATOR]),
    ]


@cache
def _non_word_beginnings() -> list[list[bytes]]:
    """Return the beginnings of all that is not of a word, in groups of neighbours by byte order."""
    groups: list[list[bytes]] = []
    codes = range(sys.maxunicode + 1)
    for is_word, run in groupby(codes, lambda code: is_word_character(chr(code))):
        if not is_word:
            run_codes = [*run]
            groups.append([*_beginnings(run_codes[0], run_codes[-1])])
    return [*groups, _NO_CHARACTER]


def _beginnings(first: int, last: int) -> Iterator[bytes]:
    """Yield the longest common beginnings in UTF-8 of all characters of a range, and of no others.

    64 ** n characters that follow each other share all bytes but the last n.
    """
    code = first
    while code <= last:
        content = chr(code).encode(errors="surrogatepass")
        dropped = len(content) - 1
        while code % 64**dropped or code + 64**dropped - 1 > last:
            dropped -= 1
        yield content[: len(content) - dropped]
        code += 64**dropped
