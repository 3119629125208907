"""Detection of HTTP requests with an ambiguous length, which are refused (request smuggling).

If a proxy and a server disagree about the end of a request, a part of its body is taken for the
next request. So deviations that RFC 9112 lets a server repair (sections 2.2, 5.2 and 6.3) are
refused, too.
"""

from __future__ import annotations

import re

_END = re.compile(rb"\n\r?\n")
_LINE_END_ALONE = re.compile(rb"\r(?!\n)|(?<!\r)\n")
_FOLDED = re.compile(rb"\n[ \t]")
_LENGTH = re.compile(rb"\n(content-length|transfer-encoding)[ \t]*:([^\r\n]*)", re.IGNORECASE)
_NUMBER = re.compile(rb"[0-9]{1,18}")


def head_of(received: bytes) -> bytes | None:
    """Return the request line and the headers; None if they are incomplete."""
    end = _END.search(received)
    return received[: end.end()] if end else None


def is_chunked(head: bytes) -> bool:
    """Tell whether the body of a request is chunked."""
    return any(name.lower() == b"transfer-encoding" for name, _ in _LENGTH.findall(head))


def ambiguity_of(head: bytes) -> str:
    """Return why the length of a request is ambiguous; empty if it isn't."""
    if _LINE_END_ALONE.search(head):
        return "A line of the headers ends with CR or LF alone; end it with both"
    if _FOLDED.search(head):
        return "A header is folded over several lines; write it on one"
    return _ambiguity_of_fields(head)


def _ambiguity_of_fields(head: bytes) -> str:
    fields = [(name.lower(), value.strip(b" \t")) for name, value in _LENGTH.findall(head)]
    lengths = [value for name, value in fields if name == b"content-length"]
    encodings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    if lengths and encodings:
        return "Content-Length and Transfer-Encoding exclude each other; send one of them"
    if len(lengths) > 1 or not all(map(_NUMBER.fullmatch, lengths)):
        return "Content-Length: expected one whole number of up to 18 digits"
    if encodings and encodings != [b"chunked"]:
        return "Transfer-Encoding: expected chunked, once and alone"
    version = head.partition(b"\r\n")[0].rpartition(b" ")[2]
    if encodings and version != b"HTTP/1.1":
        return "Transfer-Encoding: expected HTTP/1.1"
    return ""
