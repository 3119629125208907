"""Reads and checks the answers of the infini-gram protocol, as `http.replies` does for the other.

Beside what holds there, this service says in a 200 with an `error` that the question itself is
wrong (too long, an id out of range): repeated, it would be wrong again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import httpx

from ngramscan.errors import RemoteRefused
from ngramscan.index_files.tokens.tokenizers import bytes_of_request
from ngramscan.indexes.base import Segment
from ngramscan.indexes.http.replies import (
    Reply,
    UnknownIndexError,
    is_size,
    read_found,
    read_reply,
    refusal,
)
from ngramscan.remote.error_words import error_words
from ngramscan.remote.exchange import TransientError, read_object

_WRONG = re.compile(r"must be|out-of-range|Please (limit|enter|provide)|Invalid index")
"""Words of the service about questions that would be wrong again."""
OPERATORS = (" AND ", " OR ")
_SHOWN_ESCAPE = re.compile(rb"\\x([0-9a-f]{2})")
_BLANKS = str.maketrans("ĠĊ▁", " \n ")


class TokenDocument(NamedTuple):
    """A part of a document, as the service shows it; lengths are tokens."""

    number: int
    length: int
    shown: int
    offset: int
    """Tokens before the occurrence."""
    spans: list[tuple[str, bool]]
    """Texts, and whether each is an occurrence of the n-gram that was asked for."""
    metadata: str


def read_token_reply(response: httpx.Response) -> Reply:
    """Return the JSON object of an answer, or raise the error that fits it."""
    body = read_object(response.content)
    if response.status_code == 200 and body is not None and "error" in body:
        words = error_words(body, response)[:200]
        if not _WRONG.search(words):
            raise TransientError(f"HTTP 200 with an error: {words}")
        raise (UnknownIndexError if "Invalid index" in words else RemoteRefused)(words)
    read_reply(response)
    return {name: value for name, value in (body or {}).items() if name != "latency"}


def has_operator(query: str) -> bool:
    """Tell whether the service reads a text as a query with operators."""
    return any(operator in query for operator in OPERATORS)


def check_query(query: str) -> None:
    """Raise a RemoteRefused for a text that the service reads as a query with operators."""
    for operator in OPERATORS:
        if operator in query:
            problem = f"{operator.strip()!r} between spaces is an operator of the service"
            raise RemoteRefused(f"{query!r} can't be queried: {problem}; a local index can be")


def read_ids(reply: Reply) -> tuple[int, ...]:
    """Return the tokens of a query."""
    ids = reply.get("token_ids")
    if not isinstance(ids, list) or not ids or not all(map(is_size, ids)):
        raise refusal("no tokens of the query in the reply", reply)
    return tuple(ids)


def read_named_ids(reply: Reply) -> tuple[tuple[int, ...], list[str]]:
    """Return the tokens of a text, which may have none, and their names."""
    ids, names = reply.get("token_ids"), reply.get("tokens")
    if (ids, names) == ([], []):
        return (), []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise refusal("no names of tokens in the reply", reply)
    if len(names) != len(read_ids(reply)):
        raise refusal("not a name for each token in the reply", reply)
    return read_ids(reply), names


def names_bytes(named_ids: tuple[Sequence[int], Sequence[str]], text: str) -> bool:
    """Tell whether the tokens of a query, and their names, are those of an index of bytes."""
    ids, names = named_ids
    has_bytes = list(ids) == list(bytes_of_request(text))
    return has_bytes and list(names) == [chr(token) for token in ids]


def read_longest_end(reply: Reply, most: int) -> tuple[int, int]:
    """Return how long the longest end of an n-gram is that occurs, and how often it does."""
    length, count = reply.get("suffix_len"), reply.get("prompt_cnt")
    if not is_size(length) or not is_size(count):
        raise refusal("no longest end in the reply", reply)
    if not int(str(length)) <= most or not int(str(count)):
        raise refusal("a longest end that can't be true:", reply)
    return int(str(length)), int(str(count))


def read_after_newline(reply: Reply) -> tuple[int, ...]:
    """Return the tokens after a newline in the question, without the tokens of the newline.

    They are empty if the newline is a part of a longer token.
    """
    ids, before = read_ids(reply), ""
    for number, name in enumerate(_names(reply), 1):
        before += name
        if "\n" in before:
            return ids[number:] if before in {"\n", " \n"} else ()
    return ()


def _names(reply: Reply) -> list[str]:
    """Return the names of the tokens of a query, with spaces and newlines in them."""
    names = reply.get("tokens")
    if not isinstance(names, list) or len(names) != len(read_ids(reply)):
        raise refusal("no names of tokens in the reply", reply)
    return ["\n" if name == "<0x0A>" else str(name).translate(_BLANKS) for name in names]


def check_names(reply: Reply, query: str) -> None:
    """Raise a RemoteRefused if the names of the tokens show that they belong to another text."""
    # Names of other characters are bytes in disguise.
    if query.isascii() and query.isprintable():
        tokens, expected = "".join("".join(_names(reply)).split()), "".join(query.split())
        if tokens != expected:
            raise refusal(f"tokens of another text than {query!r}:", reply)


def check_ids(reply: Reply, ids: Sequence[int]) -> None:
    """Raise a RemoteRefused for a reply about other tokens."""
    if reply.get("token_ids") != [*ids]:
        raise refusal("a reply about other tokens:", reply)


def read_segments(reply: Reply, most: int | None) -> tuple[Segment, ...]:
    """Return where an n-gram occurs; `most` are the tokens of the index, where known."""
    if reply.get("approx") not in {None, False}:
        raise refusal("not an exact count:", reply)
    return read_found(reply, "", most).segments


def read_total(reply: Reply) -> int:
    """Return an exact count."""
    count = reply.get("count")
    if not is_size(count) or reply.get("approx") is not False:
        raise refusal("no exact count in the reply", reply)
    return int(str(count))


def read_separators(reply: Reply) -> int:
    """Return the count of the separator; 0: the id that was asked for is a token with a name."""
    return read_total(reply) if reply.get("tokens") == [None] else 0


def read_document(reply: Reply, most_shown: int) -> TokenDocument:
    """Return the document of a reply; its lengths must not contradict each other."""
    names = ("doc_ix", "doc_len", "disp_len", "needle_offset")
    sizes = [reply.get(name) for name in names]
    spans, metadata = reply.get("spans"), reply.get("metadata")
    if (
        not all(map(is_size, sizes))
        or not isinstance(spans, list)
        or not all(map(_is_span, spans))
        or not isinstance(metadata, str)
    ):
        raise refusal("no document in the reply", reply)
    number, length, shown_tokens, offset = (int(str(size)) for size in sizes)
    if not 0 < shown_tokens <= min(length, most_shown) or not offset < shown_tokens:
        raise refusal("a document with contradictory lengths:", reply)
    if offset > most_shown // 2:
        raise refusal("a document shown from another place:", reply)
    texts = [(text, label is not None) for text, label in spans]
    return TokenDocument(
        number=number,
        length=length,
        shown=shown_tokens,
        offset=offset,
        spans=texts,
        metadata=metadata.rstrip("\n"),
    )


def read_bytes(document: TokenDocument) -> bytes:
    r"""Return the bytes of a document of an index of bytes, which is shown in one piece.

    The service shows some bytes as `\xHH`. A RemoteRefused says that these can't be told from the
    same signs in the text.
    """
    (text, _), *others = document.spans
    content = text.encode()
    hidden = len(content) - document.shown
    if not hidden and not others:
        return content
    escapes = [match for match in _SHOWN_ESCAPE.finditer(content) if _may_be_hidden(match)]
    if others or hidden != 3 * len(escapes):
        problem = (
            f"it shows {len(content)} bytes of text for {document.shown} bytes, with \\xHH for"
        )
        raise RemoteRefused(f"{problem} some of them, or in the text; a local index can tell")
    restored = b""
    end = 0
    for match in escapes:
        restored += content[end : match.start()] + bytes([int(match[1], 16)])
        end = match.end()
    return restored + content[end:]


def _may_be_hidden(escape: re.Match[bytes]) -> bool:
    """Tell whether the service shows the byte of an escape as such."""
    code = int(escape[1], 16)
    return code >= 0x80 or (code < 0x20 and code not in b"\t\n")


def _is_span(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and isinstance(value[0], str)
        and (value[1] is None or isinstance(value[1], str))
    )


def key_of(request: dict[str, Any]) -> str:
    """Return the key of a question in the journal."""
    return json.dumps(request, sort_keys=True)


def positions_of(document: TokenDocument, text: str, query: str) -> Sequence[int]:
    """Return where the marked occurrences begin in a text that is the document's in one piece.

    Each span was decoded by itself and may lack a space; so its text is sought from the end of the
    one before.
    """
    starts, cursor = [], 0
    for span, is_marked in document.spans:
        wanted = query if is_marked else span.strip("\N{REPLACEMENT CHARACTER} ")
        start = text.find(wanted, cursor)
        if start < 0:
            continue
        cursor = start + len(wanted)
        if is_marked:
            starts.append(start)
    return starts
