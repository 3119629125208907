"""Occurrences drawn at random: which ones, and for what share of a document each counts.

Ranks are in the order of what follows the occurrence, so neighbours are alike: evenly spaced ranks
are no random sample. Every rank is drawn on its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Literal, NamedTuple

import numpy as np

from ngramscan.indexes.base import Found, Place, Window
from ngramscan.matching import find_starts

Estimator = Literal["combined", "size-bias", "first", "unique"]
ESTIMATORS: tuple[Estimator, ...] = ("combined", "size-bias", "first", "unique")

SHIFT_BYTES = 3
"""By how much an end of a window may be moved so that it cuts no character."""

_BLOCK = 1024


# Which occurrences


def draw_places(found: Found, n: int, seed: int, index: str, with_replacement: bool) -> list[Place]:
    """Draw occurrences of a query, each time all as likely.

    Parameters
    ----------
    found : Found
        Where the query is.
    n : int
        How many to draw; all there are, in their order, where there are no more.
    seed : int
        Together with the index and the query it decides what is drawn, so a pattern's sample does
        not depend on what else is asked. Fewer draws are a part of more.
    index : str
        The name of the index.
    with_replacement : bool
        Whether one occurrence may be drawn twice.

    Returns
    -------
    list of Place
        In the order of the draws.
    """
    if found.occurrences <= n:
        return [_place(found, ordinal) for ordinal in range(found.occurrences)]
    stream = _ordinals(found.occurrences, seed, f"{index}\0{found.query}")
    drawn = islice(stream if with_replacement else _without_repeats(stream), n)
    return [_place(found, ordinal) for ordinal in drawn]


def _ordinals(total: int, seed: int, name: str) -> Iterator[int]:
    words = np.frombuffer(hashlib.sha256(name.encode()).digest(), np.uint32)
    random = np.random.default_rng([seed, *words.tolist()])
    while True:
        yield from random.integers(0, total, _BLOCK).tolist()


def _without_repeats(stream: Iterator[int]) -> Iterator[int]:
    seen: set[int] = set()
    for ordinal in stream:
        if ordinal not in seen:
            seen.add(ordinal)
            yield ordinal


def _place(found: Found, ordinal: int) -> Place:
    """Return one of all occurrences, which stand shard behind shard."""
    ends = accumulate(segment.occurrences for segment in found.segments)
    for segment, end in zip(found.segments, ends, strict=True):
        if ordinal < end:
            return Place(found.query, segment.shard, segment.high - (end - ordinal))
    raise AssertionError("an ordinal is below the number of occurrences")


# What they count for


class Share(NamedTuple):
    """The share of a document that a draw counts for."""

    lowest: float
    highest: float
    """The two differ where a part of the document that matters was not seen."""
    by_first: bool
    """It is 1 for the first occurrence of a document and 0 for others."""


def document_share(
    window: Window, texts: Sequence[bytes], context: int, estimator: Estimator
) -> Share:
    """Return the share of a document that a draw counts for.

    Parameters
    ----------
    window : Window
        Around an occurrence of one of `texts`.
    texts : sequence of bytes
        The patterns, none of which contains another; in the documents of one occurrence at least
        of one of them, the shares of all occurrences sum to 1.
    context : int
        The bytes on each side that were asked for.
    estimator : Estimator
        `size-bias`: one over the occurrences in the document. `first`: 1 where no occurrence stands
        in front of it, else 0. `combined`: the one for documents that are seen whole from each of
        their occurrences, the other for the rest; which of them a document is does not depend on
        the draw, so the shares still sum to 1.
    """
    starts = [start for text in texts for start in find_starts(text, window.text)]
    if estimator == "size-bias":
        return _size_bias_share(window, texts, len(starts))
    if estimator == "combined" and _is_seen_from_all(window, starts, context - SHIFT_BYTES):
        return Share(1 / len(starts), 1 / len(starts), False)
    if min(starts) < window.offset:
        return Share(0.0, 0.0, True)
    return Share(1.0 if window.starts_document else 0.0, 1.0, True)


def _is_seen_from_all(window: Window, starts: Sequence[int], reach: int) -> bool:
    if window.is_cut:
        return False
    return max(starts) <= reach and window.document_bytes - min(starts) <= reach


def _size_bias_share(window: Window, texts: Sequence[bytes], seen: int) -> Share:
    if not window.is_cut:
        return Share(1 / seen, 1 / seen, False)
    # On each side that is cut, an occurrence may also lie across the edge.
    sides = 1 if window.starts_document else 2
    hidden = sum((window.hidden_bytes - sides) // least_distance(text) + sides for text in texts)
    return Share(1 / (seen + hidden), 1 / seen, False)


def least_distance(text: bytes) -> int:
    """Return how near to each other two occurrences of a text can begin: its smallest period."""
    return next(d for d in range(1, len(text) + 1) if text.startswith(text[d:]))
