"""How much of each output is in a corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ngramscan.reporting.sentences.earlier import earlier
from ngramscan.reporting.sentences.phrases import Row
from ngramscan.reporting.sentences.sentence import Sentence


def say_traces(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `trace`."""
    return earlier("trace", rows, alpha)


def say_curve(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `trace --curve`."""
    return earlier("trace --curve", rows, alpha)


def say_trace_differences(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `trace --differences`."""
    return earlier("trace --differences", rows, alpha)


def say_spans(rows: Sequence[Row], alpha: float) -> Iterator[Sentence]:
    """Yield the sentences about rows of `trace --spans`."""
    return earlier("trace --spans", rows, alpha)
