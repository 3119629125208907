"""Occurrences drawn at random: which ones, what is seen of them, and what each counts for.

Queries that occur so seldom that all their occurrences are placed need no draws: their documents
are counted. Ranks are ordered by the text that follows the occurrence, so neighbours are alike and
evenly spaced ranks would be no random sample. Each rank is drawn independently.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import AnyStr, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, Occurrences, Place, Window, WindowFailure, shown_context
from ngramscan.matching import find_starts, least_distance
from ngramscan.prevalence.estimators import Draws, is_without_replacement, required_draws
from ngramscan.statistics.streams import stream

Estimator = Literal["combined", "size-bias", "first", "unique"]

SHIFT_BYTES = 3
"""An end of a window may be moved by this much so that it cuts no character."""

_BLOCK = 1024

DRAWS, MAX_DRAWS, PILOT = 200, 2000, 100
"""Draws per pattern; the most with a target, and the first that tell how many it needs."""

LEAST_CONTEXT = 100
"""Bytes on each side, the least that can be asked for."""
EXACT_UP_TO = 20_000
"""Occurrences of a query, all of which are placed where the index can; about a second."""

Texts = tuple[str, ...]
"""Texts, none of which contains another."""
Counted = Mapping[str, npt.NDArray[np.int64]]
"""The numbers of the documents that contain a query, each once."""


@dataclass(frozen=True, slots=True)
class DocnormOptions:
    """How documents are estimated: the options of the command, which describes them."""

    draws: int = DRAWS
    target: float | None = None
    max_draws: int = MAX_DRAWS
    estimator: Estimator = "combined"
    context: int = 10_000
    seed: int = 1
    keep_draws: bool = False
    """Return the draws too, with their text."""
    exact_up_to: int = EXACT_UP_TO
    """Documents of queries with more occurrences are estimated from draws; 0: those of all."""


@dataclass(frozen=True, slots=True)
class DrawRow:
    """An occurrence that was drawn, and the part of its document that was seen."""

    index: str
    pattern: str
    draw: int
    """Numbered from 1 for each pattern."""
    shard: int
    rank: int
    document: str
    document_bytes: int
    offset: int | None
    """Bytes from the start of the document; None: unknown, as the start was not seen."""
    truncated: bool
    """The document was seen only in part."""
    text: str
    text_offset: int
    """Bytes from the start of `text` to the occurrence."""
    metadata: str
    """A JSON object, or empty."""


class Seen(NamedTuple):
    """The part of a window that is kept; its text only on request, as windows are large."""

    row: DrawRow
    shares: dict[Texts, Share]


def count_documents(
    index: Index, found: Iterable[Occurrences], options: DocnormOptions
) -> tuple[dict[str, npt.NDArray[np.int64]], dict[str, NgramscanError]]:
    """Return the documents of each query whose occurrences are all placed, or why they can't be.

    Queries that are in neither of the two are to be drawn.
    """
    counted: dict[str, npt.NDArray[np.int64]] = {}
    failed: dict[str, NgramscanError] = {}
    place = index.documents_of
    for located in found if place and options.exact_up_to else ():
        if place and located.occurrences <= options.exact_up_to:
            try:
                counted[located.query] = np.unique(place(located))
            except NgramscanError as error:
                failed[located.query] = error
    return counted, failed


def documents_in(counted: Counted, texts: Iterable[str]) -> set[str]:
    """Return the documents that contain any of some texts, as far as they were counted."""
    arrays = [counted[text] for text in texts if text in counted]
    return {*map(str, np.unique(np.concatenate(arrays)).tolist())} if arrays else set()


def draw_occurrences(
    index: Index, found: Sequence[Occurrences], unions: Sequence[Texts], options: DocnormOptions
) -> tuple[dict[str, list[Seen]], dict[str, NgramscanError]]:
    """Return the draws of each query, or why one of them can't be examined."""
    context = shown_context(index, options.context)

    def look(places: Sequence[Place], _: object) -> Iterator[tuple[Place, Seen | NgramscanError]]:
        for window in index.windows(places, context):
            if isinstance(window, WindowFailure):
                yield window.place, window.error
            else:
                yield (
                    window.place,
                    _look_at(index.name, window, context=context, unions=unions, options=options),
                )

    return draw_in_rounds(index.name, found, options, look)


