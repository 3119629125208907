"""What every index answers, and in which values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from ngramscan.errors import NgramscanError
from ngramscan.estimates import Estimate

_LOOPBACK = {"localhost", "127.0.0.1", "::1"}

Source = Literal["api", "scan", "fm9", "journal"]
"""Who made a count; `journal`: the service, in an earlier run."""


@dataclass(frozen=True, slots=True)
class IndexSize:
    """How large a corpus is; None: unknown."""

    documents: int | None = None
    bytes: int | None = None
    """Of text, in UTF-8."""


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
    """Why there is no count of one query."""

    query: str
    error: NgramscanError


@dataclass(frozen=True, slots=True)
class ApiSettings:
    """How a host is asked; the options of the commands."""

    concurrency: int = 4
    """Requests under way at once."""
    rate: float | None = None
    """Requests per second; 0: no limit; None: 4, but no limit on a loopback address."""

    def rate_for(self, host: str) -> float:
        """Return the rate for one host."""
        if self.rate is not None:
            return self.rate
        return 0.0 if host in _LOOPBACK else 4.0


class Index(Protocol):
    """A corpus that can be asked."""

    name: str

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
