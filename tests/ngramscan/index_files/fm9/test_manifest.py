"""The manifest of an index: what is written is read back, and nothing else is."""

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

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
from tests.support.cases import objects
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
    return caught.value.problem


SOUND = json.loads(to_manifest([ENTRY]))
FILES_OF_ONE = SOUND["shards"][0]["files"]
HOSTILE = {(*row["place"],): row["values"] for row in objects("hostile_fields")}
HOSTILE["files",] += [dict.fromkeys(FILES), {**FILES_OF_ONE, "../x": FILES_OF_ONE["meta.fm9"]}]


@pytest.mark.parametrize("place", HOSTILE, ids=".".join)
def test_hostile_fields_are_refused(place: tuple[str, ...]) -> None:
    for value in HOSTILE[place]:
        row = json.loads(json.dumps(SOUND["shards"][0]))
        reduce(getitem, place[:-1], row)[place[-1]] = value
        assert refusal(json.dumps({"shards": [row]}).encode()).startswith("not a manifest")


def test_shards_are_listed_once() -> None:
    lists: Any = ([], [ENTRY, ENTRY], [ENTRY, in_folder(ENTRY, "0")])
    told = [refusal(to_manifest(entries)) for entries in lists]
    assert [one[:21] for one in told] == ["it lists no shard, or"] * 3
