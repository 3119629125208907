"""The files of a shard, mapped: opening takes no time whatever their size."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ngramscan.errors import IndexChangedError, IndexFormatError
from ngramscan.fm9 import kernels
from ngramscan.fm9.layout import read_layout

END = 0xFA
"""The last byte of a text; like the next, no byte of UTF-8."""
SEPARATOR = 0xFF
"""In front of each document."""
NEWLINE = 0x0A
"""Behind each line of metadata."""

_CHECKED_AT_ONCE = 1 << 20
"""Offsets; checking more would read megabytes."""

Integers = npt.NDArray[np.int64]


class Fm9File:
    """A text that can be searched: one .fm9 file.

    >>> file.find([b"step by step"])      # ranks, half-open
    array([[296330, 297043]])
    >>> file.locate([296330])             # positions in the text
    array([17])

    Parameters
    ----------
    path : Path
        Of the file.

    Raises
    ------
    IndexFormatError
        It can't be read, or it is not what it should be as far as its header shows. What only a
        query finds to be wrong, the query raises.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._data = data = _map(path)
        self.layout = read_layout(memoryview(data), str(path))
        self.tables = kernels.make_tables(np.frombuffer(data, np.uint8), self.layout)
        if self.layout.occurrences(END) != 1:
            raise self._corrupt("field C: the byte FA occurs not once")
        if self.extract([self.layout.n - 1], [self.layout.n]) != [bytes([END])]:
            raise self._corrupt(
                "field isa_sample: the text read back does not end with FA; it was built wrongly"
            )

    @property
    def n(self) -> int:
        """Bytes of the text with all of its separators."""
        return self.layout.n

    def find(self, patterns: Sequence[bytes]) -> Integers:
        """Return the ranks of the suffixes that begin with each pattern, half-open.

        Parameters
        ----------
        patterns : sequence of bytes
            Any bytes; an empty pattern is at each position.

        Returns
        -------
        array of int64, shape (patterns, 2)
            Equal numbers where there are none.
        """
        _check_size(self._data, self.path)
        starts = np.zeros(len(patterns) + 1, np.int64)
        np.cumsum([len(pattern) for pattern in patterns], out=starts[1:])
        together = np.array(bytearray(b"".join(patterns)), np.uint8)
        segments = np.zeros((len(patterns), 2), np.int64)
        kernels.find(self.tables, together, starts, segments)
        if segments.size and segments.min() < 0:
            raise self._corrupt("field rrr: the bits contradict their number")
        return segments

    def locate(self, ranks: Sequence[int] | Integers) -> Integers:
        """Return the position in the text of the suffix with each rank.

        Parameters
        ----------
        ranks : sequence of int
            At least 0, less than n.

        Returns
        -------
        array of int64
            Positions.

        Raises
        ------
        IndexError
            A rank is out of range.
        """
        _check_size(self._data, self.path)
        wanted = np.asarray(ranks, np.int64)
        if wanted.size and not (wanted.min() >= 0 and wanted.max() < self.n):
            raise IndexError(f"ranks are 0 to {self.n - 1}")
        positions = np.zeros(len(wanted), np.int64)
        kernels.locate(self.tables, wanted, positions)
        if positions.size and positions.min() < 0:
            raise self._corrupt("field rrr or sa_sample: a rank leads nowhere")
        return positions

    def extract(
        self, starts: Sequence[int] | Integers, stops: Sequence[int] | Integers
    ) -> list[bytes]:
        """Return parts of the text.

        Parameters
        ----------
        starts, stops : sequence of int
            Positions, half-open; 0 <= start <= stop <= n.

        Returns
        -------
        list of bytes
            One for each pair.

        Raises
        ------
        IndexError
            A part is not in the text.
        """
        _check_size(self._data, self.path)
        first, last = np.asarray(starts, np.int64), np.asarray(stops, np.int64)
        if first.size and not (first.min() >= 0 and last.max() <= self.n and (first <= last).all()):
            raise IndexError(f"positions are 0 to {self.n}, and a stop is not before its start")
        places = np.zeros(len(first) + 1, np.int64)
        np.cumsum(last - first, out=places[1:])
        text = np.zeros(int(places[-1]), np.uint8)
        if kernels.extract(self.tables, first, last, places, text) != 0:
            raise self._corrupt("field rrr or isa_sample: a position leads nowhere")
        raw = text.tobytes()
        return [raw[start:stop] for start, stop in pairwise(places.tolist())]

    def _corrupt(self, problem: str) -> IndexFormatError:
        return IndexFormatError(str(self.path), problem)


