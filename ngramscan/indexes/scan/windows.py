"""Windows on the occurrences of a scanned corpus, which is read again where they are.

A scan keeps no places, only how many occurrences each piece has. So the occurrences are numbered in
the order of the corpus: pieces in their order, documents in theirs, start offsets rising.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

from ngramscan.corpora import Piece, bytes_before, records_before, refuse_changed
from ngramscan.errors import CorpusError, InputError, NgramscanError
from ngramscan.indexes.base import Place, Window, WindowFailure
from ngramscan.indexes.scan.counting import Question
from ngramscan.indexes.scan.pieces import ScanRun, run_on_pieces
from ngramscan.indexes.scan.window_tasks import Excerpt, WindowRequest, read_excerpts
from ngramscan.progress import Progress

_Wanted = dict[tuple[str, int], list[Place]]
"""Places in one piece, by query and by rank in the piece."""


def read_windows(
    run: ScanRun,
    pieces: Sequence[Piece],
    ends: Mapping[str, Sequence[int]],
    places: Sequence[Place],
    context: int,
    question: Question,
) -> Iterator[Window | WindowFailure]:
    """Read the pieces that hold some places, each once, and yield the windows of each.

    All places of a piece fail if it can't be read, or has changed since it was counted. `ends` has
    the rank after the last occurrence in each piece, by query; `context` is in bytes on each side;
    `question` says how the pieces were read, and its queries don't matter.
    """
    wanted: dict[int, _Wanted] = defaultdict(lambda: defaultdict(list))
    for place in places:
        try:
            number, rank = _locate(place, ends[place.query])
        except InputError as error:
            yield WindowFailure(place, error)
        else:
            wanted[number][place.query, rank].append(place)
    for number, result in _read(run, pieces, wanted, context=context, question=question):
        if isinstance(result, NgramscanError):
            for same in wanted[number].values():
                yield from (WindowFailure(place, result) for place in same)
        else:
            for excerpt in result:
                same = wanted[number][excerpt.query, excerpt.rank]
                yield from (_window(place, excerpt, pieces[number].file.path) for place in same)


def _locate(place: Place, ends: Sequence[int]) -> tuple[int, int]:
    total = ends[-1] if ends else 0
    if place.shard != 0 or not 0 <= place.rank < total:
        where = f"occurrence {place.rank} of {place.query!r} in shard {place.shard}"
        raise InputError(where, f"not there: {total} were found, numbered from 0 in shard 0")
    piece = bisect_right(ends, place.rank)
    return piece, place.rank - (ends[piece - 1] if piece else 0)


def _read(
    run: ScanRun,
    pieces: Sequence[Piece],
    wanted: Mapping[int, _Wanted],
    context: int,
    question: Question,
) -> Iterator[tuple[int, list[Excerpt] | NgramscanError]]:
    requests: dict[int, WindowRequest] = {}
    for _, in_file in groupby(sorted(wanted), lambda number: pieces[number].file.location):
        numbers = list(in_file)
        try:
            before = _records_before([pieces[number] for number in numbers], run.progress)
        except NgramscanError as error:
            yield from ((number, error) for number in numbers)
        else:
            for number, records in zip(numbers, before, strict=True):
                ranks = _ranks(wanted[number])
                requests[number] = WindowRequest(pieces[number], records, ranks, context)
    queries = {query for request in requests.values() for query in request.ranks}
    read_options = replace(question.read, with_sources=True)
    question = replace(question, queries=sorted(queries), read=read_options)
    if requests:
        numbered = {number: pieces[number] for number in requests}
        yield from run_on_pieces(run, numbered, partial(read_excerpts, question=question), requests)


def _records_before(pieces: Sequence[Piece], progress: Progress) -> list[int]:
    """Return how many records come before some pieces of a file, unless it has changed."""
    refuse_changed(pieces[0].file)
    progress.expect(bytes_before(pieces), "bytes")
    return list(records_before(pieces, partial(progress.advance, unit="bytes")))


def _ranks(wanted: _Wanted) -> dict[str, list[int]]:
    ranks: dict[str, list[int]] = {}
    for query, rank in sorted(wanted):
        ranks.setdefault(query, []).append(rank)
    return ranks


def _window(place: Place, excerpt: Excerpt, path: str) -> Window | WindowFailure:
    document = f"{path}:{excerpt.record}"
    try:
        excerpt.text.decode()
    except UnicodeDecodeError as error:
        # WARC and Parquet say that a text is UTF-8, and nothing proves it before.
        problem = f"not UTF-8 at byte {excerpt.start + error.start} of the text"
        return WindowFailure(place, CorpusError(document, problem))
    metadata = {"path": path, "record": excerpt.record}
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
        match_bytes=excerpt.match_bytes,
    )
