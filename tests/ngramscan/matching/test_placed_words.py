"""Normalized words and their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.matching.normalization import normalized
from ngramscan.matching.placed_words import placed_words

TEXTS = st.text(
    st.sampled_from("abA1 \n-_.<>&;/’…\u00ad\u200b数据ไทยéе\u0301\u0308½²İßﬁ한국"), max_size=40
)


@given(TEXTS)
def test_words_are_those_of_the_normalization(text: str) -> None:
    assert list(placed_words(text).words) == normalized(text, "words").split()


@pytest.mark.parametrize("text", ["It's <b>3.5</b> m", "gar-\ndener sows", "e\u0301t\u00e9 数据"])
def test_places_are_in_the_order_of_the_text(text: str) -> None:
    placed = placed_words(text)
    assert list(placed.starts) == sorted(placed.starts)
    for word, start, stop in zip(placed.words, placed.starts, placed.stops, strict=True):
        assert normalized(text[start:stop], "words").split() == [word]
