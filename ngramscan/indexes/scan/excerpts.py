"""Finding some occurrences again, with the text around them: what a worker process does.

A scan counts and keeps no places. Which occurrence is wanted is said by its rank, so a piece is
counted through once more, up to the last one that is wanted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import NamedTuple

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.errors import CorpusError, EngineError, NgramscanError
from ngramscan.indexes.scan.counting import matcher_of_thread
from ngramscan.matching import Text, find_starts
from ngramscan.processes.pool import Report


@dataclass(frozen=True, slots=True)
class Excerpt:
    """An occurrence and the text around it, which is cut from one document. Lengths are bytes."""

    query: int
    """The number of the query."""
    rank: int
    """Among the occurrences of the query in the piece, from 0."""
    record: int
    """The number of the document, as in a batch."""
    source: str
    """The URL or id of the document, or empty."""
    document_bytes: int
    start: int
    """Of `text` in the document."""
    text: bytes
    offset: int
    """Of the occurrence in `text`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Some occurrences in a piece."""

    piece: Piece
    ranks: Mapping[int, Sequence[int]]
    """In rising order, each once, by the number of the query."""


@dataclass(frozen=True, slots=True)
class ExcerptTask:
    """Some pieces to find some occurrences in."""

    wanted: list[Wanted]
    queries: list[str]
    read: ReadOptions
    ignore_case: bool
    context: int
    """Bytes on each side."""


ExcerptResult = list[Excerpt] | NgramscanError


def excerpt_task(task: ExcerptTask, report: Report) -> list[ExcerptResult]:
    """Find what is wanted; a piece that can't be read does not stop the others."""
    results: list[ExcerptResult] = []
    for wanted in task.wanted:
        try:
            results.append(_read_excerpts(wanted, task, report))
        except NgramscanError as error:
            results.append(error)
    return results


def _read_excerpts(wanted: Wanted, task: ExcerptTask, report: Report) -> list[Excerpt]:
    search = _Search(wanted.ranks, task)
    lengths = [len(query.encode()) for query in task.queries]
    excerpts = []
    for document in _documents(wanted.piece, task.read, report):
        if not (found := list(search.look_into(document.text))):
            continue
        content = bytes(document.text)
        for query, rank, start in found:
            low, high = cut_ends(content, start, start + lengths[query], task.context)
            excerpts.append(
                Excerpt(
                    query=query,
                    rank=rank,
                    record=document.record,
                    source=document.source,
                    document_bytes=len(content),
                    start=low,
                    text=content[low:high],
                    offset=start - low,
                )
            )
        if search.is_done:
            return excerpts
    raise CorpusError(wanted.piece.file.path, f"changed since it was counted: {search.problem}")


class _Document(NamedTuple):
    text: Text
    record: int
    source: str


def _documents(piece: Piece, read: ReadOptions, report: Report) -> Iterator[_Document]:
    """Yield the documents of a piece; however it ends, all of the piece is reported as read."""
    left = piece.size or 0
    try:
        for batch in read_piece(piece, read):
            left -= batch.consumed
            report(batch.consumed)
            kept = without_excluded(batch, read.exclude_sources)
            sources = kept.sources or repeat("")
            yield from map(_Document, kept.texts, kept.records, sources)
    finally:
        report(max(left, 0))


class _Search:
    """Counts occurrences through the documents of a piece, up to the last that is wanted."""

    def __init__(self, ranks: Mapping[int, Sequence[int]], task: ExcerptTask) -> None:
        self._matcher = matcher_of_thread(tuple(task.queries), task.ignore_case)
        self._queries = task.queries
        self._ignore_case = task.ignore_case
        self._left = {query: deque(wanted) for query, wanted in ranks.items()}
        self._seen = [0] * len(task.queries)

    @property
    def is_done(self) -> bool:
        """Tell whether all that is wanted was found."""
        return not self._left

    @property
    def problem(self) -> str:
        """Return what is not there, at the end of the piece."""
        query, left = next(iter(self._left.items()))
        there = f"it has {self._seen[query]} occurrences of {self._queries[query]!r}"
        return f"{there}, there were {left[-1] + 1} at least"

    def look_into(self, text: Text) -> Iterator[tuple[int, int, int]]:
        """Yield query, rank and start of what is wanted in the next document.

        Raises
        ------
        EngineError
            The matching engine is wrong.
        """
        counts: dict[int, int] = {}

        def hit(number: int, *_: object) -> None:
            counts[number] = counts.get(number, 0) + 1

        self._matcher.scan(text, hit)
        for query, count in counts.items():
            first = self._seen[query]
            self._seen[query] += count
            if query in self._left and self._left[query][0] < first + count:
                starts = self._starts(query, text, count)
                yield from ((query, rank, starts[rank - first]) for rank in self._take(query))

    def _take(self, query: int) -> Iterator[int]:
        """Yield the wanted ranks that were passed; they are wanted no longer."""
        left = self._left[query]
        while left and left[0] < self._seen[query]:
            yield left.popleft()
        if not left:
            del self._left[query]

    def _starts(self, query: int, text: Text, count: int) -> list[int]:
        content, literal = bytes(text), self._queries[query].encode()
        if self._ignore_case:
            content, literal = content.lower(), literal.lower()
        starts = find_starts(literal, content)
        if len(starts) != count:
            raise EngineError(
                f"matching engine: it counts {count} x {self._queries[query]!r} where brute force"
                f" counts {len(starts)}; please report this"
            )
        return starts


def cut_ends(content: bytes, start: int, end: int, context: int) -> tuple[int, int]:
    """Return where to cut a document around an occurrence.

    Parameters
    ----------
    content : bytes
        The document, UTF-8; one that is not may be cut inside of what would be a character.
    start, end : int
        Of the occurrence.
    context : int
        Bytes to leave on each side: up to three fewer where a character would be cut.
    """
    low, high = max(start - context, 0), min(end + context, len(content))
    least, most = min(low + 3, start), max(high - 3, end)
    low = next((n for n in range(low, least) if _is_between(content, n)), least)
    high = next((n for n in range(high, most, -1) if _is_between(content, n)), most)
    return low, high


def _is_between(content: bytes, position: int) -> bool:
    """Tell whether a position is between two characters, or at an end."""
    return not 0 < position < len(content) or content[position] & 0xC0 != 0x80
