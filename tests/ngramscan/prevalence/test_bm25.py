"""BM25 by its formula, written out, and what it has to prefer."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ngramscan.prevalence.bm25 import score_documents

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=12)


def published(text: Sequence[str], documents: Sequence[Sequence[str]], number: int) -> float:
    """Return the score of a document as Robertson and Zaragoza 2009 have it, k1 1.5 and b 0.75."""
    document = documents[number]
    mean = sum(len(each) for each in documents) / len(documents)
    score = 0.0
    for word in text:
        n = sum(1 for each in documents if word in each)
        idf = math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))
        f = document.count(word)
        if f:
            score += idf * f * 2.5 / (f + 1.5 * (0.25 + 0.75 * len(document) / mean))
    return score


@given(WORDS, st.lists(WORDS, max_size=6))
def test_scores_are_those_of_the_formula(text: list[str], documents: list[list[str]]) -> None:
    scores = score_documents(text, {str(n): words for n, words in enumerate(documents)})
    assert [*scores] == [str(n) for n in range(len(documents))]
    for number in range(len(documents)):
        assert scores[str(number)] == pytest.approx(published(text, documents, number))


def test_a_score_done_by_hand() -> None:
    # Of "fox", n = 1 of 2: idf = ln(1 + 1.5 / 1.5) = ln 2; 3 words where 4 are the mean.
    scores = score_documents(["the", "fox"], {"x": ["a", "fox", "ran"], "y": ["b"] * 5})
    assert scores == {
        "x": pytest.approx(math.log(2) * 2.5 / (1 + 1.5 * (0.25 + 0.75 * 3 / 4))),
        "y": 0.0,
    }


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param("fox dog x", "fox x x", id="more words of the text"),
        pytest.param("fox x", "fox x x x x x", id="the shorter one"),
        pytest.param("rare x", "the x", id="a word that few have"),
        pytest.param("fox fox x", "fox x x", id="a word twice"),
    ],
)
def test_the_better_document_has_the_higher_score(better: str, worse: str) -> None:
    documents = {"better": better.split(), "worse": worse.split(), "third": ["the"], "no": ["x"]}
    scores = score_documents(["the", "fox", "and", "dog", "are", "rare"], documents)
    assert scores["better"] > scores["worse"]


def test_words_that_all_documents_have_still_count() -> None:
    scores = score_documents(["a"], {"once": ["a", "b", "b"], "twice": ["a", "a", "b"]})
    assert scores["twice"] > scores["once"] > 0
