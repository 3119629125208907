"""The starts of documents in a file of an index in place."""

from __future__ import annotations

import numpy as np

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import Integers
from ngramscan.remote.files import RemoteFile
from ngramscan.remote.ranges import Ranges

_OFFSETS_AT_ONCE = 256


class InPlaceOffsets:
    """The start of each document, or each line of metadata, in a text: 8 bytes each.

    `end` is what follows the last entry. The file has been found to have `entries` of them.
    """

    def __init__(self, ranges: Ranges, file: RemoteFile, entries: int, end: int) -> None:
        self._ranges, self._file, self.entries, self._end = ranges, file, entries, end

    async def _read(self, first: int, stop: int) -> Integers:
        """Return some entries; the entry after the last is the end."""
        raw = await self._ranges.read(self._file, 8 * first, 8 * min(stop, self.entries))
        values = np.frombuffer(raw, "<u8").astype(np.int64)
        values = np.append(values, self._end) if stop > self.entries else values
        if values[0] < 0 or values[-1] > self._end or not (values[1:] > values[:-1]).all():
            raise IndexFormatError(self._file.url, "the entries do not increase")
        return values

    async def bounds(self, number: int) -> tuple[int, int]:
        """Return the start of a document, and the start of the next one or the end."""
        start, stop = await self._read(number, number + 2)
        return int(start), int(stop)

    async def holding(self, position: int) -> int:
        """Return the document at a position: the last one that does not start after it.

        Documents are about equally long, so the first part that is read is usually near it.
        """
        low, high, before, after = 0, self.entries, 0, self._end + 1
        while True:
            guess = low + (high - low) * (position - before) // (after - before)
            first = max(low, min(guess - _OFFSETS_AT_ONCE // 2, high - _OFFSETS_AT_ONCE))
            values = await self._read(first, min(first + _OFFSETS_AT_ONCE, high))
            last = first + len(values) - 1
            if values[0] > position:
                high, after = first, int(values[0])
            elif values[-1] <= position and last + 1 < high:
                low, before = last, int(values[-1])
            else:
                return first + int(np.searchsorted(values, position, side="right")) - 1
            if low == high:
                raise IndexFormatError(self._file.url, "the first entry is not 0")
