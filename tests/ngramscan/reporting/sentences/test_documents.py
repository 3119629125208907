"""What is said of the documents that have a phrase, word by word."""

from typing import Any

import pytest

from ngramscan.reporting.sentences.documents import say_documents
from ngramscan.reporting.sentences.phrases import ALPHA


def found(pattern: str, documents: int | None, **columns: Any) -> dict[str, Any]:
    """Return a row of `docnorm`, exact unless limits are given."""
    row: dict[str, Any] = {"index": "d", "pattern": pattern, "documents": documents}
    return row | {"documents_low": documents, "documents_high": documents} | columns


def estimated(pattern: str, documents: int, low: int, high: int, **columns: Any) -> dict[str, Any]:
    return found(pattern, documents, documents_low=low, documents_high=high, **columns)


def per_million(value: float, low: float, high: float) -> dict[str, float]:
    return {
        "documents_per_million": value,
        "documents_per_million_low": low,
        "documents_per_million_high": high,
    }


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([found("a b", 3)], ["“a b” is in 3 documents of d."], id="exact"),
        pytest.param(
            [found("a b", 3, occurrences_per_document=1.0)],
            ["“a b” is in 3 documents of d; a document that has it has it once."],
            id="once in each",
        ),
        pytest.param(
            [
                estimated(
                    "a b",
                    80,
                    71,
                    90,
                    occurrences_per_document=1.8,
                    occurrences_per_document_low=1.6,
                    occurrences_per_document_high=None,
                )
                | per_million(12.0, 10.0, 14.0)
            ],
            [
                "“a b” is in 80 [71, 90] documents of d, 12 [10, 14] in a million; a document that"
                " has it has it 1.8 [1.6, no limit] times."
            ],
            id="an estimate, in a million and in each",
        ),
        pytest.param(
            [found("a b", 3) | per_million(30_000.0, 30_000.0, 30_000.0)],
            ["“a b” is in 3 documents of d."],
            id="a small corpus, of which a rate says nothing",
        ),
        pytest.param(
            [found("a", 3), estimated("b", 80, 71, 90), found("c", 0)],
            ["“b” is in 80 [71, 90] documents of d, the most of 3 phrases."],
            id="several phrases",
        ),
        pytest.param(
            [found("a", 3), found("b", 3), found("c", 0)],
            ["“a” is in 3 documents of d, the most of 3 phrases, with 1 other."],
            id="two phrases in equally many",
        ),
        pytest.param(
            [
                found("a", 240) | per_million(800_000.0, 800_000.0, 800_000.0),
                found("a", 30, index="e") | per_million(100_000.0, 100_000.0, 100_000.0),
            ],
            ["“a” is in 240 documents of d."],
            id="several small corpora",
        ),
        pytest.param(
            [
                estimated("a", 80, 71, 90) | per_million(12.0, 10.0, 14.0),
                estimated("a", 70, 61, 80, index="e") | per_million(20.0, 18.0, 22.0),
                estimated("a", 90, 81, 99, index="f") | per_million(9.0, 8.0, 10.0),
            ],
            [
                "“a” is in 80 [71, 90] documents of d, 12 [10, 14] in a million.",
                "“a” is in the largest share of documents, 20 [18, 22] in a million in e, and in"
                " the smallest, 9 [8, 10], in f.",
            ],
            id="several corpora",
        ),
        pytest.param(
            [
                found(
                    "a",
                    None,
                    documents_lower_estimate=524,
                    documents_upper_estimate=1110,
                    truncated_share=0.2,
                )
            ],
            [
                "“a” is in between 524 and 1,110 documents of d, as long documents were truncated.",
                "For 1 phrase, some documents were seen only in part.",
            ],
            id="two estimates",
        ),
        pytest.param(
            [
                found("a", None, documents_lower_estimate=1, documents_upper_estimate=2),
                found("b", None, documents_lower_estimate=3, documents_upper_estimate=9),
            ],
            [
                "“b” is in between 3 and 9 documents of d, as long documents were truncated; so it"
                " is with 2 numbers in all."
            ],
            id="several with two estimates",
        ),
        pytest.param(
            [{"index": "t", "unit": "tokens", "pattern": "a", "documents": 80}],
            [
                "As n-grams of tokens, “a” is in 80 documents of t: lower bounds of the documents"
                " with the string."
            ],
            id="n-grams of tokens",
        ),
    ],
)
def test_documents_are_said_as_a_colleague_would(
    rows: list[dict[str, Any]], expected: list[str]
) -> None:
    assert [sentence.text for sentence in say_documents(rows, ALPHA)] == expected
