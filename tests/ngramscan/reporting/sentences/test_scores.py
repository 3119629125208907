"""Sentences about outputs and their scores: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

SCORE = "Scores of answers"
SHOWN = "Outputs for a problem, side by side"
ROWS: dict[str, dict[str, Any]] = {
    SCORE: {
        "dataset": "d",
        "model": "m",
        "method": "cot",
        "id": "1",
        "epoch": None,
        "rule": "strict",
        "status": "scored",
        "value": 1.0,
    },
    SHOWN: {
        "dataset": "d",
        "model": "m",
        "method": "cot",
        "id": "1",
        "epoch": None,
        "output": "x",
        "rule": "strict",
        "status": "scored",
        "value": 1.0,
    },
}
"""A row of each kind, which cases have with other values."""


@pytest.mark.parametrize(
    ("title", "changes", "said"),
    [
        pytest.param(
            SCORE,
            [
                {},
                {"id": "2", "value": 0.0},
                {"id": "3", "value": None, "status": "no_answer"},
                {"id": "4", "value": None, "status": "unknown"},
            ],
            [
                (
                    "By strict, 1 of 4 answers is right; 1 without an answer and 1 with an "
                    "unknown score."
                ),
            ],
            id="answers that are right, wrong, absent and unknown",
        ),
        pytest.param(
            SCORE,
            [{}, {"id": "2", "value": 0.5}],
            [
                "By strict, 1 of 2 answers is right, 1 in part.",
            ],
            id="answers that are right in part",
        ),
        pytest.param(
            SCORE,
            [{}, {"id": "2"}, {"method": "pot", "value": 0.0}, {"method": "pot", "id": "2"}],
            [
                "By strict, 3 of 4 answers are right (2 of 2 of cot, 1 of 2 of pot).",
            ],
            id="two methods",
        ),
        pytest.param(
            SCORE,
            [{"rule": "a"}, {"rule": "b"}, {"rule": "c"}, {"rule": "d"}],
            [
                "By a, 1 of 1 answer is right.",
                "By b, 1 of 1 answer is right.",
                "By c, 1 of 1 answer is right.",
                "The table has one further rule.",
            ],
            id="four rules",
        ),
        pytest.param(
            SHOWN,
            [{}, {"method": "pot", "value": 0.0}, {"model": "n"}],
            [
                "The table has 3 outputs for 1 problem, by 2 models with 2 methods.",
                "By strict, 2 of 3 answers are right (2 of 2 of cot, 0 of 1 of pot).",
            ],
            id="outputs for a problem",
        ),
        pytest.param(
            SHOWN,
            [{"rule": None, "value": None, "status": ""}],
            [
                "The table has 1 output for 1 problem, by 1 model with 1 method.",
            ],
            id="outputs without scores",
        ),
    ],
)
def test_rows_are_said_in_these_words(
    title: str, changes: list[dict[str, Any]], said: list[str]
) -> None:
    rows = [ROWS[title] | change for change in changes]
    assert texts_of(results_of(title, rows)) == said
