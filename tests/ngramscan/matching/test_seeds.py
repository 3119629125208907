"""Places that may have a window, and what they share with it: those of a brute force."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching.excerpts import MOST_WIDE
from ngramscan.matching.seeds import SeedPairs, SeedTable, longest_of_pairs, same_bytes

STEPS = (1, 2, 4, 8, 16, 24, 32, 40, 48, 64)
"""How many bytes each step of the search compares."""


def table_of(text: bytes, windows: Sequence[tuple[int, int]], documents: bytes) -> SeedTable:
    """Return the table of windows of a text, with documents right behind it."""
    places = np.array(windows)
    data = text + documents + MOST_WIDE * b"\xff"
    in_data = slice(len(text), len(text) + len(documents))
    return SeedTable(data, places[:, 0], places[:, 1] - places[:, 0], in_data)


def candidates(text: bytes, window: tuple[int, int], documents: bytes) -> set[int]:
    """Return the places that share as many steps as any place does, those of the window at least.

    What follows the window in the text is compared too: the longest shared part is sought.
    """
    data, (start, stop) = text + documents + MOST_WIDE * b"\xff", window
    places = range(len(text), len(text) + len(documents))
    found = set[int]()
    of_window = max(step for step in STEPS if step <= stop - start)
    for wide in STEPS[STEPS.index(of_window) :]:
        first = data[start : start + wide]
        sharing = {place for place in places if data[place : place + wide] == first}
        found = sharing or found
    return found


def all_windows(text: bytes, sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the windows of some sizes that end before the last byte of a text."""
    return [
        (start, start + size)
        for start in range(len(text) - 1)
        for size in sizes
        if start + size < len(text)
    ]


few_letters = st.text(st.sampled_from("ab é"), min_size=1, max_size=16).map(str.encode)


@given(few_letters, few_letters, st.integers(1, 4))
def test_places_have_the_first_and_last_bytes_of_a_window(
    text: bytes, document: bytes, times: int
) -> None:
    text, document = text * times + b"\xff", document + text[1:]
    windows = all_windows(text, [1, 3, 9, 20])
    table = table_of(text, windows, document)
    data = text + document + MOST_WIDE * b"\xff"
    found = table.pairs(np.ones(len(windows), np.bool_))
    by_window: list[list[int]] = [[] for _ in windows]
    for number, place in zip(found.windows.tolist(), found.places.tolist(), strict=True):
        by_window[number].append(place)
    for number, (start, stop) in enumerate(windows):
        expected = candidates(text, windows[number], document)
        assert table.candidates[number] == len(expected)
        if stop - start >= 8:
            last = data[stop - 8 : stop]
            ends = {
                place: data[place + stop - start - 8 : place + stop - start] for place in expected
            }
            expected = {place for place, end in ends.items() if end == last}
        assert sorted(by_window[number]) == sorted(expected), data[start:stop]


def random_bytes(rng: random.Random, size: int) -> bytes:
    """Return bytes that hardly ever repeat more than two of them."""
    return bytes(rng.choices(range(254), k=size))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 15, 16, 24, 31, 48, 63, 64, 100])
@pytest.mark.parametrize("missing", [0, 1], ids=["whole", "all but the last byte"])
def test_a_window_has_the_place_of_its_copy(size: int, missing: int) -> None:
    rng = random.Random(size)
    text = random_bytes(rng, 100)
    shared = text[: size - missing]
    document = random_bytes(rng, 30) + shared + b"\xfe" + random_bytes(rng, 30)
    window = (0, size)
    table = table_of(text, [window], document)
    expected = candidates(text, window, document)
    assert table.candidates.tolist() == [len(expected)]
    assert sorted(table.places_of(np.array([True])).tolist()) == sorted(expected)
    pairs = table.pairs(np.array([True]))
    is_whole = len(text) + 30 in pairs.places.tolist()
    assert is_whole == (missing == 0 or size in {3, 7})


@pytest.mark.parametrize("chosen", [[0], [1], [2], [0, 2], []], ids=str)
def test_only_windows_that_are_chosen_have_places(chosen: list[int]) -> None:
    text, document = b"one two three", b"three one two"
    windows = [(0, 3), (4, 7), (8, 13)]
    table = table_of(text, windows, document)
    at = {window: len(text) + document.index(text[slice(*window)]) for window in windows}
    is_chosen = np.isin(np.arange(3), chosen)
    pairs = table.pairs(is_chosen)
    found = dict(zip(pairs.windows.tolist(), pairs.places.tolist(), strict=True))
    assert found == {number: at[windows[number]] for number in chosen}
    assert sorted(table.places_of(is_chosen).tolist()) == sorted(found.values())


@pytest.mark.parametrize("size", [*range(1, 20), 511, 512, 513, 4607, 4608, 4609, 13000, 30000])
@pytest.mark.parametrize("behind", [0, 1, 50], ids=["at the end", "one byte before", "within"])
def test_a_start_shares_as_much_with_a_place_as_is_the_same(size: int, behind: int) -> None:
    rng = random.Random(size)
    shared, rest = random_bytes(rng, size), random_bytes(rng, behind)
    other = bytes((byte + 1) % 254 for byte in rest)
    text, document = shared + rest + b"\xff", b"between " + shared + other
    data = text + document + MOST_WIDE * b"\xff"
    words = np.ndarray((len(data) - 7,), ">u8", data, strides=(1,))
    starts, stops = np.array([0]), np.array([size + behind])
    pairs = SeedPairs(np.array([0]), np.array([len(text) + len(b"between ")]))
    assert longest_of_pairs(data, words, starts, stops, pairs).tolist() == [size]


def test_what_is_shared_behind_the_next_start_counts_for_each_start() -> None:
    text, document = b"aa bb cc dd ee\xff", b"bb aa bb cc dx\xff cc dd ee"
    data = text + document + MOST_WIDE * b"\xff"
    words = np.ndarray((len(data) - 7,), ">u8", data, strides=(1,))
    starts = np.array([0, 3, 6, 9, 12])
    shown = [(0, 3), (1, 0), (1, 6), (2, 9), (2, 16), (3, 12), (3, 19), (4, 22)]
    windows, places = np.array(shown).T
    pairs = SeedPairs(windows, places + len(text))
    longest = longest_of_pairs(data, words, starts, np.full(5, 14), pairs)
    assert longest.tolist() == [10, 7, 8, 5, 2]


def test_a_window_without_a_place_shares_nothing() -> None:
    data = b"ab\xffab" + MOST_WIDE * b"\xff"
    words = np.ndarray((len(data) - 7,), ">u8", data, strides=(1,))
    pairs = SeedPairs(np.array([1]), np.array([4]))
    starts, stops = np.array([0, 1]), np.array([2, 2])
    assert longest_of_pairs(data, words, starts, stops, pairs).tolist() == [0, 1]


def test_words_have_their_first_bytes_in_common() -> None:
    word = b"abcdefgh"
    others = [word[:same] + b"z" + word[same + 1 :] for same in range(8)] + [word]
    some = np.frombuffer(9 * word, ">u8")
    assert same_bytes(some, np.frombuffer(b"".join(others), ">u8")).tolist() == [*range(9)]
