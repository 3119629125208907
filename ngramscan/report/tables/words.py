"""What is said in the same words above and in several tables."""

from __future__ import annotations

from ngramscan.indexes.base import IndexSize
from ngramscan.indexes.catalog import find_hosted
from ngramscan.prevalence.totals import Total
from ngramscan.progress import format_bytes
from ngramscan.report import layout


def headline(index: str, size: IndexSize) -> str:
    """Return what an index is and how large."""
    parts = [index]
    if hosted := find_hosted(index):
        parts.append(f"{hosted.corpus}, {hosted.kind}")
    if size.bytes is not None:
        parts.append(f"{format_bytes(size.bytes)} of text")
    if size.documents is not None:
        parts.append(f"{size.documents:,} documents")
    return " · ".join(parts)


def with_interval(total: Total | None) -> str:
    """Return the value of a statistic and its interval."""
    return layout.with_interval(total.value, total.low, total.high) if total else layout.UNKNOWN
