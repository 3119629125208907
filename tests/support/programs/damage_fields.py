"""Flip bits in each field of an index, and verify and ask it: `python -m … ROUNDS FOLDER…`.

Every damage must be found; a damaged index answers as the sound one, or is refused. In a process
of its own, as a wrong place in a file could end it.
"""

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.fm9.header import read_layout
from ngramscan.index_files.fm9.reader import open_shards
from ngramscan.index_files.fm9.verify import verify_shard
from ngramscan.progress import SILENT

PATTERNS = [b"e", b"th", b"lo wor", b"\n", b" ", b"\xff", b"the answer", b"zz"]
VECTORS = ("bt", "btnr", "btnrp", "rank", "invert", "sa", "isa")
HEAD_BITS = 192


class Place(NamedTuple):
    """A field of one of the files of an index."""

    folder: Path
    path: Path
    number: int
    bits: range


def answers_of(folder: Path) -> Any:
    """Return what an index answers to some questions of each kind."""
    (shard,) = open_shards(folder)
    windows = shard.windows(range(0, shard.data.n, -(-shard.data.n // 40)), 3, 200)
    # Where nothing is found, the place at which it would be does not matter.
    segments = [pair if pair[0] < pair[1] else 0 for pair in shard.find(PATTERNS).tolist()]
    return segments, windows, shard.metadata(range(shard.documents))


def fields_of(path: Path) -> list[range]:
    """Return the bits of each field of a file."""
    bits = 8 * path.stat().st_size
    if path.suffix != ".fm9":
        return [range(bits)]
    layout = read_layout(memoryview(path.read_bytes()), "")
    vectors = [getattr(layout, name) for name in VECTORS]
    places = [range(8 * vector.offset, 8 * vector.offset + vector.bits) for vector in vectors]
    tree = range(8 * (layout.sa.offset - 2500), 8 * (layout.sa.offset - 9))
    return [*places, range(HEAD_BITS), tree, range(bits - 2000, bits)]


def flipped(sound: bytes, field: range, draw: random.Random, is_one_bit: bool) -> bytes:
    """Return a file in which one bit of a field, or several, are changed."""
    data = bytearray(sound)
    several = draw.choice([4, 64, len(field) // 2 + 1])
    flips = 1 if is_one_bit else min(several, len(field))
    for bit in draw.sample(field, flips):
        data[bit // 8] ^= 1 << bit % 8
    return bytes(data)


def damage_all(folders: Sequence[Path], rounds: int) -> None:
    """Damage each field of each file in so many rounds."""
    draw = random.Random(18)
    right = {folder: answers_of(folder) for folder in folders}
    places = [
        Place(folder, path, number, bits)
        for folder in folders
        for path in sorted(folder.iterdir())
        for number, bits in enumerate(fields_of(path))
    ]
    refused = same = 0
    for turn in range(rounds):
        for place in places:
            sound = place.path.read_bytes()
            is_one_bit = bool((turn + folders.index(place.folder) + place.number) % 2)
            place.path.write_bytes(flipped(sound, place.bits, draw, is_one_bit))
            assert verify_shard(place.folder, True, SILENT), f"round {turn}: nothing in {place}"
            try:
                same += answers_of(place.folder) == right[place.folder]
            except IndexFormatError:
                refused += 1
            place.path.write_bytes(sound)
    assert all(verify_shard(folder, True, SILENT) == [] for folder in folders)
    assert refused > rounds * 10, f"only {refused} were refused"
    assert same > 0, "no damage was without a consequence"


if __name__ == "__main__":
    damage_all([Path(folder) for folder in sys.argv[2:]], int(sys.argv[1]))
