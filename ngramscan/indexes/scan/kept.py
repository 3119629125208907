"""Results of pieces as the journal keeps them, and the keys under which it does.

A key has the file, as it was, and what is asked of it: the texts, and the options that decide what
is counted. So a result is used again only where reading once more would give the same.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

import msgspec

from ngramscan.corpora import Piece
from ngramscan.indexes.scan.counting import (
    PieceExcerpts,
    PieceSources,
    Question,
    Sought,
    SourceQuestion,
)
from ngramscan.indexes.scan.passages import PassageQuestion, PiecePassages
from ngramscan.journal import Journal
from ngramscan.matching import Counts
from ngramscan.matching.normalization import LONGEST_FORM

R = TypeVar("R", Counts, PieceExcerpts, PieceSources, PiecePassages)
PieceTask = Question | Sought | SourceQuestion | PassageQuestion
"""The questions about a piece."""

_SOURCE = "scan"
_PROCEDURE = 2
"""Another number wherever a version reads, normalizes or counts the same file otherwise."""


class _Kept(msgspec.Struct):
    """A result in the journal."""

    limits: dict[str, int]
    """Below which the piece was read; see `ReadOptions.limits`."""
    result: msgspec.Raw


class KeptResults(Generic[R]):
    """The results of one question that a journal has, and new results to keep in it.

    `form` is the type of a result, and `check` tells whether a result is possible: a journal may
    have been edited.
    """

    def __init__(
        self,
        journal: Journal | None,
        task: PieceTask,
        form: type[R],
        check: Callable[[R], bool] = lambda _: True,
    ) -> None:
        self._journal = journal
        self._form: type[R] = form
        self._check: Callable[[R], bool] = check
        self._limits = task.read.limits
        self._request = key_of(task)

    def get(self, pieces: Sequence[Piece]) -> tuple[dict[int, R], int]:
        """Return the results by the number of their piece, and how many others are damaged."""
        if self._journal is None:
            return {}, 0
        numbers = {piece.identity: number for number, piece in enumerate(pieces) if piece.identity}
        replies = self._journal.get_each(_SOURCE, numbers, self._request)
        results, damaged = dict[int, R](), 0
        read_kept, read_result = msgspec.json.Decoder(_Kept), msgspec.json.Decoder(self._form)
        for identity, reply in replies.items():
            try:
                stored = read_kept.decode(reply.text)
                result = read_result.decode(stored.result)
            except (ValueError, RecursionError):
                damaged += 1
                continue
            if not self._check(result):
                damaged += 1
            elif _is_within(stored.limits, self._limits):
                results[numbers[identity]] = result
        return results, damaged

    def put(self, results: Iterable[tuple[Piece, R]]) -> None:
        """Keep the results of the pieces whose content has an identity."""
        if self._journal is None:
            return
        encode = msgspec.json.encode
        texts = {
            piece.identity: encode({"limits": self._limits, "result": result}).decode()
            for piece, result in results
            if piece.identity
        }
        self._journal.put_each(_SOURCE, self._request, texts)


def _is_within(stored_limits: Mapping[str, int], limits: Mapping[str, int]) -> bool:
    """Tell whether a result that was read with some limits is possible with others."""
    if stored_limits == limits:
        return True
    return all(stored_limits.get(name, limit + 1) <= limit for name, limit in limits.items())


def key_of(task: PieceTask) -> str:
    """Return what the result of a piece depends on, apart from the piece."""
    parts = [_PROCEDURE, type(task).__name__, task.content, task.digest]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def is_possible(question: Question, counts: Counts) -> bool:
    """Tell whether counts can be the answer of any piece to a question."""
    documents, occurrences = counts.documents, counts.occurrences
    if documents.keys() != occurrences.keys() or len(counts.unions) != len(question.unions):
        return False
    most = counts.bytes_read * (LONGEST_FORM if question.normalization else 1)
    n_queries, n_documents = len(question.queries), counts.documents_read
    for number, n in documents.items():
        if number >= n_queries or not n <= occurrences[number] <= most or n > n_documents:
            return False
    return max(counts.unions, default=0) <= n_documents


def is_possible_by_source(sought: SourceQuestion, counts: PieceSources) -> bool:
    """Tell whether counts by source can be the answer of any piece to a question."""
    numbers = {*range(len(sought.question.queries))}
    factor = LONGEST_FORM if sought.question.normalization else 1
    values = {source.value for source in counts.sources}
    return (
        len(values) == len(counts.sources)
        and sum(source.documents for source in counts.sources) == counts.documents_read
        and sum(source.bytes for source in counts.sources) == counts.bytes_read
        and all(
            source.documents_with_query.keys() == source.occurrences.keys() <= numbers
            and all(
                0 < n <= min(source.documents, source.occurrences[number])
                and source.occurrences[number] <= source.bytes * factor
                for number, n in source.documents_with_query.items()
            )
            for source in counts.sources
        )
    )


def may_be_passages(question: PassageQuestion, result: PiecePassages) -> bool:
    """Tell whether passages and counts can be the answer of any piece to a question."""
    most = result.bytes_read * LONGEST_FORM
    per_text = Counter(passage.text_number for passage in result.passages)
    return all(
        window < question.n_windows and count <= most
        for window, count in result.occurrences.items()
    ) and all(
        text_number < len(question.texts) and n <= question.most
        for text_number, n in per_text.items()
    )
