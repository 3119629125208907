"""What an answer of the infini-gram-mini protocol says, checked.

A service that answers something else than it was asked must not end up as a number: all that a
reply can be checked by is checked here. Kinds of failure are distinguished only here:

* 403, 429          slow down: the host pauses (see `pace`)
* connection lost, timeout, 408, 500, 502, 503, 504, 200 with an `error`, a body that is not JSON
                    may pass: asked again, with growing pauses
* an unknown index, or a window that would cut a character
                    another form of the question may do
* anything else     will not pass: RemoteRefused
"""

from __future__ import annotations

import json
from typing import Any

import httpx

from ngramscan.errors import RemoteRefused, RemoteUnavailable
from ngramscan.indexes.base import Found, Place, Segment, Window
from ngramscan.pace.exchange import (
    RateLimitedError,
    TransientError,
    error_words,
    read_object,
    retry_after_s,
)

Reply = dict[str, Any]

MOST = 2**48
"""Occurrences, ranks and bytes of one index: more than any has."""

_CUT_CHARACTER = "Failed to decode document text"
_UNKNOWN_INDEX = "Invalid index"
_NOT_KEPT = {"spans", "latency"}  # the spans are the text again


class CutCharacterError(RemoteRefused):
    """The window that was asked for begins or ends inside a character; another may not."""


class UnknownIndexError(RemoteRefused):
    """The service has no index of this name; it may know another spelling."""


def read_reply(response: httpx.Response) -> Reply:
    """Return the JSON object of an answer, or raise for what it is instead."""
    status, body = response.status_code, read_object(response.content)
    words = error_words(body, response)[:200]
    said = f"HTTP {status}" + (f": {words}" if words else "")
    if status in {403, 429}:
        error = RateLimitedError(said, retry_after_s(response))
        error.final = RemoteRefused if status == 403 else RemoteUnavailable
        raise error
    if status in {408, 500, 502, 503, 504}:
        raise TransientError(said, retry_after_s(response))
    if status != 200:
        raise (UnknownIndexError if _UNKNOWN_INDEX in words else RemoteRefused)(said)
    if body is None:
        raise TransientError(said.replace("200", "200, but not a JSON object", 1))
    if "error" in body:
        if _CUT_CHARACTER in words:
            raise CutCharacterError(words)
        raise TransientError(said.replace("200", "200 with an error", 1))
    return {name: value for name, value in body.items() if name not in _NOT_KEPT}


def read_count(reply: Reply, most: int | None = None) -> int:
    """Return the count of a reply; `most` is the number of bytes of the corpus, where known."""
    count = reply.get("count")
    # True is an int to Python, but no count.
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise _refusal("no count in the reply", reply)
    if count > (most or MOST):
        raise _refusal("more occurrences than the corpus has bytes:", reply)
    return count


def read_found(reply: Reply, query: str, most: int | None = None) -> Found:
    """Return the segments of a reply, which sum to the count beside them."""
    ranks = reply.get("segment_by_shard")
    if not isinstance(ranks, list) or not all(map(_is_segment, ranks)):
        raise _refusal("no segments in the reply", reply)
    # A shard without any occurrence has an empty segment, which may stand anywhere.
    segments = (Segment(shard, *pair) for shard, pair in enumerate(ranks))
    found = Found(query, tuple(segment for segment in segments if segment.occurrences))
    if reply.get("cnt") != found.occurrences:
        raise _refusal("segments that do not sum to their count:", reply)
    read_count({"count": found.occurrences}, most)
    return found


def _is_segment(value: object) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(_is_size, value))
    return is_pair and value[0] <= value[1]  # type: ignore[index]


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def read_window(reply: Reply, place: Place, context: int) -> Window:
    """Return the window of a reply, where `context` bytes in front of the place were asked for.

    It is refused if it lacks a field, its lengths contradict each other, or its text does not have
    the query where it should be: then it is a window of something else.
    """
    sizes = [reply.get(name) for name in ("doc_ix", "doc_len", "disp_len", "needle_offset")]
    text, metadata = reply.get("text"), reply.get("metadata")
    if not all(map(_is_size, sizes)) or not isinstance(text, str) or not isinstance(metadata, str):
        raise _refusal("no window in the reply", reply)
    document, document_bytes, shown_bytes, offset = (int(size or 0) for size in sizes)
    query = place.query.encode()
    try:
        content, _ = text.encode(), metadata.encode()
    except UnicodeEncodeError as error:
        raise _refusal("a window with half a character:", reply) from error
    # At most the padding of a query stands beside the context on both sides.
    longest = 2 * context + 2 * len(query) + 32
    if not len(content) == shown_bytes <= min(document_bytes, longest) or offset > context:
        raise _refusal("a window of contradicting lengths:", reply)
    if not content.startswith(query, offset):
        shown = f"rank {place.rank} in shard {place.shard} does not show {place.query!r}:"
        raise _refusal(f"the window of {shown}", reply)
    # A document that begins exactly where the window does looks like one that is truncated.
    starts_document = offset < context or shown_bytes == document_bytes
    name = str(document)
    return Window(place, name, document_bytes, content, offset, starts_document, metadata)


def _refusal(problem: str, reply: Reply) -> RemoteRefused:
    return RemoteRefused(f"{problem} {json.dumps(reply)[:200]}")
