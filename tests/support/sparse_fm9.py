"""An index of a text longer than any disk: sparse files in which only some places are written.

The text is FF, `phrase` many times, FF, z, FA. No byte occurs twice in the word, and what comes
behind the last word is above every byte of it: so the suffixes that begin with one of its bytes
have neighbouring ranks, in the order of the text, and any entry of the index can be computed from
the form of the text. The numbers of blocks lie apart, where a real index has no room, so that the
pointers to them are large as well.
"""

import struct
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

from tests.support import fm9_reference
from tests.support.fm9_reference import FM9, UNDEF, B, K

WORD = b"phrase"
AROUND = 200
"""Bytes before and behind a place of which the index can be read."""
_SORTED = bytes(sorted(WORD))
_NUMBERS = 124 * K


class LongText:
    """The text and its suffixes in order, computed when asked for."""

    def __init__(self, repeats: int) -> None:
        self.repeats = repeats
        self.end = 1 + len(WORD) * repeats  # position of the second document's separator
        self.n = self.end + 3
        # Positions of the four last ranks: z, FA, FF phrase, FF z.
        self._last = [self.end + 1, self.n - 1, 0, self.end]

    def text(self, start: int, stop: int) -> bytes:
        return bytes(map(self._byte, range(start, stop)))

    def _byte(self, at: int) -> int:
        if at == 0 or at >= self.end:
            return 0xFF if at == 0 else b"\xffz\xfa"[at - self.end]
        return WORD[(at - 1) % len(WORD)]

    def rank(self, at: int) -> int:
        if at in self._last:
            return self.n - 4 + self._last.index(at)
        word, place = divmod(at - 1, len(WORD))
        return _SORTED.index(WORD[place]) * self.repeats + word

    def segment(self, pattern: bytes) -> tuple[int, int]:
        """Return the ranks of a part of the first document: half-open."""
        place = WORD.index(pattern[0])
        first = _SORTED.index(pattern[0]) * self.repeats
        return first, first + (self.end - 1 - place - len(pattern)) // len(WORD) + 1

    def bwt(self) -> list[tuple[int, int]]:
        """Return the byte before each suffix, in order: bytes, and how often each repeats."""
        runs = []
        for byte in _SORTED:
            before = WORD[WORD.index(byte) - 1]
            repeats = self.repeats - (byte == WORD[0])
            runs += [(0xFF, 1)] * (byte == WORD[0]) + [(before, repeats)]
        return [*runs, (0xFF, 1), (ord("z"), 1), (0xFA, 1), (WORD[-1], 1)]


