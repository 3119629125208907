"""The reader of local indexes, against the original's answers, a slow reader and brute force."""

import json
import random
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.fm9 import reader
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.reader import Shard, ShardWindow, open_shards
from ngramscan.matching import count_by_brute_force
from tests.support import fm9_reference
from tests.support.fm9_shards import check_windows, occurring, write_shard
from tests.support.places import FM9, REPLAY

# What the original answers: a line per pattern and per rank.
EXPECTED: list[dict[str, Any]] = [
    json.loads(line) for line in (REPLAY / "reader_expected.jsonl").read_bytes().splitlines()
]
PATTERNS = [row for row in EXPECTED if row["kind"] == "pattern"]
RANKS = [row for row in EXPECTED if row["kind"] == "rank"]
SMALL = [FM9 / name / "index" for name in ("d1", "d5", "dempty", "dlit")]


@cache
def shards(name: str) -> list[Shard]:
    return open_shards(REPLAY / "index" / name)


# The original's answers


@pytest.mark.parametrize(
    "row", PATTERNS, ids=[f"{row['index']} {row['pattern_hex'][:24]}" for row in PATTERNS]
)
def test_a_pattern_has_the_segments_of_the_original(row: dict[str, Any]) -> None:
    pattern = bytes.fromhex(row["pattern_hex"])
    found = [shard.find([pattern])[0].tolist() for shard in shards(row["index"])]
    assert [pair if pair[0] < pair[1] else None for pair in found] == row["segments"]
    assert sum(high - low for low, high in found) == row["count"]


@pytest.mark.parametrize(
    "row", RANKS, ids=[f"{row['index']}/{row['shard']} rank {row['rank']}" for row in RANKS]
)
def test_a_rank_leads_to_the_text_that_the_original_shows(row: dict[str, Any]) -> None:
    shard, rank, wanted = shards(row["index"])[row["shard"]], row["rank"], row["window"]
    assert shard.data.locate([rank]).tolist() == [row["position"]]
    assert shard.metadata([row["doc"]])[0].decode() == row["metadata"]
    if wanted is None:  # of a separator it shows nothing
        assert row["label"] == "separator"
        (window,) = shard.windows([rank], 1, 50)
        assert (window.document, window.offset, window.start) == (row["doc"], -1, 0)
    else:
        known = ShardWindow(
            row["doc"],
            wanted["doc_len"],
            bytes.fromhex(wanted["text_hex"]),
            wanted["needle_offset"],
            wanted["start"],
        )
        assert shard.windows([rank], wanted["needle_len"], wanted["max_ctx_len"]) == [known]


def test_a_batch_answers_as_one_by_one() -> None:
    (shard,) = shards("replay")
    patterns = [bytes.fromhex(row["pattern_hex"]) for row in PATTERNS if row["index"] == "replay"]
    alone = [shard.find([pattern])[0].tolist() for pattern in patterns]
    assert shard.find(patterns).tolist() == alone
    ranks = [row["rank"] for row in RANKS if row["index"] == "replay"]
    lengths = np.arange(len(ranks))
    together = shard.windows(ranks, lengths, 9)
    assert [shard.windows([rank], n, 9)[0] for n, rank in enumerate(ranks)] == together
    assert shard.find([]).shape == (0, 2)
    assert shard.data.locate([]).shape == (0,)
    assert shard.windows([], 3, 20) == []
    assert shard.metadata([]) == []


def texts_of(file: Path) -> list[bytes]:
    return [json.loads(line)["text"].encode() for line in file.read_bytes().splitlines()]


@pytest.mark.parametrize("directory", SMALL, ids=lambda path: path.parent.name)
def test_a_small_index_gives_all_its_documents_back(directory: Path) -> None:
    (shard,) = open_shards(directory)
    wanted = texts_of(directory.parent / "docs.jsonl")
    assert shard.texts(range(shard.documents)) == wanted
    metadata = [json.loads(line) for line in shard.metadata(range(shard.documents))]
    assert [line["linenum"] for line in metadata] == list(range(len(wanted)))
    whole = b"\xff" + b"\xff".join(wanted) + b"\xfa"
    ranks = range(0, shard.data.n, 1 + shard.data.n // 2_000)
    suffixes = [whole[position:] for position in shard.data.locate(ranks).tolist()]
    assert suffixes == sorted(set(suffixes))


# A larger one, against brute force and the slow reader

DOCUMENTS = ["", "\0 nul \0\0", "\t\r\n\r\n\n", "a" * 12, "ab" * 240, "é€😀" * 7, "", "x", "😀"]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shard, list[bytes]]:
    """Return an index of documents of words, of repetitions, of noise, and the edge cases."""
    rng, documents = random.Random(5), list(DOCUMENTS)
    words = ["".join(rng.choices("etaoinshrdlué", k=rng.randint(1, 9))) for _ in range(300)]
    for _ in range(20):
        documents.append(rng.choice(["a", "ab", "\n", "0101", "xyz\r\n"]) * rng.randint(1, 500))
        documents.append("".join(map(chr, rng.choices(range(1, 0x3000), k=rng.randint(1, 400)))))
        documents.append(" ".join(rng.choices(words, k=rng.randint(1, 400))))
    rng.shuffle(documents)
    texts = [text.encode() for text in documents]
    lines = [json.dumps({"metadata": {"n": n}}).encode() for n in range(len(texts))]
    return Shard(write_shard(tmp_path_factory.mktemp("mixed"), texts, lines)), texts


