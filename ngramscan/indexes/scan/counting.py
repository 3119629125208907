"""Counting some queries in a piece of a corpus: what a worker process does.

Apart from the index that hands it out, so that a worker imports nothing else.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, islice
from threading import get_ident
from typing import TypeVar

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.errors import NgramscanError
from ngramscan.matching import Counts, Matcher, Normalization, Text, count_texts
from ngramscan.processes.pool import Report

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Question:
    """The queries for a piece; with the piece itself, they determine the counts."""

    queries: Sequence[str] = field(compare=False, repr=False)
    read: ReadOptions
    ignore_case: bool
    normalization: Normalization
    unions: Sequence[Sequence[int]] = field(default=(), compare=False, repr=False)
    """Groups of queries, by number: documents with any query of a group are counted."""
    digest: str = field(init=False)
    """Stands for queries and unions: comparing tens of thousands for each small file takes long."""

    def __post_init__(self) -> None:
        content = repr((list(self.queries), [list(union) for union in self.unions]))
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "digest", digest)

    def matcher(self) -> Matcher:
        """Return a matcher of this thread; to compile one per task costs more than the task."""
        return _matcher(self, get_ident())


@lru_cache(maxsize=32)
def _matcher(question: Question, _thread: int) -> Matcher:
    return Matcher(question.queries, question.ignore_case, normalization=question.normalization)


def do_each(
    work: Callable[[T, Report], R], items: Sequence[T], report: Report
) -> list[R | NgramscanError]:
    """Do the work of a task; a piece that can't be read does not stop the others."""
    results: list[R | NgramscanError] = []
    for item in items:
        try:
            results.append(work(item, report))
        except NgramscanError as error:
            results.append(error)
    return results


def count_piece(
    piece: Piece, report: Report, question: Question, limit: int | None = None
) -> Counts:
    """Count in a piece, or in its first `limit` documents."""
    skipped = Counter[str]()

    def batches() -> Iterator[Sequence[Text]]:
        for batch in read_piece(piece, question.read):
            skipped.update(batch.skipped)
            yield without_excluded(batch, question.read.exclude_sources).texts
            report(batch.consumed)

    texts = islice(chain.from_iterable(batches()), limit)
    counts = count_texts(question.matcher(), texts, question.unions)
    return replace(counts, skipped=dict(skipped))
