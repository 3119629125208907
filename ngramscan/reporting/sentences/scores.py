"""Outputs and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_outputs(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `show`."""
    return earlier("show", rows, alpha)


def say_scores(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `score`."""
    return earlier("score", rows, alpha)
