"""Indexes over tokens, against what the original engine answers, and against brute force."""

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.errors import IndexChangedError, IndexFormatError, InputError, NgramscanError
from ngramscan.index_files.formats import is_token_folder
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from tests.support.places import REPLAY, TOKENS
from tests.support.sizes import slow
from tests.support.token_folders import (
    MADE_SHAPES,
    Documents,
    genuine,
    run_kernels,
    some_documents,
    write_folder,
)

INDEXES = (
    *("v4_pystdlib_llama", "v4_pysmall_llama_s3", "v5_pysmall_llama"),
    *("v4_pysmall_olmo", "v4_pysmall_olmo2", "v4_pysmall_bytes"),
)


def occurrences(documents: Documents, pattern: Sequence[int]) -> list[tuple[int, int]]:
    """The document and place of each occurrence, by brute force."""
    size = len(pattern)
    return [
        (number, at)
        for number, document in enumerate(documents)
        for at in range(len(document) - size + 1)
        if document[at : at + size] == list(pattern)
    ]


def ranks(folder: TokenFolder, pattern: Sequence[int]) -> Iterator[tuple[int, int]]:
    for shard, (low, high) in enumerate(folder.find([pattern])[0].tolist()):
        yield from ((shard, rank) for rank in range(low, high))


@cache
def answers(file: Path) -> list[dict[str, Any]]:
    return [*map(json.loads, file.read_bytes().splitlines())]


# The original's indexes and answers


@pytest.mark.parametrize("name", [slow(INDEXES[0]), *INDEXES[1:]])
@pytest.mark.parametrize("most", [300, slow(10**9)])
def test_counts_and_documents_of_all_truths(shared: Path, name: str, most: int) -> None:
    """The documents of what occurs very often take long to look at."""
    truths = [row for row in answers(shared / "tokens" / "truth.jsonl") if row["index"] == name]
    folder = genuine(shared / "tokens" / "index" / name)
    found = folder.find([row["token_ids"] for row in truths])
    assert np.diff(found).sum(axis=(1, 2)).tolist() == [row["engine_count"] for row in truths]
    assert len(truths) > 40
    rows = [row for row in truths if row["engine_count"] <= most]
    seen = [documents_and_tokens(folder, row["token_ids"]) for row in rows]
    assert seen == [
        (row["token_documents"], {(0, *row["token_ids"])} if row["engine_count"] else set())
        for row in rows
    ]


def documents_and_tokens(
    folder: TokenFolder, pattern: Sequence[int]
) -> tuple[int, set[tuple[int, ...]]]:
    """Return in how many documents a pattern is, and the offsets and tokens that are shown."""
    size = len(pattern)
    excerpts = [
        folder.excerpt(shard, rank, size, 0, size) for shard, rank in ranks(folder, pattern)
    ]
    shown = {(excerpt.offset, *excerpt.tokens.tolist()) for excerpt in excerpts}
    return len({excerpt.document for excerpt in excerpts}), shown


# Made-up indexes


@pytest.mark.parametrize("backwards", [False, True], ids=["forwards", "backwards"])
@MADE_SHAPES
def test_made_up_indexes_against_brute_force(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
    amounts: list[int],
    ids: int,
    backwards: bool,
) -> None:
    run_kernels(monkeypatch, as_python=backwards)
    shards = [some_documents(n + width, amount, ids) for n, amount in enumerate(amounts)]
    folder = open_token_folder(write_folder(tmp_path, shards, width, backwards))
    folder.backwards = backwards
    documents = [document for shard in shards for document in shard]
    assert (folder.width, folder.documents) == (width, len(documents))
    assert folder.tokens == len(documents) + sum(map(len, documents))
    assert folder.shard_tokens == tuple(len(shard) + sum(map(len, shard)) for shard in shards)
    assert [folder.tokens_of(number).tolist() for number in range(len(documents))] == documents
    draw = random.Random(ids)
    patterns = [[], [folder.separator], [0], [ids - 1, ids - 1]]
    for document in draw.choices([document for document in documents if document], k=25):
        start = draw.randrange(len(document))
        patterns.append(document[start : start + draw.choice((1, 2, 3, 50))])
    found = folder.find(patterns)
    assert found.shape == (len(patterns), len(shards), 2)
    assert found[0].tolist() == [[0, tokens] for tokens in folder.shard_tokens]
    assert int(np.diff(found[1]).sum()) == len(documents)
    for pattern, rows in zip(patterns[2:], found[2:].tolist(), strict=True):
        spots = []
        for shard, (low, high) in enumerate(rows):
            for rank in range(low, high):
                seen = folder.excerpt(shard, rank, len(pattern), 4, 5)
                at, text = seen.start + seen.offset, documents[seen.document]
                assert seen.length == len(text)
                assert (seen.start, seen.offset) == (max(0, at - 4), min(4, at))
                assert seen.tokens.tolist() == text[seen.start : at + 5]
                spots.append((seen.document, at))
        assert sorted(spots) == occurrences(documents, pattern)


