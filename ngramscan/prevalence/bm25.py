"""BM25: how much some documents share with a text, by their words.

The score of a document d is the sum, over the words w of the text as often as each is in it, of

    idf(w) · f(w, d) · (k1 + 1) / (f(w, d) + k1 · (1 - b + b · |d| / mean |d|))

with f(w, d) the number of times that d has w, |d| the words of d, and
idf(w) = ln(1 + (N - n(w) + 0.5) / (n(w) + 0.5)) of N documents, of which n(w) have w.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean

K1 = 1.5
"""How much further occurrences of a word in a document add to its score."""
B = 0.75
"""How much longer documents are discounted: 0 not at all, 1 in proportion to their length."""


def score_documents(
    text: Sequence[str], documents: Mapping[str, Sequence[str]]
) -> dict[str, float]:
    """Return the score of each document for a text.

    Parameters
    ----------
    text : sequence of str
        The words of the text.
    documents : mapping of str to sequence of str
        The words of each document, by its name.

    Returns
    -------
    dict of str to float
        By the name of a document; 0 if it shares no word with the text.

    Notes
    -----
    Source: Robertson & Zaragoza 2009, doi:10.1561/1500000019. The 1 in the logarithm keeps words
    that most documents have from counting against a document.
    """
    if not documents:
        return {}
    frequencies = {name: Counter(words) for name, words in documents.items()}
    mean_length = fmean(map(len, documents.values()))
    documents_with = Counter(word for counts in frequencies.values() for word in counts)
    n = len(documents)
    weights = {
        word: times * math.log1p((n - documents_with[word] + 0.5) / (documents_with[word] + 0.5))
        for word, times in Counter(text).items()
        if word in documents_with
    }
    scores = {}
    for name, counts in frequencies.items():
        # Without any word in any document, nothing is divided by the mean length.
        relative_length = len(documents[name]) / mean_length if mean_length else 1.0
        discount = K1 * (1 - B + B * relative_length)
        scores[name] = math.fsum(
            weight * counts[word] * (K1 + 1) / (counts[word] + discount)
            for word, weight in weights.items()
            if word in counts
        )
    return scores
