"""Sentences about what outputs copy from a corpus: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

TRACE = "How much of each output is in the corpus"
CURVE = "Coverage of outputs by length of spans"
COPIED = "Differences of what prompts copy"
SPAN = "Parts of outputs that the corpus has"
DOCUMENT = "Documents with parts of outputs"
ROWS: dict[str, dict[str, Any]] = {
    TRACE: {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "id": "1",
        "kind": "all",
        "unit": "words",
        "words": 100,
        "masked": 0,
        "min_words": 8,
        "longest": 41,
        "coverage": 0.39,
    },
    CURVE: {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "kind": "all",
        "length": 5,
        "outputs": 200,
        "coverage": 0.031,
        "coverage_low": 0.024,
        "coverage_high": 0.044,
        "level": 0.95,
    },
    COPIED: {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "prompt": "pot",
        "baseline": "cot",
        "kind": "all",
        "measure": "coverage",
        "problems": 200,
        "mean": 0.03,
        "mean_baseline": 0.05,
        "difference": -0.02,
        "difference_low": -0.03,
        "difference_high": -0.01,
        "p": 0.001,
        "p_holm": 0.003,
        "level": 0.95,
    },
    SPAN: {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "id": "1",
        "start": 0,
        "end": 9,
        "words": 7,
        "masked": 0,
        "occurrences": 12,
        "unit": "words",
        "text": "the present value of the annuity is",
    },
    DOCUMENT: {
        "index": "i",
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "id": "1",
        "rank": 1,
        "score": 9.5,
        "document": "17",
        "source": "https://example.org/a",
        "start": 0,
        "end": 9,
        "words": 7,
        "text": "the present value of the annuity is",
    },
}
"""A row of each kind, which cases have with other values."""


@pytest.mark.parametrize(
    ("title", "changes", "said"),
    [
        pytest.param(
            TRACE,
            [
                {},
                {"id": "2", "words": 300, "coverage": 0.1, "longest": 12},
                {"prompt": "f-1", "id": "3", "coverage": 0.5, "longest": 9},
                {"prompt": "f-1", "id": "4", "words": 0, "coverage": None, "longest": 0},
            ],
            [
                (
                    "50% of the words in the outputs of f-1 and 17% of those of cot are in "
                    "spans of at least 8 words that occur verbatim in i; the longest has 41 words "
                    "(output “1” of cot)."
                ),
                "1 output without words to look for is left out.",
            ],
            id="words of two prompts and of an output without any",
        ),
        pytest.param(
            TRACE,
            [{}, {"index": "j", "coverage": 0.2}, {"index": "union", "coverage": 0.45}],
            [
                (
                    "45% of the words in the outputs of cot are in spans of at least 8 words "
                    "that occur verbatim in any of the corpora; the longest has 41 words "
                    "(output “1” of cot)."
                ),
                (
                    "39% of the words in the outputs of cot are in spans of at least 8 words "
                    "that occur verbatim in i; the longest has 41 words (output “1” of cot)."
                ),
            ],
            id="any corpus, then the first one",
        ),
        pytest.param(
            TRACE,
            [
                {"prompt": "a", "coverage": 0.1},
                {"prompt": "b", "coverage": 0.2},
                {"prompt": "c", "coverage": 0.3},
                {"prompt": "d", "coverage": 0.4},
            ],
            [
                (
                    "40% of the words in the outputs of d, 30% of those of c and 20% of those "
                    "of b (and 1 further prompt) are in spans of at least 8 words that occur "
                    "verbatim in i; the longest has 41 words (output “1” of a)."
                ),
            ],
            id="outputs of four prompts",
        ),
        pytest.param(
            TRACE,
            [{"prompt": "", "unit": "tokens", "dataset": "", "model": ""}],
            [
                (
                    "39% of the tokens in the outputs are in spans of at least 8 tokens that occur "
                    "verbatim in i; the longest has 41 tokens (output “1”)."
                ),
            ],
            id="a text without a prompt, in tokens",
        ),
        pytest.param(
            TRACE,
            [{}, {"kind": "latex", "coverage": 0.9}],
            [
                (
                    "39% of the words in the outputs of cot are in spans of at least 8 words "
                    "that occur verbatim in i; the longest has 41 words (output “1” of cot)."
                ),
            ],
            id="words of one kind alone",
        ),
        pytest.param(
            CURVE,
            [{}, {"length": 6, "coverage": 0.01}],
            [
                (
                    "On average, spans of at least 5 words that occur in i cover 3.1% [2.4, 4.4] "
                    "of an output of cot with m on d."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a curve",
        ),
        pytest.param(
            CURVE,
            [
                {},
                {"index": "j", "length": 2},
                {
                    "index": "j",
                    "length": 2,
                    "prompt": "pot",
                    "coverage": 0.2,
                    "coverage_low": 0.1,
                    "coverage_high": 0.3,
                },
                {"index": "k"},
            ],
            [
                (
                    "On average, spans of at least 5 words that occur in i cover 3.1% [2.4, 4.4] "
                    "of an output of cot with m on d."
                ),
                (
                    "On average, spans of at least 2 words that occur in j cover 20% [10, 30] of "
                    "an output of pot and 3.1% [2.4, 4.4] of one of cot."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="curves of two corpora and two prompts",
        ),
        pytest.param(
            COPIED,
            [{}, {"measure": "novelty", "difference": 0.5}],
            [
                (
                    "Outputs of pot have a smaller share of words copied from the corpus than "
                    "those of cot with m on d in i: 3% against 5%, −2.0 points [−3.0, −1.0], "
                    "adjusted p = 0.003, n = 200."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="less that is copied",
        ),
        pytest.param(
            COPIED,
            [
                {"mean": 0.07, "difference": 0.02, "difference_low": 0.01, "difference_high": 0.03},
                {"model": "n", "difference_high": 0.004, "p": 0.2, "p_holm": 0.4},
            ],
            [
                (
                    "Outputs of pot have a larger share of words copied from the corpus than "
                    "those of cot with m on d in i: 7% against 5%, 2.0 points [1.0, 3.0], "
                    "adjusted p = 0.003, n = 200."
                ),
                (
                    "No difference is shown between outputs of pot and those of cot in the "
                    "share of words copied from the corpus with n on d in i: 3% against 5%, "
                    "−2.0 points [−3.0, 0.4], adjusted p = 0.400, n = 200."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="more that is copied, and no difference",
        ),
        pytest.param(
            COPIED,
            [
                {"kind": "narrative"},
                {
                    "kind": "latex",
                    "mean": 0.07,
                    "difference": 0.02,
                    "difference_low": 0.01,
                    "difference_high": 0.03,
                },
            ],
            [
                (
                    "Outputs of pot have a larger share of words copied from the corpus than "
                    "those of cot with m on d in i for words of kind latex: 7% against 5%, 2.0 "
                    "points [1.0, 3.0], adjusted p = 0.003, n = 200."
                ),
                (
                    "Outputs of pot have a smaller share of words copied from the corpus than "
                    "those of cot with m on d in i for words of kind narrative: 3% against 5%, "
                    "−2.0 points [−3.0, −1.0], adjusted p = 0.003, n = 200."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="opposite differences of two kinds of words",
        ),
        pytest.param(
            COPIED,
            [{"p_holm": 0.03}, {"index": "j", "p_holm": 0.02}],
            [
                (
                    "Outputs of pot have a smaller share of words copied from the corpus than "
                    "those of cot with m on d in j: 3% against 5%, −2.0 points [−3.0, −1.0], "
                    "adjusted p = 0.020, n = 200."
                ),
                (
                    "No difference is shown between outputs of pot and those of cot in the "
                    "share of words copied from the corpus with m on d in i: 3% against 5%, "
                    "−2.0 points [−3.0, −1.0], adjusted p = 0.030, n = 200; this page claims a "
                    "difference if p is at most 0.025."
                ),
                (
                    "This page has 2 families of tests, so each has a level of 0.025: a "
                    "difference is claimed if its adjusted p-value is at most that."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="traces of two corpora are two families",
        ),
        pytest.param(
            SPAN,
            [{}, {"words": 5}, {"prompt": "pot", "words": 6}],
            [
                (
                    "3 parts of 2 outputs are in the corpus verbatim; the longest has 7 words "
                    "and occurs 12 times: “the present value of the annuity is”."
                ),
            ],
            id="spans",
        ),
        pytest.param(
            SPAN,
            [{"occurrences": 1, "text": None}],
            [
                (
                    "1 part of 1 output is in the corpus verbatim; the longest has 7 words and "
                    "occurs once."
                ),
            ],
            id="a single span that occurs once, without its text",
        ),
        pytest.param(
            DOCUMENT,
            [{}, {"start": 20}, {"document": "18", "rank": 2}, {"id": "2", "start": 4}],
            [
                (
                    "2 documents share parts with 2 outputs; most, 2 spans of output “1”, are in"
                    " https://example.org/a."
                ),
            ],
            id="documents",
        ),
        pytest.param(
            DOCUMENT,
            [{"source": ""}],
            ["1 document shares parts with 1 output."],
            id="a single document with a span",
        ),
    ],
)
def test_rows_are_said_in_these_words(
    title: str, changes: list[dict[str, Any]], said: list[str]
) -> None:
    rows = [ROWS[title] | change for change in changes]
    assert texts_of(results_of(title, rows)) == said
