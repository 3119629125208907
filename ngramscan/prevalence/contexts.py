"""Random occurrences in context, which show what a pattern really catches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ngramscan.errors import InputError, NgramscanError
from ngramscan.indexes.base import (
    Index,
    Occurrences,
    Place,
    QueryFailure,
    Window,
    WindowFailure,
    shown_context,
)
from ngramscan.indexes.tokens.base import is_token_level
from ngramscan.prevalence.count import collect_replies
from ngramscan.prevalence.draws import draw_places
from ngramscan.rows import Label, row_kind

_BYTES_PER_CHARACTER = 4
"""At most, in UTF-8."""


@row_kind(
    "contexts",
    "Occurrences in context",
    key=("left", "match", "right"),
)
@dataclass(frozen=True, slots=True)
class ContextRow:
    """An occurrence and the text around it."""

    index: Label
    pattern: Label
    document: Label
    offset: int | None
    """Bytes from the start of the document; None: unknown, as the start was not seen."""
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


def bytes_of(width: int) -> int:
    """Return how many bytes are fetched on each side to show `width` characters."""
    return (width + 1) * _BYTES_PER_CHARACTER


def run_contexts(
    texts: Sequence[str], index: Index, n: int, width: int, seed: int
) -> tuple[list[ContextsResult], list[QueryFailure]]:
    """Draw n different occurrences of each text, and show `width` characters on each side of them.

    All occurrences of a text are equally likely; if there are n or fewer, all are shown, in the
    index's order. Texts that could not be looked up are in the second list.
    """
    located, errors = collect_replies(index.find(texts), texts)
    places = {
        text: draw_places(located[text], n, seed, index.spec, with_replacement=False)
        for text in texts
        if text in located
    }
    results = show_places(located, places, index, width)
    return results, [QueryFailure(index.name, text, error) for text, error in errors.items()]


def show_places(
    located: Mapping[str, Occurrences],
    places: Mapping[str, Sequence[Place]],
    index: Index,
    width: int,
) -> list[ContextsResult]:
    """Show `width` characters on each side of some occurrences of each text, all at once.

    `places` has the occurrences to show, by the texts of `located`.
    """
    wanted = [place for drawn_places in places.values() for place in drawn_places]
    windows: dict[Place, Window] = {}
    failures: dict[Place, WindowFailure] = {}
    try:
        nbytes = shown_context(index, bytes_of(width))
        for fetched_window in index.windows(wanted, nbytes):
            window = _checked(index, fetched_window)
            if isinstance(window, WindowFailure):
                failures[window.place] = window
            else:
                windows[window.place] = window
    except NgramscanError as error:  # the index as a whole
        lost = (place for place in wanted if place not in windows)
        failures |= {place: WindowFailure(place, error) for place in lost}
    return [
        ContextsResult(
            index=index.name,
            text=text,
            occurrences=located[text].occurrences,
            rows=[
                _row(index.name, windows[place], width)
                for place in places[text]
                if place in windows
            ],
            failures=[failures[place] for place in places[text] if place in failures],
        )
        for text in places
    ]


def _checked(index: Index, window: Window | WindowFailure) -> Window | WindowFailure:
    """Return a window; a failure if another text is there with the same tokens.

    A tokenizer may change the signs of a text.
    """
    if isinstance(window, WindowFailure) or not is_token_level(index):
        return window
    query = window.place.query.encode()
    if window.text[window.offset : window.offset + len(query)] == query:
        return window
    problem = f"{window.place.query!r} has the tokens of another text, which occurs there"
    return WindowFailure(window.place, InputError(index.name, problem))


def _row(index: str, window: Window, width: int) -> ContextRow:
    start, stop = window.offset, window.stop
    before, match, after = (
        part.decode(errors="replace")
        for part in (window.text[:start], window.text[start:stop], window.text[stop:])
    )
    return ContextRow(
        index=index,
        pattern=window.place.query,
        document=window.document,
        offset=start if window.starts_document else None,
        left=before[max(0, len(before) - width) :],
        match=match,
        right=after[:width],
        shard=window.place.shard,
        rank=window.place.rank,
        metadata=window.metadata,
    )
