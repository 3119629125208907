"""Indexes of more than 50 MB: one built by the command, and sparse ones beyond 2^32 and 2^40."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import ngramscan
from benchmarks.index_build import documents
from ngramscan.index_files.fm9.reader import Shard, open_shards
from ngramscan.matching import count_by_brute_force
from tests.support import fm9_reference
from tests.support.command import run
from tests.support.sparse_fm9 import WORD, write_long_index
from tests.test_fm9_reader import check_windows

SIZE_BYTES = 52_000_000
EDGES = ["", "\0 nul \0\0", "line\r\nline\n\n", "aaaa" * 9, "ภาษาไทย สวัสดี 🎉 é", "\t"]


def draw_patterns(texts: list[str], random_: random.Random) -> list[str]:
    patterns = ["\0", "\0\0", "\n", "\r\n", "aa", "aaa", "ภาษา", "🎉", "é", "\t", "ฯฯฯ", "\x01"]
    for text in random_.choices([text for text in texts if text], k=87):
        start = random_.randrange(len(text))
        patterns.append(text[start : start + random_.choice([1, 2, 3, 5, 8, 13, 40])])
    return [*patterns, texts[0][-3:] + texts[1][:3]]  # across two documents


# The oracle leaves its files open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.slow
@pytest.mark.parametrize("shard_size", ["1GB", "20MB"])
def test_a_large_index_answers_as_the_slow_reader_and_brute_force(
    tmp_path: Path, shard_size: str
) -> None:
    texts = [*EDGES, *documents(SIZE_BYTES)]
    lines = (json.dumps({"text": text, "n": n}) + "\n" for n, text in enumerate(texts))
    (tmp_path / "c.jsonl").write_text("".join(lines), encoding="utf-8")
    ngramscan.index_build(str(tmp_path / "c.jsonl"), output=tmp_path / "x", shard_size=shard_size)
    assert run("index", "verify", tmp_path / "x").code == 0
    shards = open_shards(tmp_path / "x")
    assert len(shards) == (1 if shard_size == "1GB" else 3)
    random_ = random.Random(3)
    patterns = draw_patterns(texts, random_)
    encoded = [pattern.encode() for pattern in patterns]
    contents = [text.encode() for text in texts]
    counts = [0] * len(patterns)
    for shard in shards:
        slow = fm9_reference.Shard(str(shard.directory))
        segments = shard.find(encoded).tolist()
        for number, (low, high) in enumerate(segments):
            counts[number] += high - low
            expected = slow.data.find(encoded[number])
            assert (low, high) == expected or low - high == expected[0] - expected[1] == 0
        ranks = [random_.randrange(shard.ranks - shard.documents - 1) for _ in range(200)]
        check_windows(shard, ranks, 500)
    for pattern, count in zip(encoded, counts, strict=True):
        assert count == sum(count_by_brute_force(pattern, content) for content in contents)


@pytest.mark.parametrize("size", [4_200, 1 << 32, 1 << 40], ids=["small", "2^32", "2^40"])
def test_a_text_longer_than_any_disk_is_read_at_the_right_places(tmp_path: Path, size: int) -> None:
    far = [place for place in (1 << 31, 1 << 32, 1 << 40) if place <= size]
    try:
        text = write_long_index(tmp_path, size // len(WORD) + 5, far)
    except OSError as error:
        pytest.skip(f"no sparse file of this size here: {error}")
    if size == 4_200:  # the form of the text is as said
        whole = text.text(0, text.n)
        suffixes = [text.position(rank) for rank in range(text.n)]
        assert suffixes == fm9_reference.suffix_array(whole).tolist()
        assert [text.rank(at) for at in suffixes] == [*range(text.n)]
    shard = Shard(tmp_path)
    cycle = WORD * 40
    patterns = [cycle[at : at + length] for at in range(6) for length in (1, 2, 7, 64, 190)]
    assert shard.find(patterns).tolist() == [[*text.segment(pattern)] for pattern in patterns]
    last = [b"z", b"\xfa", b"\xff" + WORD, b"\xffz", b"hh", WORD * 30 + b"\xff", WORD + b"q"]
    assert np.diff(shard.find(last)).ravel().tolist() == [1, 1, 1, 1, 0, 1, 0]
    assert shard.find(last)[:4, 0].tolist() == [*range(text.n - 4, text.n)]
    for place in (100, *far, text.n - 30):
        positions = range(place - 20, place + 20)
        ranks = [text.rank(at) for at in positions if at < text.n]
        assert shard.data.locate(ranks).tolist() == [*positions][: len(ranks)]
        starts = [place - 90, place - 1, place]
        stops = [place + 30, place + 30, place]
        wanted = [text.text(start, stop) for start, stop in zip(starts, stops, strict=True)]
        assert shard.data.extract(starts, stops) == wanted
    (window,) = shard.windows([text.rank(text.end - 6)], 6, 20)
    assert (window.start, window.text) == (text.end - 27, (WORD * 5)[4:])
    assert shard.windows([text.n - 4], 1, 20)[0].text == b"z"
    assert [row.tolist() for row in shard.bounds([0, 1])] == [
        [1, text.end + 1],
        [text.end, text.n - 1],
    ]
