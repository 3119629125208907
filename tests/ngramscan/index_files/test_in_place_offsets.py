"""The starts of documents in a file in place: the right document, in few reads."""

import random
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.in_place_offsets import InPlaceOffsets
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.range_server import RangeServer


def documents_at(folder: Path, starts: Sequence[int], end: int, places: list[int]) -> list[int]:
    """Return the documents at some places of a text."""
    np.array(starts, "<u8").tofile(folder / "offset")
    with RangeServer(folder) as server, Ranges(RangeOptions(), SILENT) as ranges:
        file = ranges.run(ranges.open(f"{server.url}offset"))
        assert file is not None
        offsets = InPlaceOffsets(ranges, file, len(starts), end)
        first, last = ranges.run(offsets.bounds(0)), ranges.run(offsets.bounds(len(starts) - 1))
        assert first == (0, starts[1] if len(starts) > 1 else end)
        assert last == (starts[-1], end)
        return [ranges.run(offsets.holding(place)) for place in places]


@pytest.mark.parametrize(
    "lengths",
    [
        pytest.param([1], id="one"),
        pytest.param([5, 1], id="two"),
        pytest.param([1] * 256, id="as many as are read at once"),
        pytest.param([1] * 257, id="one more"),
        pytest.param([3] * 5000, id="equal"),
        pytest.param([1] * 3000 + [900_000], id="a long one at the end"),
        pytest.param([900_000] + [1] * 3000, id="a long one first"),
        pytest.param([n % 7 * 50 + 1 for n in range(3000)], id="all kinds"),
        pytest.param([1 << 40, 1, 1 << 41], id="beyond four gigabytes"),
    ],
)
def test_the_document_of_a_place_is_the_last_one_that_starts_there(
    lengths: list[int], tmp_path: Path
) -> None:
    starts, end = [0, *accumulate(lengths[:-1])], sum(lengths)
    draw = random.Random(len(lengths))
    places = [0, end - 1, starts[-1], *(draw.randrange(end) for _ in range(10))]
    places += draw.choices(starts, k=5)
    expected = [bisect_right(starts, place) - 1 for place in places]
    assert documents_at(tmp_path, starts, end, places) == expected


@pytest.mark.parametrize(
    ("starts", "end", "problem"),
    [
        pytest.param([0, 4, 4], 9, "the entries do not increase", id="equal ones"),
        pytest.param([0, 6, 4], 9, "the entries do not increase", id="swapped"),
        pytest.param([0, 4, 10], 9, "the entries do not increase", id="behind the end"),
        pytest.param([0, 4, 1 << 63], 9, "the entries do not increase", id="a huge one"),
        pytest.param([2, 4, 6], 9, "the first entry is not 0", id="a late first one"),
    ],
)
def test_entries_that_are_wrong_are_an_error(
    starts: list[int], end: int, problem: str, tmp_path: Path
) -> None:
    np.array(starts, "<u8").tofile(tmp_path / "offset")
    with RangeServer(tmp_path) as server, Ranges(RangeOptions(), SILENT) as ranges:
        file = ranges.run(ranges.open(f"{server.url}offset"))
        assert file is not None
        offsets = InPlaceOffsets(ranges, file, len(starts), end)
        with pytest.raises(IndexFormatError, match=problem):
            ranges.run(offsets.holding(1))
