"""Texts as sequences of numbered words or characters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ngramscan.matching.words import word_expression

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
AnyIntegers = NDArray[np.integer]
Booleans = NDArray[np.bool_]


@cache
def _piece() -> re.Pattern[str]:
    return re.compile(rf"\s+|{word_expression()}|[^\w\s]")


@dataclass(frozen=True, slots=True)
class NumberedTexts:
    """Texts as numbers, with a 0 between them."""

    ids: AnyIntegers
    """A 0, the tokens of the first text, a 0, those of the second … and a 0 at the end."""
    documents: AnyIntegers
    """The text of each token, numbered from 0."""
    sizes: Ints
    """Number of tokens in each text."""
    names: Sequence[str]
    """The token of each number; '' for 0."""
    gaps: AnyIntegers | None = None
    """For words: the number in `names` of the white space after each; 0 if there is none."""

    def text(self, position: int, n: int) -> str:
        """Return the n tokens at a position, spaced as they are there."""
        pieces = []
        for at in range(position, position + n):
            pieces.append(self.names[self.ids[at]])
            if self.gaps is not None and at < position + n - 1:
                pieces.append(self.names[self.gaps[at]])
        return "".join(pieces)


def split_words(texts: Iterable[str]) -> NumberedTexts:
    """Split texts into words and other characters; keep the spaces."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    assert numbers[""] == 0
    numbered = []
    for text in texts:
        pieces = _piece().findall(text)
        numbered.append(np.fromiter(map(numbers.__getitem__, pieces), np.int32, len(pieces)))
    names = list(numbers)
    is_space = np.array([name.isspace() for name in names])
    ids, gaps = [], []
    for number, values in enumerate(numbered):
        spaces = is_space[values]
        following = np.zeros_like(values)
        following[:-1] = np.where(spaces, values, 0)[1:]
        ids.append(values[~spaces])
        gaps.append(following[~spaces])
        numbered[number] = values[:0]  # Keeps no text twice.
    sizes = np.array([piece.size for piece in ids], dtype=np.int64)
    return NumberedTexts(
        _joined(ids), documents=_documents(sizes), sizes=sizes, names=names, gaps=_joined(gaps)
    )


def _joined(pieces: Iterable[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Join arrays, with a 0 before each of them and at the end."""
    zero = np.zeros(1, dtype=np.int32)
    return np.concatenate([*(part for piece in pieces for part in (zero, piece)), zero])


def split_characters(texts: Sequence[str]) -> NumberedTexts:
    """Split texts into characters."""
    is_used = np.zeros(0x110000, dtype=bool)
    for text in texts:
        is_used[_code_points(text)] = True
    points = np.flatnonzero(is_used)
    numbers: AnyIntegers = np.zeros(is_used.size, dtype=np.min_scalar_type(points.size))
    numbers[points] = np.arange(1, points.size + 1)
    sizes = np.array([len(text) for text in texts], dtype=np.int64)
    ids: AnyIntegers = np.zeros(int(sizes.sum()) + sizes.size + 1, dtype=numbers.dtype)
    for text, stop in zip(texts, np.cumsum(sizes + 1), strict=True):
        ids[stop - len(text) : stop] = numbers[_code_points(text)]
    return NumberedTexts(ids, _documents(sizes), sizes, ["", *map(chr, points)])


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _documents(sizes: Ints) -> AnyIntegers:
    """Return the text of each token; a 0 counts to the text after it, the last one to the last."""
    numbers = np.arange(sizes.size, dtype=np.min_scalar_type(sizes.size))
    return np.append(np.repeat(numbers, sizes + 1), numbers[-1:])


def changes(values: AnyIntegers) -> Booleans:
    """Return a mask of the places where a new value begins, including the first."""
    is_new = np.ones(values.size, dtype=bool)
    is_new[1:] = values[1:] != values[:-1]
    return is_new


def runs_of(values: AnyIntegers, starts: Ints) -> tuple[Ints, Ints]:
    """Return where a new value or thing begins, and which of these places are the `starts`."""
    new = changes(values)
    new[starts] = True
    at = np.flatnonzero(new)
    return at, np.searchsorted(at, starts)


def usual_forms(
    tokens: NumberedTexts, ngrams: Sequence[tuple[int, int]], within: Booleans
) -> list[str]:
    """Return n-grams (position, n) as they are spaced most often, `within` some texts if there."""
    gaps = tokens.gaps
    if gaps is None:
        return [tokens.text(position, n) for position, n in ngrams]
    ids = np.where(within[tokens.documents], tokens.ids, 0)
    frequencies = np.bincount(ids, minlength=len(tokens.names))
    rarest = [int(np.argmin(frequencies[tokens.ids[at : at + n]])) for at, n in ngrams]
    places = zip(ngrams, rarest, strict=True)
    where = _places(ids, {int(tokens.ids[at + k]) for (at, _), k in places})
    forms = []
    for (at, n), k in zip(ngrams, rarest, strict=True):
        words = tokens.ids[at : at + n]
        starts = where[int(words[k])] - k
        starts = starts[(starts > 0) & (starts + n < ids.size)]
        for number, word in enumerate(words):
            starts = starts[ids[starts + number] == word]
        forms.append(tokens.text(_most_usual(gaps, starts, n) if starts.size else at, n))
    return forms


def _places(ids: AnyIntegers, words: set[int]) -> dict[int, Ints]:
    is_wanted = np.zeros(max(int(ids.max(initial=0)), *words, 0) + 1, dtype=bool)
    is_wanted[list(words)] = True
    positions = np.flatnonzero(is_wanted[ids])
    positions = positions[np.argsort(ids[positions], kind="stable")]
    ids_in_order = ids[positions]
    return {
        word: positions[
            np.searchsorted(ids_in_order, word) : np.searchsorted(ids_in_order, word, "right")
        ]
        for word in words
    }


def _most_usual(gaps: AnyIntegers, starts: Ints, n: int) -> int:
    """Return the first position with the most frequent spacing of n tokens."""
    if n == 1:
        return int(starts[0])
    spacing = gaps[starts[:, None] + np.arange(n - 1)]
    _, first, counts = np.unique(spacing, axis=0, return_index=True, return_counts=True)
    best = np.flatnonzero(counts == counts.max())
    return int(starts[first[best]].min())
