"""The fields of requests and answers, of both protocols: JSON in, JSON out."""

from __future__ import annotations

import json
from typing import Any

JsonObject = dict[str, Any]

_LONGEST_ECHO = 100
_KINDS = {
    dict: "an object",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number that is not whole",
    type(None): "null",
}


class RefusedError(Exception):
    """A request that can't be answered; the message names the field and what is expected."""


def parse(body: bytes) -> JsonObject:
    """Return the fields of a request."""
    try:
        request = json.loads(body)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise RefusedError(f"The body is not valid JSON: {error}") from error
    except (ValueError, RecursionError) as error:
        problem = "The body is nested too deeply, or a number in it has too many digits"
        raise RefusedError(problem) from error
    if not isinstance(request, dict):
        raise RefusedError(f"The body is {_KINDS[type(request)]}; expected a JSON object")
    return request


def to_json(document: object) -> bytes:
    """Return an answer as the originals format it: sorted, ASCII, without spaces, one line."""
    return f"{json.dumps(document, sort_keys=True, separators=(',', ':'))}\n".encode()


def required(request: JsonObject, name: str, kind: type, expected: str) -> Any:
    """Return a required field of one type."""
    if name not in request:
        raise RefusedError(f"Missing required field: '{name}'")
    if type(request[name]) is not kind:  # True would pass as an integer
        kind_name = _KINDS[type(request[name])]
        raise RefusedError(f"{name} is {kind_name}; expected {expected}")
    return request[name]


def encode(query: str) -> bytes:
    """Return a query as UTF-8."""
    try:
        return query.encode()
    except UnicodeEncodeError as error:
        problem = f"a lone surrogate at character {error.start}"
        raise RefusedError(f"query has {problem}; expected Unicode text") from error


def shortened(text: str) -> str:
    """Return a text from a request, not longer than a message may be."""
    return text if len(text) <= _LONGEST_ECHO else f"{text[:_LONGEST_ECHO]}…"
