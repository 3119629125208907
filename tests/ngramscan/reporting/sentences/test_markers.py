"""Sentences about markers of methods in outputs: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

BLEND = "Outputs with markers of each method"
PRESENCE = "Outputs with each pattern"
RETENTION = "Markers that outputs keep with a solver"
ISOLATION = "Markers in outputs of their own method and of others"
ROWS: dict[str, dict[str, Any]] = {
    BLEND: {
        "dataset": "d",
        "model": "m",
        "prompt": "cot",
        "method": "CoT",
        "has_method": True,
        "outputs": 12,
        "share": 0.667,
        "share_low": 0.391,
        "share_high": 0.862,
        "level": 0.95,
    },
    PRESENCE: {
        "dataset": "d",
        "model": "m",
        "method": "CoT",
        "tier": "T1",
        "pattern": "step by step",
        "prompt": "cot",
        "has_method": True,
        "outputs": 12,
        "with_pattern": 7,
        "share": 0.583,
        "share_low": 0.32,
        "share_high": 0.807,
        "level": 0.95,
        "generic": None,
    },
    RETENTION: {
        "dataset": "d",
        "model": "m",
        "prefix": "f-1",
        "solver": "cot",
        "method": "F-1",
        "prompt_with": "f-1+cot",
        "pairs": 40,
        "share_alone": 0.917,
        "share_with": 0.833,
        "difference": -0.083,
        "difference_low": -0.382,
        "difference_high": 0.227,
        "p": 1.0,
        "p_adjusted": 1.0,
        "level": 0.95,
    },
    ISOLATION: {
        "dataset": "d",
        "model": "m",
        "method": "CoT",
        "outputs_own": 24,
        "outputs_others": 36,
        "share_own": 0.708,
        "share_others": 0.028,
        "ratio": 25.5,
        "ratio_low": 2.52,
        "ratio_high": 273.0,
        "level": 0.95,
    },
}
"""A row of each kind, which cases have with other values."""


@pytest.mark.parametrize(
    ("title", "changes", "said"),
    [
        pytest.param(
            BLEND,
            [
                {},
                {"prompt": "f-1+cot", "share": 0.75, "share_low": 0.468, "share_high": 0.911},
                {
                    "prompt": "f-1+pot",
                    "has_method": False,
                    "share": 0.083,
                    "share_low": 0.015,
                    "share_high": 0.354,
                },
                {
                    "prompt": "pot",
                    "has_method": False,
                    "share": 0.0,
                    "share_low": 0.0,
                    "share_high": 0.242,
                },
            ],
            [
                (
                    "CoT's markers are in 67% [39, 86] of the outputs of cot and 75% [47, 91] "
                    "of those of f-1+cot; where the prompt lacks CoT, in at most 8.3% [1.5, 35]"
                    " (f-1+pot)."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="own markers, and the prompt without the method that has most",
        ),
        pytest.param(
            BLEND,
            [
                {},
                {
                    "prompt": "pot",
                    "has_method": False,
                    "share": 0.0,
                    "share_low": 0.0,
                    "share_high": 0.242,
                },
            ],
            [
                (
                    "CoT's markers are in 67% [39, 86] of the outputs of cot; where the prompt "
                    "lacks CoT, in none."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="markers in no output of another prompt",
        ),
        pytest.param(
            BLEND,
            [
                {
                    "prompt": "pot",
                    "has_method": False,
                    "share": 0.083,
                    "share_low": 0.015,
                    "share_high": 0.354,
                }
            ],
            [
                (
                    "CoT's markers are in 8.3% [1.5, 35] of the outputs of prompts without CoT"
                    " (pot) with m on d."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a method that no prompt has",
        ),
        pytest.param(
            BLEND,
            [
                {"prompt": "a"},
                {"prompt": "b"},
                {"prompt": "c"},
                {"prompt": "d"},
                {"prompt": "e"},
                {"method": "PoT"},
                {"method": "F-1"},
                {"method": "LtM"},
            ],
            [
                (
                    "CoT's markers are in 67% [39, 86] of the outputs of a, 67% [39, 86] of "
                    "those of b and 67% [39, 86] of those of c (and 2 further prompts)."
                ),
                "PoT's markers are in 67% [39, 86] of the outputs of cot.",
                "F-1's markers are in 67% [39, 86] of the outputs of cot.",
                "The table has one further method.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="four methods, five prompts of one",
        ),
        pytest.param(
            BLEND,
            [
                {"share": 0.1, "share_low": 0.0, "share_high": 0.2},
                {"model": "n"},
                {"model": "all", "share": 0.5, "share_low": 0.3, "share_high": 0.7},
            ],
            [
                (
                    "CoT's markers are in 50% [30, 70] of the outputs of cot with all models "
                    "together on d."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="all models together before single ones",
        ),
        pytest.param(
            BLEND,
            [{"share": None, "share_low": None, "share_high": None}],
            [],
            id="shares that are unknown",
        ),
        pytest.param(
            BLEND,
            [
                {"share": 0.0004, "share_low": 0.0001, "share_high": 0.0012},
                {"prompt": "cot+zs", "share": 0.9998, "share_low": 0.998, "share_high": 1.0},
            ],
            [
                (
                    "CoT's markers are in 0.04% [0.01, 0.1] of the outputs of cot and 99.9% "
                    "[99.8, 100] of those of cot+zs."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="shares close to none and to all",
        ),
        pytest.param(
            PRESENCE,
            [
                {},
                {"prompt": "cot+pot", "share": 0.3, "share_low": 0.1, "share_high": 0.5},
                {"pattern": "next, we", "share": 0.0, "share_low": 0.0, "share_high": 0.242},
                {
                    "pattern": "so",
                    "share": 0.25,
                    "share_low": 0.1,
                    "share_high": 0.5,
                    "generic": "in half or more of the outputs of every prompt",
                },
                {
                    "pattern": "so",
                    "prompt": "pot",
                    "has_method": False,
                    "share": 0.9,
                    "share_low": 0.7,
                    "share_high": 1.0,
                    "generic": "in half or more of the outputs of every prompt",
                },
            ],
            [
                (
                    "CoT's most frequent marker is “step by step”: in 58% [32, 81] of the "
                    "outputs of cot."
                ),
                "1 of 3 patterns occurs nowhere.",
                "Frequent without their method as well, so no sign of it: “so”.",
                "Brackets enclose 95% confidence intervals.",
            ],
            id="the most frequent marker, absent and generic ones",
        ),
        pytest.param(
            RETENTION,
            [{}],
            [
                (
                    "F-1's markers are in 83% of the outputs of f-1+cot and 92% of those of "
                    "f-1 with m on d: no loss is shown, −8.3 points [−38.2, 22.7], adjusted "
                    "p = 1, n = 40."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="no loss is shown",
        ),
        pytest.param(
            RETENTION,
            [
                {
                    "share_with": 0.5,
                    "difference": -0.417,
                    "difference_low": -0.6,
                    "difference_high": -0.2,
                    "p": 0.0005,
                    "p_adjusted": 0.001,
                }
            ],
            [
                (
                    "F-1's markers are in 50% of the outputs of f-1+cot and 92% of those of "
                    "f-1 with m on d: fewer outputs keep them, −41.7 points [−60.0, −20.0], "
                    "adjusted p = 0.001, n = 40."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="fewer outputs keep the markers",
        ),
        pytest.param(
            RETENTION,
            [
                {
                    "solver": "pot",
                    "prompt_with": "f-1+pot",
                    "share_alone": 0.5,
                    "share_with": 0.7,
                    "difference": 0.2,
                    "difference_low": 0.05,
                    "difference_high": 0.34,
                    "p": 0.001,
                    "p_adjusted": 0.002,
                },
                {
                    "share_alone": 0.5,
                    "share_with": 0.3,
                    "difference": -0.2,
                    "difference_low": -0.3,
                    "difference_high": -0.1,
                    "p": 0.001,
                    "p_adjusted": 1e-09,
                },
            ],
            [
                (
                    "F-1's markers are in 70% of the outputs of f-1+pot and 50% of those of "
                    "f-1: more outputs have them, 20.0 points [5.0, 34.0], adjusted p = "
                    "0.002, n = 40."
                ),
                (
                    "F-1's markers are in 30% of the outputs of f-1+cot and 50% of those of "
                    "f-1: fewer outputs keep them, −20.0 points [−30.0, −10.0], adjusted p "
                    "< 0.001, n = 40."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="markers in more outputs and in fewer ones",
        ),
        pytest.param(
            RETENTION,
            [
                {
                    "difference": -0.2,
                    "difference_low": -0.3,
                    "difference_high": -0.1,
                    "p": 0.04,
                    "p_adjusted": 0.08,
                }
            ],
            [
                (
                    "F-1's markers are in 83% of the outputs of f-1+cot and 92% of those of "
                    "f-1 with m on d: no loss is shown, −20.0 points [−30.0, −10.0], "
                    "adjusted p = 0.080, n = 40; the interval is not adjusted for the "
                    "number of tests."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="an interval that excludes 0, but not after adjusting",
        ),
        pytest.param(
            RETENTION,
            [
                {
                    "share_alone": None,
                    "difference": None,
                    "difference_low": None,
                    "difference_high": None,
                    "p": None,
                    "p_adjusted": None,
                }
            ],
            [
                "No difference could be computed for 1 of 1 rows.",
            ],
            id="no outputs of the prefix alone",
        ),
        pytest.param(
            ISOLATION,
            [
                {},
                {
                    "method": "PoT",
                    "share_own": 1.0,
                    "share_others": 0.0,
                    "ratio": 73.0,
                    "ratio_low": 4.83,
                    "ratio_high": 1104.0,
                },
            ],
            [
                (
                    "CoT's markers are in 71% of the outputs of its own prompts and in 2.8% of "
                    "others (ratio 25.5 [2.52, 273])."
                ),
                (
                    "PoT's markers are in 100% of the outputs of its own prompts and in 0% of "
                    "others (ratio 73 [4.83, 1,104], with half an output added)."
                ),
                "Brackets enclose 95% confidence intervals.",
            ],
            id="a method's own outputs and others",
        ),
        pytest.param(
            ISOLATION,
            [
                {"method": "A", "ratio": 9.0, "ratio_low": None, "ratio_high": None},
                {"method": "B", "ratio": 2.0, "ratio_low": None, "ratio_high": None},
                {"method": "C", "ratio": 3.0, "ratio_low": None, "ratio_high": None},
                {"method": "D", "ratio": 1.2, "ratio_low": None, "ratio_high": None},
            ],
            [
                (
                    "D's markers are in 71% of the outputs of its own prompts and in 2.8% of "
                    "others (ratio 1.2)."
                ),
                (
                    "B's markers are in 71% of the outputs of its own prompts and in 2.8% of "
                    "others (ratio 2)."
                ),
                (
                    "C's markers are in 71% of the outputs of its own prompts and in 2.8% of "
                    "others (ratio 3)."
                ),
                "The ratio is at least as large for A.",
            ],
            id="four methods, the least isolated first",
        ),
    ],
)
def test_rows_are_said_in_these_words(
    title: str, changes: list[dict[str, Any]], said: list[str]
) -> None:
    rows = [ROWS[title] | change for change in changes]
    assert texts_of(results_of(title, rows)) == said
