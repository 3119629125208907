"""The protocol of indexes, and the values that they return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ngramscan.errors import NgramscanError
from ngramscan.rows import Note, join_notes
from ngramscan.statistics.estimates import Estimate

if TYPE_CHECKING:  # slow to import
    from ngramscan.corpora.rewriting.passages import FindRanges
    from ngramscan.corpora.rewriting.removals import Removal

IN_PLACE_CONCURRENCY = 256
"""The default of --concurrency for index files in place."""
COMMON_CONTEXT = 10_000
"""Bytes on each side of an occurrence that any index can show."""

Unit = Literal["bytes", "tokens"]
CountSource = Literal["api", "scan", "fm9", "tokens", "journal"]
"""Where a count comes from; `journal`: from a service, in an earlier run."""


@dataclass(frozen=True, slots=True)
class IndexSize:
    """The size of a corpus; None: unknown."""

    documents: int | None = None
    bytes: int | None = None
    """Bytes of text, in UTF-8."""
    shards: int | None = None
    index_bytes: int | None = None
    """Bytes of the files of a local index."""
    largest_shard_bytes: int | None = None
    """Bytes of text in the largest shard."""
    tokens: int | None = None
    """Tokens of text, without separators; known only for a token-level index."""
    documents_estimate: Estimate | None = None
    """Set where only a sample was read; `documents` is then its rounded value."""
    bytes_estimate: Estimate | None = None
    unknown_because: str = ""
    """Why an index that answers has no size, in words."""


@dataclass(frozen=True, slots=True)
class QueryCount:
    """How often one query occurs in an index."""

    query: str
    occurrences: int
    documents: int | None
    """Documents with at least one occurrence; None: the index doesn't know."""
    source: CountSource
    asked_at: str
    """ISO 8601, UTC."""
    occurrences_estimate: Estimate | None = None
    """Set where only a sample was read; `occurrences` is then its rounded value."""
    documents_estimate: Estimate | None = None
    notes: tuple[Note, ...] = ()
    """How the count differs, or may differ, from an exact, case-sensitive one."""

    @property
    def note(self) -> str:
        """The notes as one text."""
        return join_notes(self.notes)


@dataclass(frozen=True, slots=True)
class QueryFailure:
    """The error for a query that an index could not count or find."""

    index: str
    query: str
    error: NgramscanError


@dataclass(frozen=True, slots=True)
class Segment:
    """The occurrences of a query in one shard, as a half-open range of ranks."""

    shard: int
    low: int
    high: int

    @property
    def occurrences(self) -> int:
        """Number of occurrences."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Occurrences:
    """All occurrences of one query, as ranks."""

    query: str
    segments: tuple[Segment, ...]
    """One per shard with at least one occurrence; several, if forms of the query were looked up."""
    is_by_rule: bool = False
    """Occurrences were found by a rule of matching, so the text of the query need not be there."""

    @property
    def occurrences(self) -> int:
        """Number of occurrences in all shards."""
        return sum(segment.occurrences for segment in self.segments)

    @property
    def needles(self) -> tuple[bytes, ...]:
        """The text at the occurrences."""
        return (self.query.encode(),)

    @property
    def found(self) -> Occurrences:
        """The occurrences themselves; `TokenOccurrences` has the same property."""
        return self


@dataclass(frozen=True, slots=True)
class Place:
    """One occurrence of a query."""

    query: str
    shard: int
    rank: int
    """Within a segment of the query."""


@dataclass(frozen=True, slots=True)
class Window:
    """An occurrence and the text around it, from one document. Lengths are bytes."""

    place: Place
    document: str
    """Identifies the document within the index."""
    document_bytes: int
    text: bytes
    """UTF-8, cut between characters."""
    offset: int
    """Start of the occurrence in `text`."""
    starts_document: bool
    """The text begins where the document does; False: it may not."""
    metadata: str
    """A JSON object, or empty."""
    match_bytes: int | None = None
    """Length of the occurrence; None: that of the query."""

    @property
    def stop(self) -> int:
        """End of the occurrence in `text`."""
        length = len(self.place.query.encode()) if self.match_bytes is None else self.match_bytes
        return self.offset + length

    @property
    def length(self) -> int:
        """Length of the document."""
        return self.document_bytes

    @property
    def is_truncated(self) -> bool:
        """Whether a part of the document is hidden."""
        return self.document_bytes > len(self.text)


@dataclass(frozen=True, slots=True)
class WindowFailure:
    """The error for an occurrence that could not be shown."""

    place: Place
    error: NgramscanError


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """The counts of an index that reads its documents."""

    counts: list[QueryCount]
    """In the order of the queries."""
    unions: list[Estimate]
    """Documents with at least one query of each union; where exact, low equals high."""


@dataclass(frozen=True, slots=True)
class SourceCount:
    """The documents of one source, and how often each query occurs in them."""

    value: str | None
    """The value of the field that names the source; None: documents without it."""
    documents: int
    """All documents of the source."""
    bytes: int
    """Bytes of text of all these documents, in UTF-8."""
    occurrences: dict[int, int]
    """By the number of a query, of those that occur."""
    documents_with_query: dict[int, int]
    """Documents with at least one occurrence, of the same queries."""
    occurrence_shares: dict[int, Estimate] = field(default_factory=dict)
    """Shares of the occurrences, like those of the documents by the number of a query. They are
    set where only a sample of files was read; all other numbers are then rounded estimates. The
    limits of all sources of a query hold together."""
    document_shares: dict[int, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """The counts of an index that reads its documents, by source."""

    sources: list[SourceCount]
    occurrences: dict[int, int]
    """In all sources, by the number of a query, of those that occur."""
    field_names: list[str]
    """Fields that the metadata have, some of them if they are many."""
    notes: list[Note]


@dataclass(frozen=True, slots=True)
class Cost:
    """An estimate of the work that some questions to an index take."""

    requests_at_most: int = 0
    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0
    dollars: float = 0.0
    """The charge of S3 for the requests and bytes; 0 for an index elsewhere."""

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of both, one after the other."""
        return Cost(
            self.requests_at_most + other.requests_at_most,
            self.requests + other.requests,
            self.bytes + other.bytes,
            self.seconds + other.seconds,
            self.dollars + other.dollars,
        )

    @property
    def duration(self) -> str:
        """The seconds as H:MM:SS."""
        seconds = round(self.seconds)
        return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def requests_at(rate: float, requests: int) -> Cost:
    """Return the cost of some requests, at a rate per second."""
    return Cost(requests_at_most=requests, requests=requests, seconds=requests / rate)


