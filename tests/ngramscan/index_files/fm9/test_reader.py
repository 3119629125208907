"""The reader of local indexes, against the original's answers, a slow reader and brute force."""

import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9 import reader
from ngramscan.index_files.fm9.reader import Shard, open_shards
from tests.support.places import FM9, REPLAY

SMALL = [FM9 / name / "index" for name in ("d1", "d5", "dempty", "dlit")]


@cache
def shards(name: str) -> list[Shard]:
    return open_shards(REPLAY / "index" / name)


@pytest.mark.parametrize("rank", [-1, 10**9, 2**62])
def test_ranks_and_documents_out_of_range_are_refused(rank: int) -> None:
    (shard,) = shards("replay")
    with pytest.raises(IndexError, match="ranks are 0 to"):
        shard.data.locate([0, rank])
    with pytest.raises(IndexError, match="documents are 0 to"):
        shard.metadata([rank])
    with pytest.raises(IndexError, match="positions are 0 to"):
        shard.data.extract([0], [rank])


# What is an index


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        pytest.param("", "0 bytes, expected a positive multiple of 8", id="empty"),
        pytest.param(
            "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
            "39 bytes, expected",
            id="no multiple of 8",
        ),
        pytest.param([0, 12, 24, 25], "4 entries, but 5 bytes FF", id="one too few"),
        pytest.param([1, 12, 24, 25, 33], "the first entry is 1", id="first not 0"),
        pytest.param([0, 12, 12, 25, 33], "entry 2 is not above", id="twice the same"),
        pytest.param([0, 24, 12, 25, 33], "entry 2 is not above", id="not in order"),
        pytest.param([0, 12, 24, 25, 36], "the last entry is 36", id="beyond the text"),
        pytest.param([0, 12, 24, 25, 18446744073709551615], "beyond the text", id="far beyond"),
        pytest.param(
            [0, 12, 9223372036854775808, 25, 33], "entry 3 is not above", id="one far beyond"
        ),
    ],
)
def test_wrong_offsets_are_refused(tmp_path: Path, offsets: str | list[int], words: str) -> None:
    shutil.copytree(SMALL[1], tmp_path / "x")
    raw = offsets.encode() if isinstance(offsets, str) else np.array(offsets, "<u8").tobytes()
    (tmp_path / "x" / "data_offset").write_bytes(raw)
    with pytest.raises(IndexFormatError, match=words):
        open_shards(tmp_path / "x")[0].windows([0], 1, 1)
    with pytest.raises(IndexFormatError, match=words):
        open_shards(tmp_path / "x")[0].texts([0])


@pytest.mark.parametrize("wrong", [1, 2, 3])
def test_the_order_of_many_offsets_is_read_to_the_end_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    """Also where one part of what is read at once ends and the next begins."""
    monkeypatch.setattr(reader, "_CHECKED_AT_ONCE", 2)
    shutil.copytree(SMALL[1], tmp_path / "x")
    offsets = [0, 12, 24, 25, 33]
    offsets[wrong] = offsets[wrong - 1]
    (tmp_path / "x" / "data_offset").write_bytes(np.array(offsets, "<u8").tobytes())
    opened = open_shards(tmp_path / "x")[0]._documents
    with pytest.raises(IndexFormatError, match=f"entry {wrong} is not above the one before"):
        opened.check_order()
