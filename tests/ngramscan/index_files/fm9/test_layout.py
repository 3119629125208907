"""Files that are damaged: what is wrong is named; no read leaves a file, and nothing hangs."""

import shutil
from pathlib import Path

import pytest

from ngramscan.index_files.fm9.verify import verify_shard
from ngramscan.progress import SILENT
from tests.support.places import FM9

D5 = FM9 / "d5" / "index"
SOUND = (D5 / "data.fm9").read_bytes()


def changed(offset: int, raw: bytes | int) -> bytes:
    raw = raw.to_bytes(8, "little") if isinstance(raw, int) else raw
    return SOUND[:offset] + raw + SOUND[offset + len(raw) :]


# Checks


@pytest.mark.parametrize(
    ("offset", "raw"),
    [
        (33, b"\x41"),
        (82, b"\x01"),
        (99, b"\x81"),
        (115, b"\x01"),
        (3250, b"\0"),
        (49, b"\xff" * 16),
    ],
    ids=["byte 33", "byte 82", "byte 99", "byte 115", "byte 3250", "bytes 49 to 64"],
)
def test_a_deep_check_names_a_field_or_rank(offset: int, raw: bytes, tmp_path: Path) -> None:
    shutil.copytree(D5, tmp_path / "x")
    (tmp_path / "x" / "data.fm9").write_bytes(changed(offset, raw))
    problems = verify_shard(tmp_path / "x", True, SILENT)
    assert problems
    assert all(found.place.startswith(("field ", "rank ")) for found in problems)


def test_offsets_that_are_not_those_of_the_text_are_found(tmp_path: Path) -> None:
    good = (D5 / "data_offset").read_bytes()
    wrong = good[:8] + (11).to_bytes(8, "little") + good[16:]
    assert wrong != good
    shutil.copytree(D5, tmp_path / "x")
    (tmp_path / "x" / "data_offset").write_bytes(wrong)
    (problem,) = verify_shard(tmp_path / "x", False, SILENT)
    assert problem.place == "entry 1"
    assert problem.problem.endswith("at position 11, expected FF")
