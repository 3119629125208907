"""What is made of queries and of documents before the ones are searched in the others."""

from __future__ import annotations

import re
from typing import Literal

Normalization = Literal["", "alphanumeric", "words"]
"""What is made of a text before it is searched: nothing; letters and digits alone; words in lower
case with one space around each, no punctuation."""
_WORD = re.compile(r"\w+")
_OTHER = re.compile(r"[\W_]+")
"""All that `str.isalnum` is not true of."""


def normalized(text: str, how: Normalization) -> str:
    r"""Return a text as it is searched: queries and documents alike.

    >>> normalized("It's 3.5\tMetres_", "alphanumeric"), normalized("It's 3.5\tMetres_", "words")
    ('Its35Metres', ' it s 3 5 metres_ ')
    """
    if how == "alphanumeric":
        return _OTHER.sub("", text)
    if how == "words":
        words = " ".join(_WORD.findall(text.lower()))
        return f" {words} " if words else ""
    return text
