from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ngramscan.indexes.base import Occurrences, Place, Segment, Window
from ngramscan.matching import find_starts, least_distance
from ngramscan.patterns.model import Pattern, Query
from ngramscan.prevalence.docnorm import run_docnorm
from ngramscan.prevalence.draws import (
    DocnormOptions,
    DocumentShare,
    Estimator,
    document_share,
    draw_places,
    zero_listed_shares,
)
from tests.support.text_index import TextIndex


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
    assert document_share(window, {b"abc": "abc"}, 3, "size-bias") == DocumentShare(1 / 3, 1, False)
    from_start = window_at(0, b"abc", b"abc abc", 3, 0)
    assert (from_start.text, from_start.starts_document) == (b"abc ab", True)
    assert document_share(from_start, {b"abc": "abc"}, 3, "size-bias") == DocumentShare(
        1 / 2, 1, False
    )


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
    assert share == DocumentShare(lowest, highest, False)


def test_a_document_that_is_known_has_no_share() -> None:
    drawn = [("a", DocumentShare(0.5, 0.5, False)), ("b", DocumentShare(0.0, 1.0, True))]
    assert zero_listed_shares({"a"}, drawn) == [
        DocumentShare(0.0, 0.0, False),
        DocumentShare(0.0, 1.0, True),
    ]


def test_a_row_of_a_draw_has_its_places_in_bytes() -> None:
    document = "é" * 60 + "key" + "ü" * 90
    options = DocnormOptions(draws=1, context=100, keep_draws=True)
    asked = [Query("key", Pattern("key", "A", "T1", "code"))]
    (row,) = run_docnorm(asked, [TextIndex([document])], options).drawn
    assert (row.document_bytes, row.offset, row.text_offset) == (2 * 60 + 3 + 2 * 90, None, 100)
    assert row.text == "é" * 50 + "key" + "ü" * 50
    near = run_docnorm(asked, [TextIndex([document[30:]])], options).drawn[0]
    assert (near.document_bytes, near.offset, near.text_offset) == (243, 60, 60)


FOUND = Occurrences("q", (Segment(0, 100, 103), Segment(2, 0, 1), Segment(3, 7, 13)))
ALL = [
    Place("q", segment.shard, rank)
    for segment in FOUND.segments
    for rank in range(segment.low, segment.high)
]
MOST_SHIFT = 3
"""Bytes that an index may cut off each side of a window."""


def test_every_occurrence_is_drawn_as_often_as_any_other() -> None:
    drawn = Counter(
        draw_places(FOUND, 9, seed, "i", with_replacement=True)[0] for seed in range(1000)
    )
    assert set(drawn) == set(ALL)
    assert chisquare([drawn[place] for place in ALL]).pvalue > 0.001


@pytest.mark.parametrize("with_replacement", [True, False])
def test_fewer_draws_are_a_part_of_more_and_repeat_if_they_may(with_replacement: bool) -> None:
    many = Occurrences("q", (Segment(0, 0, 2000), Segment(1, 0, 2000)))
    few, more = (
        draw_places(many, n, 1, "i", with_replacement=with_replacement) for n in (100, 1500)
    )
    assert more[:100] == few
    assert {place.shard for place in more} == {0, 1}
    assert (len(set(more)) < 1500) == with_replacement


@pytest.mark.parametrize("n", [10, 500])
def test_all_occurrences_are_taken_where_no_more_were_asked_for(n: int) -> None:
    assert draw_places(FOUND, n, 1, "i", with_replacement=True) == ALL
    assert draw_places(Occurrences("q", ()), n, 1, "i", with_replacement=True) == []


def shares(
    document: bytes, texts: list[bytes], context: int, estimator: Estimator, seed: int
) -> list[DocumentShare]:
    """Return the shares of all occurrences, each in a window that is cut a little differently."""
    random = np.random.default_rng(seed)
    return [
        document_share(
            window_at(start, text, document, context, int(random.integers(0, MOST_SHIFT + 1))),
            {one: one.decode() for one in texts},
            context - MOST_SHIFT,
            estimator,
        )
        for text in texts
        for start in find_starts(text, document)
    ]


@pytest.mark.parametrize("estimator", ["combined", "size-bias", "first"])
@settings(max_examples=40)
@given(
    document=st.text("abc", min_size=1, max_size=120),
    texts=st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=3, unique=True),
    context=st.integers(8, 130),
    seed=st.integers(0, 100),
)
def test_the_shares_of_a_document_sum_to_one_between_their_bounds(
    estimator: Estimator, document: str, texts: list[str], context: int, seed: int
) -> None:
    texts = [text for text in texts if not any(one != text and one in text for one in texts)]
    found = shares(document.encode(), [t.encode() for t in texts], context, estimator, seed)
    assume(found)
    assert all(0 <= low <= high <= 1 for low, high, _ in found)
    assert sum(share.lowest for share in found) <= 1 + 1e-9
    assert sum(share.highest for share in found) >= 1 - 1e-9


@pytest.mark.parametrize("estimator", ["combined", "size-bias", "first"])
@settings(max_examples=30)
@given(document=st.text("ab", min_size=2, max_size=80))
def test_the_shares_of_a_document_that_is_seen_whole_sum_to_one(
    estimator: Estimator, document: str
) -> None:
    content = document.encode()
    texts = [text for text in (b"aa", b"ab") if text in content]
    assume(texts)
    found = shares(content, texts, len(content) + MOST_SHIFT + 2, estimator, 0)
    assert [share.lowest for share in found] == [share.highest for share in found]
    assert sum(share.lowest for share in found) == pytest.approx(1)


def test_a_long_document_counts_by_its_first_occurrence_which_is_seen() -> None:
    document = b"." * 50 + b"x" + b"." * 200 + b"x" + b"." * 50
    assert shares(document, [b"x"], 100, "combined", 0) == [(1, 1, True), (0, 1, True)]
    near = b"." * 50 + b"x" + b"." * 20 + b"x" + b"." * 250
    assert shares(near, [b"x"], 100, "combined", 0) == [(1, 1, True), (0, 0, True)]
    assert shares(near, [b"x"], 1000, "combined", 0) == [(0.5, 0.5, False)] * 2
