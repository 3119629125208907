"""A reader of local infini-gram-mini indexes, which finds patterns and the text around them.

The files are mapped into memory, so opening is instant whatever their size, and a query reads only
what it needs; files that only windows need are mapped and checked at the first window. All results
are exact; the original program misses the smallest byte of a shard.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import (
    Bytes,
    Integers,
    compile_for,
    expect_steps,
    run_to_end,
)
from ngramscan.index_files.fm9 import kernels
from ngramscan.index_files.fm9.folders import shard_folders
from ngramscan.index_files.fm9.header import read_layout
from ngramscan.index_files.fm9.layout import END, FILES, ISA_STEP, NEWLINE, SA_STEP, SEPARATOR
from ngramscan.index_files.fm9.tables import SIZE, make_tables
from ngramscan.index_files.mapped import FileState, MappedFile, state_of, unchanged
from ngramscan.progress import SILENT, Progress
from ngramscan.stopping import current_work, on_any_thread

_CHECKED_AT_ONCE = 1 << 20
"""Number of offsets that are checked when opening; more would read megabytes."""
_THREADS = 16
"""More than there are cores: threads mostly wait for the disk."""

_ItemT = TypeVar("_ItemT")
_T = TypeVar("_T")


class Fm9File(MappedFile):
    """A searchable text: one .fm9 file.

    >>> file.find([b"step by step"])      # ranks, half-open
    array([[296330, 297043]])
    >>> file.locate([296330])             # positions in the text
    array([17])

    An IndexFormatError says that it can't be read, or that its header is wrong. Some damage only
    shows in a query, which then raises this error.
    """

    def __init__(self, path: Path, known_state: FileState | None = None) -> None:
        super().__init__(path, known_state)
        layout = read_layout(self._data.data, str(path))
        self.n = layout.n
        """Bytes of the text, with all its separators."""
        self.tables = make_tables(self._data, layout)
        if layout.occurrences(END) != 1:
            raise self.corrupt("field C: the byte FA does not occur once")
        if self.extract([self.n - 1], [self.n]) != [bytes([END])]:
            problem = "the text read back does not end with FA; it was built wrongly"
            raise self.corrupt(f"field isa_sample: {problem}")

    def occurrences(self, byte: int) -> int:
        """Return the number of times that a byte occurs in the text."""
        leaf = self.tables.leaves[byte]
        return 0 if leaf < 0 else int(self.tables.nodes[leaf, SIZE])

    def find(self, patterns: Sequence[bytes]) -> Integers:
        """Return the ranks of the suffixes that begin with each pattern, as half-open ranges.

        The shape is (patterns, 2); the two numbers are equal for a pattern that doesn't occur. An
        empty pattern occurs at each position.
        """
        # Patterns with a common suffix are adjacent, so that it is searched once.
        order = sorted(range(len(patterns)), key=lambda number: patterns[number][::-1])
        lengths = [len(patterns[number]) for number in order]
        together = bytearray().join(patterns[number] for number in order)
        expect_steps(sum(lengths))
        path = np.zeros((max(lengths, default=0) + 1, 2), np.int64)
        path[0, 1] = self.n
        sorted_segments = np.zeros((len(patterns), 2), np.int64)
        starts = np.array([0, *accumulate(lengths)], np.int64)
        all_patterns = np.frombuffer(together, np.uint8)
        at = np.zeros(3, np.int64)
        with unchanged([self]):
            if (
                run_to_end(
                    kernels.find, self.tables, all_patterns, starts, path, sorted_segments, at
                )
                != 0
            ):
                raise self.corrupt("field rrr: the bits contradict their number")
        segments = np.empty_like(sorted_segments)
        segments[order] = sorted_segments
        return segments

    def extend(self, texts: Sequence[bytes], segments: Integers) -> Integers:
        """Return the ranks of the suffixes of a range, each with a text put before it.

        Parameters
        ----------
        texts : sequence of bytes
        segments : array of int, shape (texts, 2)
            Half-open ranges of ranks, one for each text.

        Returns
        -------
        array of int, shape (texts, 2)
            Half-open ranges; the two numbers are equal where there is no such suffix.
        """
        lengths = [len(text) for text in texts]
        expect_steps(sum(lengths))
        extended, at = np.array(segments, np.int64), np.zeros(2, np.int64)
        starts = np.array([0, *accumulate(lengths)], np.int64)
        all_texts = np.frombuffer(bytearray().join(texts), np.uint8)
        with unchanged([self]):
            if run_to_end(kernels.extend, self.tables, all_texts, starts, extended, at) != 0:
                raise self.corrupt("field rrr: the bits contradict their number")
        return extended

    def match_starts(self, text: bytes, begins: Integers, ends: Integers) -> Integers:
        """Return the start of the longest match that ends at each of some ends of a text.

        The ends increase; several texts may follow each other, and each end belongs to the one that
        begins before it at `begins`. A match is never across documents, as no text has a separator.
        Source of the search from each end: Ferragina & Manzini 2000; of the jumps: Gagie 2024,
        arXiv:2403.02008.
        """
        expect_steps(len(text))
        starts, at = np.zeros(len(ends), np.int64), np.zeros(kernels.MATCHING_COLUMNS, np.int64)
        at[kernels.LAST], at[kernels.FIRST_ALIKE] = len(ends) - 1, kernels.NOT_SEARCHED
        text_bytes = np.frombuffer(text, np.uint8)
        arguments = text_bytes, begins, ends, starts, at
        with unchanged([self]):
            if run_to_end(kernels.match_starts, self.tables, *arguments) != 0:
                raise self.corrupt("field rrr: the bits contradict their number")
        return starts

    def locate(self, ranks: Sequence[int] | Integers) -> Integers:
        """Return the position in the text of the suffix with each rank, or raise an IndexError."""
        numbers = np.asarray(ranks, np.int64)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.n):
            raise IndexError(f"ranks are 0 to {self.n - 1}")
        expect_steps(SA_STEP * len(numbers))
        positions = np.zeros(len(numbers), np.int64)
        with unchanged([self]):
            located, work = 0, current_work()
            while located < len(numbers):
                located = kernels.locate(self.tables, numbers, positions, located, work.flag)
                work.check()
            if positions.size and positions.min() < 0:
                raise self.corrupt("field rrr or sa_sample: a rank leads nowhere")
        return positions

    def extract(
        self, starts: Sequence[int] | Integers, stops: Sequence[int] | Integers
    ) -> list[bytes]:
        """Return parts of the text, from each start to its stop, or raise an IndexError."""
        first, last = np.asarray(starts, np.int64), np.array(stops, np.int64)
        if first.size and not (first.min() >= 0 and last.max() <= self.n and (first <= last).all()):
            raise IndexError(f"positions are 0 to {self.n}, and a stop is not before its start")
        places = np.cumsum([0, *(last - first)])
        expect_steps(int(places[-1]) + ISA_STEP * len(first))
        text, unknown = np.zeros(int(places[-1]), np.uint8), np.full(len(first), -1)
        with unchanged([self]):
            arguments = first, last, unknown, places, text
            if run_to_end(kernels.extract, self.tables, *arguments) != 0:
                raise self.corrupt("field rrr or isa_sample: a position leads nowhere")
        raw = text.tobytes()
        return [raw[start:stop] for start, stop in pairwise(places.tolist())]


class Offsets(MappedFile):
    """The start of each document, or each line of metadata, in a text."""

    def __init__(
        self, path: Path, file: Fm9File, separator: int, known_state: FileState | None = None
    ) -> None:
        super().__init__(path, known_state)
        self._n = file.n
        self._separator = separator
        self.entries = _count_entries(path, len(self._data), file, separator)
        self._values = self._data.view("<u8")
        if self._values[0] != 0:
            raise self.corrupt(f"the first entry is {self._values[0]}, not 0")
        if self._values[-1] >= self._n - 1:
            raise self.corrupt(f"the last entry is {self._values[-1]}, beyond the text")
        if self.entries <= _CHECKED_AT_ONCE:
            self.check_order()

    def check_order(self) -> None:
        """Read all entries and check that they increase."""
        for start in range(0, self.entries, _CHECKED_AT_ONCE):
            part = self._values[start : start + _CHECKED_AT_ONCE + 1]
            unordered = np.flatnonzero(part[1:] <= part[:-1])
            if unordered.size:
                entry = start + int(unordered[0]) + 1
                raise self.corrupt(f"entry {entry} is not above the one before")

    def agree(self, text: Bytes, start: int) -> bool:
        """Tell whether a part of the text has separators exactly at the recorded places.

        In metadata a separator ends a line, so the next line starts one byte later.
        """
        line_end = int(self._separator == NEWLINE)
        places = np.flatnonzero(text == self._separator) + start + line_end
        ends = np.array([start + line_end, start + len(text) + line_end], np.uint64)
        low, high = np.searchsorted(self._values, ends).tolist()
        recorded = self._values[max(line_end, low) : high].astype(np.int64)
        return np.array_equal(recorded, places[places < self._n - line_end])

    def bounds(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Return the start of each, and the start of the next one or of the text's last byte."""
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.entries):
            raise IndexError(f"documents are 0 to {self.entries - 1}")
        with unchanged([self]):
            starts = self._values[numbers]
            last = numbers + 1 == self.entries
            stops = self._values[np.where(last, 0, numbers + 1)]
            stops = np.where(last, np.uint64(self._n - 1), stops)
            if not ((starts < stops) & (stops < np.uint64(self._n))).all():
                raise self.corrupt("the entries do not increase")
        return starts.astype(np.int64), stops.astype(np.int64)

    def holding(self, positions: Integers) -> Integers:
        """Return the last document or line that starts at each position or before it."""
        places = positions.astype(np.uint64)
        with unchanged([self]):
            numbers = np.searchsorted(self._values, places, side="right").astype(np.int64) - 1
            if not (self._values[numbers] <= places).all():
                raise self.corrupt("the entries do not increase")
        return numbers


