"""Patterns that overlap in a text."""

import pytest

from ngramscan.patterns.overlaps import merged_strings


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        pytest.param("plan a", "a step", ["plan a step"], id="a word of one letter"),
        pytest.param("so =", "= x", ["so = x"], id="a sign"),
        pytest.param("solve for", "formula of", [], id="a word that the second begins with"),
        pytest.param("platform", "form of", [], id="the end of a word of the first"),
    ],
)
def test_only_whole_words_overlap(first: str, second: str, merged: list[str]) -> None:
    assert merged_strings(first, second) == merged
