"""Problems that methods solve together and alone, and their cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_outcomes(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `outcomes`."""
    return earlier("outcomes", rows, alpha)


def say_agreements(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `outcomes --agreements`."""
    return earlier("outcomes --agreements", rows, alpha)


def say_wins(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `outcomes --wins`."""
    return earlier("outcomes --wins", rows, alpha)


def say_efficiency(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `efficiency`."""
    return earlier("efficiency", rows, alpha)
