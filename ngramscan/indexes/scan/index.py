"""A corpus read once from start to end as an index: on one machine, or on a cluster."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ngramscan.clock import now
from ngramscan.corpora import (
    BAD_FILES,
    EMPTY_FILES,
    Corpus,
    CorpusFile,
    Piece,
    describe_skipped,
    identified,
    split,
)
from ngramscan.errors import BadFileError, CorpusError, InputError
from ngramscan.indexes.base import (
    Cost,
    CountsBySource,
    DocumentCounts,
    FindsPassages,
    FoundPassages,
    IndexSize,
    Occurrences,
    Place,
    QueryCount,
    ReadsDocuments,
    Segment,
    ShowsExcerpts,
    SoughtTexts,
    SourceCount,
    SourceCounts,
    Unit,
    Window,
    WindowFailure,
    WritesCorpora,
)
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.scan.counting import (
    PieceExcerpts,
    PieceSource,
    PieceSources,
    Question,
    Sought,
    SourceQuestion,
    count_piece,
    count_sources,
    excerpt_piece,
    refuse_many,
)
from ngramscan.indexes.scan.passages import (
    PassageQuestion,
    PiecePassages,
    best_passages,
    find_in_piece,
)
from ngramscan.indexes.scan.pieces import (
    ScanRun,
    count_pieces,
    excerpt_pieces,
    passage_pieces,
    say_left_out,
    source_pieces,
    with_cure,
)
from ngramscan.indexes.scan.sampling import estimate_share, estimate_total, take_sample
from ngramscan.indexes.scan.windows import read_windows
from ngramscan.journal import Journal
from ngramscan.matching import Counts
from ngramscan.messages import OptionUse, Text
from ngramscan.progress import Progress
from ngramscan.rows import Note
from ngramscan.statistics.estimates import Estimate, level_of_each

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ngramscan.corpora.rewriting.passages import FindRanges
    from ngramscan.corpora.rewriting.removals import Removal

R = TypeVar("R", Counts, PieceExcerpts, PieceSources, PiecePassages)
PieceResult = Counts | PieceExcerpts | PieceSources | PiecePassages
LEVEL = 0.95
"""Confidence level; the intervals of exact counts have no width."""


class ScanIndex(ReadsDocuments, ShowsExcerpts, CountsBySource, FindsPassages, WritesCorpora):
    """Counts occurrences and documents exactly, for all queries in one pass.

    Occurrences can be looked at too: a rank is a place among all occurrences of a query in the
    order of the corpus, in one shard. Where only some files are read, it is one in these files.
    With a journal, which keeps the counts of each file, a run that was stopped reads on where it
    was; the option `refresh` reads also what the journal has.
    """

    unit: Unit = "bytes"
    longest_context = 1 << 40
    """Documents are shown whole."""

    def __init__(
        self,
        corpus: Corpus,
        options: IndexOptions,
        progress: Progress,
        journal: Journal | None = None,
    ) -> None:
        self.name = self.spec = corpus.name
        self._corpus = corpus
        self._options, self._progress, self._journal = options, progress, journal
        self._size = IndexSize()
        self._said = ""
        if corpus.is_stream:
            self._check_stream()
        # The number of each query, and the counts of each piece, as they were last counted.
        self._counted: dict[str, tuple[int, list[Counts]]] = {}
        self._sample = None
        if options.sample_files is not None:
            self._sample = take_sample(corpus.files, str(options.sample_files), options.seed)

    def _check_stream(self) -> None:
        options, where = self._options, self._corpus.files[0].path
        file_options = {"sample_files": options.sample_files, "scheduler": options.scheduler}
        for option, value in file_options.items():
            if value is not None:
                problem = "a pipe can't be read that way; give the files: scan:PATH"
                raise InputError(OptionUse(option, value), f"{where}: {problem}")
        if (options.workers or 1) > 1:
            self._progress.notice(
                f"{where}: one process reads it; " + OptionUse("workers") + " is ignored"
            )

    @property
    def _run(self) -> ScanRun:
        """How the corpus is read, under the name that the index has by now."""
        options = self._options
        return ScanRun(
            self.name,
            self._progress,
            self._journal,
            refresh=options.refresh,
            workers=options.workers or 0,
            scheduler=options.scheduler,
            skip_bad_files=options.skip_bad_files,
        )

    def size(self) -> IndexSize:
        """Return the documents and bytes that were read (or estimated); unknown before."""
        return self._size

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount]:
        """Read the corpus and yield all counts at its end, or raise as document_counts does."""
        yield from self.document_counts(queries, ()).counts

    def document_counts(
        self, queries: Sequence[str], unions: Sequence[Sequence[str]]
    ) -> DocumentCounts:
        """Count all queries, and the documents that have at least one query of each union.

        A CorpusError says which document can't be read: then there are no counts, rather than
        smaller ones; the counts of the other files are in the journal. An InputError says that
        there are no documents.
        """
        question = self._question(queries, unions)
        results = self._each(
            partial(count_pieces, question=question),
            partial(count_piece, question=question),
            question.nothing,
        )
        self._measure(results)
        self._counted |= {query: (number, results) for number, query in enumerate(queries)}
        asked_at, notes = now(), self._notes(results)
        occurrences = self._totals([counts.occurrences for counts in results])
        documents = self._totals([counts.documents for counts in results])
        no_total = self._total({})
        counts = [
            self._query_count(
                query,
                occurrences=occurrences.get(number, no_total),
                documents=documents.get(number, no_total),
                asked_at=asked_at,
                notes=notes,
            )
            for number, query in enumerate(queries)
        ]
        in_unions = self._totals([dict(enumerate(counts.unions)) for counts in results])
        return DocumentCounts(counts, [in_unions[number] for number in range(len(unions))])

    def excerpts(self, texts: Sequence[bytes], windows: Sequence[NDArray[np.int64]]) -> list[bytes]:
        """Read the corpus once and return what its documents may share with texts."""
        content = hashlib.sha256()
        for text, places in zip(texts, windows, strict=True):
            content.update(b"%d %d " % (len(text), len(places)) + text + places.tobytes())
        digest = content.hexdigest()
        sought = Sought(texts, windows, read=self._options.read, digest=digest)
        results = self._each(
            partial(excerpt_pieces, sought=sought),
            partial(excerpt_piece, sought=sought),
            sought.nothing,
        )
        self._measure(results)
        self._notes(results)
        return list(dict.fromkeys(part for result in results for part in result.parts))

    def passages(self, sought: SoughtTexts) -> FoundPassages:
        """Read the corpus once; count the windows of texts, and find passages with most of them.

        Documents are compared as `matching.normalized` makes words of them, without regard to the
        options of matching. Words that the end of a line breaks are mended if a text has them.
        `matching.word_windows.WindowFinder` says which documents are looked at. Where only a sample
        of files is read, counts are estimated from theirs, and passages are from these files.
        It raises what `document_counts` raises.
        """
        # The same text is looked for once.
        numbers: dict[tuple[str, ...], int] = {}
        text_numbers = [numbers.setdefault(tuple(words), len(numbers)) for words in sought.texts]
        question = PassageQuestion(
            [*numbers],
            width=sought.width,
            least_share=sought.least_share,
            context=sought.context,
            most=sought.most,
            read=self._options.read,
        )
        results = self._each(
            partial(passage_pieces, question=question),
            partial(find_in_piece, question=question),
            question.nothing,
        )
        self._measure(results)
        self._notes(results)
        totals = self._sums([result.occurrences for result in results])
        occurrences = [
            [totals.get(window, 0) for window in windows] for windows in question.windows_by_text
        ]
        return FoundPassages(
            [list[int | None](occurrences[number]) for number in text_numbers],
            best_passages(results, self._pieces, text_numbers, sought.most),
        )

    def source_counts(self, queries: Sequence[str], by: str) -> SourceCounts:
        """Count all queries in the documents of each source, in one pass.

        Where only a sample of files is read, numbers are estimated from theirs. It raises what
        `document_counts` raises.
        """
        sought = SourceQuestion(self._question(queries, ()), by)
        results = self._each(
            partial(source_pieces, sought=sought),
            partial(count_sources, sought=sought),
            sought.nothing,
        )
        self._measure(results)
        field_names = dict.fromkeys(name for result in results for name in result.field_names)
        sources = self._estimated(results) if self._sample else _added_up(results)
        refuse_many(len(sources), by, self.name)
        occurrences = self._totals([_occurrences_in(result) for result in results])
        notes = self._notes(results)
        if self._sample:
            notes.insert(0, Note(self._sample.description, "index"))
        return SourceCounts(
            sources,
            {number: round(total.value) for number, total in occurrences.items()},
            [*field_names],
            notes,
        )

    def _estimated(self, results: Sequence[PieceSources]) -> list[SourceCount]:
        """Return the estimates for all files, by source, from the pieces of a sample of files."""
        tallies: dict[str | None, _FileTallies] = defaultdict(_FileTallies)
        all_sources = _FileTallies()
        for piece, result in enumerate(results):
            for source in result.sources:
                tallies[source.value].add(piece, source)
                all_sources.add(piece, source)
        n_sources = Counter(number for tally in tallies.values() for number in tally.occurrences)
        return [
            SourceCount(
                value,
                documents=self._rounded(tally.documents),
                bytes=self._rounded(tally.bytes),
                occurrences={
                    number: self._rounded(per_piece)
                    for number, per_piece in tally.occurrences.items()
                },
                documents_with_query={
                    number: self._rounded(per_piece)
                    for number, per_piece in tally.documents_with_query.items()
                },
                occurrence_shares={
                    number: self._share(
                        per_piece, all_sources.occurrences[number], n_sources[number]
                    )
                    for number, per_piece in tally.occurrences.items()
                },
                document_shares={
                    number: self._share(
                        per_piece, all_sources.documents_with_query[number], n_sources[number]
                    )
                    for number, per_piece in tally.documents_with_query.items()
                },
            )
            for value, tally in tallies.items()
        ]

    def _rounded(self, per_piece: Mapping[int, int]) -> int:
        return round(self._total(per_piece).value)

    def _share(
        self, per_piece: Mapping[int, int], all_per_piece: Mapping[int, int], n_sources: int
    ) -> Estimate:
        """Estimate the share of one of some sources; their limits hold together."""
        assert self._sample is not None
        values, totals = self._per_file(per_piece), self._per_file(all_per_piece)
        return estimate_share(self._sample, values, totals, level_of_each(LEVEL, n_sources))

    def _measure(self, results: Sequence[PieceResult]) -> None:
        """Keep the size of the texts that were read; an error if there is no document."""
        if not any(each.documents_read for each in results):
            is_filtered = self._options.read.exclude_sources
            problem: Text = "contains no documents"
            if is_filtered:
                problem = OptionUse("exclude_source") + " leaves no document"
            others = _skipped(results, without=EMPTY_FILES)
            raise InputError(self.name, problem + f"; {others}" if others else problem)
        documents_read = {piece: each.documents_read for piece, each in enumerate(results)}
        bytes_read = {piece: each.bytes_read for piece, each in enumerate(results)}
        n, size = self._total(documents_read), self._total(bytes_read)
        self._size = IndexSize(round(n.value), round(size.value))
        if self._sample:
            self._size = replace(self._size, documents_estimate=n, bytes_estimate=size)

    def refuse_unwritable(self, folder: Path, cuts: bool) -> None:
        """Raise an InputError if the folder or a file of the corpus does not allow a copy."""
        from ngramscan.corpora.rewriting import refuse_overlap, refuse_unwritable

        if self._corpus.is_stream:
            problem = "a pipe can't be read again to be written; give the files: scan:PATH"
            raise InputError(self._corpus.files[0].path, problem)
        refuse_overlap(self._corpus, folder)
        refuse_unwritable(self._corpus.files, self._options.read, cuts)

    def write_without(
        self, folder: Path, finders: Mapping[str, Mapping[int, FindRanges]]
    ) -> dict[str, dict[int, Removal]]:
        """Write the files of the corpus without some documents or passages; see `rewriting`."""
        from ngramscan.corpora.rewriting import locate_passages, write_without

        corpus, read_options = self._corpus, self._options.read
        report = partial(self._progress.advance, unit="bytes")
        changed = {path for path, of_file in finders.items() if of_file}
        sizes = {file.path: file.size or 0 for file in corpus.files}
        self._progress.expect(sum(sizes.values()) + sum(map(sizes.__getitem__, changed)), "bytes")
        removals = locate_passages(corpus.files, finders, read_options, report)
        write_without(corpus, folder, removals, read_options, report)
        return removals

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences]:
        """Yield where each query is; those that were not counted yet are counted, in one pass."""
        if self._corpus.is_stream:
            problem = "a pipe can't be read again to show texts; write it to a file: scan:FILE"
            raise InputError(self._corpus.files[0].path, problem)
        if self._options.normalization:
            raise InputError(self.name, "its texts were normalized: no places to show")
        if unknown := [query for query in queries if query not in self._counted]:
            self.document_counts(unknown, ())
        for query in queries:
            ends = self._ends(query)
            segments = (Segment(0, 0, ends[-1]),) if ends and ends[-1] else ()
            yield Occurrences(query, segments)

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Read once more, but only where the places are, and yield a window on each.

        A window fails where its file can't be read or was changed since it was counted, and where
        the query has no such occurrence. A place may be there twice.
        """
        queries = list(dict.fromkeys(place.query for place in places))
        list(self.find(queries))
        ends = {query: self._ends(query) for query in queries}
        question = self._question([], [])
        yield from read_windows(
            self._run, self._pieces, ends=ends, places=places, context=context, question=question
        )

    def cost(self, _lookups: Sequence[str], windows: int, _: int) -> Cost:
        """Return the bytes of the files, as far as they are known; windows are read once more."""
        files = self._sample.files if self._sample else self._corpus.files
        return Cost(bytes=sum(file.size or 0 for file in files) * (2 if windows else 1))

    def _ends(self, query: str) -> array[int]:
        """Return the rank behind the last occurrence in each piece."""
        number, results = self._counted[query]
        return array("q", accumulate(counts.occurrences.get(number, 0) for counts in results))

    def _question(self, queries: Sequence[str], unions: Sequence[Sequence[str]]) -> Question:
        numbers = {query: number for number, query in enumerate(queries)}
        in_numbers = [[numbers[query] for query in union] for union in unions]
        options = self._options
        return Question(
            list(queries),
            read=options.read,
            rule=options.match_rule,
            normalization=options.normalization,
            unions=in_numbers,
        )

    @cached_property
    def _pieces(self) -> list[Piece]:
        """The pieces to read, always the same and in the same order."""
        for notice in self._corpus.notices:
            self._progress.notice(notice)
        files = self._sample.files if self._sample else self._corpus.files
        return [piece for file in identified(files) for piece in self._split(file)]

    def _split(self, file: CorpusFile) -> list[Piece]:
        """Return the pieces of a file; one that can't be split is left to those who read it."""
        try:
            return split(file)
        except CorpusError:
            return [Piece(file, size=file.size)]

    def _each(
        self,
        work_on_all: Callable[[ScanRun, Sequence[Piece]], list[R]],
        work: Callable[..., R],
        nothing: Callable[[dict[str, int]], R],
    ) -> list[R]:
        """Work on each piece; on a pipe, and on the first documents only, in this process."""
        limit = self._options.limit_documents
        if limit is None and not self._corpus.is_stream:
            return work_on_all(self._run, self._pieces)
        report = partial(self._progress.advance, unit="bytes")
        self._progress.expect(0, "bytes")  # how many is unknown
        results: list[R] = []
        for _, of_file in groupby(self._pieces, lambda piece: piece.file.location):
            pieces_of_file = list(of_file)
            try:
                new = _work_within(pieces_of_file, partial(work, report=report), limit)
            except BadFileError as error:
                if not self._options.skip_bad_files:
                    raise with_cure(error) from error
                say_left_out(self._run, [error])
                new = [nothing({BAD_FILES: 1})]
                new += [nothing({}) for _ in pieces_of_file[1:]]
            results += new
            if limit is not None:
                limit -= sum(each.documents_read for each in new)
                if limit <= 0:
                    break
        return results

    def _totals(self, per_piece: Sequence[Mapping[int, int]]) -> dict[int, Estimate]:
        """Return the totals of those queries that occur."""
        by_query: dict[int, dict[int, int]] = defaultdict(dict)
        for piece, values in enumerate(per_piece):
            for number, value in values.items():
                by_query[number][piece] = value
        return {number: self._total(values) for number, values in by_query.items()}

    def _sums(self, per_piece: Sequence[Mapping[int, int]]) -> Mapping[int, int]:
        """Return the rounded totals, without intervals."""
        if self._sample is not None:
            return {number: round(total.value) for number, total in self._totals(per_piece).items()}
        sums = Counter[int]()
        for values in per_piece:
            sums.update(values)
        return sums

    def _total(self, per_piece: Mapping[int, int]) -> Estimate:
        """Return the total of some values, by piece; other pieces have 0."""
        if self._sample is None:
            total = sum(per_piece.values())
            return Estimate(total, total, total, LEVEL)
        return estimate_total(self._sample, self._per_file(per_piece))

    def _per_file(self, per_piece: Mapping[int, int]) -> list[int]:
        """Return the sums of some values by sampled file."""
        assert self._sample is not None
        per_file = dict.fromkeys((file.location for file in self._sample.files), 0)
        for piece, value in per_piece.items():
            per_file[self._pieces[piece].file.location] += value
        return list(per_file.values())

    def _query_count(
        self,
        query: str,
        occurrences: Estimate,
        documents: Estimate,
        asked_at: str,
        notes: Sequence[Note],
    ) -> QueryCount:
        sample = self._sample
        on_intervals = occurrences.note
        if documents.note and not on_intervals:
            on_intervals = f"documents: {documents.note}"
        return QueryCount(
            query=query,
            occurrences=round(occurrences.value),
            documents=round(documents.value),
            source="scan",
            asked_at=asked_at,
            occurrences_estimate=occurrences if sample else None,
            documents_estimate=documents if sample else None,
            notes=(
                *([Note(sample.description, "index")] if sample else []),
                *([Note(on_intervals, "query")] if on_intervals else []),
                *notes,
            ),
        )

    def _notes(self, results: Sequence[PieceResult]) -> list[Note]:
        """Return how the counts differ from exact counts of all text, and what was skipped."""
        notes = self._options.match_rule.notes
        if self._options.limit_documents is not None:
            n_documents = sum(counts.documents_read for counts in results)
            notes.append(f"only the first {n_documents} documents")
        if skipped := _skipped(results):
            notes.append(skipped)
            if skipped != self._said:  # a corpus is read several times for some questions
                self._progress.notice(f"{self.name}: {skipped}")
                self._said = skipped
        return [Note(text, "index") for text in notes]


