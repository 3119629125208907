"""Queries and documents made alike, before the ones are searched in the others."""

from __future__ import annotations

import re
from typing import Literal

from ngramscan.matching.words import words_in

Normalization = Literal["", "alphanumeric", "words"]
"""How a text is searched: as it is; letters and digits alone; words in lower case with one space
around each, no punctuation."""
_OTHER = re.compile(r"[\W_]+")
"""All that `str.isalnum` is not true of."""


def normalized(text: str, normalization: Normalization) -> str:
    r"""Return a text as it is searched: queries and documents alike.

    >>> normalized("It's 3.5\tMetres_", "alphanumeric"), normalized("It's 3.5\tMetres_", "words")
    ('Its35Metres', ' it s 3 5 metres_ ')
    """
    if normalization == "alphanumeric":
        return _OTHER.sub("", text)
    if normalization == "words":
        # The small sigma of Greek has two forms, which hang on the neighbours of the word.
        words = " ".join(words_in(text.lower().replace("ς", "σ")))
        return f" {words} " if words else ""
    return text
