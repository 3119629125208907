"""Indexes over bytes: made ones, the recorded one with its documents, and what a slow reader sees.

The slow reader and writer of `fm9_reference` share no code with ours.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from ngramscan.index_files.fm9.reader import Shard
from ngramscan.index_files.fm9.writer import write_fm9
from tests.support import fm9_reference
from tests.support.places import REPLAY

DOCUMENTS = [
    json.loads(line)["text"]
    for name in ("a", "b")
    for line in (REPLAY / "docs" / f"{name}.jsonl").read_text().split("\n")
    if line
]
"""The texts of the recorded indexes, in their order."""


def brute_force(query: str) -> int:
    """Return how often a query occurs in the texts of the recorded indexes."""
    return sum(
        document.startswith(query, at) for document in DOCUMENTS for at in range(len(document))
    )


def write_shard(
    directory: Path,
    texts: list[bytes],
    lines: list[bytes],
    build: Callable[[bytes], bytes] = fm9_reference.build_fm9,
) -> Path:
    """Write an index of texts with their lines of metadata, by default with the slow writer."""
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


def written(text: bytes, path: Path) -> bytes:
    """Return the file that our writer makes of a text, after it told of each byte of the text."""
    reports: list[int] = []
    write_fm9(np.frombuffer(text, np.uint8).copy(), path, reports.append)
    assert sum(reports) == len(text)
    assert min(reports) >= 0
    return path.read_bytes()


def occurring(segments: Iterable[Sequence[int]]) -> list[tuple[int, int] | None]:
    """Return the first rank and the one behind the last of each text, or None if it is nowhere.

    What an empty segment begins with is left to those that search.
    """
    return [None if low == high else (low, high) for low, high in segments]


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
