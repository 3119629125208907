"""Comparisons of methods, averages and ranks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_comparisons(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `compare`."""
    return earlier("compare", rows, alpha)


def say_ranks(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `rank`."""
    return earlier("rank", rows, alpha)


def say_averages(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `compare --averages`."""
    return earlier("compare --averages", rows, alpha)
