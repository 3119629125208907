"""How much of a benchmark is in a corpus, and whether scores differ for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_entries(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `contaminate`."""
    return earlier("contaminate", rows, alpha)


def say_shares(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `contaminate --shares`."""
    return earlier("contaminate --shares", rows, alpha)


def say_effects(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `contaminate --effects`."""
    return earlier("contaminate --effects", rows, alpha)
