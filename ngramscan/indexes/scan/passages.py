"""Finding the passages of a piece that share windows of words with texts: in a worker process."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ngramscan.corpora import Piece, ReadOptions, read_piece, without_excluded
from ngramscan.indexes.base import Passage
from ngramscan.matching.matcher import BYTES_AT_ONCE, Natural, Positive
from ngramscan.matching.normalization import FORM, IsBroken, normalized, normalized_places
from ngramscan.matching.words import word_places
from ngramscan.processes.pool import Report

if TYPE_CHECKING:  # numpy is slow to import
    from ngramscan.matching.word_bytes import WordBytes
    from ngramscan.matching.word_windows import FoundSpan, WindowFinder


@dataclass(frozen=True)
class PassageQuestion:
    """Texts that are looked for in a piece; with the piece, they determine the passages."""

    texts: Sequence[Sequence[str]] = field(compare=False, repr=False)
    """The words of each; different ones."""
    width: int
    least_share: float
    context: int
    most: int
    read: ReadOptions
    digest: str = field(init=False)
    """Stands for the texts."""

    def __post_init__(self) -> None:
        word_lists = [list(words) for words in self.texts]
        content = repr([FORM, *word_lists])
        digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        object.__setattr__(self, "digest", digest)
        object.__setattr__(self, "read", replace(self.read, with_sources=True))

    @property
    def content(self) -> dict[str, Any]:
        """Return what decides which passages there are, by name."""
        return self.read.content | {
            "width": self.width,
            "least_share": self.least_share,
            "context": self.context,
            "most": self.most,
        }

    def nothing(self, skipped: dict[str, int]) -> PiecePassages:
        """Return the result of a piece that is left out."""
        return PiecePassages({}, [], lines_read=0, documents_read=0, bytes_read=0, skipped=skipped)

    @cached_property
    def windows_by_text(self) -> list[list[int]]:
        """The numbers of the windows of each text."""
        from ngramscan.matching.word_windows import number_windows

        return number_windows(self.texts, self.width).by_text

    @cached_property
    def n_windows(self) -> int:
        """The number of different windows."""
        return 1 + max((max(windows, default=-1) for windows in self.windows_by_text), default=-1)

    def sought(self) -> _SoughtWindows:
        """Return the finder of this process: to make one per task costs more than the task."""
        return _sought(self)


class _SoughtWindows:
    """The finder of some texts, and their words."""

    def __init__(self, question: PassageQuestion) -> None:
        from ngramscan.matching.word_windows import WindowFinder

        self.finder = WindowFinder(question.texts, question.width, question.least_share)
        self._words = frozenset(word for words in question.texts for word in words)

    def is_broken(self, head: str, tail: str) -> bool:
        """Tell whether two parts, before and after the end of a line, make a word of a text."""
        return (head + tail).casefold() in self._words


@lru_cache(maxsize=2)
def _sought(question: PassageQuestion) -> _SoughtWindows:
    return _SoughtWindows(question)


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of a document of a piece."""

    text_number: Natural
    windows: Positive
    """Different windows of the text in it."""
    record: Positive
    """The number of the document: in the file, or of its line in the piece."""
    source: str
    """The URL or id of the document, or empty."""
    text: str


@dataclass(frozen=True, slots=True)
class PiecePassages:
    """The windows and passages that a piece has."""

    occurrences: dict[Natural, Positive]
    """By the number of a window, of those that occur."""
    passages: list[FoundPassage]
    """The best ones of each text: those with most windows, then the first, in this order."""
    lines_read: Natural
    """The lines of the piece; 0 if its records are not lines."""
    documents_read: Natural
    bytes_read: Natural
    skipped: dict[str, int]


class _Documents(NamedTuple):
    """Some documents of a piece."""

    texts: list[bytes]
    records: list[int]
    """The number of each document; see `FoundPassage`."""
    sources: list[str]


