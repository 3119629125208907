"""Occurrences in context, drawn at random: what a pattern really catches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, Place, QueryFailure, Window, WindowFailure
from ngramscan.prevalence.draws import draw_places

_BYTES_PER_CHARACTER = 4
"""At most, in UTF-8."""


@dataclass(frozen=True, slots=True)
class Context:
    """One row: an occurrence and what stands around it."""

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


@dataclass(slots=True)
class Concordance:
    """Some occurrences of a text in one index."""

    index: str
    text: str
    occurrences: int
    contexts: list[Context] = field(default_factory=list)
    """In the order of the draws."""
    failures: list[WindowFailure] = field(default_factory=list)


def find_contexts(text: str, index: Index, n: int, width: int, seed: int) -> Concordance:
    """Draw occurrences of a text, each as likely as any other, and show what is around them.

    Parameters
    ----------
    text : str
        What to look for.
    index : Index
        Where.
    n : int
        How many different occurrences; all, in the order of the index, where there are no more.
    width : int
        Characters on each side.
    seed : int
        Of the draw.

    Raises
    ------
    NgramscanError
        The text could not be looked up.
    """
    (found,) = index.find([text])
    if isinstance(found, QueryFailure):
        raise found.error
    places = draw_places(found, n, seed, index.name, with_replacement=False)
    windows, failures = _look_at(index, places, width)
    contexts = [_context(index.name, windows[place], width) for place in places if place in windows]
    return Concordance(index.name, text, found.occurrences, contexts, failures)


def _look_at(
    index: Index, places: Sequence[Place], width: int
) -> tuple[dict[Place, Window], list[WindowFailure]]:
    windows: dict[Place, Window] = {}
    failures: list[WindowFailure] = []
    nbytes = min((width + 1) * _BYTES_PER_CHARACTER, index.longest_context)
    try:
        for window in index.windows(places, nbytes):
            if isinstance(window, WindowFailure):
                failures.append(window)
            else:
                windows[window.place] = window
    except NgramscanError as error:  # the index as a whole
        failures += [WindowFailure(place, error) for place in places if place not in windows]
    return windows, failures


def _context(index: str, window: Window, width: int) -> Context:
    match_bytes = len(window.place.query.encode())
    left = window.text[: window.offset].decode()
    right = window.text[window.offset + match_bytes :].decode()
    match = window.text[window.offset : window.offset + match_bytes].decode()
    return Context(
        index=index,
        document=window.document,
        offset=window.offset if window.starts_document else None,
        left=left[max(0, len(left) - width) :],
        match=match,
        right=right[:width],
        shard=window.place.shard,
        rank=window.place.rank,
        metadata=window.metadata,
    )
