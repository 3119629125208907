"""Counting some queries in a piece of a corpus: what a worker process does.

Apart from the index that hands it out, so that a worker imports nothing else.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, islice, repeat
from threading import get_ident
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from msgspec import Meta

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.deciding_options import MATCHING
from ngramscan.errors import CorpusError, NgramscanError
from ngramscan.matching import Counts, Matcher, Normalization, TextBytes, count_texts
from ngramscan.matching.matcher import BYTES_AT_ONCE
from ngramscan.matching.normalization import FORM
from ngramscan.matching.rules import MatchRule
from ngramscan.processes.pool import Report
from ngramscan.reading.document_fields import field_names_of, names_read, source_value

if TYPE_CHECKING:  # numpy is slow to import, and to count needs none
    import numpy as np
    from numpy.typing import NDArray

    from ngramscan.matching.excerpts import ExcerptFinder

T = TypeVar("T")
R = TypeVar("R")
MOST_SOURCES = 200_000
"""A field with more different values, in a piece or in a corpus, is refused."""
_SOURCE_VALUES = 2
"""Another number wherever a version reads other sources from the same metadata."""
_MOST_FIELD_NAMES = 40
_DOCUMENTS_WITH_NAMES = 20
"""The documents of each batch whose names of fields are noted."""


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

    def nothing(self, skipped: dict[str, int]) -> Counts:
        """Return the counts of a piece that is left out."""
        return Counts({}, {}, [0] * len(self.unions), 0, 0, skipped)

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

    def nothing(self, skipped: dict[str, int]) -> PieceExcerpts:
        """Return the result of a piece that is left out."""
        return PieceExcerpts([], 0, 0, skipped)

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


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """The queries for a piece, which are counted by the source of each document."""

    question: Question
    by: str
    """The field that names the source; see `reading.document_fields`."""

    @property
    def read(self) -> ReadOptions:
        """Return how documents are read, with the fields that may name their source."""
        return replace(self.question.read, field_names=names_read(self.by))

    @property
    def digest(self) -> str:
        """Return what stands for the queries."""
        return self.question.digest

    @property
    def content(self) -> dict[str, Any]:
        """Return the options that decide what is counted, by name."""
        return self.question.content | {"by": self.by, "source_values": _SOURCE_VALUES}

    def nothing(self, skipped: dict[str, int]) -> PieceSources:
        """Return the counts of a piece that is left out."""
        return PieceSources([], [], 0, 0, skipped)


@dataclass(frozen=True, slots=True)
class PieceSource:
    """The documents of one source in a piece, and how often each query occurs in them."""

    value: str | None
    documents: Annotated[int, Meta(ge=1)]
    bytes: Annotated[int, Meta(ge=0)]
    occurrences: dict[int, int]
    documents_with_query: dict[int, int]


@dataclass(frozen=True, slots=True)
class PieceSources:
    """The counts of a piece by source."""

    sources: list[PieceSource]
    field_names: list[str]
    """Fields of some documents of the piece."""
    documents_read: Annotated[int, Meta(ge=0)]
    bytes_read: Annotated[int, Meta(ge=0)]
    skipped: dict[str, int]


def count_sources(
    piece: Piece, report: Report, sought: SourceQuestion, limit: int | None = None
) -> PieceSources:
    """Count by source in a piece, or in its first `limit` documents."""
    documents = _PieceDocuments(piece, sought.read, report)
    matcher, tallies = sought.question.matcher(), _SourceTallies(sought.by, piece.file.path)
    hits: list[int] = []

    # The engine calls this once per occurrence.
    def hit(number: int, *_: object) -> None:
        hits.append(number)

    for text, fields in islice(documents, limit):
        matcher.scan(text, hit)
        tallies.add(fields, len(text), hits)
        hits.clear()
    return tallies.counts([*documents.field_names], dict(documents.skipped))


def refuse_many(n_sources: int, by: str, where: str) -> None:
    """Raise a CorpusError for a field that has too many values to be sources."""
    if n_sources > MOST_SOURCES:
        problem = f"{by!r} has more than {MOST_SOURCES:,} values; choose a coarser field"
        raise CorpusError(where, problem)


class _PieceDocuments:
    """The documents of a piece with their metadata, and what was read of it."""

    def __init__(self, piece: Piece, read_options: ReadOptions, report: Report) -> None:
        self.skipped = Counter[str]()
        self.field_names: dict[str, None] = {}
        self._piece, self._read_options, self._report = piece, read_options, report

    def __iter__(self) -> Iterator[tuple[TextBytes, dict[str, Any]]]:
        for batch in read_piece(self._piece, self._read_options):
            self.skipped.update(batch.skipped)
            self.field_names |= dict.fromkeys(batch.field_names)
            included = without_excluded(batch, self._read_options.exclude_sources)
            for fields in included.fields[:_DOCUMENTS_WITH_NAMES]:
                self.field_names |= dict.fromkeys(field_names_of(fields))
            no_fields = repeat(dict[str, Any](), len(included.texts))
            fields_of_texts: Iterable[dict[str, Any]] = included.fields or no_fields
            yield from zip(included.texts, fields_of_texts, strict=True)
            self._report(batch.consumed)


class _SourceTallies:
    """Adds up the documents of each source and the occurrences in them."""

    def __init__(self, by: str, path: str) -> None:
        self._by, self._path = by, path
        self._sources: dict[str | None, _SourceTally] = {}

    def add(self, fields: dict[str, Any], size_bytes: int, hits: Sequence[int]) -> None:
        """Add a document with its metadata and the query of each of its occurrences."""
        value = source_value({"path": self._path} | fields, self._by)
        if value not in self._sources:
            refuse_many(len(self._sources) + 1, self._by, self._path)
            self._sources[value] = _SourceTally()
        tally = self._sources[value]
        tally.documents += 1
        tally.bytes += size_bytes
        if hits:
            tally.occurrences.update(hits)
            tally.documents_with_query.update(set(hits))

    def counts(self, field_names: Sequence[str], skipped: dict[str, int]) -> PieceSources:
        """Return what was counted."""
        sources = [
            PieceSource(
                value,
                documents=tally.documents,
                bytes=tally.bytes,
                occurrences=dict(tally.occurrences),
                documents_with_query=dict(tally.documents_with_query),
            )
            for value, tally in self._sources.items()
        ]
        return PieceSources(
            sources,
            field_names=[*field_names][:_MOST_FIELD_NAMES],
            documents_read=sum(source.documents for source in sources),
            bytes_read=sum(source.bytes for source in sources),
            skipped=skipped,
        )


@dataclass(slots=True)
class _SourceTally:
    """The documents of one source, and the occurrences in them."""

    documents: int = 0
    bytes: int = 0
    occurrences: Counter[int] = field(default_factory=Counter)
    documents_with_query: Counter[int] = field(default_factory=Counter)