def test_patterns_are_found_as_by_brute_force_and_the_slow_reader(
    mixed: tuple[Shard, list[bytes]],
) -> None:
    shard, texts = mixed
    whole, rng = b"\xff" + b"\xff".join(texts) + b"\xfa", random.Random(6)
    patterns = [b"", b"\0", b"\xff", b"\xfa", b"\xfe", b"\n", b"\r\n", b"\n\n", b"aa", b"abab"]
    patterns += [b"\xff\xff", b"a\xfea", "é".encode(), "😀".encode(), b"\xa9", b"no such words"]
    starts = [rng.randrange(len(whole)) for _ in range(100)]
    patterns += [whole[start : start + rng.randint(1, 30)] for start in starts]
    slow = fm9_reference.Shard(str(shard.directory))
    segments = shard.find(patterns).tolist()
    counted = [
        count_by_brute_force(pattern, whole) if pattern else len(whole) for pattern in patterns
    ]
    assert [high - low for low, high in segments] == counted
    assert occurring(segments) == occurring(slow.data.find(pattern) for pattern in patterns)
    slow.close()


def test_windows_are_those_of_the_slow_reader(mixed: tuple[Shard, list[bytes]]) -> None:
    (shard, texts), rng = mixed, random.Random(7)
    check_windows(shard, [0, shard.ranks - 1, *(rng.randrange(shard.ranks) for _ in range(60))], 40)
    # The end of the text is behind the last document.
    (end,) = shard.windows([int(shard.find([b"\xfa"])[0, 0])], 1, 3)
    assert (end.document, end.text) == (len(texts) - 1, texts[-1][-3:])


@pytest.mark.parametrize("context", [0, 1, 50, 1 << 40])
def test_a_window_never_leaves_its_document(mixed: tuple[Shard, list[bytes]], context: int) -> None:
    shard, texts = mixed
    rng = random.Random(8)
    ranks = [rng.randrange(shard.data.n - len(texts) - 1) for _ in range(100)]
    for window in shard.windows(ranks, 7, context):
        text, at = texts[window.document], window.start + window.offset
        assert window.document_bytes == len(text)
        assert window.start == max(0, at - context)
        assert window.text == text[window.start : at + 7 + context]


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


@pytest.mark.parametrize("missing", FILES)
@pytest.mark.parametrize("place", ["", "1"], ids=["of all shards", "alone"])
def test_a_shard_with_a_missing_file_is_never_left_out(
    tmp_path: Path, missing: str, place: str
) -> None:
    for name in ("0", "1"):
        shutil.copytree(SMALL[0], tmp_path / name)
    (tmp_path / "1" / missing).unlink()
    with pytest.raises(IndexFormatError, match=f"1/{missing}: missing; copy it here, or build"):
        open_shards(tmp_path / place)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param("nothing", "no such folder", id="nothing"),
        pytest.param("file", "not a folder", id="a file"),
        pytest.param("", r"not an index: .*data\.fm9", id="an empty folder"),
    ],
)
def test_a_place_without_an_index_is_a_mistake_that_leads_on(
    tmp_path: Path, name: str, problem: str
) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match=rf"{problem}.*ngramscan index build") as caught:
        open_shards(tmp_path / name)
    assert caught.value.exit_code == 2


def test_what_the_original_wrote_wrongly_is_not_opened() -> None:
    with pytest.raises(IndexFormatError, match=r"data\.fm9: field isa_sample: .*does not end"):
        open_shards(FM9 / "broken_dwin_cpus2")


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        pytest.param("", "0 bytes, expected a positive multiple of 8", id="empty"),
        pytest.param(
            "\0" * 39,
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


def test_a_text_before_a_range_has_the_ranks_of_both_together(tmp_path: Path) -> None:
    file = Shard(write_shard(tmp_path, [b"abab", b"ba a", b""], [b"{}"] * 3)).data
    texts = [b"a", b"b", b"ab", b"", b"z", b"\xff", b"a "]
    ends = [b"", b"a", b"b", b"ba", b"\xff", b"\xfa", b"no such end"]
    pairs = [(text, end) for text in texts for end in ends]
    ranges = file.find([end for _, end in pairs])
    extended = file.extend([text for text, _ in pairs], ranges)
    assert occurring(extended.tolist()) == occurring(
        file.find([text + end for text, end in pairs]).tolist()
    )
    assert file.extend([], np.zeros((0, 2), np.int64)).shape == (0, 2)