class _PieceRecords:
    """The documents of a piece, or the first of them, and what was read of it."""

    def __init__(
        self, piece: Piece, read_options: ReadOptions, limit: int | None, report: Report
    ) -> None:
        self.skipped = Counter[str]()
        self.documents = self.bytes = self.lines = 0
        self._piece, self._read_options, self._report = piece, read_options, report
        self._limit = limit

    def __iter__(self) -> Iterator[_Documents]:
        """Yield documents of about `BYTES_AT_ONCE` together, and the last of them."""
        documents, size = _Documents([], [], []), 0
        columns = chain.from_iterable(self._read())
        for text, record, source in islice(columns, self._limit):
            documents.texts.append(text)
            documents.records.append(record)
            documents.sources.append(source)
            size += len(text)
            if size >= BYTES_AT_ONCE:
                self._add(documents, size)
                yield documents
                documents, size = _Documents([], [], []), 0
        self._add(documents, size)
        yield documents

    def _add(self, documents: _Documents, size: int) -> None:
        self.documents += len(documents.texts)
        self.bytes += size

    def _read(self) -> Iterator[Iterator[tuple[bytes, int, str]]]:
        for batch in read_piece(self._piece, self._read_options):
            self.skipped.update(batch.skipped)
            self.lines = max(self.lines, batch.lines_read)
            included = without_excluded(batch, self._read_options.exclude_sources)
            sources = included.sources or [""] * len(included.texts)
            yield zip(map(bytes, included.texts), included.records, sources, strict=True)
            self._report(batch.consumed)


def find_in_piece(
    piece: Piece, report: Report, question: PassageQuestion, limit: int | None = None
) -> PiecePassages:
    """Find the windows and passages of a piece, or of its first `limit` documents."""
    records = _PieceRecords(piece, question.read, limit, report)
    search = _PassageSearch(question)
    for documents in records:
        search.add(documents)
    return PiecePassages(
        search.occurrences(),
        search.passages(),
        lines_read=records.lines,
        documents_read=records.documents,
        bytes_read=records.bytes,
        skipped=dict(records.skipped),
    )


class _PassageSearch:
    """Counts windows in documents, and keeps the best passages of each text."""

    def __init__(self, question: PassageQuestion) -> None:
        import numpy as np

        self._question, self._sought = question, question.sought()
        self._finder: WindowFinder = self._sought.finder
        self._counts = np.zeros(self._finder.n_windows, np.int64)
        self._least = self._finder.least.copy()
        self._best: dict[int, list[FoundPassage]] = defaultdict(list)

    def add(self, documents: _Documents) -> None:
        """Search some more documents."""
        import numpy as np

        from ngramscan.matching.word_bytes import word_bytes

        words = word_bytes(documents.texts, self._sought.is_broken, self._question.width)
        located = self._finder.find(words.documents)
        self._counts += np.bincount(located.windows, minlength=len(self._counts))
        for span in self._finder.spans(located, self._least):
            if span.windows >= self._least[span.text_number] and self._question.most:
                self._keep(span, documents, words)

    def _keep(self, span: FoundSpan, documents: _Documents, words: WordBytes) -> None:
        """Keep a passage in the place of the worst; those before it with as many windows stay."""
        best, number = self._best[span.text_number], span.text_number
        passage = FoundPassage(
            number,
            span.windows,
            record=documents.records[span.document],
            source=documents.sources[span.document],
            text=self._passage_text(span, documents.texts[span.document], words),
        )
        best.append(passage)
        best.sort(key=lambda each: -each.windows)
        del best[self._question.most :]
        if len(best) == self._question.most:
            self._least[number] = max(self._finder.least[number], best[-1].windows + 1)

    def _passage_text(self, span: FoundSpan, document: bytes, words: WordBytes) -> str:
        """Return the text of a span in a document with its context."""
        context = self._question.context
        if words.is_in_place[span.document]:
            # A character has up to four bytes.
            before = document[max(span.start - 4 * context, 0) : span.start]
            behind = document[span.stop : span.stop + 4 * context]
            head, tail = str(before, "utf-8", "ignore"), str(behind, "utf-8", "ignore")
            first = max(len(head) - context, 0)
            return head[first:] + str(document[span.start : span.stop], "utf-8") + tail[:context]
        begin = int(words.documents.begins[span.document])
        before = bytes(words.documents.text[begin : begin + span.start])
        inside = bytes(words.documents.text[begin + span.start : begin + span.stop])
        text = str(document, "utf-8", "replace")
        share = span.start / (words.documents.size_of(span.document) + 1)
        start, stop = self._places_in(text, len(before.split()), inside.decode().split(), share)
        return text[max(start - context, 0) : stop + context]

    def _places_in(
        self, text: str, n_before: int, words: Sequence[str], share: float
    ) -> tuple[int, int]:
        """Return where some words of a text begin and end, by the number of words before them.

        They are looked for around a share of the text first, since to place all words takes long.
        """
        is_broken, size = self._sought.is_broken, len(" ".join(words))
        for margin in (size, 10 * size):
            low = max(int(share * len(text)) - margin, 0)
            low = max(text.rfind("\n", 0, low), text.rfind(" ", 0, low), 0)
            skipped = normalized(text[:low], "words", is_broken).count(" ")
            number = n_before - max(skipped - 1, 0)
            if number < 0:
                continue
            placed = _placed_words(text[low : low + 2 * (margin + size)], is_broken)
            places = placed[number : number + len(words)]
            if [word for word, _, _ in places] == list(words):
                return low + places[0][1], low + places[-1][2]
        places = _placed_words(text, is_broken)[n_before : n_before + len(words)]
        return places[0][1], places[-1][2]

    def occurrences(self) -> dict[int, int]:
        """Return the counts of the windows that occur."""
        numbers = self._counts.nonzero()[0]
        return dict(zip(numbers.tolist(), self._counts[numbers].tolist(), strict=True))

    def passages(self) -> list[FoundPassage]:
        """Return the passages in the order of the texts."""
        return [passage for number in sorted(self._best) for passage in self._best[number]]


