"""The reader of local indexes, against the original's answers, a slow reader and brute force."""

import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9 import reader
from ngramscan.index_files.fm9.reader import Shard, open_shards
from tests.support import fm9_reference
from tests.support.places import FM9, REPLAY

SMALL = [FM9 / name / "index" for name in ("d1", "d5", "dempty", "dlit")]


@cache
def shards(name: str) -> list[Shard]:
    return open_shards(REPLAY / "index" / name)


def write_shard(
    directory: Path,
    texts: list[bytes],
    lines: list[bytes],
    build: Callable[[bytes], bytes] = fm9_reference.build_fm9,
) -> Path:
    """Write an index, by default with the slow writer."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, parts in (
        ("data", [b"\xff" + text for text in texts]),
        ("meta", [line + b"\n" for line in lines]),
    ):
        whole = b"".join(parts) + b"\xfa"
        (directory / f"{name}.fm9").write_bytes(build(whole))
        offsets = np.cumsum([0, *map(len, parts)])[:-1].astype("<u8")
        (directory / f"{name}_offset").write_bytes(offsets.tobytes())
    return directory


# A larger one, against brute force and the slow reader


def check_windows(shard: Shard, ranks: Sequence[int], context: int) -> None:
    """Compare windows with those of the slow reader."""
    slow = fm9_reference.Shard(str(shard.directory))
    for rank, window in zip(ranks, shard.windows(ranks, 5, context), strict=True):
        wanted = slow.doc_by_rank(rank, 5, context)
        assert (window.document, window.document_bytes) == (wanted["doc_ix"], wanted["doc_len"])
        if wanted["needle_offset"] >= 0:
            assert (window.offset, window.text) == (wanted["needle_offset"], wanted["text"])
        assert shard.metadata([window.document]) == [wanted["metadata"]]
    slow.close()


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
