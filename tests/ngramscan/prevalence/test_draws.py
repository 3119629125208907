import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.indexes.base import Occurrences, Place, Segment, Window
from ngramscan.matching import find_starts, least_distance
from ngramscan.prevalence.draw_places import draw_places
from ngramscan.prevalence.draws import Share, document_share, shares_beside


def test_draws_depend_on_seed_index_and_query_and_on_nothing_else() -> None:
    draws = [
        draw_places(
            Occurrences(query, (Segment(0, 0, 50_000),)), 20, seed, index, with_replacement=True
        )
        for query, seed, index in (
            *(("q", 1, "i"), ("q", 2, "i"), ("q", 1, "j")),
            *(("r", 1, "i"), ("q", 1, "i")),
        )
    ]
    assert len({tuple(place.rank for place in places) for places in draws}) == 4
    assert draws[-1] == draws[0]


@pytest.mark.parametrize(
    "index", ["http://h:1/i", "https://o.org/x/i/", "fm9:i", "fm9:/a/b/i", "fm9:s3://b/i/"]
)
def test_draws_are_the_same_wherever_an_index_is(index: str) -> None:
    many = Occurrences("q", (Segment(0, 0, 50_000),))
    expected = draw_places(many, 20, 1, "i", with_replacement=True)
    assert draw_places(many, 20, 1, index, with_replacement=True) == expected


@given(st.text("ab", min_size=1, max_size=12))
def test_the_least_distance_is_that_of_the_closest_overlap(text: str) -> None:
    needle = text.encode()
    closest = next(
        distance
        for distance in range(1, len(needle) + 1)
        if len(find_starts(needle, needle[:distance] + needle)) > 1 or distance == len(needle)
    )
    assert least_distance(needle) == closest


# The shares of all occurrences of one document sum to one document


def window_at(start: int, needle: bytes, document: bytes, context: int, shift: int) -> Window:
    """Cut a window as an index may: up to three bytes less on each side."""
    low = max(0, start - context + shift)
    high = min(len(document), start + len(needle) + context - shift)
    return Window(
        place=Place(needle.decode(), 0, start),
        document="0",
        document_bytes=len(document),
        text=document[low:high],
        offset=start - low,
        starts_document=(low == 0 and start < context - shift) or high - low == len(document),
        metadata="",
    )


def test_a_hidden_part_may_hold_an_occurrence_across_each_edge() -> None:
    window = window_at(4, b"abc", b"abc abc abc", 3, 0)
    assert window.text == b"bc abc ab"
    assert document_share(window, {b"abc": "abc"}, 3, "size-bias") == Share(1 / 3, 1, False)
    from_start = window_at(0, b"abc", b"abc abc", 3, 0)
    assert (from_start.text, from_start.starts_document) == (b"abc ab", True)
    assert document_share(from_start, {b"abc": "abc"}, 3, "size-bias") == Share(1 / 2, 1, False)


@pytest.mark.parametrize(
    ("document", "start", "context", "lowest", "highest"),
    [
        # Seen are so many; hidden can be what fits at distances of 2, and one across each edge.
        pytest.param(b"ab..ab..ab", 0, 99, 1 / 3, 1 / 3, id="seen whole, from the first"),
        pytest.param(b"ab..ab..ab", 8, 99, 1 / 3, 1 / 3, id="seen whole, from the last"),
        pytest.param(b"ab..ab..ab......", 0, 8, 1 / (3 + 3), 1 / 3, id="cut right, others right"),
        pytest.param(b"ab..ab..ab......", 4, 8, 1 / (3 + 1), 1 / 3, id="cut right, both sides"),
        pytest.param(b"ab..ab..ab......", 8, 8, 1 / 3, 1 / 3, id="cut nowhere"),
        pytest.param(b"......ab..ab..ab", 14, 8, 1 / (3 + 4), 1 / 3, id="cut left, others left"),
        pytest.param(b"......ab..ab..ab", 10, 8, 1 / (3 + 2), 1 / 3, id="cut left, both sides"),
        pytest.param(b"....ab.ab.ab....", 7, 4, 1 / (3 + 4), 1 / 3, id="cut on both sides"),
        pytest.param(b"....ab.ab.......", 4, 3, 1 / (2 + 5), 1 / 2, id="cut on both, right only"),
        pytest.param(b"....ab.ab.......", 7, 3, 1 / (2 + 5), 1 / 2, id="cut on both, left only"),
    ],
)
def test_a_draw_counts_for_one_over_all_occurrences_on_both_sides(
    document: bytes, start: int, context: int, lowest: float, highest: float
) -> None:
    window = window_at(start, b"ab", document, context, 0)
    share = document_share(window, {b"ab": "ab"}, context, "size-bias")
    assert share == Share(lowest, highest, False)


def test_a_document_that_is_known_has_no_share() -> None:
    drawn = [("a", Share(0.5, 0.5, False)), ("b", Share(0.0, 1.0, True))]
    assert shares_beside({"a"}, drawn) == [Share(0.0, 0.0, False), Share(0.0, 1.0, True)]
