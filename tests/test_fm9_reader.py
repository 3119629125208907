"""The reader of local indexes, against the original's answers, a slow reader and brute force."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError, InputError
from ngramscan.index_files.fm9 import reader
from ngramscan.index_files.fm9.folders import shard_folders
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.reader import Shard, ShardWindow, open_shards
from ngramscan.matching import count_by_brute_force
from tests.support import fm9_reference

HERE = Path(__file__).parent
REPLAY = HERE / "replay"
EXPECTED = [*map(json.loads, (REPLAY / "reader_expected.jsonl").read_bytes().splitlines())]
SMALL = [HERE / "fm9" / name / "index" for name in ("d1", "d5", "dempty", "dlit")]
BROKEN = HERE / "fm9" / "broken_dwin_cpus2"

DOCUMENTS = ["", "\0 nul \0\0", "\t\r\n\r\n\n", "a" * 12, "ab" * 240, "é€😀" * 7, "", "x", "😀"]


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


def texts_of(file: Path) -> list[bytes]:
    return [json.loads(line)["text"].encode() for line in file.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Shard, list[bytes]]:
    """Return documents of words, of repetitions, of noise, and the edge cases."""
    rng, drawn = random.Random(5), list(DOCUMENTS)
    words = ["".join(rng.choices("etaoinshrdlué", k=rng.randint(1, 9))) for _ in range(300)]
    for _ in range(20):
        drawn.append(rng.choice(["a", "ab", "\n", "0101", "xyz\r\n"]) * rng.randint(1, 500))
        drawn.append("".join(map(chr, rng.choices(range(1, 0x3000), k=rng.randint(1, 400)))))
        drawn.append(" ".join(rng.choices(words, k=rng.randint(1, 400))))
    rng.shuffle(drawn)
    texts = [text.encode() for text in drawn]
    lines = [json.dumps({"metadata": {"n": n}}).encode() for n in range(len(texts))]
    return Shard(write_shard(tmp_path_factory.mktemp("mixed"), texts, lines)), texts


# The original's answers


def test_patterns_are_where_they_are() -> None:
    for row in (row for row in EXPECTED if row["kind"] == "pattern"):
        pattern = bytes.fromhex(row["pattern_hex"])
        found = [shard.find([pattern])[0].tolist() for shard in shards(row["index"])]
        assert [pair if pair[0] < pair[1] else None for pair in found] == row["segments"], row
        assert sum(high - low for low, high in found) == row["count"], row


def test_ranks_lead_to_their_text() -> None:
    for row in (row for row in EXPECTED if row["kind"] == "rank"):
        shard, rank, wanted = shards(row["index"])[row["shard"]], row["rank"], row["window"]
        assert shard.data.locate([rank]).tolist() == [row["position"]], row
        assert shard.metadata([row["doc"]])[0].decode() == row["metadata"], row
        if wanted is None:
            assert row["label"] == "separator", row
            (window,) = shard.windows([rank], 1, 50)
            assert (window.document, window.offset, window.start) == (row["doc"], -1, 0), row
            continue
        sizes = wanted["needle_offset"], wanted["start"]
        text = bytes.fromhex(wanted["text_hex"])
        known = ShardWindow(row["doc"], wanted["doc_len"], text, *sizes)
        assert shard.windows([rank], wanted["needle_len"], wanted["max_ctx_len"]) == [known], row


def test_a_batch_answers_as_one_by_one() -> None:
    (shard,) = shards("replay")
    rows = [row for row in EXPECTED if row["index"] == "replay"]
    patterns = [bytes.fromhex(row["pattern_hex"]) for row in rows if row["kind"] == "pattern"]
    assert [shard.find([pattern])[0].tolist() for pattern in patterns] == (
        shard.find(patterns).tolist()
    )
    ranks = [row["rank"] for row in rows if row["kind"] == "rank"]
    lengths = np.arange(len(ranks))
    together = shard.windows(ranks, lengths, 9)
    assert [shard.windows([rank], n, 9)[0] for n, rank in enumerate(ranks)] == together
    assert shard.find([]).shape == (0, 2)
    assert shard.data.locate([]).shape == (0,)
    assert shard.windows([], 3, 20) == []
    assert shard.metadata([]) == []


def test_all_documents_are_given_back() -> None:
    wanted = [text for file in "ab" for text in texts_of(REPLAY / "docs" / f"{file}.jsonl")]
    opened = shards("replay2")
    assert [text for shard in opened for text in shard.texts(range(shard.documents))] == wanted
    assert sum(shard.text_bytes for shard in opened) == sum(map(len, wanted))


@pytest.mark.parametrize("directory", SMALL, ids=lambda path: path.parent.name)
def test_small_indexes_are_read(directory: Path) -> None:
    (shard,) = open_shards(directory)
    wanted = texts_of(directory.parent / "docs.jsonl")
    assert shard.texts(range(shard.documents)) == wanted
    metadata = [json.loads(line) for line in shard.metadata(range(shard.documents))]
    assert [line["linenum"] for line in metadata] == list(range(len(wanted)))
    whole = b"\xff" + b"\xff".join(wanted) + b"\xfa"
    ranks = range(0, shard.data.n, 1 + shard.data.n // 2_000)
    suffixes = [whole[at:] for at in shard.data.locate(ranks).tolist()]
    assert suffixes == sorted(set(suffixes))


# A larger one, against brute force and the slow reader


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
    for pattern, (low, high) in zip(patterns, shard.find(patterns).tolist(), strict=True):
        counted = count_by_brute_force(pattern, whole) if pattern else len(whole)
        assert high - low == counted
        assert not counted or (low, high) == slow.data.find(pattern)
    slow.close()


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


def test_windows_are_those_of_the_slow_reader(mixed: tuple[Shard, list[bytes]]) -> None:
    (shard, texts), rng = mixed, random.Random(7)
    check_windows(shard, [0, shard.ranks - 1, *(rng.randrange(shard.ranks) for _ in range(60))], 40)
    # The end of the text is behind the last document.
    (end,) = shard.windows([int(shard.find([b"\xfa"])[0, 0])], 1, 3)
    assert (end.document, end.text) == (len(texts) - 1, texts[-1][-3:])


def test_a_window_never_leaves_its_document(mixed: tuple[Shard, list[bytes]]) -> None:
    shard, texts = mixed
    rng = random.Random(8)
    ranks = [rng.randrange(shard.data.n - len(texts) - 1) for _ in range(100)]
    for context in (0, 1, 50, 1 << 40):
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


def test_a_directory_of_shards_is_taken_in_the_order_of_numbers(tmp_path: Path) -> None:
    for number in (10, 9, 0, *range(1, 9)):
        shutil.copytree(SMALL[0], tmp_path / f"{number}")
    (tmp_path / "notes").mkdir()
    shutil.copytree(SMALL[0], tmp_path / ".11.building")
    assert [path.name for path in shard_folders(tmp_path)] == [*map(str, range(11))]
    assert len(open_shards(tmp_path)) == 11


def test_a_place_without_an_index_is_a_mistake_that_leads_on(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cases = {
        "nothing": "no such folder; that of an index was expected",
        "file": "not a folder; that of an index was expected",
        "": r"not an index: no data\.fm9, data_offset, meta\.fm9, meta_offset in it",
    }
    for name, problem in cases.items():
        with pytest.raises(InputError, match=rf"{problem}.*ngramscan index build") as caught:
            open_shards(tmp_path / name)
        assert caught.value.exit_code == 2


@pytest.mark.parametrize("missing", FILES)
def test_a_shard_with_a_missing_file_is_never_left_out(tmp_path: Path, missing: str) -> None:
    for name in "01":
        shutil.copytree(SMALL[0], tmp_path / name)
    (tmp_path / "1" / missing).unlink()
    for place in (tmp_path, tmp_path / "1"):
        with pytest.raises(IndexFormatError, match=f"1/{missing}: missing; copy it here, or build"):
            open_shards(place)


@pytest.mark.parametrize(
    ("offsets", "words"),
    [
        pytest.param(b"", "0 bytes, expected a positive multiple of 8", id="empty"),
        pytest.param(b"\0" * 39, "39 bytes, expected", id="no multiple of 8"),
        pytest.param([0, 12, 24, 25], "4 entries, but 5 bytes FF", id="one too few"),
        pytest.param([1, 12, 24, 25, 33], "the first entry is 1", id="first not 0"),
        pytest.param([0, 12, 12, 25, 33], "entry 2 is not above", id="twice the same"),
        pytest.param([0, 24, 12, 25, 33], "entry 2 is not above", id="not in order"),
        pytest.param([0, 12, 24, 25, 36], "the last entry is 36", id="beyond the text"),
        pytest.param([0, 12, 24, 25, 2**64 - 1], "beyond the text", id="far beyond"),
        pytest.param([0, 12, 2**63, 25, 33], "entry 3 is not above", id="one far beyond"),
    ],
)
def test_wrong_offsets_are_refused(tmp_path: Path, offsets: bytes | list[int], words: str) -> None:
    shutil.copytree(SMALL[1], tmp_path / "x")
    raw = offsets if isinstance(offsets, bytes) else np.array(offsets, "<u8").tobytes()
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


def test_what_the_original_wrote_wrongly_is_not_opened() -> None:
    with pytest.raises(IndexFormatError, match=r"data\.fm9: field isa_sample: .*does not end"):
        open_shards(BROKEN)