def test_a_backwards_index_reads_as_its_twin(subtests: pytest.Subtests) -> None:
    twins = genuine(TOKENS / "v4_pysmall_llama_s3"), genuine(TOKENS / "v5_pysmall_llama")
    texts = [
        {folder.metadata(number): folder.tokens_of(number).tolist() for number in range(676)}
        for folder in twins
    ]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 676
    seen = 0
    patterns = ([3707, 486, 3707], [272, 1429], [13, 13], [1318, 28724, 731, 898])
    for pattern, sides in product(patterns, ((0, 1), (3, 9), (200, 300))):
        forwards, backwards = (all_shown(folder, pattern, *sides) for folder in twins)
        with subtests.test(pattern=pattern, sides=sides):
            assert forwards == backwards
        seen += len(forwards)
    assert seen > 4_000


def all_shown(
    folder: TokenFolder, pattern: Sequence[int], before: int, behind: int
) -> list[tuple[str, int, int, int, list[int]]]:
    """Return what is shown of all occurrences, with the metadata of their documents."""
    excerpts = [
        folder.excerpt(shard, rank, len(pattern), before, behind)
        for shard, rank in ranks(folder, pattern)
    ]
    return sorted(
        (
            folder.metadata(excerpt.document),
            excerpt.length,
            excerpt.start,
            excerpt.offset,
            excerpt.tokens.tolist(),
        )
        for excerpt in excerpts
    )


def test_documents_of_more_than_ten_shards_are_in_the_order_of_text(tmp_path: Path) -> None:
    shards = [[[number]] for number in range(12)]
    folder = open_token_folder(write_folder(tmp_path, shards, 2))
    assert (tmp_path / "tokenized.10").read_bytes() == b"\xff\xff\x02\0"  # after .0 and .1
    assert [folder.tokens_of(number).tolist() for number in range(12)] == [[n] for n in range(12)]
    assert [*ranks(folder, [2])] == [(2, 0)]


def test_separators_anchor_a_pattern(tmp_path: Path) -> None:
    documents = [[1, 2], [], [1], [2, 1]]
    folder = open_token_folder(write_folder(tmp_path, [documents], 2))
    end = folder.separator
    patterns = [[end, 1], [1, end], [end, end], [2, end, end]]
    assert np.diff(folder.find(patterns)).sum(axis=(1, 2)).tolist() == [2, 1, 1, 1]
    seen = [folder.excerpt(*place, 1, 5, 5) for place in ranks(folder, [end])]
    assert {(shown.document, shown.offset, tuple(shown.tokens.tolist())) for shown in seen} == {
        (number, -1, tuple(document)) for number, document in enumerate(documents)
    }


# Bad input


def change(path: Path, edit: Callable[[bytes], bytes]) -> None:
    path.write_bytes(edit(path.read_bytes()))


def test_shards_of_different_widths(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1]], [[1]]], 2)
    write_folder(tmp_path / "other", [[[1, 2]]], 4)
    for name in ("tokenized", "table", "offset"):
        shutil.copy(tmp_path / "other" / f"{name}.0", tmp_path / f"{name}.1")
    with pytest.raises(IndexFormatError, match=r"2 bytes, but tokenized\.1 has tokens of 4"):
        open_token_folder(tmp_path)


@pytest.mark.parametrize(
    ("files", "kind", "problem"),
    [
        pytest.param(["note"], InputError, "it lacks tokenized.0, table.0, offset.0", id="other"),
        pytest.param(
            ["00/tokenized", "00/table", "01/table", "00/offset", "01/offset"],
            IndexFormatError,
            r"01/tokenized: missing",
            id="version 6 without tokens",
        ),
        pytest.param(
            ["00/tokenized", "00/offset"], IndexFormatError, "00/table: missing", id="version 6"
        ),
        pytest.param(
            ["tokenized.0", "table.0", "offset.0"], IndexFormatError, "no documents", id="empty"
        ),
    ],
)
def test_folders_of_other_kinds_are_refused(
    files: list[str], kind: type[NgramscanError], problem: str, tmp_path: Path
) -> None:
    for name in files:
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with pytest.raises(kind, match=problem):
        open_token_folder(tmp_path / "folder")
    assert is_token_folder(tmp_path / "folder") == (files != ["note"])


def test_what_is_no_folder_of_tokens_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not a folder"):
        open_token_folder(tmp_path / "file")
    with pytest.raises(InputError, match="no such folder"):
        open_token_folder(tmp_path / "none")
    with pytest.raises(InputError, match=r"index over bytes.*--index fm9:"):
        open_token_folder(REPLAY / "index" / "replay2")
    assert not is_token_folder(tmp_path / "file")
    assert not is_token_folder(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "edit", "where", "problem"),
    [
        pytest.param(
            "table.1", lambda raw: raw[:-1], "table.1", "one of them is cut", id="cut table"
        ),
        pytest.param(
            "table.1", lambda _: b"", "table.1", "0 bytes, but tokenized.1 has", id="none"
        ),
        pytest.param(
            "offset.1", lambda raw: raw[:-3], "offset.1", "multiple of 8", id="cut offset"
        ),
        pytest.param(
            "offset.1",
            lambda raw: b"\2" + raw[1:],
            "offset.1",
            "no separator at byte 2",
            id="moved",
        ),
        pytest.param(
            "tokenized.1",
            lambda raw: b"\0" + raw[1:],
            "offset.1",
            "no separator at byte 0",
            id="another token",
        ),
    ],
)
def test_damage_is_seen_when_an_index_is_opened(
    name: str, edit: Callable[[bytes], bytes], where: str, problem: str, tmp_path: Path
) -> None:
    write_folder(tmp_path, [[[1, 2]], [[3], [4, 5]]], 2)
    change(tmp_path / name, edit)
    with pytest.raises(IndexFormatError, match=problem) as caught:
        open_token_folder(tmp_path)
    assert where in str(caught.value)


