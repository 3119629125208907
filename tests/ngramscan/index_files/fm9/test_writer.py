"""The writer against the files of the original tools and against the slow byte-exact writer."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ngramscan.index_files.fm9.writer import encode_rrr
from tests.support import fm9_reference
from tests.support.fm9_shards import written

CHANGING = np.repeat(np.random.default_rng(1).random(24), 800)
DENSITIES = (0, 0.001, 0.02, 0.3, 0.5, 0.8, 0.98, 0.999, 1)
SIZES = (0, 1, 63, 64, 126, 127, 128, 254, 127 * 31, 4063, 4064, 4065, 4191, 8128, 8255)


def packed(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    words = np.zeros(-(-len(bits) // 64) + 2, np.uint64)
    content = np.packbits(bits, bitorder="little")
    words.view(np.uint8)[: len(content)] = content
    return words


def random_text(size: int, alphabet: bytes) -> bytes:
    return bytes(random.Random(1).choices(alphabet, k=size)) + b"\xfa"


TEXTS = {
    "only the end": b"\xfa",
    "one empty document": b"\xff\xfa",
    "one letter": b"\xffa\xfa",
    "one letter again and again": b"\xff" + b"a" * 5_000 + b"\xfa",
    "two letters in turn": b"ab" * 3_000 + b"\xfa",
    "the end is the smallest byte": b"\xff" * 700 + b"\xfa",
    "a long repeat": random_text(3_000, b"abc")[:-1] * 4 + b"\xfa",
    "a deep tree": b"".join(bytes([65 + n]) * 2**n for n in range(13)) + b"\xfa",
    "all bytes": random_text(8_000, bytes(b for b in range(256) if b != 0xFA)),
    "20 kB": random_text(20_000, b"etaoin shrdlu,.\nETA" + "äß笔".encode()),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_text_is_written_as_by_the_slow_writer(text: bytes, tmp_path: Path) -> None:
    assert written(text, tmp_path / "x.fm9") == fm9_reference.build_fm9(text)


@settings(max_examples=40)
@given(st.text("aab é\n", max_size=400))
def test_any_text_is_written_as_by_the_slow_writer(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    content = b"\xff" + text.encode() + b"\xfa"
    path = tmp_path_factory.mktemp("text") / "x.fm9"
    assert written(content, path) == fm9_reference.build_fm9(content)


def check_stored(size: int, density: float | NDArray[np.float64]) -> None:
    bits = (np.random.default_rng(size).random(size) < density).astype(np.uint8)
    stored = b"".join(encode_rrr(packed(bits), len(bits)))
    assert stored == fm9_reference.write_rrr(bits)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size} bits")
@pytest.mark.parametrize("density", DENSITIES, ids=lambda density: f"{density} of them")
def test_bits_are_stored_as_by_the_slow_writer(density: float, size: int) -> None:
    check_stored(size, density)


@pytest.mark.parametrize("size", [24 * 800, 4064 * 4, 127 * 100])
def test_bits_of_changing_density_are_stored_as_by_the_slow_writer(size: int) -> None:
    check_stored(size, CHANGING[:size])


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\xfaabc\xfa", id="two ends"),
        pytest.param(b"abca", id="no end"),
    ],
)
def test_a_text_without_a_unique_end_is_refused(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected|not unique"):
        written(text, tmp_path / "x.fm9")
    assert not (tmp_path / "x.fm9").exists()