def _placed_words(text: str, is_broken: IsBroken) -> list[tuple[str, int, int]]:
    """Return the words of a text, and where each begins and ends in it."""
    placed = normalized_places(text, "words", is_broken)
    return [
        (placed.text[start:stop], placed.starts[start], placed.stops[stop - 1])
        for start, stop in word_places(placed.text)
    ]


def drop_worse(results: Mapping[int, PiecePassages], most: int) -> None:
    """Take passages out of the results of pieces, by number, that are not the best of all."""
    n_kept = Counter[int]()
    located = [
        (-passage.windows, number, position, passage.text_number)
        for number, result in results.items()
        for position, passage in enumerate(result.passages)
    ]
    dropped: dict[int, set[int]] = defaultdict(set)
    for _, number, position, text_number in sorted(located):
        n_kept[text_number] += 1
        if n_kept[text_number] > most:
            dropped[number].add(position)
    for number, positions in dropped.items():
        passages = results[number].passages
        passages[:] = [
            passage for position, passage in enumerate(passages) if position not in positions
        ]


def best_passages(
    results: Sequence[PiecePassages],
    pieces: Sequence[Piece],
    text_numbers: Sequence[int],
    most: int,
) -> list[Passage]:
    """Return the best passages of all pieces for each text; some texts may be the same."""
    located: dict[int, list[tuple[FoundPassage, str, int]]] = defaultdict(list)
    path, lines = "", 0
    for piece, result in zip(pieces, results, strict=False):
        if piece.start == 0:
            lines = 0
        path = piece.file.path
        for passage in result.passages:
            located[passage.text_number].append((passage, path, lines + passage.record))
        lines += result.lines_read
    passages = []
    for number, text_number in enumerate(text_numbers):
        best = sorted(located[text_number], key=lambda each: -each[0].windows)[:most]
        passages += [_passage(number, *each) for each in best]
    return passages


def _passage(number: int, passage: FoundPassage, path: str, record: int) -> Passage:
    metadata: dict[str, str | int] = {"path": path, "record": record}
    if passage.source:
        metadata["source"] = passage.source
    return Passage(number, f"{path}:{record}", passage.text, json.dumps(metadata))
