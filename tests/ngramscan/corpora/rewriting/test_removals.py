"""Which characters stay when passages of a text are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.corpora.rewriting.removals import WHOLE_RECORD, Removal, cut, remaining
from ngramscan.errors import CorpusError


@st.composite
def parts_and_ranges(draw: st.DrawFn) -> tuple[list[str], list[tuple[int, int]]]:
    parts = draw(st.lists(st.text("abé\n", max_size=6), min_size=1, max_size=4))
    length = len("\n".join(parts))
    places = st.integers(0, length)
    pairs = st.tuples(places, places).map(lambda pair: (min(pair), max(pair)))
    ranges = draw(st.lists(pairs.filter(lambda pair: pair[0] < pair[1]), min_size=1, max_size=4))
    return parts, ranges


@given(parts_and_ranges().filter(lambda drawn: len("\n".join(drawn[0])) > 0))
def test_what_stays_of_parts_is_as_character_by_character(
    drawn: tuple[list[str], list[tuple[int, int]]],
) -> None:
    parts, ranges = drawn
    places = [(number, at) for number, part in enumerate(parts) for at in range(-1, len(part))][1:]
    is_cut = [any(start <= n < stop for start, stop in ranges) for n in range(len(places))]
    expected = ["" for _ in parts]
    for (number, at), cut_here in zip(places, is_cut, strict=True):
        if at >= 0 and not cut_here:
            expected[number] += parts[number][at]
    stays = remaining([len(part) for part in parts], ranges, "d")
    assert [
        "".join(part[s] for s in slices) for part, slices in zip(parts, stays, strict=True)
    ] == (expected)
    assert Removal(tuple(ranges)).characters == sum(is_cut)


def test_a_passage_that_ends_after_the_text_is_refused() -> None:
    assert cut("abc", [(1, 3)], "d") == "a"
    with pytest.raises(CorpusError, match="d: its text has 3 characters, and a passage to be cut"):
        cut("abc", [(0, 1), (2, 4)], "d")


def test_removals_are_a_record_or_ranges_of_characters() -> None:
    assert WHOLE_RECORD.characters is None
    wrong: list[tuple[tuple[int, int], ...]] = [(), ((2, 2),), ((3, 2),), ((-1, 2),)]
    for ranges in wrong:
        with pytest.raises(ValueError, match="range of characters"):
            Removal(ranges)
