"""Sizes of indexes as rows, and the memory and files that they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ngramscan.indexes.base import IndexSize
from ngramscan.messages import counted, plural
from ngramscan.progress import format_bytes
from ngramscan.statistics.estimates import Estimate

_ASKING_BYTES, _ASKING_PER_SHARD = 150_000_000, 60_000
"""Measured with 1 and with 10,000 shards: 120 MB and 33 kB for counts, 60 kB with windows."""
_BUILDING_BYTES, _BUILDING_PER_BYTE, _PER_BYTE_FROM_2_GIB = 200_000_000, 5.6, 10.1
_SHARD_BYTES = 10**9
_USUAL_RATIO, _HEADER_BYTES = 0.4, 10_000


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """The size of one index, and the time of one question."""

    name: str
    documents: int | None
    bytes: int | None
    """Bytes of text, in UTF-8; None: unknown."""
    tokens: int | None
    """Tokens of text, without separators; only for an index over tokens."""
    answered_in_s: float
    """Seconds for one question; for a corpus that is read, seconds to read all of it."""
    shards: int | None
    """Like the next two, known only for a local index."""
    index_bytes: int | None
    size_ratio: float | None
    """Bytes of the index over bytes of text."""
    memory_to_ask: int | None
    """Bytes, estimated, without the parts of the files that the operating system keeps."""
    memory_to_build: int | None
    """Bytes that building its largest shard takes, estimated."""


def describe_size(name: str, spec: str, size: IndexSize, seconds: float) -> IndexInfo:
    """Return the row of an index that took some seconds to answer."""
    ratio = size.index_bytes / size.bytes if size.index_bytes and size.bytes else None
    asking, largest = None, size.largest_shard_bytes
    if size.shards and size.bytes is not None and "://" not in spec:
        asking = _ASKING_BYTES + _ASKING_PER_SHARD * size.shards
    building = None if largest is None else memory_to_build(largest)
    size_columns = (
        name,
        size.documents,
        size.bytes,
        size.tokens,
        seconds,
        size.shards,
        size.index_bytes,
        ratio,
    )
    return IndexInfo(*size_columns, asking, building)


def size_parts(size: IndexSize) -> list[str]:
    """Return the known parts of a size, in words."""
    parts = []
    if size.bytes is not None:
        parts.append(f"{_amount(size.bytes, size.bytes_estimate, format_bytes)} of text")
    if size.documents is not None:
        documents = _amount(size.documents, size.documents_estimate, "{:,.0f}".format)
        parts.append(f"{documents} {plural(size.documents, 'document')}")
    if size.tokens is not None:
        parts.append(counted(size.tokens, "token"))
    return parts


def _amount(value: int, estimate: Estimate | None, show: Callable[[float], str]) -> str:
    """Return an exact amount alone, and an estimated one with its interval or why it has none."""
    if estimate is None or estimate.low == estimate.high == estimate.value:
        return show(value)
    has_limits = estimate.low is not None and estimate.high is not None
    limits = f" [{', '.join(map(show, estimate.limits))}]" if has_limits else ""
    return f"≈{show(value)}{limits}{f' ({estimate.note})' if estimate.note else ''}"


def sizes_in_words(sizes: Mapping[str, IndexSize]) -> dict[str, str]:
    """Return the sizes of some indexes in words; nothing where a size is unknown."""
    return {name: ", ".join(parts) for name, size in sizes.items() if (parts := size_parts(size))}


def describe_unknown_sizes(sizes: Mapping[str, IndexSize]) -> list[str]:
    """Return why indexes that answered have no rates, a line for each reason."""
    reasons = dict.fromkeys(size.unknown_because for size in sizes.values())
    return [f"{reason}, so there are no rates" for reason in reasons if reason]


def memory_to_build(shard_bytes: int) -> int:
    """Return the bytes of memory that building an index of a shard takes, estimated."""
    per_byte = _BUILDING_PER_BYTE if shard_bytes < 1 << 31 else _PER_BYTE_FROM_2_GIB
    return _BUILDING_BYTES + round(per_byte * shard_bytes)


def describe_index(name: str, text_bytes: int) -> str:
    """Return a notice about the memory and files that an index of a corpus would take."""
    files = format_bytes(_USUAL_RATIO * text_bytes + _HEADER_BYTES)
    memory = format_bytes(memory_to_build(min(text_bytes, _SHARD_BYTES)))
    shards = counted(-(-text_bytes // _SHARD_BYTES), "shard")
    return f"{name}: an index takes about {files} of files in {shards}, {memory} of memory to build"
