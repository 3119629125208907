"""Indexes of each kind that have the same documents, opened as contexts."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ngramscan.indexes.base import Index
from ngramscan.indexes.fm9 import open_fm9
from ngramscan.indexes.opening import open_indexes
from ngramscan.indexes.options import IndexOptions
from ngramscan.progress import Progress
from tests.support.corpus_files import jsonl
from tests.support.fm9_shards import write_shard
from tests.support.range_server import RangeServer
from tests.support.service import ApiServer


@contextmanager
def of_files(folder: Path, documents: list[str]) -> Iterator[Index]:
    """Yield an index of fm9 files in three shards."""
    for number in range(3):
        some = [text.encode() for text in documents[number::3]]
        write_shard(folder / str(number), some, [b"{}"] * len(some))
    yield open_fm9(folder, Progress())


@contextmanager
def of_files_in_place(folder: Path, documents: list[str]) -> Iterator[Index]:
    """Yield an index of fm9 files behind a server of ranges."""
    with of_files(folder / "index", documents), RangeServer(folder) as server:
        options = IndexOptions(journal=folder / "replies.sqlite")
        with open_indexes([f"fm9:{server.url}index"], options, Progress()) as (index,):
            yield index


@contextmanager
def of_a_service(folder: Path, documents: list[str]) -> Iterator[Index]:
    """Yield an index of a service that speaks the hosted protocol."""
    (folder / "corpus.jsonl").write_bytes(jsonl(documents))
    with ApiServer({"x": folder / "corpus.jsonl"}) as api:
        options = IndexOptions(journal=folder / "replies.sqlite")
        with open_indexes([f"{api.url}x"], options, Progress()) as (index,):
            yield index


@contextmanager
def of_a_scan(folder: Path, documents: list[str]) -> Iterator[Index]:
    """Yield a corpus that is scanned."""
    (folder / "corpus.jsonl").write_bytes(jsonl(documents))
    options = IndexOptions(workers=1, journal=folder / "replies.sqlite")
    with open_indexes([f"scan:{folder}/corpus.jsonl"], options, Progress()) as (index,):
        yield index
