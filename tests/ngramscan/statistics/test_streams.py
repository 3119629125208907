"""Streams of random numbers."""

from ngramscan.statistics.streams import stream


def test_streams_depend_on_the_seed_and_on_names_in_their_order() -> None:
    first = stream(1, "a", "b").random()
    assert stream(1, "a", "b").random() == first
    assert stream(1, "ab").random() != first
    assert stream(1, "b", "a").random() != first
    assert stream(2, "a", "b").random() != first
