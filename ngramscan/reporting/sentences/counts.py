"""How often phrases occur: counts, totals of methods, occurrences in context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_counts(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `count`."""
    return earlier("count", rows, alpha)


def say_totals(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `totals`."""
    return earlier("totals", rows, alpha)


def say_contexts(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `contexts`."""
    return earlier("contexts", rows, alpha)
