"""Verification of indexes over tokens: sound ones have no findings, damaged ones do."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.index_files.tokens.verify import verify_tokens
from ngramscan.progress import SILENT
from tests.support.sizes import slow
from tests.support.token_folders import COPIES, some_documents, write_folder

DEEP = pytest.mark.parametrize("deep", [False, True])
SHARDS = [some_documents(seed, 40, 6) for seed in range(3)]
Damage = Callable[[Path, random.Random], None]
Numbers = np.ndarray[Any, Any]


@DEEP
@pytest.mark.parametrize("name", ["v4_pysmall_llama_s3", "v4_pysmall_olmo2", "v5_pysmall_llama"])
def test_their_copies_are_sound(name: str, deep: bool) -> None:
    assert verify_tokens(COPIES / name, deep, SILENT) == []


def changing(name: str, edit: Callable[[Numbers, random.Random], object]) -> Damage:
    """Return what changes the numbers in one of the files of a name: a row for each pointer."""

    def damage(folder: Path, draw: random.Random) -> None:
        number = draw.randrange(3)
        path, text = folder / f"{name}.{number}", folder / f"tokenized.{number}"
        kind = {"table": "u1", "tokenized": "<u2"}.get(name, "<u8")
        numbers = np.frombuffer(path.read_bytes(), kind).copy()
        if name == "table":
            numbers = numbers.reshape(text.stat().st_size // 2, -1)
        edit(numbers, draw)
        path.write_bytes(numbers.tobytes())

    return damage


def exchange(numbers: Numbers, one: int, other: int) -> None:
    numbers[[one, other]] = numbers[[other, one]]


def swap(numbers: Numbers, draw: random.Random) -> None:
    exchange(numbers, *sorted(draw.sample(range(len(numbers)), 2)))


def swap_neighbours(numbers: Numbers, draw: random.Random) -> None:
    rank = draw.randrange(len(numbers) - 1)
    exchange(numbers, rank, rank + 1)


def repeat(numbers: Numbers, draw: random.Random) -> None:
    rank = draw.randrange(len(numbers) - 1)
    numbers[rank] = numbers[rank + 1]


def point_outside(numbers: Numbers, draw: random.Random) -> None:
    numbers[draw.randrange(len(numbers))] = 0xFF


def point_inside_a_token(numbers: Numbers, draw: random.Random) -> None:
    numbers[draw.randrange(len(numbers)), 0] |= 1


def change_token(numbers: Numbers, draw: random.Random) -> None:
    at = draw.randrange(1, len(numbers))
    numbers[at] = 9 if numbers[at] != 9 else 8  # no other token has these ids


def move_offset(numbers: Numbers, draw: random.Random) -> None:
    numbers[draw.randrange(1, len(numbers))] += draw.choice((1, 1 << 40))


def swap_offsets(numbers: Numbers, draw: random.Random) -> None:
    at = draw.randrange(1, len(numbers) - 1)
    exchange(numbers, at, at + 1)


def name_document_twice(numbers: Numbers, draw: random.Random) -> None:
    """Let two entries in a row be of one document, in the place of the next one or the last one."""
    at = draw.randrange(len(numbers) - 1)
    one, other = draw.choice(((at, at + 1), (at + 1, at)))
    numbers[one] = numbers[other]


def move_line(numbers: Numbers, draw: random.Random) -> None:
    numbers[draw.randrange(len(numbers))] += draw.choice((1, 1 << 40))


def drop_offset(folder: Path, draw: random.Random) -> None:
    number = draw.randrange(3)
    for path in (folder / f"offset.{number}", folder / f"metaoff.{number}"):
        path.write_bytes(path.read_bytes()[:-8])


def cut(folder: Path, draw: random.Random) -> None:
    path = folder / f"{draw.choice(sorted(ALL))}.{draw.randrange(3)}"
    path.write_bytes(path.read_bytes()[: -draw.randrange(2, 9)])


def break_line(folder: Path, draw: random.Random) -> None:
    path = folder / f"metadata.{draw.randrange(3)}"
    lines = path.read_bytes().split(b"\n")
    at = draw.randrange(1, 40)
    lines[at] = draw.choice((b"\xff", b"[", b"\n")) + lines[at][1:]
    path.write_bytes(b"\n".join(lines))


def remove(folder: Path, draw: random.Random) -> None:
    (folder / f"{draw.choice(sorted(ALL))}.{draw.randrange(3)}").unlink()


ALL = {"tokenized", "table", "offset", "metadata", "metaoff"}
TABLE = (swap, swap_neighbours, repeat, point_outside, point_inside_a_token)
DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    **{edit.__name__: (changing("table", edit), {"table"}) for edit in TABLE},
    "change_token": (changing("tokenized", change_token), {"table", "tokenized", "offset"}),
    "move_offset": (changing("offset", move_offset), {"offset", "table"}),
    "swap_offsets": (changing("offset", swap_offsets), {"offset"}),
    "name_document_twice": (changing("offset", name_document_twice), {"offset"}),
    "name_line_twice": (changing("metaoff", name_document_twice), {"metaoff"}),
    "drop_offset": (drop_offset, {"table", "tokenized"}),
    "cut": (cut, ALL),
    "move_line": (changing("metaoff", move_line), {"metaoff"}),
    "break_line": (break_line, {"metadata", "metaoff"}),
    "remove": (remove, ALL),
}


@DEEP
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("n", [10, slow(40)])
def test_each_of_many_damages_is_found(tmp_path: Path, damage: str, deep: bool, n: int) -> None:
    change, places = DAMAGES[damage]
    sound = write_folder(tmp_path / "sound", SHARDS, 2)
    for seed in range(n):
        folder = shutil.copytree(sound, tmp_path / "damaged", dirs_exist_ok=True)
        change(folder, random.Random(seed))
        found = verify_tokens(folder, deep, SILENT)
        assert found, f"seed {seed}"
        assert {finding.file.split(".")[0] for finding in found} & places, found
        shutil.rmtree(folder)