def _count_entries(path: Path, size: int, file: Fm9File, separator: int) -> int:
    """Return the number of offsets in a file of some size: one for each separator."""
    if size == 0 or size % 8:
        raise IndexFormatError(str(path), f"{size} bytes, expected a positive multiple of 8")
    entries, separators = size // 8, file.occurrences(separator)
    if separators != entries:
        problem = f"{entries} entries, but {separators} bytes {separator:02X} in {file.path.name}"
        raise IndexFormatError(str(path), problem)
    return entries


class ShardWindow(NamedTuple):
    """A part of a document. All numbers are bytes."""

    document: int
    """Its number in the shard."""
    document_bytes: int
    text: bytes
    offset: int
    """Start of the occurrence in `text`; -1 at the separator before the document."""
    start: int
    """Start of `text` in the document."""


class Shard:
    """A folder with the index of some documents and the index of their metadata.

    >>> shard.windows([296330], needle_bytes=12, context=20)
    [ShardWindow(document=0, document_bytes=4310, text=b'Let us think step by step. …', …)]

    An IndexFormatError says that a file is missing or wrong; some damage only shows in a query.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._states = {name: state_of(directory / name) for name in FILES}
        self.data = Fm9File(directory / "data.fm9", self._states["data.fm9"])
        path = directory / "data_offset"
        self.documents = _count_entries(path, self._states[path.name][2], self.data, SEPARATOR)
        self.ranks = self.data.n
        """Ranks are from 0 to this number - 1."""
        self.text_bytes = self.data.n - self.documents - 1
        """Bytes of all documents, without separators."""
        self.index_bytes = sum(state[2] for state in self._states.values())
        """Bytes of the files."""

    @cached_property
    def meta(self) -> Fm9File:
        """The metadata of the documents."""
        return Fm9File(self.directory / "meta.fm9", self._states["meta.fm9"])

    @cached_property
    def _documents(self) -> Offsets:
        state = self._states["data_offset"]
        return Offsets(self.directory / "data_offset", self.data, SEPARATOR, state)

    @cached_property
    def _lines(self) -> Offsets:
        state = self._states["meta_offset"]
        return Offsets(self.directory / "meta_offset", self.meta, NEWLINE, state)

    def find(self, patterns: Sequence[bytes]) -> Integers:
        """Return the ranks of each pattern's occurrences, as `Fm9File.find` does."""
        return self.data.find(patterns)

    def bounds(self, documents: Sequence[int] | Integers) -> tuple[Integers, Integers]:
        """Return the starts and stops of some documents, as positions in the text."""
        starts, stops = self._documents.bounds(np.asarray(documents, np.int64))
        return starts + 1, stops

    def holding(self, ranks: Sequence[int] | Integers) -> Integers:
        """Return the number of the document of each occurrence."""
        return self._documents.holding(self.data.locate(ranks))

    def windows(
        self, ranks: Sequence[int] | Integers, needle_bytes: int | Integers, context: int
    ) -> list[ShardWindow]:
        """Return the text around some occurrences, within their documents.

        `needle_bytes` is the length of the occurrences, or an array of their lengths; `context` is
        in bytes on each side. A rank out of range is an IndexError.
        """
        positions = self.data.locate(ranks)
        documents = self._documents.holding(positions)
        firsts, lasts = self.bounds(documents)
        starts = np.maximum(firsts, positions - context)
        # The end of the whole text counts as the last document, which it follows.
        stops = np.maximum(starts, np.minimum(lasts, positions + (needle_bytes + context)))
        texts = self.data.extract(starts, stops)
        sizes, offsets, before = lasts - firsts, positions - starts, starts - firsts
        columns = documents.tolist(), sizes.tolist(), texts, offsets.tolist(), before.tolist()
        return [ShardWindow(*row) for row in zip(*columns, strict=True)]

    def texts(self, documents: Sequence[int] | Integers) -> list[bytes]:
        """Return the full texts of some documents, by their numbers in the shard."""
        return self.data.extract(*self.bounds(documents))

    def metadata(self, documents: Sequence[int] | Integers) -> list[bytes]:
        """Return the metadata of some documents, each a line of JSON without its line end."""
        starts, stops = self._lines.bounds(np.asarray(documents, np.int64))
        return self.meta.extract(starts, stops - 1)


