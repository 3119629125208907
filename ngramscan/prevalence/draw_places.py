"""The occurrences that are drawn, by a query, a seed and the last part of an index's name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from ngramscan.indexes.base import Occurrences, Place
from ngramscan.indexes.tokens.base import TokenOccurrences
from ngramscan.statistics.streams import stream

_BLOCK = 1024

Found = Occurrences | TokenOccurrences


def draw_places(found: Found, n: int, seed: int, index: str, with_replacement: bool) -> list[Place]:
    """Draw n occurrences of a query, all equally likely; take all of them if there are no more.

    The draws depend only on the seed, the last part of the index's name and the query. So they are
    the same whatever other patterns are asked for, and whether an index is in a folder, on a host
    or on a store. The first draws are the same however many follow.
    """
    total = found.occurrences
    if total <= n:
        return [_place(found, ordinal) for ordinal in range(total)]
    ordinals = _ordinals(total, stream(seed, _last_part(index), found.query))
    if with_replacement:
        return [_place(found, ordinal) for ordinal in islice(ordinals, n)]
    distinct: dict[int, None] = {}
    while len(distinct) < n:
        distinct[next(ordinals)] = None
    return [_place(found, ordinal) for ordinal in distinct]


def _last_part(index: str) -> str:
    kind, _, place = index.partition(":")
    if kind in {"fm9", "scan", "tokens"} and "://" not in place:
        return Path(place).resolve().name
    return index.removeprefix("infini-gram:").rstrip("/").rpartition("/")[2]


def _ordinals(total: int, random: np.random.Generator) -> Iterator[int]:
    while True:
        yield from random.integers(0, total, _BLOCK).tolist()


def _place(found: Found, ordinal: int) -> Place:
    """Return an occurrence by its number; numbers run on from shard to shard."""
    for segment in found.found.segments:
        if ordinal < segment.occurrences:
            return Place(found.query, segment.shard, segment.low + ordinal)
        ordinal -= segment.occurrences
    raise AssertionError("an ordinal is below the number of occurrences")