class HasShares(Protocol):
    """An occurrence that was looked at."""

    @property
    def shares(self) -> Mapping[Texts, Share]:
        """The share of a document that it counts for, among all occurrences of some texts."""


_Looked = TypeVar("_Looked", bound=HasShares)


def draw_in_rounds(
    index: str,
    found: Sequence[Occurrences],
    options: DocnormOptions,
    look: Callable[
        [Sequence[Place], Mapping[Occurrences, int]],
        Iterable[tuple[Place, _Looked | NgramscanError]],
    ],
) -> tuple[dict[str, list[_Looked]], dict[str, NgramscanError]]:
    """Return the draws of each query, or why one of them can't be examined.

    With a target, some are drawn at first, then as many as it needs. `look` takes the places to
    look at, and how many occurrences of each query are drawn; it returns what is at each place.
    """
    seen: dict[Place, _Looked] = {}
    failed: dict[str, NgramscanError] = {}

    def draw(sizes: Mapping[Occurrences, int]) -> dict[Occurrences, list[_Looked]]:
        draws = {located: places_drawn(located, n, index, options) for located, n in sizes.items()}
        places = dict.fromkeys(place for drawn in draws.values() for place in drawn)
        for place, looked in look([place for place in places if place not in seen], sizes):
            if isinstance(looked, NgramscanError):
                failed.setdefault(place.query, looked)
            else:
                seen[place] = looked
        return {
            located: [seen[place] for place in drawn]
            for located, drawn in draws.items()
            if located.query not in failed
        }

    drawn = draw(dict.fromkeys(found, first_draws(options)))
    if options.target is not None:
        needed = {}
        for located, pilot in drawn.items():
            shares = [looked.shares[located.query,] for looked in pilot]
            draws = Draws.of(shares, located.occurrences)
            needed[located] = required_draws(draws, options.target, options.max_draws)
        drawn = draw(needed)
    return {located.query: looked for located, looked in drawn.items()}, failed


def first_draws(options: DocnormOptions) -> int:
    """Return how many occurrences of a query are drawn, at first if there is a target."""
    return options.draws if options.target is None else min(PILOT, options.max_draws)


def places_drawn(found: Occurrences, n: int, index: str, options: DocnormOptions) -> list[Place]:
    """Draw n occurrences; if they are many among all, each at most once."""
    distinct = is_without_replacement(n, found.occurrences) and options.estimator != "unique"
    return draw_places(found, n, options.seed, index, with_replacement=not distinct)


def _look_at(
    index: str, window: Window, context: int, unions: Sequence[Texts], options: DocnormOptions
) -> Seen:
    query = window.place.query
    of = [(query,), *(union for union in unions if query in union and len(union) > 1)]
    shares = {
        texts: document_share(window, [text.encode() for text in texts], context, options.estimator)
        for texts in of
        if options.estimator != "unique"
    }
    row = DrawRow(
        index=index,
        pattern=query,
        draw=0,
        shard=window.place.shard,
        rank=window.place.rank,
        document=window.document,
        document_bytes=window.document_bytes,
        offset=window.offset if window.starts_document else None,
        truncated=window.is_truncated,
        text=window.text.decode() if options.keep_draws else "",
        text_offset=window.offset,
        metadata=window.metadata if options.keep_draws else "",
    )
    return Seen(row, shares)


# Which occurrences


def draw_places(
    found: Occurrences, n: int, seed: int, index: str, with_replacement: bool
) -> list[Place]:
    """Draw n occurrences of a query, all equally likely; take all of them if there are no more.

    The draws depend only on the seed, the last part of the index's name and the query. So they are
    the same whatever other patterns are asked for, and whether an index is in a folder, on a host
    or on a store. The first draws are the same however many follow.
    """
    total = found.occurrences
    if total <= n:
        return [_place(found, ordinal) for ordinal in range(total)]
    ordinals = _ordinals(total, stream(seed, _last_part(index), found.query))
    if with_replacement:
        return [_place(found, ordinal) for ordinal in islice(ordinals, n)]
    distinct: dict[int, None] = {}
    while len(distinct) < n:
        distinct[next(ordinals)] = None
    return [_place(found, ordinal) for ordinal in distinct]


