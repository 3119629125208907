"""Counting some queries in some pieces of a corpus: what a worker process does.

Apart from the index that hands it out, so that a worker imports nothing else.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.errors import NgramscanError
from ngramscan.matching import Matcher, Tally
from ngramscan.processes.pool import Report


@dataclass(frozen=True, slots=True)
class Question:
    """What is counted in a piece: all that the counts depend on, beside it."""

    queries: list[str]
    unions: list[list[int]]
    """Groups of queries, by number: documents with any query of a group are counted."""
    read: ReadOptions
    ignore_case: bool


@dataclass(frozen=True, slots=True)
class Counts:
    """What was counted in some documents."""

    occurrences: list[int]
    documents: list[int]
    """With at least one occurrence."""
    documents_read: int
    bytes_read: int
    """Of text."""
    bytes_consumed: int
    """Of the files, as they lie on disk."""
    skipped: int = 0
    unions: list[int] = field(default_factory=list)
    """Documents per union; journals from before there were any have none."""

    @classmethod
    def none(cls, n_queries: int, n_unions: int = 0) -> Counts:
        """Return the counts of no documents."""
        return cls([0] * n_queries, [0] * n_queries, 0, 0, 0, 0, [0] * n_unions)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            [a + b for a, b in zip(self.occurrences, other.occurrences, strict=True)],
            [a + b for a, b in zip(self.documents, other.documents, strict=True)],
            self.documents_read + other.documents_read,
            self.bytes_read + other.bytes_read,
            self.bytes_consumed + other.bytes_consumed,
            self.skipped + other.skipped,
            [a + b for a, b in zip(self.unions, other.unions, strict=True)],
        )


@dataclass(frozen=True, slots=True)
class Task:
    """Some pieces to count in."""

    pieces: list[Piece]
    question: Question


PieceResult = Counts | NgramscanError


def count_task(task: Task, report: Report) -> list[PieceResult]:
    """Count all pieces of a task; a piece that can't be read does not stop the others."""
    results: list[PieceResult] = []
    for piece in task.pieces:
        try:
            results.append(count_piece(piece, task.question, report))
        except NgramscanError as error:
            results.append(error)
    return results


_kept = threading.local()


def matcher_of_thread(queries: tuple[str, ...], ignore_case: bool) -> Matcher:
    """Return a matcher of this thread; to compile one for each task costs more than the task."""
    if getattr(_kept, "key", None) != (queries, ignore_case):
        _kept.matcher = Matcher(queries, ignore_case)
        _kept.key = (queries, ignore_case)
    matcher: Matcher = _kept.matcher
    return matcher


def count_piece(
    piece: Piece, question: Question, report: Report, limit: int | None = None
) -> Counts:
    """Count in a piece, or in its first `limit` documents.

    Raises
    ------
    CorpusError
        A document can't be read.
    EngineError
        The matching engine is wrong.
    """
    matcher = matcher_of_thread(tuple(question.queries), question.ignore_case)
    tally = Tally(matcher, question.unions)
    consumed = skipped = 0
    for batch in read_piece(piece, question.read):
        left = None if limit is None else limit - tally.documents_read
        tally.add(without_excluded(batch, question.read.exclude_sources).texts[:left])
        consumed += batch.consumed
        skipped += batch.skipped
        report(batch.consumed)
        if tally.documents_read == limit:
            break
    return Counts(
        tally.occurrences,
        tally.documents,
        tally.documents_read,
        tally.bytes_read,
        consumed,
        skipped,
        tally.union_documents,
    )
