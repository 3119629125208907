"""Answers of token indexes in place from the journal: the same, without a request."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.errors import RemoteUnavailable
from ngramscan.index_files.tokens.in_place_places import open_tokens_in_place
from ngramscan.index_files.tokens.shard import open_token_folder
from ngramscan.indexes.file_replies import FileReplies, OpenedFiles
from ngramscan.indexes.options import IndexOptions
from ngramscan.indexes.tokens.kept_files import KeptTokenFiles, facts_about, read_facts
from ngramscan.journal import Journal
from ngramscan.progress import SILENT
from ngramscan.remote.ranges import RangeOptions, Ranges
from tests.support.range_server import RangeServer
from tests.support.token_folders import some_documents, write_folder

PATTERNS = [[1], [2, 1], [9], [1], []]
TEXTS = [[1, 2, 1, 9, 0], [], [3], [0, 1] * 700, [1, 2, 1, 9, 0]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "index", [some_documents(n, 9, 4) for n in range(3)], 2)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RangeServer]:
    """Serve an index that no test changes."""
    shards = [some_documents(n, 9, 4) for n in range(3)]
    folder = write_folder(tmp_path_factory.mktemp("served"), shards, 2)
    with RangeServer(folder) as started_server:
        yield started_server


@contextmanager
def kept(url: str, journal_path: Path, backwards: bool = False) -> Iterator[KeptTokenFiles]:
    """Open the files at a URL, with the replies of a journal."""

    def open_files(ranges: Ranges) -> OpenedFiles[Any]:
        opened = open_tokens_in_place(ranges, [url], 0)
        return OpenedFiles(opened, opened.shards, facts_about(opened))

    with Journal(journal_path) as journal, Ranges(RangeOptions(), SILENT) as ranges:
        replies = FileReplies(
            f"tokens:{url}", open_files, lambda: ranges, journal, IndexOptions(), SILENT
        )
        replies.look_again(read_facts)
        files = KeptTokenFiles(replies)
        files.backwards = backwards
        yield files


def answers(files: KeptTokenFiles) -> dict[str, Any]:
    """Return the answers to all kinds of questions."""
    excerpts = [files.excerpt(shard, rank, 1, 2, 3) for shard in range(3) for rank in (0, 5)]
    return {
        "numbers": (files.width, files.separator, files.documents, files.tokens),
        "shards": [*files.shard_tokens],
        "bytes": files.index_bytes,
        "folders": {**files.documents_by_folder},
        "ranks": files.find(PATTERNS).tolist(),
        "ends": [ends.tolist() for ends in files.match_ends_of(TEXTS)],
        "separators": files.count_separators(),
        "metadata": files.metadata_of([0, 26, 0]),
        "documents": [tokens.tolist() for tokens in files.tokens_of_documents([3, 0, 3])],
        "excerpts": [
            (seen.document, seen.length, seen.start, seen.offset, seen.tokens.tolist())
            for seen in excerpts
        ],
    }


def test_answers_from_the_journal_are_the_same_without_a_server(
    folder: Path, tmp_path: Path
) -> None:
    near = open_token_folder(folder)
    with RangeServer(folder) as server:
        with kept(server.url, tmp_path / "journal") as files:
            first = answers(files)
        opening = len([read for read in server.record().requests if not read.start])
        with kept(server.url, tmp_path / "journal") as files:
            before = len(server.record().requests)
            assert answers(files) == first
            assert len(server.record().requests) == before
            assert files.unknown_texts([*TEXTS, [7]]) == [(7,)]
        assert before <= 2 * opening
    assert first["ranks"] == near.find(PATTERNS).tolist()
    assert first["ends"] == [near.match_ends(text).tolist() for text in TEXTS]
    assert first["metadata"] == [near.metadata(number) for number in (0, 26, 0)]
    with kept(server.url, tmp_path / "journal") as files:
        assert answers(files) == first
        with pytest.raises(RemoteUnavailable):
            files.find([[1], [3, 3]])


def test_answers_of_one_direction_are_not_those_of_the_other(tmp_path: Path) -> None:
    documents = [[1, 2, 3], [3, 2]]
    folder = write_folder(tmp_path / "index", [documents] * 3, 2, backwards=True)
    near = open_token_folder(folder)
    with RangeServer(folder) as server:
        for backwards in (False, True, False, True):
            near.backwards = backwards
            with kept(server.url, tmp_path / "journal", backwards) as files:
                assert files.find([[1, 2]]).tolist() == near.find([[1, 2]]).tolist()
                assert np.diff(files.find([[1, 2]])).sum() == 3 * backwards
                ends = files.match_ends_of([[1, 2, 3]])[0]
                assert ends.tolist() == near.match_ends([1, 2, 3]).tolist()
                seen = files.excerpt(0, 0, 1, 9, 9)
                assert seen.tokens.tolist() == near.excerpt(0, 0, 1, 9, 9).tokens.tolist()
                (tokens,) = files.tokens_of_documents([0])
                assert tokens.tolist() == near.tokens_of_documents([0])[0].tolist()


DAMAGED = {
    "cut": '{"finger',
    "a number": "7",
    "a text": '"seven"',
    "a list of texts": '["?"]',
    "nothing": "null",
    "negative": "[[-1, 2], [0, 1], [0, 1]]",
    "not whole": "[[0, 2.5], [0, 1], [0, 1]]",
    "too few shards": "[[0, 1]]",
    "too few or too many tokens": "[1, 2]",
}


SOUND = {("separators", "a number"), ("metadata", "a text")}
"""Replies that could be true."""


def damaged_replies() -> Iterator[pytest.ParameterSet]:
    kinds = ("files", "find", "matches", "documents", "excerpt", "separators", "metadata")
    for kind in kinds:
        for name, damaged in DAMAGED.items():
            if (kind, name) not in SOUND:
                yield pytest.param(kind, damaged, id=f"{kind}-{name}")


@pytest.mark.parametrize(("kind", "damaged"), list(damaged_replies()))
def test_damaged_replies_are_asked_again(
    kind: str, damaged: str, server: RangeServer, tmp_path: Path
) -> None:
    with kept(server.url, tmp_path / "journal") as files:
        first = answers(files)
    with closing(sqlite3.connect(tmp_path / "journal", isolation_level=None)) as journal:
        where = "request = 'files'" if kind == "files" else f"request LIKE '%\"{kind}\"%'"
        damage = f"UPDATE replies SET reply = ? WHERE {where}"
        assert journal.execute(damage, [damaged]).rowcount > 0
    with kept(server.url, tmp_path / "journal") as files:
        assert answers(files) == first


def test_facts_are_numbers(server: RangeServer) -> None:
    with Ranges(RangeOptions(), SILENT) as ranges:
        opened = open_tokens_in_place(ranges, [server.url], 0)
        facts = json.loads(json.dumps(facts_about(opened)))
        assert read_facts(facts).shard_tokens == [*opened.shard_tokens]
    for name, value in {
        "width": "2",
        "shard_tokens": [1, -1, 2],
        "index_bytes": 2.5,
        "bounds_by_folder": {"x": [0, None]},
    }.items():
        with pytest.raises((ValueError, TypeError)):
            read_facts({"tokens": {**facts["tokens"], name: value}})
