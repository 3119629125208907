"""The sentences about planned comparisons and their power: rows and their exact text."""

from typing import Any

import pytest

from tests.support.report_sentences import results_of, texts_of

PLAN_ROW: dict[str, Any] = {
    "dataset": "d",
    "model": "m",
    "rule": "r",
    "baseline": "cot",
    "treatment": "f-1",
    "epochs": 1,
    "cluster_size": 1,
    "difference": 0.05,
    "target_power": 0.8,
    "needed_n": 500,
    "needed_clusters": None,
    "needed_answers": 500,
    "n": 200,
    "power": 0.413,
    "detectable": 0.079,
    "spread": 0.4,
    "test": "McNemar",
}
POINT_ROW: dict[str, Any] = {
    name: PLAN_ROW[name]
    for name in ("dataset", "model", "rule", "baseline", "treatment", "epochs", "difference")
} | {"n": 50, "power": 0.123}
NO_NAMES = dict.fromkeys(("dataset", "model", "rule", "baseline", "treatment"))


def plan(**columns: Any) -> dict[str, Any]:
    return PLAN_ROW | columns


def point(**columns: Any) -> dict[str, Any]:
    return POINT_ROW | columns


BETWEEN = "a difference of 5.0 points between f-1 and cot with m on d, scored by r,"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [plan()],
            [
                f"500 problems show {BETWEEN} with 80.0% power; 200 problems have 41.3% power and"
                " can show 7.9 points with 80.0%."
            ],
            id="a pilot and the problems at hand",
        ),
        pytest.param(
            [plan(n=None, **NO_NAMES)],
            ["500 problems show a difference of 5.0 points with 80.0% power."],
            id="no pilot and nothing at hand",
        ),
        pytest.param(
            [plan(needed_n=None, detectable=None)],
            [
                f"No number of problems up to ten million shows {BETWEEN} with 80.0% power; 200"
                " problems have 41.3% power."
            ],
            id="a difference that no number of problems shows",
        ),
        pytest.param(
            [plan(epochs=3, needed_clusters=20, power=None, **NO_NAMES)],
            [
                "500 problems in 20 clusters show a difference of 5.0 points, with 3 answers to"
                " each problem, with 80.0% power; 200 problems can show 7.9 points with 80.0%."
            ],
            id="clusters and several answers",
        ),
        pytest.param(
            [plan(difference=share, n=None, **NO_NAMES) for share in (0.01, 0.02, 0.03, 0.04)],
            [
                "500 problems show a difference of 1.0 points with 80.0% power.",
                "500 problems show a difference of 2.0 points with 80.0% power.",
                "500 problems show a difference of 3.0 points with 80.0% power.",
                "The table has one further plan.",
            ],
            id="more plans than have a sentence",
        ),
    ],
)
def test_plans_say_how_many_problems_show_a_difference(
    rows: list[dict[str, Any]], said: list[str]
) -> None:
    assert texts_of(results_of("Planned comparisons", rows)) == said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        pytest.param(
            [point(n=2000, power=0.991), point()],
            [f"The power to show {BETWEEN} is 12.3% with 50 problems and 99.1% with 2,000."],
            id="the ends of a curve",
        ),
        pytest.param(
            [point(**NO_NAMES)],
            ["The power to show a difference of 5.0 points is 12.3% with 50 problems."],
            id="a curve of one point",
        ),
        pytest.param(
            [point(difference=share / 100, **NO_NAMES) for share in range(1, 6)],
            [
                "The power to show a difference of 1.0 points is 12.3% with 50 problems.",
                "The power to show a difference of 2.0 points is 12.3% with 50 problems.",
                "The power to show a difference of 3.0 points is 12.3% with 50 problems.",
                "The table has 2 further curves.",
            ],
            id="more curves than have a sentence",
        ),
    ],
)
def test_curves_say_the_power_at_their_ends(rows: list[dict[str, Any]], said: list[str]) -> None:
    assert texts_of(results_of("Power against the number of problems", rows)) == said
