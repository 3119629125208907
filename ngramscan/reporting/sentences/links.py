"""Whether prevalence and accuracy go together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_links(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `link`."""
    return earlier("link", rows, alpha)


def say_slopes(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `link --problems`."""
    return earlier("link --problems", rows, alpha)


def say_rank_links(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `link --ranks`."""
    return earlier("link --ranks", rows, alpha)
