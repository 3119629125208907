"""Where a document comes from, by its metadata."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlsplit

from ngramscan.progress import visible

_NAMES = ("url", "source", "id", "path")
"""Fields of metadata that tell the source of a document, the most telling one first."""
_LONGEST_LINK = 2000


def read_metadata(metadata: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the metadata of a document, and the metadata of its source within; may be empty."""
    try:
        loaded = json.loads(metadata) if metadata else {}
    except (ValueError, RecursionError):
        loaded = {}
    outer = loaded if isinstance(loaded, dict) else {}
    inner = outer.get("metadata")
    return outer, inner if isinstance(inner, dict) else {}


def document_fields(metadata: str) -> dict[str, Any]:
    """Return the fields of a document; metadata of index files have them in an object."""
    outer, inner = read_metadata(metadata)
    if "linenum" not in outer:
        return outer
    return {"path": outer.get("path")} | inner


def names_of_source(metadata: str) -> list[str]:
    """Return what metadata call the source of their document, the most telling first."""
    outer, inner = read_metadata(metadata)
    values = [place.get(name) for name in _NAMES for place in (inner, outer)]
    return [value for value in values if isinstance(value, str) and value]


def is_web_address(text: str) -> bool:
    """Tell whether a text can be linked to: an address of the web, without hidden characters."""
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    begins_well = re.match(r"https?://[^\s/]", text, re.IGNORECASE) is not None
    is_plain = len(text) < _LONGEST_LINK and visible(text) == text
    return begins_well and is_plain and parts.scheme in {"http", "https"}
