"""The normalized words of a text, and where in the text each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ngramscan.matching.normalization import normalized_places
from ngramscan.matching.words import word_places


@dataclass(frozen=True, slots=True)
class PlacedWords:
    """The words of a text in their order, and where each begins and ends in it."""

    words: Sequence[str]
    starts: Sequence[int]
    stops: Sequence[int]
    """Exclusive, in characters, like the starts."""


def placed_words(text: str) -> PlacedWords:
    """Return the words of a text as `normalized(text, "words")` has them, with their places.

    >>> placed_words("It's <b>3.5</b>")
    PlacedWords(words=['it', 's', '3', '5'], starts=[0, 3, 8, 10], stops=[2, 4, 9, 11])
    """
    placed = normalized_places(text, "words")
    spans = word_places(placed.text)
    return PlacedWords(
        [placed.text[start:stop] for start, stop in spans],
        [placed.starts[start] for start, _ in spans],
        [placed.stops[stop - 1] for _, stop in spans],
    )
