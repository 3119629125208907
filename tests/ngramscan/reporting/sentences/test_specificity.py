"""Sentences about tiers of patterns, key n-grams and strategies: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

TIER = "Specificity of each pattern"
KEY = "Key n-grams of the method"
STRATEGY = "Strategies of outputs"
OUTPUT = "Strategy of each output"
ROWS: dict[str, dict[str, Any]] = {
    TIER: {
        "dataset": "d",
        "model": "m",
        "method": "CoT",
        "pattern": "step by step",
        "ratio": 12.0,
        "ratio_low": 10.4,
        "ratio_high": 13.9,
        "agrees": True,
        "interval_spans_tiers": False,
        "level": 0.95,
    },
    KEY: {
        "ngram": "so that",
        "q": 0.01,
        "level": 0.9,
        "log_ratio": 2.0,
        "log_ratio_low": 1.0,
        "log_ratio_high": 3.0,
    },
    STRATEGY: {
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "strategy": "CoT",
        "outputs": 50,
        "share": 0.62,
        "share_low": 0.4815,
        "share_high": 0.7414,
        "level": 0.95,
    },
    OUTPUT: {"strategy": "CoT"},
}
"""A row of each kind, which cases have with other values."""


@pytest.mark.parametrize(
    ("title", "changes", "said"),
    [
        pytest.param(
            TIER,
            [{}],
            [
                "1 of 1 pattern is in the declared tier with the whole interval.",
                (
                    "“step by step” stands out most by the limits of its ratio: it is 12 [10.4,"
                    " 13.9] times as frequent in outputs of CoT as in others with m on d."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a tier that ratio and interval are in",
        ),
        pytest.param(
            TIER,
            [
                {},
                {"pattern": "next, we", "ratio_low": 7.0, "interval_spans_tiers": True},
                {
                    "pattern": "so",
                    "ratio": 1.0,
                    "ratio_low": 0.4,
                    "ratio_high": 2.5,
                    "agrees": False,
                    "interval_spans_tiers": True,
                },
            ],
            [
                (
                    "1 of 3 patterns is in the declared tier with the whole interval, 1 by the "
                    "ratio alone, 1 not."
                ),
                (
                    "“step by step” stands out most by the limits of its ratio: it is 12 [10.4,"
                    " 13.9] times as frequent in outputs of CoT as in others."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="tiers that the ratio alone is in, or not even the ratio",
        ),
        pytest.param(
            TIER,
            [
                {
                    "ratio": None,
                    "ratio_low": None,
                    "ratio_high": None,
                    "agrees": None,
                    "interval_spans_tiers": None,
                }
            ],
            [
                "1 pattern has no ratio, as there is none without an occurrence.",
            ],
            id="a pattern that occurs nowhere",
        ),
        pytest.param(
            TIER,
            [{"model": "all"}, {"model": "m", "ratio": 99.0}],
            [
                "1 of 1 pattern is in the declared tier with the whole interval.",
                (
                    "“step by step” stands out most by the limits of its ratio: it is 12 [10.4,"
                    " 13.9] times as frequent in outputs of CoT as in others with all models "
                    "together on d."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="all models together before single ones, in tiers",
        ),
        pytest.param(
            KEY,
            [
                {},
                {"ngram": "thus", "q": 0.051},
                {"ngram": "so", "log_ratio_low": 0.0},
                {
                    "ngram": "we get",
                    "q": 0.05,
                    "log_ratio": 1.0,
                    "log_ratio_low": 0.5,
                    "log_ratio_high": 1.5,
                },
            ],
            [
                (
                    "2 of 4 n-grams are shown to be typical of the method (q ≤ 0.05, interval "
                    "of the ratio above 1); “so that” is 4 [2, 8] times as frequent as in the "
                    "other outputs and “we get” is 2 [1.41, 2.83]."
                ),
                "Brackets enclose 90% confidence intervals.",
            ],
            id="key n-grams at the bounds of q and of the ratio",
        ),
        pytest.param(
            KEY,
            [{"q": 0.2}],
            [
                (
                    "Not one of 1 n-gram is shown to be typical of the method (q ≤ 0.05, "
                    "interval of the ratio above 1)."
                ),
            ],
            id="no key n-gram",
        ),
        pytest.param(
            KEY,
            [
                {"ngram": "a", "log_ratio_low": 0.1},
                {"ngram": "b", "log_ratio_low": 0.2},
                {"ngram": "c", "log_ratio_low": 0.3},
                {"ngram": "d", "log_ratio_low": 0.4},
            ],
            [
                (
                    "4 of 4 n-grams are shown to be typical of the method (q ≤ 0.05, interval "
                    "of the ratio above 1); by the surest limits, “d” is 4 [1.32, 8] times as "
                    "frequent as in the other outputs, “c” is 4 [1.23, 8] and “b” is 4 [1.15, "
                    "8]."
                ),
                "Brackets enclose 90% confidence intervals.",
            ],
            id="four key n-grams",
        ),
        pytest.param(
            KEY,
            [{"ngram": "x” is better.\n\x1b[31mNo"}],
            [
                (
                    "1 of 1 n-gram is shown to be typical of the method (q ≤ 0.05, interval of "
                    'the ratio above 1); “x" is better.\\n\\x1b[31mNo” is 4 [2, 8] times as '
                    "frequent as in the other outputs."
                ),
                "Brackets enclose 90% confidence intervals.",
            ],
            id="an n-gram that looks like a sentence",
        ),
        pytest.param(
            STRATEGY,
            [
                {},
                {"strategy": "PoT", "share": 0.38, "share_low": 0.2586, "share_high": 0.5185},
                {"prompt": "f-1+cot"},
                {
                    "prompt": "pot",
                    "strategy": "PoT",
                    "share": 1.0,
                    "share_low": 0.93,
                    "share_high": 1.0,
                },
            ],
            [
                (
                    "CoT is the most frequent strategy in outputs of cot (62% [48, 74]) and "
                    "f-1+cot (62% [48, 74])."
                ),
                "PoT is the most frequent strategy in outputs of pot (100% [93, 100]).",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="strategies of three prompts",
        ),
        pytest.param(
            OUTPUT,
            [{}, {}, {"strategy": "Direct"}],
            [
                "The outputs are 3: 2 follow CoT and 1 follows Direct.",
            ],
            id="strategies of each output",
        ),
    ],
)
def test_rows_are_said_in_these_words(
    title: str, changes: list[dict[str, Any]], said: list[str]
) -> None:
    rows = [ROWS[title] | change for change in changes]
    assert texts_of(results_of(title, rows)) == said
