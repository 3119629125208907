"""Counting some queries in some pieces of a corpus: what a worker process does.

Apart from the index that hands it out, so that a worker imports nothing else.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.errors import NgramscanError
from ngramscan.matching import Matcher, Tally
from ngramscan.spread import Report


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

    @classmethod
    def none(cls, n_queries: int) -> Counts:
        """Return the counts of no documents."""
        return cls([0] * n_queries, [0] * n_queries, 0, 0, 0)

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            [a + b for a, b in zip(self.occurrences, other.occurrences, strict=True)],
            [a + b for a, b in zip(self.documents, other.documents, strict=True)],
            self.documents_read + other.documents_read,
            self.bytes_read + other.bytes_read,
            self.bytes_consumed + other.bytes_consumed,
            self.skipped + other.skipped,
        )


@dataclass(frozen=True, slots=True)
class Task:
    """Some pieces to count some queries in."""

    pieces: list[Piece]
    queries: list[str]
    options: ReadOptions
    ignore_case: bool


PieceResult = Counts | NgramscanError


def count_task(task: Task, report: Report) -> list[PieceResult]:
    """Count all pieces of a task; a piece that can't be read does not stop the others."""
    matcher = _matcher(tuple(task.queries), task.ignore_case)
    results: list[PieceResult] = []
    for piece in task.pieces:
        try:
            results.append(_count_piece(piece, task.options, matcher, report))
        except NgramscanError as error:
            results.append(error)
    return results


_kept = threading.local()


def _matcher(queries: tuple[str, ...], ignore_case: bool) -> Matcher:
    """Return a matcher of this thread; to compile one for each task costs more than the task."""
    if getattr(_kept, "key", None) != (queries, ignore_case):
        _kept.matcher = Matcher(queries, ignore_case)
        _kept.key = (queries, ignore_case)
    matcher: Matcher = _kept.matcher
    return matcher


def _count_piece(piece: Piece, options: ReadOptions, matcher: Matcher, report: Report) -> Counts:
    tally = Tally(matcher)
    consumed = skipped = 0
    for batch in read_piece(piece, options):
        tally.add(without_excluded(batch, options.exclude_sources).texts)
        consumed += batch.consumed
        skipped += batch.skipped
        report(batch.consumed)
    return Counts(
        tally.occurrences,
        tally.documents,
        tally.documents_read,
        tally.bytes_read,
        consumed,
        skipped,
    )
