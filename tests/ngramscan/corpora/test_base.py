"""Files, pieces and options of corpora: what tells them apart, and what was left out in words."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ngramscan.corpora.base import (
    CorpusFile,
    Piece,
    ReadOptions,
    describe_skipped,
    listed_file,
    local_file,
    web_path,
)

FILE = CorpusFile("/c/a.jsonl", "jsonl", 40, stamp="123", status="456-7")


@pytest.mark.parametrize(
    ("skipped", "words"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"null": 3}, "skipped: 3 null", id="one kind"),
        pytest.param({"bytes behind it": 1}, "skipped: 1 byte behind it", id="a single byte"),
        pytest.param({"bytes behind it": 2}, "skipped: 2 bytes behind it", id="two bytes"),
        pytest.param({"files": 1}, "skipped: 1 file", id="a noun alone"),
        pytest.param({"records of others": 1}, "skipped: 1 record of others", id="a record"),
        pytest.param(
            {"null": 2, "empty": 2, "files too large": 5},
            "skipped: 5 files too large, 2 empty, 2 null",
            id="the most frequent first, then by name",
        ),
    ],
)
def test_what_was_skipped_is_said_by_kind(skipped: Mapping[str, int], words: str) -> None:
    assert describe_skipped(skipped) == words


@pytest.mark.parametrize(
    ("start", "stop", "is_whole"),
    [(0, None, True), (0, 40, False), (5, None, False), (5, 9, False)],
    ids=["all", "to its end", "from a byte on", "a part"],
)
def test_a_piece_without_start_and_stop_is_a_whole_file(
    start: int, stop: int | None, is_whole: bool
) -> None:
    assert Piece(FILE, start, stop).is_whole == is_whole


def test_the_identity_of_a_piece_has_all_that_changes_its_documents() -> None:
    piece = Piece(FILE, 5, 9)
    others = [
        replace(piece, start=6),
        replace(piece, stop=10),
        replace(piece, stop=None),
        replace(piece, file=replace(FILE, path="/c/b.jsonl")),
        replace(piece, file=replace(FILE, format="text")),
        replace(piece, file=replace(FILE, size=41)),
        replace(piece, file=replace(FILE, stamp="124")),
        replace(piece, file=replace(FILE, status="456-8")),
        replace(piece, file=replace(FILE, address="https://h/a?key=1")),
        replace(piece, file=replace(FILE, address="https://h/a?key=2")),
    ]
    identities = [other.identity for other in (piece, *others)]
    assert len({*identities}) == len(identities)
    assert replace(piece, size=4).identity == piece.identity
    assert not [identity for identity in identities if "key=" in identity]


def test_a_piece_of_a_file_without_a_stamp_has_no_identity() -> None:
    assert Piece(replace(FILE, stamp="")).identity == ""


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("https://me:word@h/a.jsonl?key=1#x", "https://h/a.jsonl"),
        ("@https://me:word@h/list?key=1", "@https://h/list"),
        ("/c/a?b#c.jsonl", "/c/a?b#c.jsonl"),
        ("s3://b/a?b", "s3://b/a?b"),
    ],
    ids=["an address", "a list of addresses", "a local file", "a store"],
)
def test_a_web_address_is_shown_without_its_secrets(location: str, path: str) -> None:
    assert web_path(location) == path


def test_a_listed_file_is_opened_by_its_whole_address() -> None:
    plain = listed_file("https://h/a.jsonl", "jsonl")
    assert (plain.path, plain.address, plain.location) == (plain.path, "", "https://h/a.jsonl")
    secret = listed_file("https://h/a.jsonl?key=1", "jsonl")
    assert (secret.path, secret.location) == ("https://h/a.jsonl", "https://h/a.jsonl?key=1")
    assert "key" not in repr(secret)


def test_a_file_on_disk_has_its_size_and_times(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("{}")
    found, status = local_file(path, "jsonl"), path.stat()
    expected = CorpusFile(str(path), "jsonl", 2, stamp=str(status.st_mtime_ns))
    assert found == expected
    assert found is not None
    assert found.status == f"{status.st_ctime_ns}-{status.st_ino}"


@pytest.mark.parametrize("name", ["", "none", "\0"], ids=["a folder", "nothing", "no name"])
def test_what_is_no_regular_file_is_none(tmp_path: Path, name: str) -> None:
    assert local_file(f"{tmp_path}/{name}", "text") is None


@pytest.mark.parametrize(
    ("options", "needs_sources"),
    [({}, False), ({"with_sources": True}, True), ({"exclude_sources": ("a*",)}, True)],
    ids=["plain", "asked for", "some are left out"],
)
def test_sources_are_read_where_they_are_needed(
    options: dict[str, Any], needs_sources: bool
) -> None:
    assert ReadOptions(**options).needs_sources == needs_sources


def test_options_are_told_by_the_names_of_the_command() -> None:
    options = ReadOptions("body", True, False, ("a*",), 1000, 2000)
    assert options.content == {
        "text_field": "body",
        "skip_bad_lines": True,
        "skip_null": False,
        "exclude_source": ("a*",),
    }
    assert options.limits == {"max_line": 1000, "max_bytes": 2000}
    assert ReadOptions().text_field == "text"
    assert ReadOptions().limits["max_line"] == 256_000_000
