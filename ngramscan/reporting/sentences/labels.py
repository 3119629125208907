"""The labels of judges, and their agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_label_shares(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `judge --shares`."""
    return earlier("judge --shares", rows, alpha)


def say_agreement(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `agreement`."""
    return earlier("agreement", rows, alpha)


def say_votes(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `agreement --votes`."""
    return earlier("agreement --votes", rows, alpha)