@dataclass(frozen=True, slots=True)
class SpanQuery:
    """A text whose spans are looked for."""

    text: str
    places: npt.NDArray[np.int64]
    """Start and end of each word, in bytes: [words, 2]."""
    windows: Sequence[tuple[int, int]]
    """The words of each window, [start, stop); each span contains a whole window."""
    least: int
    """Words of the shortest spans."""


@dataclass(frozen=True, slots=True)
class FoundMatches:
    """The longest parts of a text that occur in a document."""

    query: str
    """The text."""
    matches: list[tuple[int, int]]
    """The words of each part, [start, stop), in the order of the text."""


@dataclass(frozen=True, slots=True)
class SoughtTexts:
    """Texts whose copies are looked for, as words."""

    texts: Sequence[Sequence[str]]
    """The words of each text, normalized as `matching.normalized(text, "words")` does."""
    as_written: Sequence[Sequence[str]]
    """The part of each text that each of its windows was made from, as it was given."""
    width: int
    """Words of a window. A text has a window from each word on; a shorter text is one window."""
    least_share: float
    """The least share of the windows of a text that a passage has."""
    context: int
    """Characters, at least, on each side of a passage that are returned with it."""
    most: int
    """Passages, at most, of each text: those with the most windows; others are left out."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of one document that has some of the windows of a text, with its context."""

    text_number: int
    """The number of the text."""
    document: str
    """Identifies the document within the index."""
    text: str
    """As it is in the document."""
    metadata: str
    """A JSON object, or empty."""


@dataclass(frozen=True, slots=True)
class FoundPassages:
    """Counts of the windows of some texts, and the passages that have most of them."""

    occurrences: list[list[int | None]]
    """How often each window of each text occurs in the index; None: not known."""
    passages: list[Passage]
    errors: list[NgramscanError] = field(default_factory=list)
    """Why counts or passages are missing."""


