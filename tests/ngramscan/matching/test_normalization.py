"""Texts of ASCII and plain letters are normalized as the published rules define it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.matching.normalization import normalized
from tests.support.sizes import sets


@settings(max_examples=sets(100))
@given(st.text(alphabet="aZé.1 \t", max_size=30))
def test_normalized_texts_are_those_of_the_definition(text: str) -> None:
    assert normalized(text, "") == text
    assert normalized(text, "alphanumeric") == "".join(filter(str.isalnum, text))
    words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
    expected = "".join(f" {word}" for word in words)
    assert normalized(text, "words") == (f"{expected} " if expected else "")
