"""The compiled loops against the definition: bits counted one by one, patterns found one by one."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ngramscan.errors import IndexFormatError
from ngramscan.index_files.compiled import WarmingKernel
from ngramscan.index_files.fm9 import kernels
from ngramscan.index_files.fm9.kernels import CORRUPT
from ngramscan.index_files.fm9.reader import Fm9File
from ngramscan.index_files.fm9.tables import (
    BITS,
    BTNR,
    BTNR_BITS,
    BTNRP_WIDTH,
    ONES,
    RANK,
    RANK_WIDTH,
    Tables,
)
from ngramscan.matching import count_by_brute_force
from tests.support import fm9_reference as reference

NONE = np.zeros(0, np.int64)


def bit_tables(raw: bytes) -> Tables:
    """Return the tables of a bit vector without a tree."""
    rrr = reference.RRR(reference.Cursor(raw))
    vectors = rrr.bt, rrr.btnr, rrr.btnrp, rrr.rank_s, rrr.invert
    at = np.zeros(15, np.int64)
    at[: len(vectors)] = [vector.off for vector in vectors]
    at[BTNR_BITS], at[BITS] = rrr.btnr.nbits, rrr.size
    at[BTNRP_WIDTH], at[RANK_WIDTH] = rrr.btnrp.width, rrr.rank_s.width
    at[ONES] = rrr.rank_s[len(rrr.rank_s) - 1]
    data = np.frombuffer(raw + bytes(272), np.uint8)
    return Tables(data, at, NONE.reshape(0, 8), NONE.astype(np.uint64), NONE, NONE)


def bit_vectors() -> Iterator[np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    """Yield bits of all densities, with uniform and inverted superblocks, and all kinds of ends."""
    draw = np.random.default_rng(1)
    for size in (1, 126, 127, 128, 4063, 4064, 4065, 8128):
        yield (draw.random(size) < draw.random()).astype(np.uint8)
    shares = [0, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 1, 0.5]
    yield np.concatenate([draw.random(4064) < share for share in shares]).astype(np.uint8)
    blocks = draw.permutation(np.repeat(np.arange(128), 2))  # each number of ones, twice
    yield np.concatenate([draw.permutation(np.arange(127) < ones) for ones in blocks]).astype(
        np.uint8
    )


def test_bits_are_counted_as_one_by_one() -> None:
    draw = random.Random(2)
    for bits in bit_vectors():
        t = bit_tables(reference.write_rrr(bits))
        ones = [0, *np.cumsum(bits, dtype=np.int64).tolist()]
        places = range(len(bits)) if len(bits) < 5_000 else draw.sample(range(len(bits)), 2_000)
        for at in places:
            assert kernels.bit_and_ones(t, at) == ones[at] + ones[at + 1]
            near = min(len(bits), at + draw.choice([0, 1, 1, 2, 60, 127, 300, 5_000]))
            assert kernels._ones(t, at, near) == (ones[at], ones[near])


def test_each_number_of_a_block_is_decoded_and_none_beyond() -> None:
    draw = random.Random(3)
    for ones in range(128):
        for places in [range(ones), range(127 - ones, 127), draw.sample(range(127), ones)]:
            kind, number = reference.block_number(sum(1 << place for place in places))
            width = reference.SPACE[kind]
            for inverted in (False, True):
                t = bit_tables(reference.write_rrr(np.zeros(1, np.uint8)))
                raw = (number << 5).to_bytes(64, "little")
                at = t.at.copy()
                at[BTNR], at[BTNR_BITS] = 0, 5 + width
                t = t._replace(data=np.frombuffer(raw, np.uint8), at=at)
                stored = 127 - ones if inverted else ones
                for offset in (0, 1, 63, 64, 126, draw.randrange(127)):
                    before = sum(place < offset for place in places)
                    got = kernels.ones_in_block(t, 5, stored, inverted, offset, offset + 1)
                    assert got == (before, before + (offset in places))
                if width:
                    at[BTNR_BITS] -= 1  # the number ends behind the field
                    wrong = (CORRUPT, CORRUPT)
                    assert kernels.ones_in_block(t, 5, stored, inverted, 9, 10) == wrong
                    assert kernels.ones_in_block(t, -1, stored, inverted, 9, 10) == wrong
                beyond = reference.BIN[127][ones]
                if width and beyond < 1 << width:
                    at[BTNR_BITS] += 1
                    data = np.frombuffer((beyond << 5).to_bytes(64, "little"), np.uint8)
                    got = kernels.ones_in_block(t._replace(data=data), 5, stored, inverted, 9, 10)
                    assert got == (CORRUPT, CORRUPT)


@pytest.mark.parametrize("alphabet", [b"ab", b"abc\n", bytes(range(1, 200))])
def test_patterns_that_end_alike_are_found_as_one_by_one(tmp_path: Path, alphabet: bytes) -> None:
    draw = random.Random(len(alphabet))
    text = b"\xff" + bytes(draw.choices(alphabet, k=9_000)) + b"ab" * 300 + b"\xfa"
    (tmp_path / "x.fm9").write_bytes(reference.build_fm9(text))
    file = Fm9File(tmp_path / "x.fm9")
    starts = [draw.randrange(len(text)) for _ in range(60)]
    patterns = [text[start : start + draw.choice([1, 2, 3, 9, 60])] for start in starts]
    patterns += [bytes([draw.choice(alphabet)]) + pattern for pattern in patterns]  # end alike
    patterns += [*patterns[:9], b"", b"", b"\xfe", b"a\xfe", b"\xfea", b"ab" * 250, b"b" * 700]
    patterns += [text, text + b"!", b"\xfa"]
    draw.shuffle(patterns)
    found = file.find(patterns).tolist()
    for pattern, (low, high) in zip(patterns, found, strict=True):
        assert high - low == (count_by_brute_force(pattern, text) if pattern else len(text))
        ranks = range(low, high, max(1, (high - low) // 3))
        positions = file.locate(ranks).tolist()
        assert all(text.startswith(pattern, position) for position in positions)
        (alone,) = file.find([pattern]).tolist()
        assert alone == [low, high] or alone[0] - alone[1] == low - high == 0
    # Any order is right, also one in which nothing is shared.
    for order in (patterns, sorted(patterns), sorted(patterns, key=lambda one: one[::-1])[::-1]):
        together = np.frombuffer(bytearray().join(order), np.uint8)
        ends = np.cumsum([0, *map(len, order)])
        path, segments = np.zeros((len(text) + 2, 2), np.int64), np.zeros((len(order), 2), np.int64)
        path[0, 1] = len(text)
        kernels.find(file.tables, together, ends, path, segments)
        known = dict(zip(patterns, np.diff(found).ravel().tolist(), strict=True))
        assert [high - low for low, high in segments.tolist()] == [known[one] for one in order]


def test_a_wrong_number_of_ones_is_never_taken_for_a_count(tmp_path: Path) -> None:
    text = b"\xff" + bytes(random.Random(5).choices(b"abcdefgh", k=30_000)) + b"\xfa"
    raw = bytearray(reference.build_fm9(text))
    (tmp_path / "x.fm9").write_bytes(raw)
    tables = Fm9File(tmp_path / "x.fm9").tables
    rank, width = int(tables.at[RANK]), int(tables.at[RANK_WIDTH])
    for at in range(rank + width // 4, rank + 20):  # superblocks, but not the total
        raw[at] ^= 0xFF
    (tmp_path / "x.fm9").write_bytes(raw)
    with pytest.raises(IndexFormatError, match="field "):
        Fm9File(tmp_path / "x.fm9").find([bytes([one, other]) for one, other in pairwise(text)])


def test_a_contradiction_that_a_question_meets_is_an_error(tmp_path: Path) -> None:
    draw = random.Random(8)
    text = b"\xff" + bytes(draw.choices(b"abcdefgh", k=60_000)) + b"\xfa"
    raw, met = reference.build_fm9(text), Counter[str]()
    patterns = [text[place : place + 3] for place in draw.sample(range(60_000), 33)]
    for number in range(150):
        damaged = bytearray(raw)
        for _ in range(6):
            damaged[draw.randrange(2_000, len(raw))] ^= 1 << draw.randrange(8)
        (tmp_path / "x.fm9").write_bytes(damaged)
        start = 350 * number
        questions: dict[str, Callable[[Fm9File], Any]] = {
            "field rrr: the bits": lambda file: file.find(patterns),
            "field rrr or sa_sample": partial(Fm9File.locate, ranks=[start + 3, 77, 1001]),
            "field rrr or isa_sample": partial(Fm9File.extract, starts=[start], stops=[start + 30]),
        }
        for problem, ask in questions.items():
            with suppress(IndexFormatError):
                file = Fm9File(tmp_path / "x.fm9")
                try:
                    answer = ask(file)
                except IndexFormatError as error:
                    met[problem] += problem in str(error)
                else:  # never what stands for a failure
                    assert b"\0" not in answer[0] if isinstance(answer, list) else answer.min() >= 0
    assert min(met[problem] for problem in questions) > 1


# Before they are compiled

AS_PYTHON = 10_000_000
MANY = [f"step {number}" for number in range(40)]


def both_ways(ask: Callable[[], Any]) -> list[Any]:
    """Ask kernels as Python and compiled; the answers, or what the errors say."""
    answers: list[Any] = []
    before = WarmingKernel.calls_left
    for left in (AS_PYTHON, 0):
        WarmingKernel.calls_left = left
        try:
            answers.append(ask())
            assert 0 < WarmingKernel.calls_left < left or not left, "they ran the other way"
        except IndexFormatError as error:
            answers.append(str(error))
    WarmingKernel.calls_left = before
    return answers


def ask_all(path: Path, patterns: list[bytes], places: list[int]) -> list[Any]:
    file = Fm9File(path)
    # One by one: many at once are compiled.
    texts = [file.extract([place], [place + 30])[0] for place in places]
    positions = [file.locate([place]).tolist() for place in places]
    return [file.find(patterns).tolist(), positions, texts]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("alphabet", [b"ab", bytes(range(1, 200))])
def test_before_they_are_compiled_the_answers_are_the_same(tmp_path: Path, alphabet: bytes) -> None:
    draw = random.Random(len(alphabet))
    text = b"\xff" + bytes(draw.choices(alphabet, k=5_000)) + b"ab" * 3_000 + b"\xfa"
    (tmp_path / "x.fm9").write_bytes(reference.build_fm9(text))
    places = draw.sample(range(5_000), 20)
    patterns = [text[place : place + 3] for place in places] + [b"\xfe"]
    first, second = both_ways(partial(ask_all, tmp_path / "x.fm9", patterns, places))
    assert first == second
    segments, _, texts = first
    sizes = [high - low for low, high in segments]
    assert sizes == [count_by_brute_force(pattern, text) for pattern in patterns]
    assert texts == [text[place : place + 30] for place in places]


@pytest.mark.filterwarnings("error")
def test_before_they_are_compiled_damage_has_the_same_consequence(tmp_path: Path) -> None:
    draw = random.Random(8)
    text = b"\xff" + bytes(draw.choices(b"abcdefgh", k=8_000)) + b"\xfa"
    raw, is_error = reference.build_fm9(text), Counter[bool]()
    for _ in range(25):
        damaged = bytearray(raw)
        damaged[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
        (tmp_path / "x.fm9").write_bytes(damaged)
        first, second = both_ways(partial(ask_all, tmp_path / "x.fm9", [b"ab", b"h"], [5, 77]))
        assert first == second
        is_error[isinstance(first, str)] += 1
    assert min(is_error[True], is_error[False]) > 2


@pytest.mark.parametrize(("patterns", "needs_numba"), [(["step by step"], False), (MANY, True)])
def test_numba_is_loaded_for_many_phrases_alone(patterns: list[str], needs_numba: bool) -> None:
    program = """
