"""A corpus read once from start to end as an index: on one machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ngramscan.corpora import Corpus, Piece, ReadOptions
from ngramscan.indexes.base import (
    DocumentCounts,
    Found,
    IndexSize,
    Place,
    QueryCount,
    Window,
    WindowFailure,
)
from ngramscan.indexes.scan.counting import Counts, Question, count_piece
from ngramscan.indexes.scan.counts import PieceCounter
from ngramscan.indexes.scan.pieces import PieceRunner
from ngramscan.indexes.scan.sampling import Sample, estimate_counts, estimate_total, take_sample
from ngramscan.indexes.scan.windows import Occurrences, WindowReader
from ngramscan.journal import Journal, now
from ngramscan.progress import Progress
from ngramscan.statistics.estimates import Estimate

LEVEL = 0.95
"""Of intervals; those of exact counts are of no width."""


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """How a corpus is scanned; the options of the commands."""

    read: ReadOptions = field(default_factory=ReadOptions)
    ignore_case: bool = False
    """Count upper and lower case of ASCII letters as one."""
    limit_documents: int | None = None
    """Read only so many documents, the first of the corpus."""
    sample: str | None = None
    """Read only some files, drawn at random: a number, or a share with %."""
    seed: int = 1
    """Of the draw."""
    workers: int = 0
    """Processes; 0: as many as there are cores."""
    scheduler: str | None = None
    """A Dask scheduler that is running, to do the work elsewhere."""


class ScanIndex:
    """Counts occurrences and documents exactly, for all queries in one pass.

    An occurrence can be looked at too: its rank is its place among all of its query, as they stand
    in the corpus, in one shard. Where only some files are read, it is one in these files.

    Parameters
    ----------
    corpus : Corpus
        What is read.
    options : ScanOptions
        How.
    progress : Progress
        Told of bytes read.
    journal : Journal, optional
        Keeps the counts of each file, so that a run that was stopped reads on where it was.
    refresh : bool
        Read also what the journal has.
    """

    longest_context = 1 << 40
    """Documents are shown whole."""

    def __init__(
        self,
        corpus: Corpus,
        options: ScanOptions,
        progress: Progress,
        journal: Journal | None = None,
        refresh: bool = False,
    ) -> None:
        self.name = corpus.name
        self._corpus = corpus
        self._options = options
        self._progress = progress
        self._size = IndexSize()
        self._runner = PieceRunner(options.workers, options.scheduler, progress)
        self._counter = PieceCounter(corpus.name, self._runner, progress, journal, refresh)
        self._occurrences = Occurrences()

    def size(self) -> IndexSize:
        """Return the documents and bytes that were read (or estimated); unknown before."""
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Read the corpus and yield all counts at its end.

        Raises
        ------
        CorpusError
            As `document_counts` does.
        """
        yield from self.document_counts(queries, ()).counts

    def document_counts(
        self, queries: Sequence[str], unions: Sequence[Sequence[str]]
    ) -> DocumentCounts:
        """Count all queries, and the documents that have at least one query of each union.

        Parameters
        ----------
        queries : sequence of str
            Unique, not empty.
        unions : sequence of sequences of str
            Some of the queries each.

        Raises
        ------
        CorpusError
            A document can't be read: there are no counts then, rather than smaller ones. The files
            that can be read are in the journal.
        """
        numbers = {query: number for number, query in enumerate(queries)}
        question = Question(
            list(queries),
            [[numbers[query] for query in union] for union in unions],
            self._options.read,
            self._options.ignore_case,
        )
        if self._options.limit_documents is None:
            results = self._counter.count(self._pieces, question)
        else:
            results = self._count_first(question, self._options.limit_documents)
        self._occurrences.add(queries, results)
        return (
            self._estimated(question, results) if self._sample else self._exact(question, results)
        )

    def find(self, queries: Sequence[str]) -> Iterator[Found]:
        """Yield where each query is; those that were not counted yet are counted, in one pass.

        Raises
        ------
        CorpusError
            As `document_counts` does.
        """
        if unknown := [query for query in queries if query not in self._occurrences]:
            self.document_counts(unknown, ())
        yield from map(self._occurrences.found, queries)

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Read once more, but only where the places are, and yield a window on each.

        A window fails where its file can't be read or was changed since it was counted, and where
        the query has no such occurrence.

        Parameters
        ----------
        places : sequence of Place
            One may stand there twice.
        context : int
            Bytes on each side, up to three fewer where a character would be cut.

        Raises
        ------
        CorpusError
            As `document_counts` does, for a query that was not counted yet.
        """
        list(self.find(list(dict.fromkeys(place.query for place in places))))
        reader = WindowReader(
            self._pieces,
            self._occurrences,
            self._options.read,
            self._options.ignore_case,
            self._runner,
            self._progress,
        )
        yield from reader.read(places, context)

    @cached_property
    def _sample(self) -> Sample | None:
        if self._options.sample is None or self._options.limit_documents is not None:
            return None
        return take_sample(self._corpus.files, self._options.sample, self._options.seed)

    @cached_property
    def _pieces(self) -> list[Piece]:
        """What there is to read, always the same and in the same order."""
        for notice in self._corpus.notices:
            self._progress.notice(notice)
        return self._sample.pieces() if self._sample else self._corpus.pieces()

    def _count_first(self, question: Question, limit: int) -> list[Counts]:
        """Count the first documents of the corpus, in this process."""
        results: list[Counts] = []
        for piece in self._pieces:
            if limit <= 0:
                break
            results.append(count_piece(piece, question, lambda _: None, limit))
            limit -= results[-1].documents_read
        return results

    def _exact(self, question: Question, results: list[Counts]) -> DocumentCounts:
        total = _sum(results, question)
        self._size = IndexSize(total.documents_read, total.bytes_read)
        self._tell_skipped(total)
        asked_at, note = now(), self._note(total)
        counts = [
            QueryCount(query, total.occurrences[n], total.documents[n], "scan", asked_at, note=note)
            for n, query in enumerate(question.queries)
        ]
        return DocumentCounts(counts, [Estimate(n, n, n, LEVEL) for n in total.unions])

    def _estimated(self, question: Question, results: list[Counts]) -> DocumentCounts:
        assert self._sample is not None
        per_file = _per_file(self._sample, self._pieces, results, question)
        estimates, self._size = estimate_counts(
            self._sample,
            [counts.occurrences for counts in per_file],
            [counts.documents for counts in per_file],
            [(counts.documents_read, counts.bytes_read) for counts in per_file],
        )
        total = _sum(per_file, question)
        self._tell_skipped(total)
        asked_at, note = now(), self._note(total)
        counts = [
            QueryCount(
                query,
                round(estimate.occurrences.value),
                round(estimate.documents.value),
                "scan",
                asked_at,
                occurrences_estimate=estimate.occurrences,
                documents_estimate=estimate.documents,
                note="; ".join(part for part in (estimate.note, note) if part),
            )
            for query, estimate in zip(question.queries, estimates, strict=True)
        ]
        unions = zip(*(counts.unions for counts in per_file), strict=True)
        return DocumentCounts(counts, [estimate_total(self._sample, union) for union in unions])

    def _tell_skipped(self, total: Counts) -> None:
        if total.skipped:
            self._progress.notice(f"{self.name}: {self._corpus.skipped_label}: {total.skipped}")

    def _note(self, total: Counts) -> str:
        notes = []
        if self._options.ignore_case:
            notes.append("ASCII case ignored")
        if self._options.limit_documents is not None:
            notes.append(f"only the first {total.documents_read} documents")
        if total.skipped:
            notes.append(f"{self._corpus.skipped_label}: {total.skipped}")
        return "; ".join(notes)


def _sum(results: list[Counts], question: Question) -> Counts:
    return sum(results, Counts.none(len(question.queries), len(question.unions)))


def _per_file(
    sample: Sample, pieces: list[Piece], results: list[Counts], question: Question
) -> list[Counts]:
    none = _sum([], question)
    counts = {file.path: none for file in sample.files}
    for piece, result in zip(pieces, results, strict=True):
        counts[piece.file.path] += result
    return list(counts.values())
