"""The manifest of an index: what is written is read back, and nothing else is."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.layout import FILES
from ngramscan.index_files.fm9.manifest import (
    MANIFEST,
    describe_shard,
    in_folder,
    parse_manifest,
    read_manifest,
    to_manifest,
)

D5 = Path(__file__).parent / "fm9" / "d5" / "index"
ENTRY = describe_shard(D5, 5, 31)


def test_the_sums_are_those_of_sha256sum() -> None:
    if shutil.which("sha256sum") is None:
        pytest.skip("no sha256sum")
    command = ["sha256sum", *FILES]
    lines = subprocess.run(command, cwd=D5, capture_output=True, text=True, check=True).stdout
    sums = {line.split()[1]: line.split()[0] for line in lines.splitlines()}
    assert {name: file.sha256 for name, file in ENTRY.files.items()} == sums
    assert ENTRY.index_bytes == sum((D5 / name).stat().st_size for name in FILES)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    entries = [in_folder(ENTRY, str(number)) for number in range(3)]
    assert read_manifest(tmp_path) is None
    (tmp_path / MANIFEST).write_bytes(to_manifest(entries))
    assert read_manifest(tmp_path) == entries
    assert [in_folder(entry, "") for entry in entries] == [ENTRY] * 3


def test_a_manifest_that_cannot_be_read_is_not_taken_for_none(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).mkdir()
    with pytest.raises(IndexFormatError, match="can't be read: "):
        read_manifest(tmp_path)


def refusal(content: bytes) -> str:
    with pytest.raises(IndexFormatError) as caught:
        parse_manifest(content, "m")
    assert "\n" not in str(caught.value)
    return caught.value.problem


SOUND = json.loads(to_manifest([ENTRY]))
FILES_OF_ONE = SOUND["shards"][0]["files"]
HOSTILE: dict[tuple[str, ...], list[object]] = {
    ("folder",): [
        *("../x", "/etc", "..", ".", ".x", "a/b", "a\\b", "0\n", "\0", "?x", "a%2fb", "a b", "é"),
        *(0, None, ["0"]),
    ],
    ("documents",): [-1, 2**63, 10**400, 5.0, float("inf"), True, "5", None],
    ("bytes",): [-1, 2**70, float("nan"), "31", [31]],
    ("files",): [
        {},
        [],
        None,
        dict.fromkeys(FILES),
        {**FILES_OF_ONE, "../x": FILES_OF_ONE["meta.fm9"]},
    ],
    ("files", "meta.fm9", "bytes"): [-1, 2**63, 1.5, "8", None],
    ("files", "meta.fm9", "sha256"): ["0" * 63, "0" * 65, "G" * 64, 0, None],
}


@pytest.mark.parametrize("place", HOSTILE, ids=".".join)
def test_hostile_fields_are_refused(place: tuple[str, ...]) -> None:
    for value in HOSTILE[place]:
        row = json.loads(json.dumps(SOUND["shards"][0]))
        reduce(getitem, place[:-1], row)[place[-1]] = value
        assert refusal(json.dumps({"shards": [row]}).encode()).startswith("not a manifest")


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\xff", b"{}", b"[]", b"5", b"null", b'{"shards": null}', b'{"shards": {"a": 1}}'),
        *(b'{"shards": [null]}', b"[" * 100_000, b'{"shards": [' + b"9" * 5000 + b"]}"),
    ],
    ids=lambda content: repr(content[:20]),
)
def test_what_is_no_manifest_is_refused(content: bytes) -> None:
    assert refusal(content).startswith("not a manifest")


def test_shards_are_listed_once() -> None:
    for entries in ([], [ENTRY, ENTRY], [ENTRY, in_folder(ENTRY, "0")]):
        assert refusal(to_manifest(entries)).startswith("it lists no shard, or")