class Index(Protocol):
    """A searchable corpus; it numbers the occurrences of a query, so that some can be drawn.

    An ability that only some indexes have is a type of its own, such as `Locates`; commands ask
    with `isinstance` whether an index has it.
    """

    name: str
    """Stands in rows and messages: the spec, or what a user calls it after it was opened."""

    @property
    def spec(self) -> str:
        """The spec, or the name in the catalog, for the journal and the seeds of draws.

        It is the same whatever a user calls the index.
        """

    @property
    def unit(self) -> Unit:
        """The counted things: occurrences of a string, or of its n-grams of tokens."""

    @property
    def longest_context(self) -> int:
        """The most bytes on each side of an occurrence that a window can have."""

    def cost(self, lookups: Sequence[str], windows: int, context: int, /) -> Cost:
        """Estimate the work of looking up some texts and fetching windows, without doing it.

        It may ask for what tells the size of the files.
        """

    def size(self) -> IndexSize:
        """Return the size as far as it is known; a scan knows it after reading."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to count all queries, and yield each count as soon as it is known, in any order.

        All queries are given at once, since a scan reads its corpus only once. They are unique and
        not empty. An NgramscanError says that the whole index failed; then queries that were not
        yielded have no count.
        """

    def find(self, queries: Sequence[str]) -> Iterator[Occurrences | QueryFailure]:
        """Start to look up all queries, and yield where each occurs, in any order."""

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch the text around some occurrences, and yield each, in any order.

        A window has `context` bytes on each side, or up to three fewer so that no character is
        cut, or ends where the document does.
        """


# Abilities that only some indexes have. They are methods alone, so that asking for one reads no
# property, which could send a request.


@runtime_checkable
class ReadsDocuments(Protocol):
    """An index that reads all its documents for any question."""

    def document_counts(
        self, queries: Sequence[str], unions: Sequence[Sequence[str]]
    ) -> DocumentCounts:
        """Count queries, which are unique, and documents with at least one query of each union."""


@runtime_checkable
class CountsBySource(Protocol):
    """An index that counts by the sources of its documents while it reads them."""

    def source_counts(self, queries: Sequence[str], by: str) -> SourceCounts:
        """Count queries, which are unique, in the documents of each source.

        `by` names the source; see `reading.document_fields`.
        """


@runtime_checkable
class ReadsMetadata(Protocol):
    """An index that returns the metadata of many documents fast."""

    def metadata_of(self, documents: npt.NDArray[np.int64]) -> list[str]:
        """Return the metadata of documents by their numbers, each a JSON object or empty."""


@runtime_checkable
class ShowsExcerpts(Protocol):
    """An index that returns all that its documents may share with texts."""

    def excerpts(
        self, texts: Sequence[bytes], windows: Sequence[npt.NDArray[np.int64]]
    ) -> list[bytes]:
        """Return parts of documents for texts, and start and end of each of their windows.

        All that a text and a document share, if windows that touch cover it, is in one of them.
        """


@runtime_checkable
class FindsPassages(Protocol):
    """An index that finds the passages of its documents that share windows with texts, at once."""

    def passages(self, sought: SoughtTexts) -> FoundPassages:
        """Count the windows of texts as normalized words, and return the passages with them.

        A passage is the span of a document, of at most `matching.word_windows.longest_passage`
        words, with the most different windows of a text; the first of these.
        """


@runtime_checkable
class WritesCorpora(Protocol):
    """An index that writes its corpus again, without some documents or passages."""

    def refuse_unwritable(self, folder: Path, cuts: bool) -> None:
        """Raise an InputError, before anything is read, where the corpus can't be written.

        `cuts` tells whether passages are to be cut from documents.
        """

    def write_without(
        self, folder: Path, finders: Mapping[str, Mapping[int, FindRanges]]
    ) -> Mapping[str, Mapping[int, Removal]]:
        """Write the files of the corpus to a folder, and return what they lack.

        `finders` has, by the path of a file and the number of a record in it, a function that
        returns the ranges of characters that are cut from its text; none: the record leaves.
        """


@runtime_checkable
class Locates(Protocol):
    """An index that tells fast in which document each occurrence of a query is.

    Others take a request or more for each occurrence, or count documents while they read them.
    """

    def documents_of(self, located: Occurrences) -> npt.NDArray[np.int64]:
        """Return the number of the document of each occurrence, in their order.

        Documents are numbered over all shards, as in windows.
        """


@runtime_checkable
class MatchesSuffixes(Protocol):
    """An index that finds the longest match at each place of a text."""

    def match_starts(
        self, texts: Sequence[bytes], ends: Sequence[npt.NDArray[np.int64]]
    ) -> list[npt.NDArray[np.int64]]:
        """Return where the longest match with each end begins, for each text and its ends in order.

        A match is a part of the text that occurs in a document.
        """


@runtime_checkable
class FindsSpans(Protocol):
    """An index that searches the spans of texts by itself: counts would take far longer."""

    def spans(self, queries: Sequence[SpanQuery]) -> Iterator[FoundMatches]:
        """Start to search, and yield the spans of each different text, in any order."""

    def cost_of_spans(self, sampled_queries: Sequence[SpanQuery], times: float) -> Cost:
        """Estimate the cost of `times` as many queries by searching this sample."""


def shown_context(index: Index, context: int) -> int:
    """Return how many bytes on each side an index shows where `context` are wanted.

    It is asked only where not every index can show that many.
    """
    return context if context <= COMMON_CONTEXT else min(context, index.longest_context)
