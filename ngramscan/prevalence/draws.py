"""Occurrences drawn at random: their places, the text around them, and their weights.

Queries that occur so seldom that all their occurrences are placed need no draws: their documents
are counted. Ranks are ordered by the text that follows the occurrence, so neighbours are alike and
evenly spaced ranks would be no random sample. Each rank is drawn independently.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ngramscan.errors import IndexFormatError, NgramscanError
from ngramscan.indexes.base import (
    Index,
    Locates,
    Occurrences,
    Place,
    Window,
    WindowFailure,
    shown_context,
)
from ngramscan.indexes.kinds import draw_name
from ngramscan.indexes.tokens.base import (
    MOST_TOKENS,
    MarkedWindow,
    TokenOccurrences,
    TokenWindow,
    is_token_level,
)
from ngramscan.matching import find_starts, least_distance
from ngramscan.messages import OptionUse
from ngramscan.patterns.overlaps import nesting
from ngramscan.prevalence.estimators import Draws, is_without_replacement, required_draws
from ngramscan.statistics.streams import stream

Estimator = Literal["combined", "size-bias", "first", "unique"]
LocatedQuery = Occurrences | TokenOccurrences

SHIFT_BYTES = 3
"""An end of a window may be moved by this much so that it cuts no character."""

DRAWS, MAX_DRAWS, PILOT = 200, 2000, 100
"""Draws per pattern; the most with a target, and the first that tell how many it needs."""

LEAST_CONTEXT = 100
"""Bytes on each side, the least that can be asked for."""
EXACT_UP_TO = 20_000
"""Up to this many occurrences of a query are all placed, if the index can; about a second."""

_BLOCK = 1024
"""Random numbers drawn at a time: others would give other draws for the same seed."""

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
    """Documents of queries with more occurrences are estimated from draws; 0: of all queries."""


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

    document: str
    is_truncated: bool | None
    """The document was seen only in part; None: not known."""
    shares: dict[Texts, DocumentShare]
    """By the texts whose occurrences are looked for; empty: nothing was looked for."""
    row: DrawRow | None
    metadata: str = ""
    """A JSON object, or empty; of byte-level indexes alone."""


Owners = Mapping[Any, str]
"""Bytes, or n-grams as texts (see `as_text`), and the query of each; none contains another."""


def owners_of(located_queries: Iterable[LocatedQuery]) -> Owners:
    """Return the strings to find in a document, by query; without strings that contain others.

    An n-gram that several queries have belongs to the first one.
    """
    owners: dict[Any, str] = {}
    for located in located_queries:
        for needle in located.needles:
            owners.setdefault(needle, located.query)
    nested = nesting(owners)
    return {needle: query for needle, query in owners.items() if needle not in nested}


def count_documents(
    index: Index, located_queries: Iterable[LocatedQuery], options: DocnormOptions
) -> tuple[dict[str, npt.NDArray[np.int64]], dict[str, NgramscanError]]:
    """Return the documents of each query whose occurrences are all placed, or an error.

    Queries that are in neither of the two are to be drawn.
    """
    counted: dict[str, npt.NDArray[np.int64]] = {}
    failed: dict[str, NgramscanError] = {}
    if not isinstance(index, Locates) or not options.exact_up_to:
        return counted, failed
    for located in located_queries:
        if located.occurrences <= options.exact_up_to:
            try:
                counted[located.query] = np.unique(index.documents_of(located.found))
            except NgramscanError as error:
                failed[located.query] = error
    return counted, failed


def documents_in(counted: Counted, texts: Iterable[str]) -> set[str]:
    """Return the documents that contain any of some texts, as far as they were counted."""
    arrays = [counted[text] for text in texts if text in counted]
    return {*map(str, np.unique(np.concatenate(arrays)).tolist())} if arrays else set()


def draw_occurrences(
    index: Index,
    located_queries: Sequence[LocatedQuery],
    unions: Sequence[Texts],
    options: DocnormOptions,
) -> tuple[dict[str, list[Seen]], dict[str, NgramscanError]]:
    """Return the draws of each query, or why one of them can't be examined.

    With a target, some are drawn at first, then as many as it needs.
    """
    failed = {
        located.query: _refusal_to_draw(located)
        for located in located_queries
        if isinstance(located, Occurrences) and located.is_by_rule
    }
    located_queries = [located for located in located_queries if located.query not in failed]
    unions = [union for union in unions if not failed.keys() & set(union)]
    owners = _owners_of_unions(located_queries, unions)
    seen: dict[Place, Seen] = {}

    def draw(sizes: Mapping[LocatedQuery, int]) -> dict[LocatedQuery, list[Seen]]:
        draws = {
            located: places_drawn(located, n, index.spec, options) for located, n in sizes.items()
        }
        places = dict.fromkeys(place for drawn_places in draws.values() for place in drawn_places)
        whole = {
            located.query
            for located, n in sizes.items()
            if options.estimator == "unique"
            or (index.unit == "tokens" and n >= located.occurrences)
        }
        new = [place for place in places if place not in seen]
        for place, looked in _look(
            index, new, located_queries, owners, whole=whole, options=options
        ):
            if isinstance(looked, NgramscanError):
                failed.setdefault(place.query, looked)
            else:
                seen[place] = looked
        return {
            located: [seen[place] for place in drawn_places]
            for located, drawn_places in draws.items()
            if located.query not in failed
        }

    draws_by_query = draw(dict.fromkeys(located_queries, first_draws(options)))
    if options.target is not None:
        needed = {}
        for located, pilot in draws_by_query.items():
            shares = [looked.shares.get((located.query,), _NOT_SEEN) for looked in pilot]
            draws = Draws.of(shares, located.occurrences)
            needed[located] = required_draws(draws, options.target, options.max_draws)
        draws_by_query = draw(needed)
    return {located.query: looked for located, looked in draws_by_query.items()}, failed


def _refusal_to_draw(located: Occurrences) -> NgramscanError:
    """Return the error of a query whose other occurrences in a document can't be told by text."""
    cure = OptionUse("exact_up_to", str(located.occurrences))
    return NgramscanError(
        "documents by this rule are counted, not estimated from draws; to look up all"
        f" {located.occurrences:,} occurrences: " + cure
    )


