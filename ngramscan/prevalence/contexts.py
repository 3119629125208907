"""Occurrences in context, drawn at random: what a pattern really catches."""

from __future__ import annotations

from dataclasses import dataclass

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, Place, QueryFailure, Window, WindowFailure
from ngramscan.prevalence.draws import draw_places

_BYTES_PER_CHARACTER = 4
"""At most, in UTF-8."""


@dataclass(frozen=True, slots=True)
class ContextRow:
    """An occurrence and what stands around it."""

    index: str
    document: str
    offset: int | None
    """Bytes from the start of the document; None: not known, as the start was not seen."""
    left: str
    match: str
    right: str
    shard: int
    rank: int
    metadata: str
    """A JSON object, or empty."""


@dataclass(frozen=True, slots=True)
class ContextsResult:
    """Some occurrences of a text in one index."""

    index: str
    text: str
    occurrences: int
    rows: list[ContextRow]
    """In the order of the draws."""
    failures: list[WindowFailure]


def run_contexts(text: str, index: Index, n: int, width: int, seed: int) -> ContextsResult:
    """Draw n different occurrences of a text, and show `width` characters on each side of them.

    Each is as likely as any other; if there are no more than n, all are shown, in the index's
    order. A text that can't be looked up raises NgramscanError.
    """
    (found,) = index.find([text])
    if isinstance(found, QueryFailure):
        raise found.error
    places = draw_places(found, n, seed, index.name, with_replacement=False)
    windows: dict[Place, Window] = {}
    failures: list[WindowFailure] = []
    try:
        nbytes = min((width + 1) * _BYTES_PER_CHARACTER, index.longest_context)
        for window in index.windows(places, nbytes):
            if isinstance(window, WindowFailure):
                failures.append(window)
            else:
                windows[window.place] = window
    except NgramscanError as error:  # the index as a whole
        failures += [WindowFailure(place, error) for place in places if place not in windows]
    rows = [_row(index.name, windows[place], width) for place in places if place in windows]
    return ContextsResult(index.name, text, found.occurrences, rows, failures)


def _row(index: str, window: Window, width: int) -> ContextRow:
    start, stop = window.offset, window.offset + len(window.place.query.encode())
    left = window.text[:start].decode()
    return ContextRow(
        index=index,
        document=window.document,
        offset=start if window.starts_document else None,
        left=left[max(0, len(left) - width) :],
        match=window.text[start:stop].decode(),
        right=window.text[stop:].decode()[:width],
        shard=window.place.shard,
        rank=window.place.rank,
        metadata=window.metadata,
    )
