"""Windows on the occurrences of a scanned corpus, which is read again where they are.

A scan keeps no places, only how many occurrences each piece has. So the occurrences are numbered as
they stand in the corpus: pieces in their order, documents in theirs, start offsets rising.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby

from ngramscan.corpora import Piece, ReadOptions, bytes_before, has_changed, records_before
from ngramscan.errors import CorpusError, InputError, NgramscanError
from ngramscan.indexes.base import Found, Place, Segment, Window, WindowFailure
from ngramscan.indexes.scan.counting import Counts
from ngramscan.indexes.scan.excerpts import Excerpt, ExcerptTask, Wanted, excerpt_task
from ngramscan.indexes.scan.pieces import PieceRunner
from ngramscan.progress import Progress


class Occurrences:
    """How many occurrences of each query the pieces have, so that a rank tells the piece."""

    def __init__(self) -> None:
        # Of each query, the rank behind the last occurrence of each piece.
        self._ends: dict[str, array[int]] = {}

    def __contains__(self, query: str) -> bool:
        return query in self._ends

    def add(self, queries: Sequence[str], counts: Sequence[Counts]) -> None:
        """Take what was counted in each piece."""
        for number, query in enumerate(queries):
            per_piece = (piece.occurrences[number] for piece in counts)
            self._ends[query] = array("q", accumulate(per_piece))

    def found(self, query: str) -> Found:
        """Return where a query is, which was counted: in one shard."""
        total = self._total(query)
        return Found(query, (Segment(0, 0, total),) if total else ())

    def locate(self, place: Place) -> tuple[int, int]:
        """Return the number of the piece, and the rank in it.

        Raises
        ------
        InputError
            The query has no such occurrence.
        """
        total = self._total(place.query)
        if place.shard != 0 or not 0 <= place.rank < total:
            where = f"occurrence {place.rank} of {place.query!r} in shard {place.shard}"
            raise InputError(where, f"not there: {total} were found, numbered from 0 in shard 0")
        ends = self._ends[place.query]
        piece = bisect_right(ends, place.rank)
        return piece, place.rank - (ends[piece - 1] if piece else 0)

    def _total(self, query: str) -> int:
        ends = self._ends[query]
        return ends[-1] if ends else 0


@dataclass(slots=True)
class _Order:
    """What is wanted of one piece."""

    number: int
    piece: Piece
    places: dict[str, dict[int, list[Place]]] = field(default_factory=dict)
    """By query, and by rank in the piece."""
    records_before: int = 0
    """What the numbers of records are to be raised by."""

    def add(self, place: Place, rank: int) -> None:
        self.places.setdefault(place.query, {}).setdefault(rank, []).append(place)

    def wanted(self, queries: Sequence[str]) -> Wanted:
        ranks = {queries.index(query): sorted(ranks) for query, ranks in self.places.items()}
        return Wanted(self.piece, ranks)

    def windows(
        self, excerpts: Iterable[Excerpt], queries: Sequence[str]
    ) -> Iterator[Window | WindowFailure]:
        for excerpt in excerpts:
            for place in self.places[queries[excerpt.query]][excerpt.rank]:
                yield self._window(place, excerpt)

    def _window(self, place: Place, excerpt: Excerpt) -> Window | WindowFailure:
        path, record = self.piece.file.path, excerpt.record + self.records_before
        document = f"{path}:{record}"
        try:
            excerpt.text.decode()
        except UnicodeDecodeError as error:
            # WARC and Parquet say that a text is UTF-8, and nothing proves it before.
            problem = f"not UTF-8 at byte {excerpt.start + error.start} of the text"
            return WindowFailure(place, CorpusError(document, problem))
        metadata = {"path": path, "record": record}
        if excerpt.source:
            metadata["source"] = excerpt.source
        return Window(
            place=place,
            document=document,
            document_bytes=excerpt.document_bytes,
            text=excerpt.text,
            offset=excerpt.offset,
            starts_document=excerpt.start == 0,
            metadata=json.dumps(metadata),
        )

    def failures(self, error: NgramscanError) -> Iterator[WindowFailure]:
        for ranks in self.places.values():
            for places in ranks.values():
                yield from (WindowFailure(place, error) for place in places)


class WindowReader:
    """Reads windows in the pieces that were counted.

    Parameters
    ----------
    pieces : sequence of Piece
        In their order.
    occurrences : Occurrences
        In these pieces.
    read : ReadOptions
        How they were read.
    ignore_case : bool
        Whether it was ignored.
    runner : PieceRunner
        Does the work.
    progress : Progress
        Told of the bytes that are read beside it.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        occurrences: Occurrences,
        read: ReadOptions,
        ignore_case: bool,
        runner: PieceRunner,
        progress: Progress,
    ) -> None:
        self._pieces = pieces
        self._occurrences = occurrences
        self._read_options = replace(read, with_sources=True)
        self._ignore_case = ignore_case
        self._runner = runner
        self._progress = progress

    def read(self, places: Sequence[Place], context: int) -> Iterator[Window | WindowFailure]:
        """Read the pieces that hold some places, each once, and yield the windows of each.

        Parameters
        ----------
        places : sequence of Place
            Of queries that were counted. All places of a piece fail where it can't be read, or is
            no longer what was counted.
        context : int
            Bytes on each side.
        """
        orders: dict[int, _Order] = {}
        for place in places:
            try:
                number, rank = self._occurrences.locate(place)
            except InputError as error:
                yield WindowFailure(place, error)
            else:
                order = orders.setdefault(number, _Order(number, self._pieces[number]))
                order.add(place, rank)
        ready: list[_Order] = []
        for in_file in _by_file(orders):
            try:
                self._prepare(in_file)
            except NgramscanError as error:
                yield from (failure for order in in_file for failure in order.failures(error))
            else:
                ready += in_file
        if ready:
            yield from self._read(ready, context)

    def _prepare(self, orders: Sequence[_Order]) -> None:
        """Look whether a file is what it was, and what comes before some of its pieces."""
        pieces = [order.piece for order in orders]
        if has_changed(pieces[0].file):
            raise CorpusError(pieces[0].file.path, "changed since it was found; count again")
        self._progress.expect(bytes_before(pieces), "bytes")

        def report(amount: int) -> None:
            self._progress.advance(amount, "bytes")

        for order, before in zip(orders, records_before(pieces, report), strict=True):
            order.records_before = before

    def _read(self, orders: Sequence[_Order], context: int) -> Iterator[Window | WindowFailure]:
        by_number = {order.number: order for order in orders}
        queries = list(dict.fromkeys(query for order in orders for query in order.places))

        def make_task(numbers: Sequence[int]) -> ExcerptTask:
            wanted = [by_number[number].wanted(queries) for number in numbers]
            return ExcerptTask(wanted, queries, self._read_options, self._ignore_case, context)

        pieces = {order.number: order.piece for order in orders}
        for number, result in self._runner.run(excerpt_task, make_task, pieces):
            order = by_number.pop(number)
            if isinstance(result, NgramscanError):
                yield from order.failures(result)
            else:
                yield from order.windows(result, queries)


def _by_file(orders: Mapping[int, _Order]) -> Iterator[list[_Order]]:
    """Yield the orders of each file, in order; its pieces follow each other."""
    in_order = (orders[number] for number in sorted(orders))
    for _, in_file in groupby(in_order, lambda order: order.piece.file.path):
        yield list(in_file)
