"""Files that are damaged: what is wrong is named; no read leaves a file, and nothing hangs."""

import shutil
from pathlib import Path

import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.header import read_layout
from ngramscan.index_files.fm9.verify import verify_shard
from ngramscan.progress import SILENT

FIXTURES = Path(__file__).parent / "fm9"
D5 = FIXTURES / "d5" / "index"
SOUND = (D5 / "data.fm9").read_bytes()
REPLAY = Path(__file__).parent / "replay" / "index"
SHARDS = [
    *(FIXTURES / name / "index" for name in ("d1", "d5", "dempty", "dlit")),
    REPLAY / "replay2" / "1",
]


def refusal(data: bytes) -> str:
    with pytest.raises(IndexFormatError) as caught:
        read_layout(memoryview(data), "f.fm9")
    assert caught.value.where == "f.fm9"
    assert "\n" not in str(caught.value)
    return caught.value.problem


def changed(offset: int, raw: bytes | int) -> bytes:
    raw = raw.to_bytes(8, "little") if isinstance(raw, int) else raw
    return SOUND[:offset] + raw + SOUND[offset + len(raw) :]


# (offset, new bytes or integer, what is said), by the table in section 8 of the format.
DAMAGE: list[tuple[int, int | bytes, str]] = [
    (0, 36, "field "),
    (0, 0, "field n: 0"),
    (0, 2**64 - 1, "field n: "),
    (8, 12, "field nodes: 25 nodes, expected 23"),
    (8, 1, "field sigma: 1"),
    (8, 257, "field sigma: 257"),
    (16, 2**40, "field rrr.size: "),
    (24, 15, "field rrr.bt: 15 bits"),
    (32, b"\x08", "field rrr.bt: "),
    (32, b"\x00", "field rrr.bt: 0 bits wide"),
    (41, 63, "field rrr.btnr: 63 bits"),
    (73, 16, "field rrr.btnrp: 16 bits"),
    (81, b"\x07", "field rrr.btnrp: "),
    (90, 7, "field rrr.rank: 7 bits"),
    (98, b"\x41", "field rrr.rank: 65 bits wide"),
    (99, b"\xff\xff", "field rrr.rank: 127 ones, but the nodes have"),
    (107, 2, "field rrr.invert: 2 bits"),
    (131, 1, "field node: the root does not start"),
    (139, 1, "field node: 0 has 1 ones before it"),
    (147, b"\0\0", "field node: the root has a parent"),
    (149, b"\0\0", "field node: 0 can't have 0 as its child"),
    (149, b"\x02\0", "field node: 0 can't have 2 as its child"),
    (149, b"\xff\xff", "field node: 0 has one child"),
    (151, b"\x19\0", "field node: 0 can't have 25 as its child"),
    (153, 9999, "field node: "),
    (681, b"\x03\0", "field leaf_of: byte 0 is not in the text"),
    (681 + 2 * ord("h"), b"\xff\xff", "field leaf_of: byte 104 has no leaf at 65535"),
    (1193, b"\x01", "field path: byte 0 is not in the text"),
    (1193 + 8 * ord("h") + 7, b"\x3f", "field path: byte 104 has a wrong code"),
    (3241, 18, "field sa_sample: 18 bits"),
    (3249, b"\x05", "field sa_sample: "),
    (3258, 5, "field isa_sample: 5 bits"),
    (3266, b"\x40", "field isa_sample: "),
    (3275, 2040, "field char2comp: 2040 bits"),
    (3283, b"\x01", "field char2comp: contradicts"),
    (3539, 96, "field comp2char: 96 bits"),
    (3547, b"zz", "field comp2char: the bytes are not in order"),
    (3563, 895, "field C: 895 bits"),
    (3571, 1, "field C: from 1 to 37"),
    (3579, 0, "field C: the counts do not increase"),
    (3683, b"\x0e\0", "field sigma16: 14, but sigma is 13"),
]


# Checks


def test_a_deep_check_names_a_field_or_rank(tmp_path: Path) -> None:
    shutil.copytree(D5, tmp_path / "x")
    small = {33: b"\x41", 82: b"\x01", 99: b"\x81", 115: b"\x01", 3250: b"\0"}
    for offset, raw in (small | {49: b"\xff" * 16}).items():
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
