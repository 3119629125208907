"""The findings of a check of an index."""

from __future__ import annotations

import json
from dataclasses import dataclass

FileProblem = tuple[str, str, str]
"""The file, the place in it, and the problem there."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: something wrong in an index."""

    shard: str
    file: str
    place: str
    """The field, entry, rank or document."""
    problem: str


def is_object(line: bytes) -> bool:
    """Tell whether a line of metadata is a JSON object, as required."""
    try:
        return isinstance(json.loads(line.decode()), dict)
    except (ValueError, RecursionError):
        return False
