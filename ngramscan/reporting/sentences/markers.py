"""Markers of methods in outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_blend(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `blend`."""
    return earlier("blend", rows, alpha)


def say_presence(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `blend --presence`."""
    return earlier("blend --presence", rows, alpha)


def say_retention(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `blend --retention`."""
    return earlier("blend --retention", rows, alpha)


def say_isolation(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `blend --isolation`."""
    return earlier("blend --isolation", rows, alpha)
