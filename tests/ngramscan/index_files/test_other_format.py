"""Where an address has an index of the other format, the message names its spec."""

import shutil
from pathlib import Path

import pytest

from tests.support.command import invoke
from tests.support.places import FM9, TOKENS
from tests.support.range_server import Faults, RangeServer

LLAMA = TOKENS / "llamalike.model"
VERSION_4 = TOKENS / "v4_pysmall_llama_s3"


def in_folders(target: Path) -> Path:
    """Copy the shards of an index over tokens to folders, as version 6 has them."""
    for path in VERSION_4.iterdir():
        place = target / f"0{path.suffix[1:]}" / path.stem
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    return target


def said_of(spec: str, journal: Path) -> str:
    ran = invoke("count", "-e", "step", "--index", spec, "--tokenizer", LLAMA, "--journal", journal)
    assert ran.code == 2
    return ran.stderr


@pytest.mark.parametrize("version", [4, 6])
def test_an_index_over_tokens_is_named_as_such(version: int, tmp_path: Path) -> None:
    folder = VERSION_4 if version == 4 else in_folders(tmp_path / "index")
    with RangeServer(folder) as server:
        said = said_of(f"fm9:{server.url}", tmp_path / "journal")
        place = server.url.rstrip("/")
    assert f"an index over tokens; to query it: --index tokens:{place}\n" in said


def test_an_index_over_bytes_is_named_as_such(tmp_path: Path) -> None:
    with RangeServer(FM9 / "d5") as server:
        said = said_of(f"tokens:{server.url}index", tmp_path / "journal")
        place = f"{server.url}index"
    assert f"an index over bytes; to query it: --index fm9:{place}\n" in said


def test_where_all_is_refused_nothing_is_said_of_another_format(tmp_path: Path) -> None:
    with RangeServer(tmp_path, faults=Faults(always={"": "403"})) as server:
        ran = invoke("count", "-e", "step", "--index", f"fm9:{server.url}")
    assert ran.code == 1
    assert "access denied" in ran.stderr
