"""What every index answers, and in which values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from urllib.parse import unquote, urlsplit

from ngramscan.errors import InputError, NgramscanError
from ngramscan.statistics.estimates import Estimate

TIMEOUT_S = 45.0
"""For a whole request of a host, unless another time is asked for."""

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

Source = Literal["api", "scan", "fm9", "journal"]
"""Who made a count; `journal`: the service, in an earlier run."""


@dataclass(frozen=True, slots=True)
class IndexSize:
    """How large a corpus is; None: unknown."""

    documents: int | None = None
    bytes: int | None = None
    """Of text, in UTF-8."""
    shards: int | None = None
    index_bytes: int | None = None
    """Of the files of a local index."""


@dataclass(frozen=True, slots=True)
class QueryCount:
    """How often one query occurs in an index."""

    query: str
    occurrences: int
    documents: int | None
    """Documents with at least one occurrence; None: the index can't know."""
    source: Source
    asked_at: str
    """ISO 8601, UTC."""
    occurrences_estimate: Estimate | None = None
    """Where only a sample was read; `occurrences` is its rounded value then."""
    documents_estimate: Estimate | None = None
    note: str = ""
    """How the count differs from an exact one of the text as it is."""


@dataclass(frozen=True, slots=True)
class QueryFailure:
    """Why one query could not be counted or found in an index."""

    index: str
    query: str
    error: NgramscanError


@dataclass(frozen=True, slots=True)
class Segment:
    """Where the occurrences of a query stand in one shard: its ranks, half-open."""

    shard: int
    low: int
    high: int

    @property
    def occurrences(self) -> int:
        """How many there are."""
        return self.high - self.low


@dataclass(frozen=True, slots=True)
class Found:
    """All occurrences of one query, as ranks."""

    query: str
    segments: tuple[Segment, ...]
    """One per shard that has any."""

    @property
    def occurrences(self) -> int:
        """How many there are, over all shards."""
        return sum(segment.occurrences for segment in self.segments)


@dataclass(frozen=True, slots=True)
class Place:
    """One occurrence of a query."""

    query: str
    shard: int
    rank: int
    """In a segment of the query."""


@dataclass(frozen=True, slots=True)
class Window:
    """An occurrence and the text around it, which is cut from one document. Lengths are bytes."""

    place: Place
    document: str
    """What tells the document from all others of the index."""
    document_bytes: int
    text: bytes
    """UTF-8, cut between characters."""
    offset: int
    """Of the occurrence in `text`."""
    starts_document: bool
    """The text begins where the document does; False: it may not."""
    metadata: str
    """A JSON object, or empty."""

    @property
    def hidden_bytes(self) -> int:
        """How much of the document is not in the text."""
        return self.document_bytes - len(self.text)

    @property
    def is_truncated(self) -> bool:
        """Tell whether a part of the document is hidden."""
        return self.hidden_bytes > 0


@dataclass(frozen=True, slots=True)
class WindowFailure:
    """Why there is no window around one occurrence."""

    place: Place
    error: NgramscanError


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How a host is asked; the options of the commands."""

    concurrency: int = 4
    """Requests under way at once."""
    rate: float | None = None
    """Requests per second; 0: no limit; None: 4, but no limit on a loopback address."""
    timeout_s: float = TIMEOUT_S
    """For a request, from the connection to the last byte of its answer."""

    def rate_for(self, host: str) -> float:
        """Return the rate for one host."""
        if self.rate is not None:
            return self.rate
        return 0.0 if host in _LOOPBACK else 4.0


@dataclass(frozen=True, slots=True)
class DocumentCounts:
    """What an index that reads its documents knows of some queries."""

    counts: list[QueryCount]
    """In the order of the queries."""
    unions: list[Estimate]
    """Documents with at least one query of each union; low and high are equal where exact."""


class Index(Protocol):
    """A corpus that can be asked; it numbers the occurrences of a query, so some can be drawn."""

    name: str
    longest_context: int
    """The most bytes on each side of an occurrence that a window can have."""

    def size(self) -> IndexSize:
        """Return what is known of the size by now; a scan knows it once it has read."""

    def counts(self, queries: Sequence[str]) -> Iterator[QueryCount | QueryFailure]:
        """Start to count all queries, and yield each as it is known, in any order.

        All at once, as a scan reads its corpus only once. Queries are unique and not empty.

        Raises
        ------
        NgramscanError
            The index as a whole gave up; queries not yielded have no count.
        """

    def find(self, queries: Sequence[str]) -> Iterator[Found | QueryFailure]:
        """Start to look up all queries, and yield where each is found, in any order."""

    def windows(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Start to fetch the text around some occurrences, and yield each, in any order.

        A window has `context` bytes on each side, up to three less where a character would be
        cut, or all there is up to the end of the document.
        """


def split_login(where: str, url: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address that ends in a slash, without the name and password in it, and these.

    Raises
    ------
    InputError
        It is no address of HTTP; the message does not show a password.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(where, "not a URL; http://… or https://… was expected") from error
    if parts.scheme not in {"http", "https"} or not host:
        shown = url if "@" not in url else "of this form"
        raise InputError(f"{where} {shown}", "not a URL; http://… or https://… was expected")
    host = f"[{host}]" if ":" in host else host
    place = host if port is None else f"{host}:{port}"
    login = (unquote(parts.username or ""), unquote(parts.password or ""))
    folder = parts.path if parts.path.endswith("/") else parts.path + "/"
    return f"{parts.scheme}://{place}{folder}", login if any(login) else None