def _owners_of_unions(
    located_queries: Sequence[LocatedQuery], unions: Sequence[Texts]
) -> dict[str, dict[Texts, Owners]]:
    """Return what to look for at the draws of each query: itself, and the unions that it is in."""
    of_query = {located.query: located for located in located_queries}
    return {
        query: {
            texts: owners_of(of_query[text] for text in texts)
            for texts in ((query,), *(union for union in unions if query in union))
        }
        for query in of_query
    }


def _look(
    index: Index,
    places: Sequence[Place],
    located_queries: Sequence[LocatedQuery],
    owners: Mapping[str, Mapping[Texts, Owners]],
    *,
    whole: set[str],
    options: DocnormOptions,
) -> Iterator[tuple[Place, Seen | NgramscanError]]:
    """Look at some places; of the queries in `whole`, only the documents are needed."""
    for is_whole in (True, False):
        chosen = [place for place in places if (place.query in whole) == is_whole]
        looked_for = () if is_whole else located_queries
        for window in _windows(index, chosen, looked_for, options.context) if chosen else ():
            place = window.place
            if isinstance(window, WindowFailure):
                yield place, window.error
                continue
            try:
                unions = {} if is_whole else owners[place.query]
                yield place, _look_at(index, window, unions, options)
            except IndexFormatError as error:
                yield place, error


def _windows(
    index: Index, places: Sequence[Place], looked_for: Iterable[LocatedQuery], context: int
) -> Iterator[Window | TokenWindow | MarkedWindow | WindowFailure]:
    if not is_token_level(index):
        return index.windows(places, shown_context(index, context))
    return index.examine(
        places,
        {grams.query: grams.forms for grams in looked_for if isinstance(grams, TokenOccurrences)},
    )


def first_draws(options: DocnormOptions) -> int:
    """Return how many occurrences of a query are drawn, at first if there is a target."""
    return options.draws if options.target is None else min(PILOT, options.max_draws)


def places_drawn(located: LocatedQuery, n: int, index: str, options: DocnormOptions) -> list[Place]:
    """Draw n occurrences; if they are many among all, each at most once."""
    distinct = is_without_replacement(n, located.occurrences) and options.estimator != "unique"
    return draw_places(located, n, options.seed, index, with_replacement=not distinct)


def _look_at(
    index: Index,
    window: Window | TokenWindow | MarkedWindow,
    unions: Mapping[Texts, Owners],
    options: DocnormOptions,
) -> Seen:
    key, row = (window.place.query,), None
    if isinstance(window, MarkedWindow):
        # Its marks tell the n-grams of one query, not where they are.
        share = DocumentShare(1 / window.most, 1 / window.least, False)
        return Seen(window.document, None, {key: share} if unions else {}, row)
    if unions and not _is_at(window, unions[key]):
        where = f"{index.name}, rank {window.place.rank} of shard {window.place.shard}"
        raise IndexFormatError(where, f"no occurrence of {key[0]!r}")
    is_truncated: bool | None = window.length > len(window.text)
    # So many tokens are shown at least: before a draw, and from its first one on.
    reach = MOST_TOKENS // 2
    if isinstance(window, Window):
        reach = shown_context(index, options.context) - SHIFT_BYTES
        row = _draw_row(index.name, window) if options.keep_draws else None
    elif not unions:
        is_truncated = None
    shares = {
        texts: document_share(window, owners, reach, options.estimator)
        for texts, owners in unions.items()
    }
    metadata = window.metadata if isinstance(window, Window) else ""
    return Seen(window.document, is_truncated, shares, row, metadata)