class Offsets:
    """Where in a text each document starts, or each line of metadata."""

    def __init__(self, path: Path, file: Fm9File, separator: int) -> None:
        self.path = path
        self._n = file.n
        self._separator = separator
        self._data = data = _map(path)
        if len(data) == 0 or len(data) % 8:
            raise self._corrupt(f"{len(data)} bytes, expected a positive multiple of 8")
        self._values = np.frombuffer(data, "<u8")
        self.entries = len(self._values)
        found = file.layout.occurrences(separator)
        if found != self.entries:
            raise self._corrupt(
                f"{self.entries} entries, but {found} bytes {separator:02X} in {file.path.name}"
            )
        if self._values[0] != 0:
            raise self._corrupt(f"the first entry is {self._values[0]}, not 0")
        if self._values[-1] >= self._n - 1:
            raise self._corrupt(f"the last entry is {self._values[-1]}, beyond the text")
        if self.entries <= _CHECKED_AT_ONCE:
            self.check_order()

    def check_order(self) -> None:
        """Read all of them and check that they increase."""
        for start in range(0, self.entries, _CHECKED_AT_ONCE):
            part = self._values[start : start + _CHECKED_AT_ONCE + 1]
            wrong = np.flatnonzero(part[1:] <= part[:-1])
            if wrong.size:
                raise self._corrupt(
                    f"entry {start + int(wrong[0]) + 1} is not above the one before"
                )

    def agree(self, places: Integers, start: int, length: int) -> bool:
        """Tell whether a part of the text has separators at just these places.

        Those of metadata stand behind each line, so that what they start is one further.
        """
        wanted = self._values
        low, high = np.searchsorted(wanted, np.array([start, start + length], np.uint64)).tolist()
        if self._separator == NEWLINE:
            low = max(1, int(np.searchsorted(wanted, np.uint64(start + 1))))
            high = int(np.searchsorted(wanted, np.uint64(start + length + 1)))
            places = places[places < self._n - 1]
        return np.array_equal(wanted[low:high].astype(np.int64), places)

    def bounds(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Return where each starts, and where the next does or the text's last byte stands."""
        _check_size(self._data, self.path)
        if numbers.size and not (numbers.min() >= 0 and numbers.max() < self.entries):
            raise IndexError(f"documents are 0 to {self.entries - 1}")
        starts = self._values[numbers]
        last = numbers + 1 == self.entries
        stops = self._values[np.where(last, 0, numbers + 1)]
        stops = np.where(last, np.uint64(self._n - 1), stops)
        if not ((starts < stops) & (stops < np.uint64(self._n))).all():
            raise self._corrupt("the entries do not increase")
        return starts.astype(np.int64), stops.astype(np.int64)

    def holding(self, positions: Integers) -> Integers:
        """Return the last that starts at each position or before it."""
        _check_size(self._data, self.path)
        wanted = positions.astype(np.uint64)
        numbers = np.searchsorted(self._values, wanted, side="right").astype(np.int64) - 1
        if not (self._values[numbers] <= wanted).all():
            raise self._corrupt("the entries do not increase")
        return numbers

    def _corrupt(self, problem: str) -> IndexFormatError:
        return IndexFormatError(str(self.path), problem)


def _check_size(data: bytes | mmap.mmap, path: Path) -> None:
    """Raise IndexChangedError where a file is shorter than when it was mapped.

    Reading behind the end of a mapped file ends the process. Between this check and the reading
    that follows it the file could still be cut; that is a matter of microseconds.
    """
    if isinstance(data, mmap.mmap) and data.size() < len(data):
        raise IndexChangedError(str(path), "became shorter while it was open; open the index again")


def _map(path: Path) -> bytes | mmap.mmap:
    """Return the bytes of a file without reading it; one that is empty can't be mapped."""
    try:
        with path.open("rb") as file:
            if path.stat().st_size == 0:
                return b""
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise IndexFormatError(str(path), f"can't be read: {error.strerror}") from error
