"""A server's own words about an error, wherever its maker puts them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from ngramscan.progress import visible_line

_FIELDS = (
    "error",
    "detail",
    "message",
    "Message",
    "msg",
    "errors",
    "error_message",
    "error_msg",
    "error_description",
    "fault",
    "faultstring",
)
"""Fields of bodies and of errors in them, the most telling first."""
_DEEPEST = 6
_LONGEST = 2000
"""In characters; callers show less."""


def error_words(body: object, response: httpx.Response) -> str:
    """Return a server's own words about an error, on one line; empty if there are none.

    `body` is the JSON of the response; None if it has none.
    """
    words = _words_of(body)
    kind = response.headers.get("content-type", "")
    if not words and "html" in kind:
        words = "an HTML page"
    if not words and body is None and kind.startswith("text/plain"):
        words = response.text
    return visible_line(" ".join(words[:_LONGEST].split()))


def _words_of(value: object, depth: int = 0) -> str:
    """Return the words of an error, or of a body that may have one."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        candidates = (_words_in(value.get(name), depth) for name in _FIELDS)
        return _with_details(next(filter(None, candidates), ""), value, depth)
    if isinstance(value, Sequence):
        parts = (_place_of(part) + _words_of(part, depth + 1) for part in value)
        return "; ".join(filter(None, parts))
    return ""


def _words_in(value: object, depth: int) -> str:
    """Return the words of a field; an error without any is shown as it is."""
    words = _words_of(value, depth + 1)
    if not words and isinstance(value, Mapping) and value:
        return json.dumps(value, ensure_ascii=False)
    return words


def _place_of(part: object) -> str:
    """Return where a validator found a mistake, as FastAPI writes it."""
    place = part.get("loc") if isinstance(part, Mapping) else None
    if not isinstance(place, Sequence) or isinstance(place, str):
        return ""
    return ".".join(map(str, place)) + ": "


def _with_details(words: str, error: Mapping[str, Any], depth: int) -> str:
    """Add what a gateway repeats of the server behind it."""
    details = [part for part in _details_of(error, depth) if part and part not in words]
    return f"{words} ({'; '.join(details)})" if words and details else words


def _details_of(error: Mapping[str, Any], depth: int) -> Iterator[str]:
    metadata = error.get("metadata")
    if isinstance(metadata, Mapping):  # OpenRouter
        raw = _words_of(_parsed(metadata.get("raw")), depth + 1)
        yield ": ".join(filter(None, [str(metadata.get("provider_name") or ""), raw]))
        yield _words_of(metadata.get("reasons"), depth + 1)
    for name in ("innererror", "inner_error"):  # Azure
        inner = error.get(name)
        if isinstance(inner, Mapping):
            yield _words_of(inner, depth + 1) or str(inner.get("code") or "")


def _parsed(raw: object) -> object:
    """Return the JSON that a text holds, or what was given."""
    if isinstance(raw, str) and raw.lstrip().startswith(("{", "[")):
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            return raw
    return raw
