"""How near documents come to a text: an oracle by alignment, without windows or weights."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from benchmarks.copies.edits import units_of

EDITED_SHARE = 1 / 8
"""A text of which no more words are inserted, deleted or replaced is a copy."""
RUN = 3
LEAST_SHARED = 0.3
"""Documents with a smaller share of a text's runs of three words aren't aligned: a text with one
word in eight replaced keeps at least five of eight."""
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_WORD = re.compile(r"(?:\w[\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]*)+")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, or its characters in scripts without spaces."""
    words: list[str] = []
    for match in _WORD.finditer(text.lower()):
        word = match[0]
        words += units_of(word) if _UNSPACED.search(word) else [word]
    return words


def distance(words: Sequence[str], document: Sequence[str]) -> int:
    """Return the fewest edits that make some part of a document of a text, in words."""
    numbers: dict[str, int] = {}
    row_words = [numbers.setdefault(word, len(numbers)) for word in words]
    columns = np.array([numbers.get(word, -1) for word in document], dtype=np.int64)
    places = np.arange(len(columns) + 1)
    edits = np.zeros(len(columns) + 1, dtype=np.int64)
    for word in row_words:
        below = edits + 1
        below[1:] = np.minimum(below[1:], edits[:-1] + (columns != word))
        # Words of the document that the text lacks: one edit for each step to the right.
        edits = np.minimum.accumulate(below - places) + places
    return int(edits.min())


def runs_of(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the different runs of `RUN` words."""
    return {tuple(words[first : first + RUN]) for first in range(len(words) - RUN + 1)}


def nearest(texts: Mapping[str, str], documents: Iterable[str]) -> dict[str, float]:
    """Return the share of each text's words that must be edited to get it from a document.

    The document is the nearest. Texts that have little in common with all documents are left out.
    """
    words = {id_: words_of(text) for id_, text in texts.items()}
    runs = {id_: runs_of(words_of_text) for id_, words_of_text in words.items()}
    having: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for id_, runs_of_text in runs.items():
        for run in runs_of_text:
            having[run].append(id_)
    shares: dict[str, float] = {}
    for document in documents:
        document_words = words_of(document)
        common: defaultdict[str, int] = defaultdict(int)
        for run in runs_of(document_words):
            for id_ in having.get(run, ()):
                common[id_] += 1
        for id_, shared_runs in common.items():
            if shared_runs >= LEAST_SHARED * len(runs[id_]):
                share = distance(words[id_], document_words) / len(words[id_])
                shares[id_] = min(share, shares.get(id_, 1.0))
    return shares
