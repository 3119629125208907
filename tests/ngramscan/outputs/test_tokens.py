"""Tokens of outputs: n-grams are shown as they are spaced most often."""

import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ngramscan.outputs.ngrams import MinFrequency, count_ngrams
from ngramscan.outputs.tokens import NumberedTexts, split_characters, split_words, usual_forms

TEXTS = st.lists(st.text(alphabet="ab_é1 (\n😀", max_size=25), min_size=1, max_size=8)


@settings(max_examples=50)
@given(TEXTS)
def test_the_form_of_an_n_gram_is_the_most_frequent_one(texts: list[str]) -> None:
    tokens = split_words(texts)
    forms: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for text in texts:
        words = list(re.finditer(r"\w+|[^\w\s]", text))
        for first, middle, last in zip(words, words[1:], words[2:], strict=False):
            form = text[first.start() : last.end()]
            forms[first[0], middle[0], last[0]][form] += 1
    parts = count_ngrams(tokens, (3, 3), MinFrequency(1, 1))
    placed = [(int(position), 3) for part in parts for position in part.first]
    shown = usual_forms(tokens, placed, np.ones(len(texts), dtype=bool))
    assert len(shown) == len(forms)
    for form in shown:
        counts = forms[tuple(re.findall(r"\w+|[^\w\s]", form))]
        assert counts[form] == max(counts.values())


def test_the_form_is_that_of_the_texts_of_the_method() -> None:
    texts = ["a b", "a b", "a  b", "a  b", "a  b"]
    is_own = np.array([True, True, False, False, False])
    assert usual_forms(split_words(texts), [(1, 2)], is_own) == ["a b"]
    assert usual_forms(split_words(texts), [(1, 2)], ~is_own) == ["a  b"]


@pytest.mark.parametrize(
    "tokens",
    [
        pytest.param(split_words(["", " \n"]), id="words"),
        pytest.param(split_characters([""]), id="characters"),
    ],
)
def test_texts_without_tokens_have_no_n_gram(tokens: NumberedTexts) -> None:
    assert not list(count_ngrams(tokens, (1, 3), MinFrequency(1, 1)))


def test_a_half_of_a_character_is_a_character() -> None:
    tokens = split_characters(["a\ud83d", "b"])
    assert tokens.sizes.tolist() == [2, 1]
    assert tokens.text(1, 2) == "a\ud83d"
