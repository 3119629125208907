"""The metadata of documents → the source that a field of them names.

A field is named by its key, or by a path with dots (`metadata.source`). Many corpora keep their
metadata in an object `metadata` or `meta`, so fields are looked for in these as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

URL_HOST = "url-host"
"""The name of the host in a document's URL."""
YEAR = "year"
"""The name of the year in a document's date."""
URL_FIELDS = ("url", "source_url", "WARC-Target-URI", "uri", "source")
"""Fields that may hold the URL of a document, by precedence."""
DATE_FIELDS = ("date", "timestamp", "created", "WARC-Date")
"""Fields that may hold the date of a document, by precedence."""

_CONTAINERS = ("metadata", "meta")
_YEAR = re.compile(r"(?<!\d)((?:1\d|20)\d\d)(?=\D|$|\d{4}(?:\D|$)|\d{10}(?:\D|$))")
"""A year: alone, or at the start of a date without separators, with or without a time."""


def names_read(by: str) -> tuple[str, ...]:
    """Return the fields of a document that may hold what `by` names."""
    named = {URL_HOST: URL_FIELDS, YEAR: DATE_FIELDS}.get(by, (by, by.partition(".")[0]))
    return tuple(dict.fromkeys([*named, *_CONTAINERS]))


def source_value(fields: Mapping[str, Any], by: str) -> str | None:
    """Return the value by which a document is counted; None if its metadata have none.

    Parameters
    ----------
    fields : mapping
        The metadata of the document.
    by : str
        A field, or a path of fields with dots; `url-host` or `year`.

    Examples
    --------
    >>> source_value({"metadata": {"source": "arxiv"}}, "source")
    'arxiv'
    >>> source_value({"url": "https://www.Example.org/a"}, "url-host")
    'example.org'
    >>> source_value({"created": "2019-03-01T00:00:00Z"}, "year")
    '2019'
    """
    if by == URL_HOST:
        hosts = (_host(value) for name in URL_FIELDS for value in _values(fields, name))
        return next((host for host in hosts if host), None)
    if by == YEAR:
        years = (_year(value) for name in DATE_FIELDS for value in _values(fields, name))
        return next((year for year in years if year), None)
    return next(_values(fields, by), None)


def field_names_of(fields: Mapping[str, Any]) -> list[str]:
    """Return the names of some fields, and of those in their objects as paths."""
    names = list[str]()
    for name, value in fields.items():
        inner = _as_object(value)
        names += [f"{name}.{inner_name}" for inner_name in inner] if inner else [name]
    return names


def _values(fields: Mapping[str, Any], name: str) -> Iterator[str]:
    """Yield the values of a field, in the document and in its objects of metadata, as texts."""
    containers = [fields, *(_as_object(fields.get(container)) for container in _CONTAINERS)]
    for container in containers:
        text = _as_text(_at_path(container, name))
        if text:
            yield text


def _at_path(fields: Mapping[str, Any], path: str) -> Any:
    """Return the value at a path; a key that has the dots in it comes first."""
    if path in fields:
        return fields[path]
    name, dot, rest = path.partition(".")
    return _at_path(_as_object(fields.get(name)), rest) if dot else None


def _as_object(value: Any) -> Mapping[str, Any]:
    """Return an object, which may be written as JSON in a text; empty if it is none."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, Mapping) else {}


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, (bool, int, float, list, tuple, Mapping)):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return str(value)


def _host(url: str) -> str:
    """Return the host of a URL in small letters, without `www.`; empty if there is none."""
    try:
        parts = urlsplit(url.strip())
        host = parts.hostname or ""
    except ValueError:
        return ""
    return host.removesuffix(".").removeprefix("www.") if parts.scheme else ""


def _year(date: str) -> str:
    match = _YEAR.search(date)
    return match[1] if match else ""
