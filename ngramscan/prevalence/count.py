"""Pattern sets × indexes → count rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

from ngramscan.errors import NgramscanError
from ngramscan.indexes.base import Index, IndexSize, QueryCount, QueryFailure
from ngramscan.patterns.model import Query
from ngramscan.patterns.overlaps import merged_of_unions


@dataclass(frozen=True, slots=True)
class Count:
    """One row: how often one query occurs in one index."""

    index: str
    method: str
    tier: str
    kind: str
    pattern: str
    """The text as it stands in the pattern set."""
    query: str
    """What was asked: the text or one of its case variants."""
    occurrences: int
    documents: int | None
    """None: the index can't know."""
    source: str
    asked_at: str
    estimated: bool = False
    """Only a sample was read: the counts are estimates."""
    occurrences_low: float | None = None
    occurrences_high: float | None = None
    documents_low: float | None = None
    documents_high: float | None = None
    level: float | None = None
    """Of the intervals; None: the counts are exact, or there is no interval."""
    note: str = ""


@dataclass(slots=True)
class Counting:
    """All that came of counting one pattern set in some indexes."""

    queries: list[Query]
    rows: list[Count] = field(default_factory=list)
    """In the order of the indexes, then of the patterns."""
    missing: list[QueryFailure] = field(default_factory=list)
    occurrences: dict[str, dict[str, int]] = field(default_factory=dict)
    """Per index, of all strings that were counted: the queries, and those in which two overlap."""
    sizes: dict[str, IndexSize] = field(default_factory=dict)


def count_queries(
    queries: Sequence[Query], indexes: Sequence[Index], for_totals: bool = True
) -> Counting:
    """Count some queries in each index; what fails is in `missing`, all else is done.

    With `for_totals`, the strings in which two queries overlap are counted too: the union of
    occurrences needs them.
    """
    texts = list(dict.fromkeys(query.text for query in queries))
    if for_totals:
        texts += merged_of_unions(queries)
    counting = Counting(list(queries))
    # Hosted indexes are under way as soon as `counts` was called: call all, then collect.
    streams = [(index, index.counts(texts)) for index in indexes]
    for index, stream in streams:
        counts = _collect(index, stream, texts, counting.missing)
        counting.sizes[index.name] = index.size()
        counting.occurrences[index.name] = {
            text: count.occurrences for text, count in counts.items()
        }
        counting.rows += [
            _row(index, query, counts[query.text]) for query in queries if query.text in counts
        ]
    return counting


def _collect(
    index: Index,
    stream: Iterator[QueryCount | QueryFailure],
    texts: Sequence[str],
    missing: list[QueryFailure],
) -> dict[str, QueryCount]:
    counts: dict[str, QueryCount] = {}
    failures: dict[str, NgramscanError] = {}
    try:
        for reply in stream:
            if isinstance(reply, QueryFailure):
                failures[reply.query] = reply.error
            else:
                counts[reply.query] = reply
    except NgramscanError as error:  # the index as a whole
        failures |= {text: error for text in texts if text not in counts}
    missing += [
        QueryFailure(index.name, text, failures[text]) for text in texts if text in failures
    ]
    return counts


def _row(index: Index, query: Query, count: QueryCount) -> Count:
    pattern = query.pattern
    return Count(
        index=index.name,
        method=pattern.method,
        tier=pattern.tier,
        kind=pattern.kind,
        pattern=pattern.text,
        query=query.text,
        occurrences=count.occurrences,
        documents=count.documents,
        source=count.source,
        asked_at=count.asked_at,
        note=count.note,
        **_interval(count),
    )


def _interval(count: QueryCount) -> _Interval:
    occurrences, documents = count.occurrences_estimate, count.documents_estimate
    if occurrences is None or documents is None:
        return {}
    return {
        "estimated": True,
        "occurrences_low": occurrences.low,
        "occurrences_high": occurrences.high,
        "documents_low": documents.low,
        "documents_high": documents.high,
        "level": None if occurrences.low is None else occurrences.level,
    }


class _Interval(TypedDict, total=False):
    estimated: bool
    occurrences_low: float | None
    occurrences_high: float | None
    documents_low: float | None
    documents_high: float | None
    level: float | None
