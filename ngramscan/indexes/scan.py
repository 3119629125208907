"""A corpus read once from start to end as an index: on one machine, or on a cluster."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

from ngramscan.cluster import run_on_cluster
from ngramscan.corpora import Corpus, Piece, ReadOptions, read_piece, without_excluded
from ngramscan.errors import CorpusError, NgramscanError
from ngramscan.indexes.base import IndexSize, QueryCount
from ngramscan.indexes.sampling import Sample, estimate_counts, take_sample
from ngramscan.journal import Journal, now
from ngramscan.matching import Matcher, Tally
from ngramscan.progress import Progress
from ngramscan.scanning import Counts, PieceResult, Task, count_task
from ngramscan.spread import Done, Watch, run_on_processes

TASK_BYTES = 32_000_000
LEAST_TASK_BYTES = 1_000_000
TASK_PIECES = 500
"""Small files are read many to a task, so that a task costs more than it takes to hand it out."""

TASKS_PER_WORKER = 8
"""At least, where there is enough to do: so none waits long for the last one."""

BYTES_PER_WORKER = 32_000_000
"""For less, another process costs more than it gains; unless it is asked for."""

CLUSTER_WORKERS = 32
"""For how many the work is divided on a cluster, where --workers does not say."""


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
        self._journal = journal
        self._refresh = refresh
        self._size = IndexSize()

    def size(self) -> IndexSize:
        """Return the documents and bytes that were read (or estimated); unknown before."""
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Read the corpus and yield all counts at its end.

        Raises
        ------
        CorpusError
            A document can't be read: there are no counts then, rather than smaller ones. The files
            that can be read are in the journal.
        """
        for notice in self._corpus.notices:
            self._progress.notice(notice)
        if self._options.limit_documents is not None:
            yield from self._exact(queries, self._count_first(list(queries)))
            return
        sample = None
        pieces = self._corpus.pieces() if self._options.sample is None else []
        if self._options.sample is not None:
            sample = take_sample(self._corpus.files, self._options.sample, self._options.seed)
            pieces = sample.pieces()
        results = self._count_pieces(pieces, list(queries))
        total = sum(results, Counts.none(len(queries)))
        self._tell_skipped(total)
        if sample is None:
            yield from self._exact(queries, total)
        else:
            yield from self._estimated(queries, sample, pieces, results)

    # Reading

    def _count_first(self, queries: list[str]) -> Counts:
        """Count the first documents of the corpus, in this process."""
        limit = self._options.limit_documents or 0
        tally = Tally(Matcher(queries, self._options.ignore_case))
        skipped = 0
        for piece in self._corpus.pieces():
            for batch in read_piece(piece, self._options.read):
                kept = without_excluded(batch, self._options.read.exclude_sources)
                tally.add(kept.texts[: limit - tally.documents_read])
                skipped += batch.skipped
                if tally.documents_read == limit:
                    break
            if tally.documents_read == limit:
                break
        counts = Counts(
            tally.occurrences, tally.documents, tally.documents_read, tally.bytes_read, 0, skipped
        )
        self._tell_skipped(counts)
        return counts

    def _count_pieces(self, pieces: list[Piece], queries: list[str]) -> list[Counts]:
        """Count all pieces, those that the journal has not; raise for the first that failed."""
        results = self._journalled(pieces, queries)
        left = [number for number in range(len(pieces)) if number not in results]
        unit = "bytes" if all(piece.size is not None for piece in pieces) else "files"
        amount = sum(pieces[n].size or 0 for n in left) if unit == "bytes" else len(left)
        self._progress.expect(amount, unit)
        workers = self._workers(amount if unit == "bytes" else None)
        bundles = _bundles(left, pieces, workers)
        errors: list[NgramscanError] = []
        for done in self._run([[pieces[n] for n in b] for b in bundles], queries, unit, workers):
            bundle = bundles[done.task]
            outcome = done.result if done.result is not None else [done.error] * len(bundle)
            for number, result in zip(bundle, outcome, strict=True):
                if isinstance(result, Counts):
                    results[number] = result
                    self._keep(pieces[number], queries, result)
                elif result is not None:
                    errors.append(result)
        if errors:
            raise _first_of(errors)
        return [results[number] for number in range(len(pieces))]

    def _workers(self, size_bytes: int | None) -> int:
        """Return how many processes are worth it; far files of unknown size are worth one each."""
        if self._options.workers:
            return self._options.workers
        if self._options.scheduler:
            return CLUSTER_WORKERS
        return _cores() if size_bytes is None else min(_cores(), 1 + size_bytes // BYTES_PER_WORKER)

    def _run(
        self, bundles: list[list[Piece]], queries: list[str], unit: str, workers: int
    ) -> Iterator[Done[list[PieceResult]]]:
        options = self._options
        tasks = [Task(bundle, queries, options.read, options.ignore_case) for bundle in bundles]

        def report(amount: int) -> None:
            if unit == "bytes":
                self._progress.advance(amount, unit)

        watch = Watch(report, self._progress.notice)
        if options.scheduler:
            stream = run_on_cluster(count_task, tasks, options.scheduler, watch)
        else:
            stream = run_on_processes(count_task, tasks, workers, watch)
        for done in stream:
            if unit == "files":
                self._progress.advance(len(bundles[done.task]), unit)
            yield done

    def _tell_skipped(self, counts: Counts) -> None:
        if counts.skipped:
            self._progress.notice(f"{self.name}: {self._corpus.skipped_label}: {counts.skipped}")

    # Journal

    def _request(self, queries: list[str]) -> str:
        """Return what a count of a piece depends on, beside the piece."""
        options = {"read": asdict(self._options.read), "ignore_case": self._options.ignore_case}
        content = json.dumps([queries, options], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    def _journalled(self, pieces: list[Piece], queries: list[str]) -> dict[int, Counts]:
        if self._journal is None or self._refresh:
            return {}
        request = self._request(queries)
        found = self._journal.get_each("scan", [piece.identity for piece in pieces], request)
        if found:
            self._progress.notice(
                f"{self.name}: {len(found)} of {len(pieces)} files or parts are from the journal;"
                " --refresh reads again"
            )
        return {
            number: Counts(**json.loads(found[piece.identity].text))
            for number, piece in enumerate(pieces)
            if piece.identity in found
        }

    def _keep(self, piece: Piece, queries: list[str], counts: Counts) -> None:
        if self._journal is not None:
            self._progress.detail(f"{piece.file.path}: read{_part(piece)}")
            text = json.dumps(asdict(counts))
            self._journal.put("scan", piece.identity, self._request(queries), text)

    # Results

    def _exact(self, queries: Sequence[str], total: Counts) -> Iterator[QueryCount]:
        self._size = IndexSize(total.documents_read, total.bytes_read)
        asked_at = now()
        note = self._note(total)
        for n, query in enumerate(queries):
            yield QueryCount(
                query, total.occurrences[n], total.documents[n], "scan", asked_at, note=note
            )

    def _estimated(
        self, queries: Sequence[str], sample: Sample, pieces: list[Piece], results: list[Counts]
    ) -> Iterator[QueryCount]:
        per_file = _per_file(sample, pieces, results, len(queries))
        estimates, size = estimate_counts(
            sample,
            [counts.occurrences for counts in per_file],
            [counts.documents for counts in per_file],
            [(counts.documents_read, counts.bytes_read) for counts in per_file],
        )
        self._size = size
        asked_at = now()
        note = self._note(sum(per_file, Counts.none(len(queries))))
        for query, estimate in zip(queries, estimates, strict=True):
            occurrences, documents = estimate.occurrences, estimate.documents
            yield QueryCount(
                query,
                round(occurrences.value),
                round(documents.value),
                "scan",
                asked_at,
                occurrences_estimate=occurrences,
                documents_estimate=documents,
                note="; ".join(part for part in (estimate.note, note) if part),
            )

    def _note(self, total: Counts) -> str:
        notes = []
        if self._options.ignore_case:
            notes.append("ASCII case ignored")
        if self._options.limit_documents is not None:
            notes.append(f"only the first {total.documents_read} documents")
        if total.skipped:
            notes.append(f"{self._corpus.skipped_label}: {total.skipped}")
        return "; ".join(notes)


def _cores() -> int:
    """Return how many cores this process may use; under Slurm fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _bundles(numbers: list[int], pieces: list[Piece], workers: int) -> list[list[int]]:
    """Group pieces that follow each other into tasks."""
    bundles: list[list[int]] = []
    total = sum(pieces[number].size or 0 for number in numbers)
    task_bytes = min(TASK_BYTES, max(LEAST_TASK_BYTES, total // (workers * TASKS_PER_WORKER)))
    size = 0
    for number in numbers:
        piece_size = pieces[number].size or task_bytes
        if not bundles or size + piece_size > task_bytes or len(bundles[-1]) == TASK_PIECES:
            bundles.append([])
            size = 0
        bundles[-1].append(number)
        size += piece_size
    return bundles


def _part(piece: Piece) -> str:
    return "" if piece.is_whole else f" from {piece.start} to {piece.stop}"


def _first_of(errors: list[NgramscanError]) -> NgramscanError:
    """Return the first error, by place, that says how many there are."""
    first = min(errors, key=str)
    if len(errors) == 1 or not isinstance(first, CorpusError):
        return first
    return CorpusError(first.where, f"{first.problem}; and {len(errors) - 1} more can't be read")


def _per_file(
    sample: Sample, pieces: list[Piece], results: list[Counts], n_queries: int
) -> list[Counts]:
    counts = {file.path: Counts.none(n_queries) for file in sample.files}
    for piece, result in zip(pieces, results, strict=True):
        counts[piece.file.path] += result
    return list(counts.values())
