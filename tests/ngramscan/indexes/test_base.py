"""The values that all indexes return."""

import pytest

from ngramscan.indexes.base import Cost, Occurrences, Place, Segment, Window, requests_at


@pytest.mark.parametrize(
    ("seconds", "duration"),
    [
        (0.0, "0:00:00"),
        (0.6, "0:00:01"),
        (59.4, "0:00:59"),
        (60.0, "0:01:00"),
        (3599.0, "0:59:59"),
        (3600.0, "1:00:00"),
        (100 * 3600 + 61.0, "100:01:01"),
    ],
)
def test_the_duration_of_a_cost(seconds: float, duration: str) -> None:
    assert Cost(seconds=seconds).duration == duration


def test_requests_at_a_rate_take_their_time() -> None:
    assert requests_at(4.0, 10) == Cost(requests_at_most=10, requests=10, bytes=0, seconds=2.5)


def test_occurrences_are_the_sum_of_those_of_the_shards() -> None:
    found = Occurrences("é", (Segment(0, 5, 9), Segment(2, 0, 1)))
    assert [segment.occurrences for segment in found.segments] == [4, 1]
    assert (found.occurrences, found.needles, found.found) == (5, (b"\xc3\xa9",), found)


@pytest.mark.parametrize(
    ("document_bytes", "is_truncated"), [(3, False), (4, True)], ids=["whole", "cut"]
)
def test_a_window_tells_whether_a_part_of_the_document_is_hidden(
    document_bytes: int, is_truncated: bool
) -> None:
    window = Window(Place("a", 0, 0), "1", document_bytes, b"a b", 0, True, "")
    assert (window.length, window.is_truncated) == (document_bytes, is_truncated)