def _is_at(window: Window | TokenWindow, owners: Owners) -> bool:
    """Tell whether a draw is an occurrence of its query."""
    drawn_query, text = window.place.query, window.text
    return any(
        query == drawn_query and text.startswith(needle, window.offset)
        for needle, query in owners.items()
    )


def _draw_row(index: str, window: Window) -> DrawRow:
    return DrawRow(
        index=index,
        pattern=window.place.query,
        draw=0,
        shard=window.place.shard,
        rank=window.place.rank,
        document=window.document,
        document_bytes=window.document_bytes,
        offset=window.offset if window.starts_document else None,
        truncated=window.is_truncated,
        text=window.text.decode(),
        text_offset=window.offset,
        metadata=window.metadata,
    )


# The occurrences that are drawn


def draw_places(
    located: LocatedQuery, n: int, seed: int, index: str, with_replacement: bool
) -> list[Place]:
    """Draw n occurrences of a query, all equally likely; take all if it has n or fewer.

    The draws depend only on the seed, the last part of the index's spec and the query. So they are
    the same whatever other patterns are asked for, and whether an index is in a folder, on a host
    or on a store. The first draws do not depend on how many follow.
    """
    total = located.occurrences
    if total <= n:
        return [place_of(located, ordinal) for ordinal in range(total)]
    ordinals = _ordinals(total, stream(seed, draw_name(index), located.query))
    if with_replacement:
        return [place_of(located, ordinal) for ordinal in islice(ordinals, n)]
    distinct: dict[int, None] = {}
    while len(distinct) < n:
        distinct[next(ordinals)] = None
    return [place_of(located, ordinal) for ordinal in distinct]


def _ordinals(total: int, random: np.random.Generator) -> Iterator[int]:
    while True:
        yield from random.integers(0, total, _BLOCK).tolist()


def place_of(located: LocatedQuery, ordinal: int) -> Place:
    """Return an occurrence by its number; numbers run on from shard to shard."""
    for segment in located.found.segments:
        if ordinal < segment.occurrences:
            return Place(located.query, segment.shard, segment.low + ordinal)
        ordinal -= segment.occurrences
    raise AssertionError("an ordinal is below the number of occurrences")


# The share of a document that a draw counts for


class DocumentShare(NamedTuple):
    """The share of a document that a draw counts for."""

    lowest: float
    highest: float
    """The two differ where an unseen part of the document matters."""
    by_first: bool
    """The share is 1 for the first occurrence in a document and 0 for others."""


def zero_listed_shares(
    listed_documents: set[str], draws: Iterable[tuple[str, DocumentShare]]
) -> list[DocumentShare]:
    """Return the shares of draws; a draw in a listed document has share 0."""
    return [
        share._replace(lowest=0.0, highest=0.0) if document in listed_documents else share
        for document, share in draws
    ]


_NOT_SEEN = DocumentShare(0.0, 1.0, False)
"""The share of a draw whose document was not looked at, as all occurrences are."""


def document_share(
    window: Window | TokenWindow, owners: Owners, reach: int, estimator: Estimator
) -> DocumentShare:
    """Return the share of a document that a draw counts for, among the occurrences of `owners`.

    In each document that contains any of them, the shares of all occurrences sum to 1: a draw that
    is not one of them, or belongs to another query, counts for nothing. A window shows at least
    `reach` bytes or tokens on each side, or all that there is.

    `size-bias`: one over the occurrences in the document. `first`: 1 for the first occurrence in
    the document, 0 for others. `combined`: the former for documents that are seen whole from each
    of their occurrences, the latter for others; which kind a document is does not depend on the
    draw, so the shares still sum to 1.
    """
    if not _is_at(window, owners):
        return DocumentShare(0.0, 0.0, False)
    text: Any = window.text
    starts = [start for needle in owners for start in find_starts(needle, text)]
    seen = len(starts)
    if estimator == "size-bias":
        return DocumentShare(1 / (seen + _most_hidden(window, owners)), 1 / seen, False)
    if (
        estimator == "combined"
        and window.length <= len(text)
        and max(starts) <= reach
        and window.length - min(starts) <= reach
    ):
        return DocumentShare(1 / seen, 1 / seen, False)
    if min(starts) < window.offset:
        return DocumentShare(0.0, 0.0, True)
    return DocumentShare(1.0 if window.starts_document else 0.0, 1.0, True)


def _most_hidden(window: Window | TokenWindow, needles: Iterable[Any]) -> int:
    """Return how many occurrences the hidden part of a document can hold."""
    hidden = window.length - len(window.text)
    if hidden <= 0:
        return 0
    # On each truncated side, an occurrence may also lie across the edge.
    sides = 1 if window.starts_document else 2
    return sum((hidden - sides) // least_distance(needle) + sides for needle in needles)
