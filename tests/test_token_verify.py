"""Verification of indexes over tokens: sound ones have no findings, damaged ones do."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ngramscan.index_files.tokens.verify import verify_tokens
from ngramscan.progress import SILENT
from tests.test_token_files import COPIES, some_documents, write_folder

DEEP = pytest.mark.parametrize("deep", [False, True])
SHARDS = [some_documents(seed, 40, 6) for seed in range(3)]
Damage = Callable[[Path, random.Random], None]


def found_in(folder: Path, deep: bool) -> list[tuple[str, str]]:
    return [(one.file, one.problem) for one in verify_tokens(folder, deep, SILENT)]


@DEEP
@pytest.mark.parametrize("name", ["v4_pysmall_llama_s3", "v4_pysmall_olmo2", "v5_pysmall_llama"])
def test_their_copies_are_sound(name: str, deep: bool) -> None:
    assert verify_tokens(COPIES / name, deep, SILENT) == []


def pointers(path: Path) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    text = path.with_name(path.name.replace("table", "tokenized")).stat().st_size
    raw = np.frombuffer(path.read_bytes(), np.uint8).copy()
    return raw.reshape(text // 2, -1)


def swap(folder: Path, draw: random.Random) -> None:
    path = folder / f"table.{draw.randrange(3)}"
    table = pointers(path)
    low, high = sorted(draw.sample(range(len(table)), 2))
    table[[low, high]] = table[[high, low]]
    path.write_bytes(table.tobytes())


def swap_neighbours(folder: Path, draw: random.Random) -> None:
    path = folder / f"table.{draw.randrange(3)}"
    table = pointers(path)
    rank = draw.randrange(len(table) - 1)
    table[[rank, rank + 1]] = table[[rank + 1, rank]]
    path.write_bytes(table.tobytes())


def repeat(folder: Path, draw: random.Random) -> None:
    path = folder / f"table.{draw.randrange(3)}"
    table = pointers(path)
    rank = draw.randrange(len(table) - 1)
    table[rank] = table[rank + 1]
    path.write_bytes(table.tobytes())


def point_outside(folder: Path, draw: random.Random) -> None:
    path = folder / f"table.{draw.randrange(3)}"
    table = pointers(path)
    table[draw.randrange(len(table))] = 0xFF
    path.write_bytes(table.tobytes())


def point_inside_a_token(folder: Path, draw: random.Random) -> None:
    path = folder / f"table.{draw.randrange(3)}"
    table = pointers(path)
    table[draw.randrange(len(table)), 0] |= 1
    path.write_bytes(table.tobytes())


def change_token(folder: Path, draw: random.Random) -> None:
    path = folder / f"tokenized.{draw.randrange(3)}"
    tokens = np.frombuffer(path.read_bytes(), "<u2").copy()
    at = draw.randrange(1, len(tokens))
    tokens[at] = 9 if tokens[at] != 9 else 8  # no other token has these ids
    path.write_bytes(tokens.tobytes())


def move_offset(folder: Path, draw: random.Random) -> None:
    path = folder / f"offset.{draw.randrange(3)}"
    offsets = np.frombuffer(path.read_bytes(), "<u8").copy()
    offsets[draw.randrange(1, len(offsets))] += draw.choice((1, 1 << 40))
    path.write_bytes(offsets.tobytes())


def swap_offsets(folder: Path, draw: random.Random) -> None:
    path = folder / f"offset.{draw.randrange(3)}"
    offsets = np.frombuffer(path.read_bytes(), "<u8").copy()
    at = draw.randrange(1, len(offsets) - 1)
    offsets[[at, at + 1]] = offsets[[at + 1, at]]
    path.write_bytes(offsets.tobytes())


def drop_offset(folder: Path, draw: random.Random) -> None:
    number = draw.randrange(3)
    for path in (folder / f"offset.{number}", folder / f"metaoff.{number}"):
        path.write_bytes(path.read_bytes()[:-8])


def cut(folder: Path, draw: random.Random) -> None:
    names = ("tokenized", "table", "offset", "metadata", "metaoff")
    path = folder / f"{draw.choice(names)}.{draw.randrange(3)}"
    path.write_bytes(path.read_bytes()[: -draw.randrange(2, 9)])


def move_line(folder: Path, draw: random.Random) -> None:
    path = folder / f"metaoff.{draw.randrange(3)}"
    offsets = np.frombuffer(path.read_bytes(), "<u8").copy()
    offsets[draw.randrange(len(offsets))] += draw.choice((1, 1 << 40))
    path.write_bytes(offsets.tobytes())


def break_line(folder: Path, draw: random.Random) -> None:
    path = folder / f"metadata.{draw.randrange(3)}"
    lines = path.read_bytes().split(b"\n")
    at = draw.randrange(1, 40)
    lines[at] = draw.choice((b"\xff", b"[", b"\n")) + lines[at][1:]
    path.write_bytes(b"\n".join(lines))


def remove(folder: Path, draw: random.Random) -> None:
    names = ("tokenized", "table", "offset", "metadata", "metaoff")
    (folder / f"{draw.choice(names)}.{draw.randrange(3)}").unlink()


DAMAGES: dict[Damage, set[str]] = {
    swap: {"table"},
    swap_neighbours: {"table"},
    repeat: {"table"},
    point_outside: {"table"},
    point_inside_a_token: {"table"},
    change_token: {"table", "tokenized", "offset"},
    move_offset: {"offset", "table"},
    swap_offsets: {"offset"},
    drop_offset: {"table", "tokenized"},
    cut: {"tokenized", "table", "offset", "metadata", "metaoff"},
    move_line: {"metaoff"},
    break_line: {"metadata", "metaoff"},
    remove: {"tokenized", "table", "offset", "metadata", "metaoff"},
}


@DEEP
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("n", [10, pytest.param(40, marks=pytest.mark.slow)])
def test_each_of_many_damages_is_found(tmp_path: Path, damage: Damage, deep: bool, n: int) -> None:
    sound = write_folder(tmp_path / "sound", SHARDS, 2)
    for seed in range(n):
        folder = shutil.copytree(sound, tmp_path / "damaged", dirs_exist_ok=True)
        damage(folder, random.Random(seed))
        found = found_in(folder, deep)
        assert found, f"seed {seed}"
        assert {file.split(".")[0] for file, _ in found} & DAMAGES[damage], found
        shutil.rmtree(folder)
