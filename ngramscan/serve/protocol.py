"""The infini-gram-mini protocol without HTTP: request bodies in, fields of the responses out.

Requests to an index over tokens are answered in the protocol of `token_protocol`.

Valid requests get the answer of the original service, down to its units: `max_ctx_len`, `disp_len`,
`doc_len` and `needle_offset` are bytes, whatever its documentation says, but the length of the
query is in *characters*. So after a query that is not ASCII, a window ends (bytes - characters)
earlier, and may cut the query itself. Clients know this and ask for more; they rely on this end.

Where the original crashes or reports an internal error, this server refuses the request and names
the field. It deviates deliberately in three ways:

* `max_ctx_len` outside 1 to 10,000, as documented, or to a limit of the owner is refused; the
  original accepts any;
* a rank outside the segment of the query is served if the shard has it: the original does so, and
  the check would cost a search per window;
* unknown fields are ignored; the original accepts two of them and crashes on others.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.reader import Shard, find_in_all
from ngramscan.indexes.base import Index
from ngramscan.indexes.fm9 import LocalFm9Index
from ngramscan.progress import Progress
from ngramscan.serve.fields import (
    JsonObject,
    RefusedError,
    encode,
    parse,
    required,
    shortened,
    to_json,
)
from ngramscan.serve.token_protocol import ServedTokens, answer_about_tokens

__all__ = ["RefusedError", "ServedIndex", "answer", "to_json"]

DEFAULT_CONTEXT = 1_000
LONGEST_CONTEXT = 10_000
CUT_CHARACTER = (
    "Failed to decode document text with UTF-8. This is likely because the context was cut off "
    "in the middle of a multi-byte char. Please try with a different max context length."
)
"""Clients recognise these words, and then try another window."""


class ServedIndex:
    """An index and its name in requests."""

    def __init__(self, name: str, shards: Sequence[Shard]) -> None:
        self.name = name
        self.shards = shards
        self.documents = sum(shard.documents for shard in shards)
        self.text_bytes = sum(shard.text_bytes for shard in shards)
        # A document is numbered over all shards.
        self._first = list(accumulate((shard.documents for shard in shards), initial=0))

    def searched(self, progress: Progress) -> Index:
        """Return the index as commands use it; its draws depend on the last part of its name."""
        # Each request has a single thread of the server.
        return LocalFm9Index(f"/{self.name}", self.shards, progress, readers=1)

    def segments(self, query: bytes) -> list[list[int]]:
        """Return the ranks `[start, stop)` of a query in each shard; all ranks if it is empty."""
        if not query:
            return [[0, shard.ranks] for shard in self.shards]
        segments: list[list[int]] = np.concatenate(find_in_all(self.shards, [query])).tolist()
        return segments

    def window(self, shard: int, rank: int, needle_bytes: int, context: int) -> JsonObject | None:
        """Return the text around a rank, and its document; None if it cuts a character."""
        (window,) = self.shards[shard].windows([rank], needle_bytes, context)
        try:
            text = window.text.decode()
        except UnicodeDecodeError:
            return None
        (line,) = self.shards[shard].metadata([window.document])
        try:
            metadata = line.decode()
        except UnicodeDecodeError as error:
            problem = f"the metadata of document {window.document} in shard {shard} is not UTF-8"
            raise IndexFormatError(self.name, problem) from error
        return {
            "disp_len": len(window.text),
            "doc_ix": self._first[shard] + window.document,
            "doc_len": window.document_bytes,
            "metadata": metadata,
            # The original computes with unsigned words, in which -1 is a large number.
            "needle_offset": window.offset % 2**64,
            "text": text,
        }


def answer(
    indexes: Mapping[str, ServedIndex | ServedTokens],
    body: bytes,
    max_context: int = LONGEST_CONTEXT,
) -> JsonObject:
    """Answer a request in the protocol of the index that it names.

    `max_context` is in bytes on each side of an occurrence. A RefusedError says that the request
    is wrong.
    """
    request = parse(body)
    name = request.get("corpus", request.get("index"))
    if isinstance(name, str) and isinstance(index := indexes.get(name), ServedTokens):
        return answer_about_tokens(index, request)
    return _answer_about_bytes(indexes, request, max_context)


def _answer_about_bytes(
    indexes: Mapping[str, ServedIndex | ServedTokens], request: JsonObject, max_context: int
) -> JsonObject:
    started_at = time.perf_counter()
    names = ("query_type", "index", "query")
    kind, name, query = (required(request, field, str, "a string") for field in names)
    index = indexes.get(name)
    if not isinstance(index, ServedIndex):
        available = ", ".join(list(indexes)[:20])
        unknown_name = shortened(str(request.get("corpus", name)))
        raise RefusedError(f"Invalid index: {unknown_name}; available: {available}")
    fields: JsonObject
    match kind:
        case "count":
            fields = {"count": _total(index.segments(encode(query)))}
        case "find":
            segments = index.segments(encode(query))
            fields = {"cnt": _total(segments), "segment_by_shard": segments}
        case "get_doc_by_rank":
            fields = _window(index, query, request, max_context)
        case _:
            kinds = "expected count, find or get_doc_by_rank"
            raise RefusedError(f"Invalid query_type: {shortened(kind)}; {kinds}")
    return {**fields, "latency": (time.perf_counter() - started_at) * 1000}


def _total(segments: Sequence[Sequence[int]]) -> int:
    return sum(stop - start for start, stop in segments)


def _window(index: ServedIndex, query: str, request: JsonObject, max_context: int) -> JsonObject:
    encode(query)
    shard = _number(request, "s", 0, len(index.shards) - 1)
    rank = _number(request, "rank", 0, index.shards[shard].ranks - 1)
    request.setdefault("max_ctx_len", DEFAULT_CONTEXT)
    context = _number(request, "max_ctx_len", 1, max_context)
    fields = index.window(shard, rank, len(query), context)
    if fields is None:
        return {"error": CUT_CHARACTER}
    # The occurrences of the query in the text are labelled "0".
    parts = re.split(f"({re.escape(query)})", fields["text"]) if query else [fields["text"]]
    spans = [(part, "0" if part == query else None) for part in parts if part]
    return {**fields, "spans": spans or [("", None)]}


def _number(request: JsonObject, name: str, least: int, most: int) -> int:
    value: int = required(request, name, int, "a whole number")
    if not least <= value <= most:
        raise RefusedError(f"{name} is out of range; expected {least} to {most}")
    return value
