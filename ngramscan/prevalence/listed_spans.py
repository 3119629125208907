"""The spans that are listed with their texts: all, but in repeated text as many as cover it.

In repeated text a span begins at each word, and each is nearly as long as the text: their texts
together would have as many characters as the text has, squared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ngramscan.matching.seeds import Booleans, Integers
from ngramscan.prevalence.spans import Span

MOST_OVERLAPPING = 16
"""Spans with a word that is in at most this many spans are listed."""


def listed_spans(spans: Sequence[Span]) -> list[Span]:
    """Return the spans of a text without most of the spans that overlap many others.

    Spans are in the order of their starts, and none contains another. A span is left out if each
    of its words is in more than 16 spans, unless it is needed to cover the same words, or is the
    first of the longest. So no word is in more than 35 of the listed spans.
    """
    if len(spans) <= MOST_OVERLAPPING:
        return [*spans]
    firsts, stops = np.array([(span.first, span.stop) for span in spans]).T
    is_kept = _have_a_rare_word(firsts, stops)
    is_kept[np.argmax(stops - firsts)] = True
    next_firsts = np.append(firsts[1:], stops[-1] + 1)
    listed, reach = list[Span](), 0
    for span, keeps, next_first in zip(spans, is_kept.tolist(), next_firsts.tolist(), strict=True):
        # Without it, the words before the next one would be in no span that is listed.
        is_needed = next_first > reach
        if keeps or is_needed:
            listed.append(span)
            reach = span.stop
    return listed


def _have_a_rare_word(firsts: Integers, stops: Integers) -> Booleans:
    """Return which spans have a word that is in few spans."""
    changes = np.zeros(int(stops[-1]) + 1, np.int64)  # of the number of spans that have a word
    changes[firsts] += 1
    changes[stops] -= 1
    is_rare = np.cumsum(changes)[:-1] <= MOST_OVERLAPPING
    rare_before = np.append(0, np.cumsum(is_rare))
    have_one: Booleans = rare_before[stops] > rare_before[firsts]
    return have_one