def test_a_shard_that_is_missing_between_others_is_an_error(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1]], [[2]], [[3]]], 2)
    for name in ("tokenized", "table", "offset"):
        (tmp_path / f"{name}.1").unlink()
    with pytest.raises(IndexFormatError, match=r"\.1"):
        open_token_folder(tmp_path)


def test_damage_seen_in_a_question(tmp_path: Path) -> None:
    documents = [[1, 2, 3], [2], [3, 1]]
    offsets = write_folder(tmp_path, [documents], 1) / "offset.0"
    offsets.write_bytes(np.array([0, 5, 7], "<u8").tobytes())
    with pytest.raises(IndexFormatError, match="no separator at byte 5"):
        open_token_folder(tmp_path).tokens_of(1)
    offsets.write_bytes(np.array([0, 4, 0], "<u8").tobytes())
    with pytest.raises(IndexFormatError, match="is not above"):
        open_token_folder(tmp_path).tokens_of(1)
    offsets.write_bytes(bytes(8))
    with pytest.raises(IndexFormatError, match="continues past a separator"):
        open_token_folder(tmp_path).tokens_of(0)
    folder = open_token_folder(write_folder(tmp_path, [documents], 1))
    change(tmp_path / "table.0", lambda raw: b"\x63" * len(raw))
    with pytest.raises(IndexFormatError, match=r"rank .: the pointer leads to no token"):
        open_token_folder(tmp_path).find([[1]])
    with pytest.raises(IndexFormatError, match=r"rank .: the pointer leads to no token"):
        open_token_folder(tmp_path).excerpt(0, 3, 1, 1, 1)
    change(tmp_path / "table.0", lambda raw: raw[:4])
    with pytest.raises(IndexChangedError, match="was changed or removed"):
        folder.find([[1]])


@pytest.fixture
def three_tokens(tmp_path: Path) -> TokenFolder:
    """Return an index of one document of three tokens."""
    return open_token_folder(write_folder(tmp_path, [[[1, 2, 3]]], 2))


@pytest.mark.parametrize("wrong", [65_536, -1, 1 << 40])
def test_an_id_that_no_token_can_have_is_refused(three_tokens: TokenFolder, wrong: int) -> None:
    with pytest.raises(InputError, match=f"no token has the id {wrong}: ids take 16 bits"):
        three_tokens.find([[1], [2, wrong]])


@pytest.mark.parametrize(("shard", "rank"), [(0, 4), (0, -1), (1, 0), (-1, 0)])
def test_ranks_and_shards_out_of_range_are_refused(
    three_tokens: TokenFolder, shard: int, rank: int
) -> None:
    with pytest.raises(IndexError):
        three_tokens.excerpt(shard, rank, 1, 1, 1)


def test_no_patterns_have_no_segments_and_a_missing_document_is_refused(
    three_tokens: TokenFolder,
) -> None:
    assert three_tokens.find([]).shape == (0, 1, 2)
    with pytest.raises(IndexError):
        three_tokens.metadata(1)


@pytest.mark.parametrize(
    ("name", "edit", "problem"),
    [
        pytest.param(
            "metadata.0", lambda raw: b"\xff" * len(raw), "document 1: not UTF-8", id="not UTF-8"
        ),
        pytest.param("metadata.0", lambda raw: raw[:9], "entry 1: .* of 9 bytes", id="cut lines"),
        pytest.param(
            "metaoff.0", lambda raw: raw[:8], "8 bytes, but offset.0 has 16", id="cut offsets"
        ),
    ],
)
def test_metadata_that_is_cut_or_foreign_is_refused(
    name: str, edit: Callable[[bytes], bytes], problem: str, tmp_path: Path
) -> None:
    write_folder(tmp_path, [[[1], [2]]], 2)
    assert json.loads(open_token_folder(tmp_path).metadata(1)) == {"linenum": 1, "metadata": {}}
    change(tmp_path / name, edit)
    with pytest.raises(IndexFormatError, match=problem):
        open_token_folder(tmp_path).metadata(1)


def test_an_index_has_no_metadata_or_all_files_of_them(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1], [2]]], 2)
    (tmp_path / "metaoff.0").unlink()
    with pytest.raises(IndexFormatError, match=r"metaoff\.0: missing"):
        open_token_folder(tmp_path).metadata(1)
    (tmp_path / "metadata.0").unlink()
    assert open_token_folder(tmp_path).metadata(1) == ""
