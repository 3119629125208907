"""Windows of words that texts and documents share."""

from __future__ import annotations


def longest_passage(words: int) -> int:
    """Return how many words of a document are compared, at most, with a text of some words.

    Half as many again, and ten: edits insert words, and options are set apart by their letters.
    """
    return words + words // 2 + 10