def open_shards(directory: Path, allow_partial: bool = False) -> list[Shard]:
    """Open an index: a folder that is a shard, or one with shards in it.

    An InputError says that there is no index, an IndexFormatError that it is corrupt or incomplete;
    `allow_partial` opens the shards that are built.
    """
    return _in_threads(Shard, shard_folders(directory, allow_partial))


def compile_reader(shard: Shard, progress: Progress = SILENT) -> None:
    """Compile the kernels that read a shard, with a notice if that takes long."""

    def read() -> None:
        shard.find([b"\xff"])
        shard.data.extend([b"\xff"], np.array([[0, shard.ranks]], np.int64))
        shard.data.locate([0])
        shard.data.extract([0], [1])

    compile_for(read, progress)


def match_starts_in_all(
    shards: Sequence[Shard], text: bytes, begins: Integers, ends: Integers
) -> Integers:
    """Return the starts of the longest matches in any shard, as `Fm9File.match_starts` does."""
    by_shard = _in_threads(lambda shard: shard.data.match_starts(text, begins, ends), shards)
    least: Integers = np.stack(by_shard).min(axis=0)
    return least


def find_in_all(shards: Sequence[Shard], patterns: Sequence[bytes]) -> list[Integers]:
    """Return the ranks of each pattern's occurrences in each shard, as `Fm9File.find` does."""
    return _in_threads(lambda shard: shard.find(patterns), shards)


def extend_in_all(shards: Sequence[Shard], texts: Sequence[bytes], segments: Integers) -> Integers:
    """Return the ranks that `Fm9File.extend` does, in each shard: [texts, shards, 2]."""
    numbers = range(len(shards))
    by_shard = _in_threads(
        lambda number: shards[number].data.extend(texts, segments[:, number]), numbers
    )
    return np.stack(by_shard, axis=1)


def _in_threads(work: Callable[[_ItemT], _T], items: Sequence[_ItemT]) -> list[_T]:
    """Return the results of all items in their order; this thread takes part."""
    results: dict[int, _T] = {}
    numbered = enumerate(items)  # all threads take from it

    def work_on() -> None:
        for number, item in numbered:
            results[number] = work(item)

    helpers = [_pool().submit(on_any_thread(work_on)) for _ in range(min(_THREADS, len(items) - 1))]
    try:
        work_on()
        for helper in helpers:
            if not helper.cancel():
                helper.result()
    finally:
        deque(numbered, maxlen=0)  # after an error, the others have nothing left to do
    return [results[number] for number in range(len(items))]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="shards")


os.register_at_fork(after_in_child=_pool.cache_clear)  # threads don't survive a fork
