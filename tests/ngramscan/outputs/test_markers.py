"""Markers are counted in outputs as by brute force."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.outputs.markers import Marker, count_markers
from tests.support.outputs import count_starts


@settings(max_examples=40)
@given(st.lists(st.text("abAÀà’é\0", max_size=30), max_size=6), st.booleans())
def test_markers_are_counted_as_by_brute_force(texts: list[str], case_sensitive: bool) -> None:
    literals = ["a", "aba", "AB", "À", "bb"]
    markers = [Marker("A", "T1", literal) for literal in literals]
    counts = count_markers(markers, texts, case_sensitive)
    expected = [
        [count_starts(literal, text, case_sensitive) for literal in literals] for text in texts
    ]
    assert counts.tolist() == expected


def test_regexes_are_counted_as_they_are_written() -> None:
    markers = [Marker("A", "regex", "r", r"a+"), Marker("A", "T1", "a"), Marker("B", "T1", "A")]
    assert count_markers(markers, ["aa Aa", "\ud800a"]).tolist() == [[2, 4, 4], [1, 1, 1]]
    assert count_markers([], ["a"]).shape == (1, 0)
