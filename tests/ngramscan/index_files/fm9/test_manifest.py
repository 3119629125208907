"""The manifest of an index: what is written is read back, and nothing else is."""

import hashlib
import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import (
    MANIFEST,
    ShardEntry,
    describe_shard,
    in_folder,
    is_json_object,
    origin_in,
    parse_manifest,
    read_manifest,
    sha256_of,
    to_manifest,
)
from tests.support.places import FM9

D5 = FM9 / "d5" / "index"
ENTRY = describe_shard(D5, 5, 31)


def test_a_manifest_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(IndexFormatError, match="can't be read: "):
        read_manifest(tmp_path)


def refusal(content: bytes) -> str:
    with pytest.raises(IndexFormatError) as caught:
        parse_manifest(content, "m")
    assert "\n" not in str(caught.value)
    return str(caught.value.problem)


SOUND = json.loads(to_manifest([ENTRY]))
FILES_OF_ONE = SOUND["shards"][0]["files"]
HOSTILE: dict[str, list[Any]] = {
    "folder": [
        "../x",
        "/etc",
        "..",
        ".",
        ".x",
        "a/b",
        "a\\b",
        "0\n",
        "\0",
        "?x",
        "a%2fb",
        "a b",
        "é",
        0,
        None,
        ["0"],
    ],
    "documents": [-1, 1 << 63, 10**400, 5.0, math.inf, True, "5", None],
    "bytes": [-1, 1 << 70, math.nan, "31", [31]],
    "files": [
        {},
        [],
        None,
        dict.fromkeys(FILES),
        {**FILES_OF_ONE, "../x": FILES_OF_ONE["meta.fm9"]},
    ],
    "files.meta.fm9.bytes": [-1, 1 << 63, 1.5, "8", None],
    "files.meta.fm9.sha256": ["0" * 63, "0" * 65, "G" * 64, 0, None],
}
"""Values that no field of a shard may have."""


def with_field(place: str, value: Any) -> dict[str, Any]:
    """Return a sound shard of a manifest, but for one of its fields."""
    row: dict[str, Any] = json.loads(json.dumps(SOUND["shards"][0]))
    if place.startswith("files."):
        row["files"]["meta.fm9"][place.rpartition(".")[2]] = value
    else:
        row[place] = value
    return row


@pytest.mark.parametrize(
    ("place", "value"),
    [
        pytest.param(place, value, id=f"{place} {ascii(value)[:20]}")
        for place, values in HOSTILE.items()
        for value in values
    ],
)
def test_a_hostile_field_is_refused(place: str, value: Any) -> None:
    content = json.dumps({"shards": [with_field(place, value)]})
    assert refusal(content.encode()).startswith("not a manifest")


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param([], id="none"),
        pytest.param([ENTRY, ENTRY], id="one twice"),
        pytest.param([ENTRY, in_folder(ENTRY, "0")], id="the root and a folder"),
    ],
)
def test_no_shard_and_shards_listed_twice_are_refused(entries: list[ShardEntry]) -> None:
    assert refusal(to_manifest(entries)).startswith("it lists no shard, or")


def test_a_manifest_says_what_its_files_have(tmp_path: Path) -> None:
    contents = {name: (D5 / name).read_bytes() for name in FILES}
    assert {name: (file.bytes, file.sha256) for name, file in ENTRY.files.items()} == {
        name: (len(content), hashlib.sha256(content).hexdigest())
        for name, content in contents.items()
    }
    assert (ENTRY.folder, ENTRY.documents, ENTRY.bytes) == ("", 5, 31)
    assert ENTRY.index_bytes == sum(len(content) for content in contents.values())
    assert read_manifest(tmp_path) is None
    both = [in_folder(ENTRY, "0"), replace(ENTRY, folder="part-1", documents=0, bytes=0)]
    (tmp_path / MANIFEST).write_bytes(to_manifest(both, "the plan"))
    assert read_manifest(tmp_path) == both


@pytest.mark.parametrize(
    ("content", "origin"),
    [
        pytest.param(to_manifest([ENTRY], "the plan"), "the plan", id="told"),
        pytest.param(to_manifest([ENTRY]), "", id="not told"),
        pytest.param(b"{", "", id="damaged"),
        pytest.param(b"[" * 100_000, "", id="deep"),
    ],
)
def test_a_manifest_says_what_the_index_was_built_from(content: bytes, origin: str) -> None:
    assert origin_in(content) == origin


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"{}", True), (b"[]", False), (b"{", False), (b"\xff", False)],
    ids=["an object", "a list", "cut", "no text"],
)
def test_only_an_object_can_be_a_manifest(content: bytes, expected: bool) -> None:
    assert is_json_object(content) is expected


def test_a_hash_is_of_the_rest_of_a_file_and_its_bytes_are_reported() -> None:
    content, reported = bytes(range(256)) * 20_000, list[int]()
    file = io.BytesIO(content)
    file.seek(100)
    assert sha256_of(file, reported.append) == hashlib.sha256(content[100:]).hexdigest()
    assert sum(reported) == len(content) - 100
