"""Indexes of more than 50 MB: one built by the command, and sparse ones beyond 2^32 and 2^40."""

import json
import random
from pathlib import Path

import numpy as np
import pytest

import ngramscan
from benchmarks.index_build import documents
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.matching import count_by_brute_force
from tests.support import fm9_reference
from tests.support.command import run
from tests.support.fm9_shards import check_windows, occurring

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
    tmp_path: Path, shard_size: str, subtests: pytest.Subtests
) -> None:
    texts = [*EDGES, *documents(SIZE_BYTES)]
    lines = (json.dumps({"text": text, "n": n}) + "\n" for n, text in enumerate(texts))
    (tmp_path / "c.jsonl").write_text("".join(lines))
    ngramscan.index_build(str(tmp_path / "c.jsonl"), output=tmp_path / "x", shard_size=shard_size)
    assert run("index", "verify", tmp_path / "x").code == 0
    shards = open_shards(tmp_path / "x")
    assert len(shards) == (1 if shard_size == "1GB" else 3)
    random_ = random.Random(3)
    patterns = draw_patterns(texts, random_)
    encoded = [pattern.encode() for pattern in patterns]
    contents = [text.encode() for text in texts]
    counts = np.zeros(len(patterns), np.int64)
    for shard in shards:
        segments = shard.find(encoded)
        counts += segments[:, 1] - segments[:, 0]
        ranks = [random_.randrange(shard.ranks - shard.documents - 1) for _ in range(200)]
        with subtests.test(shard=shard.directory.name):
            slow = fm9_reference.Shard(str(shard.directory))
            expected = occurring(slow.data.find(pattern) for pattern in encoded)
            assert occurring(segments.tolist()) == expected
            check_windows(shard, ranks, 500)
    assert counts.tolist() == [
        sum(count_by_brute_force(pattern, content) for content in contents) for pattern in encoded
    ]
