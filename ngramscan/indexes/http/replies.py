"""What a reply of the infini-gram-mini protocol says, checked.

A service that answers something else than it was asked must not end up as a number: all that a
reply can be checked by is checked here.
"""

from __future__ import annotations

import json
from typing import Any

from ngramscan.errors import RemoteRefused
from ngramscan.indexes.base import Found, Place, Segment, Window

Reply = dict[str, Any]


MOST = 2**48
"""Occurrences, ranks and bytes of one index: more than any has."""


def read_count(reply: Reply, url: str, most: int | None = None) -> int:
    """Return the count of a reply.

    Parameters
    ----------
    reply : dict
        With the field count.
    url : str
        Who answers, for messages.
    most : int, optional
        Bytes of the corpus: there can be no more occurrences.

    Raises
    ------
    RemoteRefused
        There is no count in it, or none that is a number of occurrences.
    """
    count = reply.get("count")
    # True is an int to Python, but no count.
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise RemoteRefused(f"{url}: no count in the reply {_said(reply)}")
    if count > (most or MOST):
        raise RemoteRefused(f"{url}: more occurrences than the corpus has bytes: {_said(reply)}")
    return count


def read_found(reply: Reply, query: str, url: str, most: int | None = None) -> Found:
    """Return the segments of a reply; `most` as in `read_count`.

    Raises
    ------
    RemoteRefused
        There are none in it, or they do not sum to the count beside them.
    """
    segments = reply.get("segment_by_shard")
    if not isinstance(segments, list) or not all(map(_is_segment, segments)):
        raise RemoteRefused(f"{url}: no segments in the reply {_said(reply)}")
    # A shard without any occurrence has an empty segment, which may stand anywhere.
    found = Found(
        query, tuple(Segment(n, *segment) for n, segment in enumerate(segments) if any(segment))
    )
    found = Found(query, tuple(segment for segment in found.segments if segment.occurrences))
    if reply.get("cnt") != found.occurrences:
        raise RemoteRefused(f"{url}: segments that do not sum to their count: {_said(reply)}")
    read_count({"count": found.occurrences}, url, most)
    return found


def _is_segment(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(map(_is_size, value))
        and value[0] <= value[1]
    )


def _is_size(value: object) -> bool:
    # True is an int to Python, but no number.
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def read_window(reply: Reply, place: Place, context: int, url: str) -> Window:
    """Return the window of a reply.

    Parameters
    ----------
    reply : dict
        With the fields doc_ix, doc_len, disp_len, needle_offset, text and metadata.
    place : Place
        What was asked for.
    context : int
        How many bytes in front of the occurrence were asked for.
    url : str
        Who answers, for messages.

    Raises
    ------
    RemoteRefused
        A field is missing, the lengths contradict each other, or the text does not have the query
        where it should be: then it is a window of something else.
    """
    sizes = [reply.get(name) for name in ("doc_ix", "doc_len", "disp_len", "needle_offset")]
    text, metadata = reply.get("text"), reply.get("metadata")
    if not all(map(_is_size, sizes)) or not isinstance(text, str) or not isinstance(metadata, str):
        raise RemoteRefused(f"{url}: no window in the reply {_said(reply)}")
    document, document_bytes, shown_bytes, offset = (int(size or 0) for size in sizes)
    try:
        content = text.encode()
        metadata.encode()
    except UnicodeEncodeError as error:
        raise RemoteRefused(f"{url}: a window with half a character: {_said(reply)}") from error
    # At most the padding of a query stands beside the context on both sides.
    longest = 2 * context + 2 * len(place.query.encode()) + 32
    if (
        not len(content) == shown_bytes <= document_bytes
        or offset > context
        or (len(content) > longest)
    ):
        raise RemoteRefused(f"{url}: a window of contradicting lengths: {_said(reply)}")
    if not content.startswith(place.query.encode(), offset):
        raise RemoteRefused(
            f"{url}: the window of rank {place.rank} in shard {place.shard} does not show"
            f" {place.query!r}: {_said(reply)}"
        )
    return Window(
        place=place,
        document=str(document),
        document_bytes=document_bytes,
        text=content,
        offset=offset,
        # A document that begins exactly where the window does looks like one that is cut.
        starts_document=offset < context or shown_bytes == document_bytes,
        metadata=metadata,
    )


def _said(reply: Reply) -> str:
    return json.dumps(reply)[:200]
