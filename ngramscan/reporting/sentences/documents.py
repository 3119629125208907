"""In how many documents phrases occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_documents(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `docnorm`."""
    return earlier("docnorm", rows, alpha)
