"""Documents that repeat themselves: a search from each of their words is long."""

import re
from typing import Any

import numpy as np

from ngramscan.index_files.fm9.reader import Shard

REPEATED_DOCUMENTS = [
    "a " * 2000,
    "a b " * 500,
    "x y z " * 700,
    "q" * 4000,
    "the cat sat on a mat and " * 100,
    "two runs a a a a b a a a a b a a and an end",
]


def word_ends(text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return where words of a text end."""
    return np.array([match.end() for match in re.finditer(r"\w+", text)], np.int64)


def match_starts(shard: Shard, text: str) -> list[int]:
    """Return where the longest match that ends with each word of a text begins."""
    ends = word_ends(text)
    starts: list[int] = shard.data.match_starts(text.encode(), ends * 0, ends).tolist()
    return starts