def _last_part(index: str) -> str:
    kind, _, place = index.partition(":")
    if kind in {"fm9", "scan", "tokens"} and "://" not in place:
        return Path(place).resolve().name
    return index.removeprefix("infini-gram:").rstrip("/").rpartition("/")[2]


def _ordinals(total: int, random: np.random.Generator) -> Iterator[int]:
    while True:
        yield from random.integers(0, total, _BLOCK).tolist()


def _place(found: Occurrences, ordinal: int) -> Place:
    """Return an occurrence by its number; numbers run on from shard to shard."""
    for segment in found.segments:
        if ordinal < segment.occurrences:
            return Place(found.query, segment.shard, segment.low + ordinal)
        ordinal -= segment.occurrences
    raise AssertionError("an ordinal is below the number of occurrences")


# The share of a document that a draw counts for


class Share(NamedTuple):
    """The share of a document that a draw counts for."""

    lowest: float
    highest: float
    """The two differ where an unseen part of the document matters."""
    by_first: bool
    """The share is 1 for the first occurrence in a document and 0 for others."""


def shares_beside(known: set[str], draws: Iterable[tuple[str, Share]]) -> list[Share]:
    """Return the shares of draws and their documents; a document that is known has none."""
    return [
        share._replace(lowest=0.0, highest=0.0) if document in known else share
        for document, share in draws
    ]


class Extent(NamedTuple):
    """The part of a document that was seen; lengths are bytes, or tokens."""

    length: int
    """Length of the document."""
    shown: int
    offset: int
    """Start of the draw in the part."""
    starts_document: bool
    """The part begins where the document does; False: it may not."""


def document_share(
    window: Window, texts: Sequence[bytes], context: int, estimator: Estimator
) -> Share:
    """Return the share of a document that a draw, an occurrence of one of `texts`, counts for.

    `context` is the number of bytes on each side that were asked for.
    """
    starts = [start for text in texts for start in find_starts(text, window.text)]
    extent = Extent(
        length=window.document_bytes,
        shown=len(window.text),
        offset=window.offset,
        starts_document=window.starts_document,
    )
    reach = context - SHIFT_BYTES
    return share_of(starts, extent, texts=texts, reach=reach, estimator=estimator)


def share_of(
    starts: Sequence[int],
    extent: Extent,
    *,
    texts: Sequence[AnyStr],
    reach: int,
    estimator: Estimator,
) -> Share:
    """Return the share of a document that a draw counts for, which is seen at `starts`, too.

    No text contains another. In each document that contains any of them, the shares of all
    occurrences sum to 1. A window shows at least `reach` on each side, or all that there is.

    `size-bias`: one over the occurrences in the document. `first`: 1 for the first occurrence in
    the document, 0 for others. `combined`: the former for documents that are seen whole from each
    of their occurrences, the latter for others; which kind a document is does not depend on the
    draw, so the shares still sum to 1.
    """
    seen, is_truncated = len(starts), extent.length > extent.shown
    if estimator == "size-bias":
        return Share(1 / (seen + _most_hidden(extent, texts)), 1 / seen, False)
    if (
        estimator == "combined"
        and not is_truncated
        and max(starts) <= reach
        and extent.length - min(starts) <= reach
    ):
        return Share(1 / seen, 1 / seen, False)
    if min(starts) < extent.offset:
        return Share(0.0, 0.0, True)
    return Share(1.0 if extent.starts_document else 0.0, 1.0, True)


def _most_hidden(extent: Extent, texts: Sequence[AnyStr]) -> int:
    """Return how many occurrences the hidden part of a document can hold."""
    if extent.length <= extent.shown:
        return 0
    # On each truncated side, an occurrence may also lie across the edge.
    sides = 1 if extent.starts_document else 2
    hidden = extent.length - extent.shown
    return sum((hidden - sides) // least_distance(text) + sides for text in texts)
