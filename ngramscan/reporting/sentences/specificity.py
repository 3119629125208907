"""Tiers of patterns, key n-grams and strategies of methods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_tiers(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `tiers`."""
    return earlier("tiers", rows, alpha)


def say_keyness(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `keyness`."""
    return earlier("keyness", rows, alpha)


def say_strategies(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `strategies`."""
    return earlier("strategies", rows, alpha)


def say_strategy_of_each(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `strategies --per-output`."""
    return earlier("strategies --per-output", rows, alpha)
