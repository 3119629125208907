"""Indexes over tokens, against what the original engine answers, and against brute force."""

import json
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan import errors
from ngramscan.errors import IndexChangedError, IndexFormatError, InputError
from ngramscan.index_files.formats import is_token_folder
from ngramscan.index_files.tokens.shard import TokenFolder, open_token_folder
from tests.support.cases import objects
from tests.support.places import REPLAY
from tests.support.sizes import slow
from tests.support.token_folders import (
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
    for row in [row for row in truths if row["engine_count"] <= most]:
        size = len(row["token_ids"])
        seen = [folder.excerpt(*at, size, 0, size) for at in ranks(folder, row["token_ids"])]
        assert len({one.document for one in seen}) == row["token_documents"]
        assert all((one.offset, one.tokens.tolist()) == (0, row["token_ids"]) for one in seen)


# Made-up indexes


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(
    ("width", "amounts", "ids"),
    [
        (1, [3], 2),
        (1, [40], 255),
        (2, [30, 0, 25], 3),
        (2, [9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9], 65535),
        (4, [60, 1], 5),
        (4, [12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 12], 4294967295),
    ],
)
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
    assert folder.shard_tokens == tuple(len(one) + sum(map(len, one)) for one in shards)
    assert [folder.tokens_of(number).tolist() for number in range(len(documents))] == documents
    draw = random.Random(ids)
    patterns = [[], [folder.separator], [0], [ids - 1, ids - 1]]
    for document in draw.choices([one for one in documents if one], k=25):
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


# Bad input


def change(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        path = folder / name
        path.write_bytes(edit(path.read_bytes()))

    return changed


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def test_shards_of_different_widths(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1]], [[1]]], 2)
    write_folder(tmp_path / "other", [[[1, 2]]], 4)
    for name in ("tokenized", "table", "offset"):
        shutil.copy(tmp_path / "other" / f"{name}.0", tmp_path / f"{name}.1")
    with pytest.raises(IndexFormatError, match=r"2 bytes, but tokenized\.1 has tokens of 4"):
        open_token_folder(tmp_path)


def test_folders_of_other_kinds(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "empty").mkdir()
    (tmp_path / "six" / "00").mkdir(parents=True)
    (tmp_path / "six" / "00" / "tokenized").write_bytes(b"")
    (tmp_path / "nothing").mkdir()
    for name in ("tokenized.0", "table.0", "offset.0"):
        (tmp_path / "nothing" / name).write_bytes(b"")
    for place, kind, problem in map(dict.values, objects("folders_of_other_kinds")):
        with pytest.raises(getattr(errors, kind), match=problem):
            open_token_folder(tmp_path / place)
    with pytest.raises(InputError, match=r"index over bytes.*--index fm9:"):
        open_token_folder(REPLAY / "index" / "replay2")
    assert [is_token_folder(tmp_path / name) for name in ("none", "file", "empty", "nothing")] == [
        *(False, False, False, True)
    ]


def test_damage_seen_in_a_question(tmp_path: Path) -> None:
    documents = [[1, 2, 3], [2], [3, 1]]
    offsets = write_folder(tmp_path, [documents], 1) / "offset.0"
    for raw, problem in ((b"\0\5\7", "no separator at byte 5"), (b"\0\4\0", "is not above")):
        offsets.write_bytes(b"".join(bytes([one, *bytes(7)]) for one in raw))
        with pytest.raises(IndexFormatError, match=problem):
            open_token_folder(tmp_path).tokens_of(1)
    offsets.write_bytes(bytes(8))
    with pytest.raises(IndexFormatError, match="continues past a separator"):
        open_token_folder(tmp_path).tokens_of(0)
    folder = open_token_folder(write_folder(tmp_path, [documents], 1))
    change("table.0", lambda raw: b"\x63" * len(raw))(tmp_path)
    with pytest.raises(IndexFormatError, match=r"rank .: the pointer leads to no token"):
        open_token_folder(tmp_path).find([[1]])
    with pytest.raises(IndexFormatError, match=r"rank .: the pointer leads to no token"):
        open_token_folder(tmp_path).excerpt(0, 3, 1, 1, 1)
    change("table.0", lambda raw: raw[:4])(tmp_path)
    with pytest.raises(IndexChangedError, match="was changed or removed"):
        folder.find([[1]])


def test_questions_that_make_no_sense(tmp_path: Path) -> None:
    folder = open_token_folder(write_folder(tmp_path, [[[1, 2, 3]]], 2))
    for wrong in (65_536, -1, 1 << 40):
        with pytest.raises(InputError, match=f"no token has the id {wrong}: ids take 16 bits"):
            folder.find([[1], [2, wrong]])
    assert folder.find([]).shape == (0, 1, 2)
    for shard, rank in ((0, 4), (0, -1), (1, 0), (-1, 0)):
        with pytest.raises(IndexError):
            folder.excerpt(shard, rank, 1, 1, 1)
    with pytest.raises(IndexError):
        folder.metadata(1)


def test_metadata_that_is_cut_or_foreign(tmp_path: Path) -> None:
    write_folder(tmp_path, [[[1], [2]]], 2)
    assert json.loads(open_token_folder(tmp_path).metadata(1)) == {"linenum": 1, "metadata": {}}
    for damage, problem in (
        (change("metadata.0", lambda raw: b"\xff" * len(raw)), "document 1: not UTF-8"),
        (change("metadata.0", lambda raw: raw[:9]), "entry 1: .* of 9 bytes"),
        (change("metaoff.0", lambda raw: raw[:8]), "8 bytes, but offset.0 has 16"),
        (remove("metaoff.0"), "metaoff.0: missing"),
    ):
        damage(tmp_path)
        with pytest.raises(IndexFormatError, match=problem):
            open_token_folder(tmp_path).metadata(1)
    remove("metadata.0")(tmp_path)
    assert open_token_folder(tmp_path).metadata(1) == ""