def _work_within(pieces: Sequence[Piece], work: Callable[..., R], limit: int | None) -> list[R]:
    """Work on the pieces of one file until the limit of documents is reached."""
    results: list[R] = []
    for piece in pieces:
        results.append(work(piece, limit=limit))
        if limit is not None:
            limit -= results[-1].documents_read
            if limit <= 0:
                break
    return results


class _FileTallies:
    """The counts of documents in a sample of files, by piece."""

    def __init__(self) -> None:
        self.documents = Counter[int]()
        self.bytes = Counter[int]()
        self.occurrences: dict[int, Counter[int]] = defaultdict(Counter)
        """By the number of a query, like the documents with it."""
        self.documents_with_query: dict[int, Counter[int]] = defaultdict(Counter)

    def add(self, piece: int, source: PieceSource) -> None:
        """Add the documents of a source in a piece."""
        self.documents[piece] += source.documents
        self.bytes[piece] += source.bytes
        for number, n in source.occurrences.items():
            self.occurrences[number][piece] += n
        for number, n in source.documents_with_query.items():
            self.documents_with_query[number][piece] += n


def _occurrences_in(result: PieceSources) -> Counter[int]:
    """Return the occurrences of each query in a piece."""
    occurrences = Counter[int]()
    for source in result.sources:
        occurrences.update(source.occurrences)
    return occurrences


def _added_up(results: Sequence[PieceSources]) -> list[SourceCount]:
    """Return the counts of all pieces, by source in the order of the corpus."""
    pieces_of_sources: dict[str | None, list[PieceSource]] = defaultdict(list)
    for result in results:
        for source in result.sources:
            pieces_of_sources[source.value].append(source)
    sources = list[SourceCount]()
    for value, parts in pieces_of_sources.items():
        occurrences, documents_with_query = Counter[int](), Counter[int]()
        for part in parts:
            occurrences.update(part.occurrences)
            documents_with_query.update(part.documents_with_query)
        added_up = SourceCount(
            value,
            documents=sum(part.documents for part in parts),
            bytes=sum(part.bytes for part in parts),
            occurrences=dict(occurrences),
            documents_with_query=dict(documents_with_query),
        )
        sources.append(added_up)
    return sources


def _skipped(results: Sequence[PieceResult], without: str = "") -> str:
    skipped = Counter[str]()
    for each in results:
        if each.skipped:  # nothing is skipped in most of 100,000 files
            skipped.update(each.skipped)
    del skipped[without]
    return describe_skipped(skipped)