class _Bits:
    """The wavelet tree's bits as runs, and its nodes in the shape that a short such text gives."""

    def __init__(self, bwt: list[tuple[int, int]], short: FM9) -> None:
        self.starts, self.values, self.before, self.size = [0], [0], [0], 0
        self.nodes: list[tuple[int, ...]] = []
        leaves = {node: byte for byte, node in enumerate(short.c_to_leaf) if node != UNDEF}
        runs = {0: bwt}
        for number, (_, _, parent, left, right) in enumerate(short.nodes):
            value = leaves.get(number, self.ones(self.size))
            self.nodes.append((self.size, value, parent, left, right))
            if left == UNDEF:
                continue
            below = {right}
            for child, node in enumerate(short.nodes):
                below |= {child} if node[2] in below else set()
            to_right = {leaves[node] for node in below & leaves.keys()}
            for child, is_right in ((left, False), (right, True)):
                runs[child] = [run for run in runs[number] if (run[0] in to_right) == is_right]
            for byte, length in runs[number]:
                self._append(byte in to_right, length)

    def _append(self, bit: bool, length: int) -> None:
        self.before.append(self.ones(self.size))
        self.starts.append(self.size)
        self.values.append(int(bit))
        self.size += length

    def ones(self, position: int) -> int:
        position = min(position, self.size)
        run = bisect_right(self.starts, position) - 1
        return self.before[run] + self.values[run] * (position - self.starts[run])

    def block(self, number: int) -> int:
        """Return the bits of a block, the first one lowest."""
        counts = [self.ones(place) for place in range(number * B, number * B + B + 1)]
        return sum((counts[bit + 1] - counts[bit]) << bit for bit in range(B))

    def superblocks(self, rank: int) -> set[int]:
        """Return those in which a step from a rank can end, by any byte."""
        at, found = {0: rank}, set()
        for number, (start, before, _, left, right) in enumerate(self.nodes):
            if left != UNDEF:
                at[right] = self.ones(start + at[number]) - before
                at[left] = at[number] - at[right]
                found.add(min(start + at[number], self.size - 1) // (B * K))
        return found


class _File:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.write = file.write

    def vector(self, width: int, entries: int, head: str = "<QB") -> tuple[int, int]:
        """Write the head of a vector of zeros; return where they begin, and their width."""
        bits = width * entries
        self.write(struct.pack(head, *(bits, width)[: len(head) - 1]))
        at = self._file.tell()
        self._file.seek(at + -(-bits // 64) * 8)
        return at, width

    def put(self, vector: tuple[int, int], number: int, value: int) -> None:
        """Write an entry over zeros, or over itself."""
        start, width = vector
        if value:
            self._file.seek(start + number * width // 8)
            raw = int.from_bytes(self._file.read(17), "little") | value << number * width % 8
            self._file.seek(start + number * width // 8)
            self.write(raw.to_bytes(17, "little"))


def write_long_index(folder: Path, repeats: int, places: Sequence[int] = ()) -> LongText:
    """Write the index of a long text: it can be asked around these positions, and at both ends.

    An OSError says that the file system has no sparse files of this size.
    """
    text = LongText(repeats)
    line = b'{"path": "phrases.jsonl", "linenum": %d}\n'
    (folder / "short").write_bytes(fm9_reference.build_fm9(b"\xff" + WORD * 9 + b"\xffz\xfa"))
    (folder / "meta.fm9").write_bytes(fm9_reference.build_fm9(line % 0 + line % 1 + b"\xfa"))
    (folder / "meta_offset").write_bytes(struct.pack("<2Q", 0, len(line % 0)))
    (folder / "data_offset").write_bytes(struct.pack("<2Q", 0, text.end))
    model = FM9(folder / "short")
    with (folder / "data.fm9").open("w+b") as file:
        _write(_File(file), text, _Bits(text.bwt(), model), model, [0, *places, text.n])
    model._f.close()
    (folder / "short").unlink()
    return text


def _write(file: _File, text: LongText, bits: _Bits, model: FM9, places: Sequence[int]) -> None:
    blocks, ones = bits.size // B + 1, bits.ones(bits.size)
    superblocks = -(-blocks // K)
    file.write(struct.pack("<3Q", text.n, model.sigma, bits.size))
    types = file.vector(7, blocks)
    numbers = file.vector(1, 124 * blocks, "<Q")
    pointers = file.vector((124 * blocks).bit_length(), superblocks)
    ranks = file.vector(ones.bit_length(), superblocks + (bits.size % (B * K) > 0))
    inverted = file.vector(1, superblocks, "<Q")
    file.write(struct.pack("<Q", len(bits.nodes)))
    file.write(b"".join(struct.pack("<QQHHH", *node) for node in bits.nodes))
    file.write(struct.pack("<256H256Q", *model.c_to_leaf, *model.path))
    sa = file.vector(text.n.bit_length(), -(-text.n // 32))
    isa = file.vector(text.n.bit_length(), (text.n - 1) // 64 + 1)
    file.write(model.buf[model.char2comp.off - 8 : model.C.off - 8])
    counts = [sum(size for known, size in text.bwt() if known == byte) for byte in range(256)]
    c = [0, *accumulate(filter(None, counts))]
    file.write(struct.pack(f"<{len(c) + 1}QH", 64 * len(c), *c, model.sigma))
    superblocks_read = {superblocks - 1}
    for position in {at for place in places for at in range(place - AROUND, place + AROUND)}:
        if 0 <= position < text.n:
            rank = text.rank(position)
            superblocks_read |= bits.superblocks(rank) | bits.superblocks(rank + 1)
            if rank % 32 == 0:
                file.put(sa, rank // 32, position)
            if position % 64 == 0:
                file.put(isa, position // 64, rank)
    for number in superblocks_read:
        file.put(pointers, number, number * _NUMBERS)
        file.put(ranks, number, bits.ones(number * B * K))
        file.put(ranks, number + 1, bits.ones((number + 1) * B * K))
        _write_blocks(file, bits, number, (types, numbers, inverted))


def _write_blocks(file: _File, bits: _Bits, number: int, fields: Sequence[tuple[int, int]]) -> None:
    types, numbers, inverted = fields
    mine = range(number * K, min(number * K + K, bits.size // B + 1))
    counts = [bits.ones(block * B + B) - bits.ones(block * B) for block in mine]
    is_inverted = len(mine) == K and sum(count > B // 2 for count in counts) > K // 2
    file.put(inverted, number, int(is_inverted))
    at = number * _NUMBERS
    for block, count in zip(mine, counts, strict=True):
        file.put(types, block, B - count if is_inverted else count)
        if 0 < count < B:
            file.put(numbers, at, fm9_reference.block_number(bits.block(block))[1])
            at += fm9_reference.SPACE[count]
