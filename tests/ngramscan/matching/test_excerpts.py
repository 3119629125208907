"""Parts of documents that may be shared: none is missed, and little else is shown."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching.excerpts import (
    ExcerptFinder,
    HashTable,
    by_width,
    possible_windows,
    wide_hashes,
)


def excerpts_of(text: bytes, windows: Sequence[tuple[int, int]]) -> ExcerptFinder:
    return ExcerptFinder([text], [np.array(windows).reshape(-1, 2)])


# Words with signs, words that touch, single bytes of too few words, and letters beyond ASCII.
WINDOWS = {
    "four words": (b"one two three four", b"one two three four"),
    "three words": (b"one two three", b"one two three"),
    "from within a word": (b"none two threefold", b"one two three"),
    "two words": (b"one two", b"one two"),
    "one word": (b"(one)", b"(one)"),
    "within a word": (b"abcdefghijklmno", b"bcdefghijklmn"),
    "three bytes": (b"abcde", b"bcd"),
    "one byte": (b"abc", b"b"),
    "beyond ASCII": ("é 字 ü, x".encode(), "é 字 ü".encode()),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        pytest.param(b"", b"", id="alone"),
        pytest.param(b"other ", b"", id="at the end"),
        pytest.param(b"", b" other", id="at the start"),
        pytest.param(b"some more ", b" more words", id="between words"),
        pytest.param(b"some mor", b"e words", id="within a word"),
    ],
)
def test_a_window_is_shown_with_little_around_it(name: str, before: bytes, behind: bytes) -> None:
    text, window = WINDOWS[name]
    start = text.index(window)
    excerpts = excerpts_of(text, [(start, start + len(window))])
    far = b" ".join(b"%d" % number for number in range(100, 200))
    parts = excerpts.find([far + b" " + before + window + behind + b" " + far, far])
    having = [part for part in parts if window in part]
    assert len(having) == 1
    # At most a token more at each end, and the signs beside it.
    assert len(having[0]) <= len(window) + len(b" 199 mor e words 100 ")


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"alpha beta gamma", id="all but the last word"),
        pytest.param(b"beta gamma delta", id="all but the first word"),
        pytest.param(b"alpha beta delta gamma", id="another order"),
        pytest.param(b"alpha beta x gamma delta", id="a word between"),
        pytest.param(b"delta gamma beta alpha", id="the other way round"),
        pytest.param(b"Alpha Beta Gamma Delta", id="capital letters"),
        pytest.param(b"xalphabetagammadelta", id="without spaces"),
    ],
)
def test_nothing_is_shown_of_a_document_without_a_window(document: bytes) -> None:
    text = b"alpha beta gamma delta"
    assert excerpts_of(text, [(0, len(text))]).find([document, document]) == []


def test_without_windows_nothing_is_shown() -> None:
    assert excerpts_of(b"one two three", []).find([b"one two three"]) == []
    assert ExcerptFinder([], []).find([b"one two three"]) == []
    assert excerpts_of(b"one two three", [(0, 13)]).find([]) == []


def test_parts_that_overlap_are_one_and_others_stay_apart() -> None:
    text = b"aa bb cc dd ee ff"
    windows = [(0, 8), (3, 11), (6, 14), (9, 17), (0, 11), (3, 14), (6, 17), (0, 17)]
    far = b" 1 2 3 4 5 6 7 8 9 "
    parts = excerpts_of(text, windows).find([text + far + b"aa bb cc" + far, far + b"dd ee ff"])
    shared = [text, b"aa bb cc", b"dd ee ff"]
    assert [text in part for text, part in zip(shared, parts, strict=True)] == [True] * 3, parts
    more = [len(part) - len(text) for text, part in zip(shared, parts, strict=True)]
    assert max(more) <= 6, parts


@pytest.mark.parametrize("at_once", [1, 13, 14, 30, 1000])
def test_documents_in_batches_show_the_same_once_each(at_once: int) -> None:
    excerpts = excerpts_of(b"one two three four", [(0, 13), (4, 18)])
    documents = [b"one two three", b"two three four", b"nothing", b"one two three"]
    assert excerpts.find(documents) == [documents[0], documents[1], documents[0]]
    assert excerpts.find_in_all(iter(documents), at_once) == documents[:2]


texts = st.text(st.sampled_from("ab1_ ,é字"), min_size=1, max_size=30).map(str.encode)


@given(st.lists(texts, min_size=1, max_size=3), st.lists(texts, max_size=3), st.randoms())
def test_each_window_of_a_document_is_in_a_part_and_possible(
    own: list[bytes], others: list[bytes], rng: random.Random
) -> None:
    documents = [*others, b" ".join(own), own[0][1:]]
    windows = []
    for text in own:
        starts = sorted(rng.randrange(len(text)) for _ in range(5))
        ends = [rng.randint(start + 1, len(text)) for start in starts]
        windows.append(np.stack([starts, ends], axis=1))
    parts = ExcerptFinder(own, windows).find(documents)
    possible = possible_windows(parts, own, windows)
    for text, of_text, are_possible in zip(own, windows, possible, strict=True):
        assert len(are_possible) == len(of_text)
        for (start, stop), is_possible in zip(of_text.tolist(), are_possible.tolist(), strict=True):
            window = text[start:stop]
            if any(window in document for document in documents):
                assert any(window in part for part in parts), window
                assert is_possible, window


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 15, 16, 17, 40, 63, 64, 65, 79, 80, 81, 150])
def test_a_window_is_possible_where_all_that_is_compared_is_there(size: int) -> None:
    """16 bytes or the half are compared, every eight of the first 64, and the last ones."""
    rng = random.Random(size)
    text = bytes(rng.choices(range(254), k=size))
    other = bytes((byte + 1) % 254 for byte in text)

    def is_possible(part: bytes) -> bool:
        (found,) = possible_windows([b"before", part, b"behind"], [text], [np.array([[0, size]])])
        return bool(found[0])

    assert is_possible(text)
    assert is_possible(b"more " + text + b" more")
    assert not is_possible(other)
    wide = max(width for width in (1, 2, 4, 8, 16) if width <= size)
    starts = {min(start, size - wide) for start in (*range(0, 64, 8), size)}
    places = sorted({0, size // 2, min(size - 1, 60), size - 1})
    changed = [text[:place] + other[place : place + 1] + text[place + 1 :] for place in places]
    not_compared = [
        place for place in places if not any(start <= place < start + wide for start in starts)
    ]
    assert [
        place for place, part in zip(places, changed, strict=True) if is_possible(part)
    ] == not_compared


def test_windows_are_told_apart_by_text() -> None:
    windows = [np.array([[0, 3], [4, 7]]), np.zeros((0, 2), np.int64), np.array([[1, 6]])]
    found = possible_windows([b"two", b"xfiftyx"], [b"one two", b"", b"fifty "], windows)
    assert [flags.tolist() for flags in found] == [[False, True], [], [False]]


@pytest.mark.parametrize("number", [0, 1, 2, 1000, 16_383, 16_384, 100_000])
def test_a_table_has_its_hashes_and_hardly_any_other(number: int) -> None:
    draw = np.random.default_rng(number)
    hashes = draw.integers(0, 1 << 63, 2 * number + 200_000, dtype=np.uint64) * np.uint64(2)
    own = np.concatenate([hashes[:number], hashes[: number // 2]])
    found = HashTable(own).find(hashes)
    assert found[:number].tolist() == [*range(number)]
    # An eighth to a quarter of the bits of each of three parts at most: up to 1/64 of others.
    assert len(found) - number <= len(hashes) / 60
    assert number or not len(found)


@pytest.mark.parametrize("wide", [1, 2, 4, 8, 16, 24, 64])
def test_wide_hashes_are_of_so_many_bytes_and_no_other(wide: int) -> None:
    rng = random.Random(wide)
    text = bytes(rng.choices(range(256), k=80))
    (whole,) = wide_hashes(text + bytes(8), np.array([3]), wide)
    assert wide_hashes(text, slice(0, 10), wide)[3] == whole
    places = list[int]()
    for place in range(80):
        changed = text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :]
        (other,) = wide_hashes(changed + bytes(8), np.array([3]), wide)
        if other != whole:
            places.append(place)
    assert places == [*range(3, 3 + wide)]


def test_wide_hashes_know_the_order_of_words() -> None:
    first, second = b"abcdefgh", b"ijklmnop"
    text = first + second + first + 8 * b"\xff"
    one_way, other_way = wide_hashes(text, np.array([0, 8]), 16).tolist()
    assert one_way != other_way


def test_windows_are_grouped_by_the_largest_width_that_they_have() -> None:
    sizes = np.array([1, 16, 3, 2, 100, 4, 15, 8])
    groups = [
        (wide, numbers.tolist()) for wide, numbers in by_width(sizes, np.array([1, 2, 4, 8, 16]))
    ]
    assert groups == [(1, [0]), (2, [2, 3]), (4, [5]), (8, [6, 7]), (16, [1, 4])]
