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
from typing import TYPE_CHECKING, Any, TypeVar

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.deciding_options import MATCHING
from ngramscan.errors import NgramscanError
from ngramscan.matching import Counts, Matcher, Normalization, TextBytes, count_texts
from ngramscan.matching.matcher import BYTES_AT_ONCE
from ngramscan.matching.normalization import FORM
from ngramscan.matching.rules import MatchRule
from ngramscan.processes.pool import Report

if TYPE_CHECKING:  # numpy is slow to import, and to count needs none
    import numpy as np
    from numpy.typing import NDArray

    from ngramscan.matching.excerpts import ExcerptFinder

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Question:
    """The queries for a piece; with the piece itself, they determine the counts."""

    queries: Sequence[str] = field(compare=False, repr=False)
    read: ReadOptions
    rule: MatchRule
    normalization: Normalization
    unions: Sequence[Sequence[int]] = field(default=(), compare=False, repr=False)
    """Groups of queries, by number: documents with any query of a group are counted."""
    digest: str = field(init=False)
    """Stands for queries and unions: comparing tens of thousands for each small file takes long."""

    def __post_init__(self) -> None:
        queries_and_unions = list(self.queries), [list(union) for union in self.unions]
        content = repr((*queries_and_unions, FORM) if self.normalization else queries_and_unions)
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "digest", digest)

    @property
    def content(self) -> dict[str, Any]:
        """Return the options that decide what is counted, by name."""
        matching = {option: getattr(self.rule, name) for option, name in MATCHING.items()}
        return self.read.content | matching | {"normalization": self.normalization}

    def matcher(self) -> Matcher:
        """Return a matcher of this thread; to compile one per task costs more than the task."""
        return _matcher(self, get_ident())


@lru_cache(maxsize=32)
def _matcher(question: Question, _thread: int) -> Matcher:
    return Matcher(question.queries, question.rule, normalization=question.normalization)


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


@dataclass(frozen=True)
class Sought:
    """Texts whose shared parts are sought in a piece; see `matching.excerpts`."""

    texts: Sequence[bytes] = field(compare=False, repr=False)
    windows: Sequence[NDArray[np.int64]] = field(compare=False, repr=False)
    read: ReadOptions
    digest: str

    @property
    def content(self) -> dict[str, Any]:
        """Return the options that decide what there is to find, by name."""
        return self.read.content

    def finder(self) -> ExcerptFinder:
        """Return the finder of this process: to make one per task costs more than the task."""
        return _finder(self)


@lru_cache(maxsize=2)
def _finder(sought: Sought) -> ExcerptFinder:
    from ngramscan.matching.excerpts import ExcerptFinder

    return ExcerptFinder(sought.texts, sought.windows)


@dataclass(frozen=True, slots=True)
class PieceExcerpts:
    """The bytes that a piece of a corpus may share with texts."""

    parts: list[bytes]
    """Different ones."""
    documents_read: int
    bytes_read: int
    skipped: dict[str, int]


class _PieceTexts:
    """The texts of a piece, or of its first documents, and what was read of it."""

    def __init__(
        self, piece: Piece, read_options: ReadOptions, limit: int | None, report: Report
    ) -> None:
        self.skipped = Counter[str]()
        self.documents = self.bytes = 0
        self._batches = self._read(piece, read_options, report)
        self._limit = limit

    def _read(
        self, piece: Piece, read_options: ReadOptions, report: Report
    ) -> Iterator[Sequence[TextBytes]]:
        for batch in read_piece(piece, read_options):
            if batch.skipped:
                self.skipped.update(batch.skipped)
            yield without_excluded(batch, read_options.exclude_sources).texts
            report(batch.consumed)

    def __iter__(self) -> Iterator[TextBytes]:
        for text in islice(chain.from_iterable(self._batches), self._limit):
            self.documents += 1
            self.bytes += len(text)
            yield text


def excerpt_piece(
    piece: Piece, report: Report, sought: Sought, limit: int | None = None
) -> PieceExcerpts:
    """Find what a piece, or its first `limit` documents, may share with texts."""
    texts = _PieceTexts(piece, sought.read, limit, report)
    parts = sought.finder().find_in_all(map(bytes, texts), BYTES_AT_ONCE)
    return PieceExcerpts(parts, texts.documents, texts.bytes, dict(texts.skipped))


def count_piece(
    piece: Piece, report: Report, question: Question, limit: int | None = None
) -> Counts:
    """Count in a piece, or in its first `limit` documents."""
    texts = _PieceTexts(piece, question.read, limit, report)
    counts = count_texts(question.matcher(), texts, question.unions)
    return replace(counts, skipped=dict(texts.skipped)) if texts.skipped else counts
