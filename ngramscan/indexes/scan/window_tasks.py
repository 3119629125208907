"""Finding some occurrences again, with the text around them: what a worker process does.

A scan counts and keeps no places. A wanted occurrence is named by its rank, so a piece is counted
through once more, up to the last one that is wanted.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from ngramscan.corpora import Piece, read_piece, without_excluded
from ngramscan.errors import CorpusError, EngineError
from ngramscan.indexes.cutting import cut_ends
from ngramscan.indexes.scan.counting import Question
from ngramscan.matching import TextBytes
from ngramscan.matching.occurrences import Occurrence, find_occurrences
from ngramscan.matching.rules import MatchRule
from ngramscan.processes.pool import Report


class WindowRequest(NamedTuple):
    """Some occurrences to find in a piece."""

    piece: Piece
    records_before: int
    """Records of the file that come before the piece, where it doesn't count them itself."""
    ranks: Mapping[str, Sequence[int]]
    """Among the occurrences in the piece, from 0; in rising order, each once, by query."""
    context: int
    """Bytes on each side."""


class Excerpt(NamedTuple):
    """An occurrence and the text around it, which is cut from one document. Lengths are bytes."""

    query: str
    rank: int
    """In the piece."""
    record: int
    """The number of the document in the file, from 1."""
    source: str
    """The URL or id of the document, or empty."""
    document_bytes: int
    start: int
    """Where `text` starts in the document."""
    text: bytes
    offset: int
    """Where the occurrence starts in `text`."""
    match_bytes: int
    """Length of the occurrence."""


def read_excerpts(request: WindowRequest, report: Report, question: Question) -> list[Excerpt]:
    """Find some occurrences in a piece, and cut them out.

    A CorpusError says that a document can't be read, or that the piece has changed.
    """
    piece, records_before, ranks, context = request
    matcher, n_wanted = question.matcher(), sum(map(len, ranks.values()))
    seen = dict.fromkeys(question.queries, 0)
    excerpts: list[Excerpt] = []
    hits: list[int] = []

    def hit(number: int, *_: object) -> None:
        hits.append(number)

    for text, record, source in _documents(piece, question, report):
        matcher.scan(text, hit)
        for number, count in Counter(hits).items():
            query = question.queries[number]
            wanted, first = ranks.get(query, ()), seen[query]
            seen[query] += count
            if passed := wanted[bisect_left(wanted, first) : bisect_left(wanted, seen[query])]:
                content = bytes(text)
                occurrences = _occurrences(query, content, count, question.rule)
                for rank in passed:
                    occurrence = occurrences[rank - first]
                    low, high = cut_ends(content, *occurrence, context)
                    excerpts.append(
                        Excerpt(
                            query,
                            rank,
                            record=records_before + record,
                            source=source,
                            document_bytes=len(content),
                            start=low,
                            text=content[low:high],
                            offset=occurrence.start - low,
                            match_bytes=occurrence.stop - occurrence.start,
                        )
                    )
        hits.clear()
        if len(excerpts) == n_wanted:
            return excerpts
    query = next(query for query in ranks if seen[query] <= ranks[query][-1])
    problem = f"it has {seen[query]} occurrences of {query!r}, there were {ranks[query][-1] + 1}"
    raise CorpusError(piece.file.path, f"changed since it was counted: {problem} at least")


def _documents(
    piece: Piece, question: Question, report: Report
) -> Iterator[tuple[TextBytes, int, str]]:
    """Yield text, record and source; even after an error, report the whole piece as read."""
    unread_size = piece.size or 0
    try:
        for batch in read_piece(piece, question.read):
            unread_size -= batch.consumed
            report(batch.consumed)
            included_documents = without_excluded(batch, question.read.exclude_sources)
            yield from zip(
                included_documents.texts,
                included_documents.records,
                included_documents.sources or repeat(""),
                strict=False,
            )
    finally:
        report(max(unread_size, 0))


def _occurrences(query: str, content: bytes, count: int, rule: MatchRule) -> list[Occurrence]:
    occurrences = find_occurrences(query, content, rule)
    if len(occurrences) != count:
        raise EngineError(
            f"matching engine: it counts {count} x {query!r} where brute force"
            f" counts {len(occurrences)}; please report this"
        )
    return occurrences