import sys
from ngramscan import count
rows = count(literal=sys.argv[2:], index=sys.argv[1])
print([*rows["occurrences"]], "numba" in sys.modules)
"""
    index = f"fm9:{Path(__file__).parent / 'replay/index/replay2'}"
    argv = [sys.executable, "-c", program, index, *patterns]
    ran = subprocess.run(argv, capture_output=True, text=True, check=True)
    found, loaded = ran.stdout.strip().rsplit(" ", 1)
    assert (loaded, len(found.split(","))) == (str(needs_numba), len(patterns))


def test_a_search_that_began_as_python_ends_as_python(tmp_path: Path) -> None:
    """Halfway, words of 64 bits would come back from compiled code as integers with a sign."""
    draw = random.Random(6)
    text = b"\xff" + bytes(draw.choices(range(1, 200), k=30_000)) + b"\xfa"
    (tmp_path / "x.fm9").write_bytes(reference.build_fm9(text))
    file = Fm9File(tmp_path / "x.fm9")
    patterns = [text[at : at + 2] for at in draw.sample(range(30_000), 40)]
    before, wrong = WarmingKernel.calls_left, []
    for pattern in patterns:
        for left in (1, 7, 23, 64, 150, 400):
            WarmingKernel.calls_left = left
            ((low, high),) = file.find([pattern]).tolist()
            if high - low != count_by_brute_force(pattern, text):
                wrong.append((pattern, left))
    WarmingKernel.calls_left = before
    assert not wrong
