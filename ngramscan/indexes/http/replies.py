"""Reads and checks the answers of the infini-gram-mini protocol.

An answer to another question must not become a number: everything that can be checked
in a reply is checked here. Only this module distinguishes kinds of failure:

* 403, 429          slow down: the host pauses (see `pace`)
* connection lost, timeout, 408, 500, 502, 503, 504, 200 with an `error`, a body that is not JSON
                    temporary: repeated, with growing pauses
* an unknown index, or a window that would cut a character
                    another form of the question may work
* anything else     permanent: RemoteRefused
"""

from __future__ import annotations

import json
from typing import Any

import httpx

from ngramscan.errors import RemoteRefused, RemoteUnavailable
from ngramscan.indexes.base import Occurrences, Place, Segment, Window
from ngramscan.remote.error_words import error_words
from ngramscan.remote.exchange import (
    RateLimitedError,
    TransientError,
    read_object,
    retry_after_s,
)

Reply = dict[str, Any]

MOST = 2**48
"""More occurrences, ranks and bytes than any index has."""

_CUT_CHARACTER = "Failed to decode document text"
_UNKNOWN_INDEX = "Invalid index"
_NOT_KEPT = {"spans", "latency"}  # the spans repeat the text


class CutCharacterError(RemoteRefused):
    """The requested window begins or ends inside a character; another one may not."""


class UnknownIndexError(RemoteRefused):
    """The service has no index of this name; it may have another spelling of it."""


def read_reply(response: httpx.Response) -> Reply:
    """Return the JSON object of an answer, or raise the error that fits it."""
    status, body = response.status_code, read_object(response.content)
    words = error_words(body, response)[:200]
    problem = f"HTTP {status}" + (f": {words}" if words else "")
    if status in {403, 429}:
        error = RateLimitedError(problem, retry_after_s(response.headers))
        error.final = RemoteRefused if status == 403 else RemoteUnavailable
        raise error
    if status in {408, 500, 502, 503, 504}:
        raise TransientError(problem, retry_after_s(response.headers))
    if status != 200:
        raise (UnknownIndexError if _UNKNOWN_INDEX in words else RemoteRefused)(problem)
    if body is None:
        raise TransientError(problem.replace("200", "200, but not a JSON object", 1))
    if "error" in body:
        if _CUT_CHARACTER in words:
            raise CutCharacterError(words)
        raise TransientError(problem.replace("200", "200 with an error", 1))
    return {name: value for name, value in body.items() if name not in _NOT_KEPT}


def read_count(reply: Reply, most: int | None = None) -> int:
    """Return the count of a reply; `most` is the size of the corpus in bytes, where known."""
    count = reply.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise refusal("no count in the reply", reply)
    if count > (most or MOST):
        raise refusal("more occurrences than the corpus has bytes:", reply)
    return count


def read_found(reply: Reply, query: str, most: int | None = None) -> Occurrences:
    """Return the segments of a reply; they must sum to its count."""
    ranks = reply.get("segment_by_shard")
    if not isinstance(ranks, list) or not all(map(_is_segment, ranks)):
        raise refusal("no segments in the reply", reply)
    # A shard without an occurrence has an empty segment, which may be anywhere.
    segments = (Segment(shard, *pair) for shard, pair in enumerate(ranks))
    located = Occurrences(query, tuple(segment for segment in segments if segment.occurrences))
    if reply.get("cnt") != located.occurrences:
        raise refusal("segments that do not sum to their count:", reply)
    read_count({"count": located.occurrences}, most)
    return located


def _is_segment(value: object) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(map(is_size, value))
    return is_pair and value[0] <= value[1]  # type: ignore[index]


def is_size(value: object) -> bool:
    """Tell whether a field is a number of bytes, tokens or documents; in Python, True is an int."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST


def read_window(reply: Reply, place: Place, context: int) -> Window:
    """Return the window of a reply to a request for `context` bytes in front of a place.

    It is refused if it lacks a field, if its lengths contradict each other, or if its text doesn't
    have the query where it should be: then it shows something else.
    """
    sizes = [reply.get(name) for name in ("doc_ix", "doc_len", "disp_len", "needle_offset")]
    text, metadata = reply.get("text"), reply.get("metadata")
    if not all(map(is_size, sizes)) or not isinstance(text, str) or not isinstance(metadata, str):
        raise refusal("no window in the reply", reply)
    document, document_bytes, shown_bytes, offset = (int(size or 0) for size in sizes)
    query = place.query.encode()
    try:
        content, _ = text.encode(), metadata.encode()
    except UnicodeEncodeError as error:
        raise refusal("a window with half a character:", reply) from error
    # Besides the context on both sides, there is at most the padding of a query.
    longest = 2 * context + 2 * len(query) + 32
    if not len(content) == shown_bytes <= min(document_bytes, longest) or offset > context:
        raise refusal("a window with contradictory lengths:", reply)
    if not content.startswith(query, offset):
        mismatch = f"rank {place.rank} in shard {place.shard} does not show {place.query!r}:"
        raise refusal(f"the window of {mismatch}", reply)
    # A document that begins exactly where the window does looks truncated.
    starts_document = offset < context or shown_bytes == document_bytes
    return Window(
        place=place,
        document=str(document),
        document_bytes=document_bytes,
        text=content,
        offset=offset,
        starts_document=starts_document,
        metadata=metadata,
    )


def refusal(problem: str, reply: Reply) -> RemoteRefused:
    """Return an error that shows the beginning of a reply."""
    return RemoteRefused(f"{problem} {json.dumps(reply)[:200]}")
