"""Streams of random numbers, and samples."""

from collections import Counter

from ngramscan.statistics.streams import draw_sample, stream


def test_streams_depend_on_the_seed_and_on_names_in_their_order() -> None:
    first = stream(1, "a", "b").random()
    assert stream(1, "a", "b").random() == first
    assert stream(1, "ab").random() != first
    assert stream(1, "b", "a").random() != first
    assert stream(2, "a", "b").random() != first


def test_a_sample_is_in_order_and_depends_on_the_seed_alone() -> None:
    drawn = draw_sample("abcdefghij", 4, 1)
    assert drawn == sorted(drawn) == draw_sample("abcdefghij", 4, 1)
    assert len({*drawn}) == 4
    assert draw_sample("ABCDEFGHIJ", 4, 1) == [letter.upper() for letter in drawn]
    assert draw_sample("abcdefghij", 4, 2) != drawn


def test_all_are_drawn_where_there_are_no_more() -> None:
    assert [draw_sample("abc", number, 1) for number in (None, 3, 4)] == [[*"abc"]] * 3


def test_each_item_is_drawn_as_often_as_any_other() -> None:
    times = Counter(item for seed in range(2000) for item in draw_sample(range(5), 2, seed))
    assert all(abs(times[item] - 800) < 5 * 22 for item in range(5)), times
